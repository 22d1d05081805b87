/**
 * The cluster of an exploration as a value: what is stored, the virtual time, the audit table, and what the oracle has to
 * remember. Equal values are one value, however they came about.
 *
 * Versions are not part of it. A store is brought from one value to another by changing the few objects that differ.
 */
import type { Instant } from '../../../lib/domain/time.ts';
import type { KindName } from '../../../lib/simulator/kinds.ts';
import type { KubeObject, Manifest } from '../../../lib/simulator/kube-object.ts';
import { ObjectStore } from '../../../lib/simulator/object-store.ts';
import { Random } from '../../../lib/simulator/random.ts';

/** What happened so far, as far as it is not on objects; attempts are `uid@startedAt`, rows as in the table. */
export interface Facts {
  readonly attempts: readonly string[];
  readonly failed: readonly string[];
  /** Steps that an operator took off a NodePool together with everything else of ours. */
  readonly lost: readonly string[];
  /** Attempts that nothing is known of any more, because an operator took away the only thing that knew. */
  readonly forgotten: readonly string[];
  /** Attempts whose old claim one of our ticks has deleted. */
  readonly drained: readonly string[];
  /** NodeClaims that our ticks have deleted as induced by a failed attempt. */
  readonly reaped: readonly string[];
}

/** Whether the one kind of write that an exploration may refuse is refused now. */
export type Refusal = 'notYet' | 'once' | 'forGood' | 'over';

export interface ClusterState {
  readonly id: number;
  readonly objects: ReadonlyMap<string, number>;
  readonly now: Instant;
  /** Row key → the step that the row is about. */
  readonly rows: ReadonlyMap<string, string>;
  readonly facts: Facts;
  /** NodeClaims that Karpenter has made so far. */
  readonly born: number;
  readonly refusal: Refusal;
}

const nothingYet: Facts = { attempts: [], failed: [], lost: [], forgotten: [], drained: [], reaped: [] };

/** Chance is left out: the explorer names every object that is made. */
class Named extends Random {
  uidOfNext = '';
  override uid(): string {
    return this.uidOfNext;
  }
}

export const objectKey = (kind: string, name: string, namespace?: string): string =>
  `${kind}/${namespace ?? ''}/${name}`;

const keyOf = ({ kind, metadata }: KubeObject): string => objectKey(kind, metadata.name, metadata.namespace);

export class Stage {
  readonly store: ObjectStore;
  now: Instant;
  rows: ReadonlyMap<string, string> = new Map();
  facts: Facts = nothingYet;
  born = 0;
  refusal: Refusal = 'notYet';
  /** Keys of the objects that were written since the last `load`. */
  changed: string[] = [];

  /** The content of the object that is being put back. */
  #loading: number | undefined;
  readonly #names = new Named(1);
  readonly #present = new Map<string, number>();
  readonly #objects: KubeObject[] = [];
  readonly #idOfContent = new Map<string, number>();
  readonly #states = new Map<string, ClusterState>();

  constructor(startsAt: Instant, objects: readonly Manifest[]) {
    this.now = startsAt;
    this.store = new ObjectStore(() => this.now, this.#names);
    this.store.onChange(({ type, object }) => {
      const key = keyOf(object);
      if (type === 'deleted') this.#present.delete(key);
      else this.#present.set(key, this.#loading ?? this.#idOf(object));
      this.changed.push(key);
    });
    for (const object of objects) this.store.adopt(object);
  }

  /** How many different clusters have been seen. */
  get seen(): number {
    return this.#states.size;
  }

  /** The uid of the next object that is created. */
  set nextUid(uid: string) {
    this.#names.uidOfNext = uid;
  }

  /** The number of an object's content as it is stored; undefined when it is not there. */
  contentOf(kind: KindName, name: string, namespace?: string): number | undefined {
    return this.#present.get(objectKey(kind, name, namespace));
  }

  remember(facts: Partial<{ readonly [K in keyof Facts]: string }>): void {
    const next: Record<string, readonly string[]> = { ...this.facts };
    for (const [name, entry] of Object.entries(facts)) {
      const known = next[name] ?? [];
      if (!known.includes(entry)) next[name] = [...known, entry].sort();
    }
    this.facts = next as unknown as Facts;
  }

  capture(): ClusterState {
    const { now, rows, facts, born, refusal } = this;
    const ids = [...this.#present.values()].sort((a, b) => a - b).join();
    const key = `${ids};${now};${[...rows].join()};${Object.values(facts).join(';')};${born};${refusal}`;
    let state = this.#states.get(key);
    if (!state) {
      state = { id: this.#states.size, objects: new Map(this.#present), now, rows, facts, born, refusal };
      this.#states.set(key, state);
    }
    return state;
  }

  load(state: ClusterState): void {
    Object.assign(this, {
      now: state.now,
      rows: state.rows,
      facts: state.facts,
      born: state.born,
      refusal: state.refusal,
    });
    for (const [key, id] of [...this.#present]) {
      if (state.objects.get(key) !== id) this.store.remove(this.#objects[id] as KubeObject);
    }
    for (const [key, id] of state.objects) {
      if (this.#present.has(key)) continue;
      this.#loading = id;
      this.store.adopt(this.#objects[id] as Manifest & KubeObject);
    }
    this.#loading = undefined;
    this.changed = [];
  }

  #idOf(object: KubeObject): number {
    const { resourceVersion: _version, generation: _generation, ...metadata } = object.metadata;
    const content = canonical({ ...object, metadata });
    const known = this.#idOfContent.get(content);
    if (known !== undefined) return known;
    const id = this.#objects.length;
    this.#objects.push(object);
    this.#idOfContent.set(content, id);
    return id;
  }
}

/** JSON with sorted keys: the order in which annotations were set makes no difference. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join()}}`;
}
