/**
 * Ticks as a tree: a node is a tick that has had these answers and waits with these calls.
 *
 * A tick is a function of the answers it gets. So it is run once per node, and every exploration that comes to the same
 * answers shares the node; where the running tick has already gone another way, it is run again from its first answer.
 */
import type { Budget, Cluster, Recorder } from '../../../lib/controller/ports.ts';
import { runTick } from '../../../lib/controller/run-tick.ts';
import type { ClusterSnapshot, Inspected, LightSnapshot } from '../../../lib/domain/cluster/snapshot.ts';
import { nothingInspected } from '../../../lib/domain/cluster/snapshot.ts';
import { hours, minutes, zero } from '../../../lib/domain/time.ts';
import { decide } from '../../../lib/engine/decide.ts';
import type { Action } from '../../../lib/engine/decision.ts';
import { mergeInspected } from '../../../lib/engine/survey.ts';
import type { PortAnswer, PortCall } from './port.ts';
import { keyOfRef } from './port.ts';
import { objectKey } from './stage.ts';

export interface WaitingCall {
  /** Calls of one tick count from 0. */
  readonly index: number;
  readonly call: PortCall;
}

export interface TickNode {
  readonly id: number;
  readonly calls: readonly WaitingCall[];
  /** How many answers it has had. */
  readonly answers: number;
  /** Keys of the objects whose versions it may still name: all that it has seen, and once it acts those of its lists. */
  readonly versions: ReadonlySet<string>;
  /** What it saw while it looked, as the oracle names it. */
  readonly saw: readonly string[];
  /** It has written, and has seen nothing since but refusals that were certain. */
  readonly justWrote: boolean;
  /** The uid of the placeholder that it has seen. */
  readonly placeholder: string | undefined;
  /** What it threw, where it did. */
  readonly failure: string | undefined;
}

interface Node extends TickNode {
  readonly parent: Node | undefined;
  readonly given: Given | undefined;
  readonly children: Map<string, Node>;
  run: Run | undefined;
}

interface Given {
  readonly index: number;
  readonly value: unknown;
  /** More than a minute after its look. */
  readonly late: boolean;
}

/** What a new answer adds to what is known of a tick. */
export interface Learnt {
  readonly saw: readonly string[];
  readonly placeholder?: string;
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class TickTree {
  readonly #root: Promise<Node>;
  #count = 0;

  constructor() {
    this.#root = this.#nodeOf(new Run(), undefined, undefined, undefined);
  }

  get size(): number {
    return this.#count;
  }

  /** A tick that has not looked yet. */
  root(): Promise<TickNode> {
    return this.#root;
  }

  /** The tick once this call of its has this answer. */
  async child(
    from: TickNode,
    index: number,
    answer: PortAnswer,
    late: boolean,
    learn: () => Learnt,
  ): Promise<TickNode> {
    const parent = from as Node;
    const key = `${index}${late ? 'late' : ''}:${answer.key}`;
    const known = parent.children.get(key);
    if (known) return known;
    const given = { index, value: answer.value, late };
    const run = parent.run ?? (await replay(parent));
    parent.run = undefined;
    await run.give(given);
    const learnt = learn();
    const child = await this.#nodeOf(run, parent, given, { ...learnt, answer });
    parent.children.set(key, child);
    return child;
  }

  async #nodeOf(
    run: Run,
    parent: Node | undefined,
    given: Given | undefined,
    news: (Learnt & { readonly answer: PortAnswer }) | undefined,
  ): Promise<Node> {
    await settled();
    const calls = run.calls();
    this.#count += 1;
    return {
      id: this.#count,
      calls,
      answers: (parent?.answers ?? -1) + 1,
      versions: versionsOf(calls, parent, given, news),
      saw: [...new Set([...(parent?.saw ?? []), ...(news?.saw ?? [])])],
      justWrote: news?.answer.landed || (news?.answer.key.startsWith('conflict') && parent?.justWrote) || false,
      placeholder: news?.placeholder ?? parent?.placeholder,
      failure: run.failure,
      parent,
      given,
      children: new Map(),
      run: calls.length > 0 ? run : undefined,
    };
  }
}

/** What it may still write once it acts is in its lists; the pool's own patches name the pool. */
function versionsOf(
  calls: readonly WaitingCall[],
  parent: Node | undefined,
  given: Given | undefined,
  news: { readonly answer: PortAnswer } | undefined,
): ReadonlySet<string> {
  const looks = ({ call }: WaitingCall): boolean => call.kind === 'observe' || call.kind === 'inspect';
  const known = parent?.versions ?? new Set<string>();
  if (parent && !parent.calls.some(looks)) return known;
  const seen = new Set([...known, ...(news?.answer.shown ?? [])]);
  if (!given || calls.every(looks)) return seen;
  const targets = decide(snapshotOf(parent, given)).flatMap(({ nodePool, actions }) => [
    objectKey('NodePool', nodePool),
    ...actions.flatMap((action) => ('target' in action ? [keyOfRef(action.target)] : [])),
  ]);
  return new Set(targets.filter((key) => seen.has(key)));
}

function snapshotOf(parent: Node | undefined, last: Given): ClusterSnapshot {
  const answers = [...givenTo(parent), last].map(({ value }) => value);
  const [light, ...inspected] = answers as [LightSnapshot, ...Inspected[]];
  return { ...light, inspected: inspected.reduce(mergeInspected, nothingInspected) };
}

function givenTo(node: Node | undefined): readonly Given[] {
  const given: Given[] = [];
  for (let each = node; each?.given; each = each.parent) given.unshift(each.given);
  return given;
}

async function replay(node: Node): Promise<Run> {
  const run = new Run();
  await settled();
  for (const each of givenTo(node)) await run.give(each);
  return run;
}

/** Said to nobody here: what they write is read by nothing that decides. */
const isAside = (action: Action): boolean => action.kind === 'emitEvent' || action.kind === 'writeStatus';

/** One tick of the product, standing at the calls that have no answer yet. */
class Run {
  failure: string | undefined;
  readonly #waiting = new Map<number, { readonly call: PortCall; readonly resolve: (value: unknown) => void }>();
  #asked = 0;
  #late = false;

  constructor() {
    const cluster: Cluster = {
      observe: () => this.#ask({ kind: 'observe' }),
      inspect: (need) => this.#ask({ kind: 'inspect', need }),
      reread: (nodePool, node) => this.#ask({ kind: 'reread', nodePool, node }),
      apply: (action) =>
        isAside(action) ? Promise.resolve({ outcome: 'applied' }) : this.#ask({ kind: 'apply', action }),
    };
    const recorder: Recorder = {
      putSteps: (_pool, entries) => this.#ask({ kind: 'putSteps', entries }),
      record: async () => {},
    };
    const budget: Budget = { left: () => hours(1), sinceSnapshot: () => (this.#late ? minutes(2) : zero) };
    runTick({ cluster, recorder, budget }).catch((error: unknown) => {
      this.failure = String(error);
    });
  }

  calls(): readonly WaitingCall[] {
    return [...this.#waiting].map(([index, { call }]) => ({ index, call }));
  }

  async give({ index, value, late }: Given): Promise<void> {
    const waiting = this.#waiting.get(index);
    if (!waiting) throw new Error(`the tick does not wait for an answer to call ${index}`);
    this.#waiting.delete(index);
    this.#late = late;
    waiting.resolve(value);
    await settled();
  }

  #ask<T>(call: PortCall): Promise<T> {
    const index = this.#asked;
    this.#asked += 1;
    return new Promise((resolve) => {
      this.#waiting.set(index, { call, resolve: resolve as (value: unknown) => void });
    });
  }
}
