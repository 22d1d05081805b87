/**
 * The door between a tick and the stage: every call of the `Cluster` port and of the audit table, answered when the
 * explorer says so and by the simulator's own code.
 *
 * What a tick reads carries tokens in place of versions: `v3` is the version of whatever its fourth answer showed. The
 * explorer knows which tokens are still current, and that is all that a version is for.
 */
import type { ActionResult } from '../../../lib/controller/ports.ts';
import type { ObjectMeta, ObjectRef } from '../../../lib/domain/cluster/object-ref.ts';
import type { UnrecordedStep } from '../../../lib/domain/rotation/unrecorded.ts';
import { entryKey } from '../../../lib/domain/rotation/unrecorded.ts';
import { formatInstant } from '../../../lib/domain/time.ts';
import type { Action, Need } from '../../../lib/engine/decision.ts';
import type { KindName } from '../../../lib/simulator/kinds.ts';
import { SimulatedCluster } from '../../../lib/simulator/simulated-cluster.ts';
import { decoders } from '../../support/decoders.ts';
import { settings } from '../../support/story.ts';
import type { Stage } from './stage.ts';
import { objectKey } from './stage.ts';

export type PortCall =
  | { readonly kind: 'observe' }
  | { readonly kind: 'inspect'; readonly need: Need }
  | { readonly kind: 'reread'; readonly nodePool: ObjectRef; readonly node: ObjectRef | undefined }
  | { readonly kind: 'apply'; readonly action: Action }
  | { readonly kind: 'putSteps'; readonly entries: readonly UnrecordedStep[] };

export interface PortAnswer {
  readonly value: unknown;
  /** Equal for equal answers to the same call. */
  readonly key: string;
  /** Objects that the answer shows. */
  readonly shown: readonly string[];
  /** A write that is done, as far as the tick is told or not. */
  readonly landed: boolean;
}

/** The kinds of write that an exploration can have refused. */
export const writeKinds = [
  'poolPatch',
  'claimPatch',
  'nodePatch',
  'placeholderCreate',
  'placeholderDelete',
  'claimDelete',
  'reap',
] as const;
export type WriteKind = (typeof writeKinds)[number];

export function writeKindOf(action: Action): WriteKind | undefined {
  switch (action.kind) {
    case 'annotate':
      return action.target.kind === 'NodePool' ? 'poolPatch' : 'claimPatch';
    case 'protect':
    case 'unprotect':
      return 'nodePatch';
    case 'createPlaceholder':
      return 'placeholderCreate';
    case 'deletePlaceholder':
      return 'placeholderDelete';
    case 'deleteNodeClaim':
      return action.because === 'reapSurge' ? 'reap' : 'claimDelete';
    default:
      return undefined;
  }
}

export const refusalWords = 'denied by policy';
const refused: ActionResult = { outcome: 'rejected', detail: refusalWords };

interface Decodable {
  readonly meta: ObjectMeta;
}

export class Port {
  readonly #stage: Stage;
  readonly #cluster: SimulatedCluster;
  readonly #decoded = new Map<string, unknown>();
  /** Of the call that is being answered. */
  #token = '';
  #shown: string[] = [];
  #contents: number[] = [];

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#cluster = new SimulatedCluster({
      world: stage,
      settings,
      decoders: {
        ...decoders,
        // Policies are decoded as they are: nothing of theirs is written here.
        policy: this.#plain('RotationPolicy', decoders.policy),
        disruptionBudget: this.#plain('PodDisruptionBudget', decoders.disruptionBudget),
        nodePool: this.#versioned('NodePool', decoders.nodePool),
        nodeClaim: this.#versioned('NodeClaim', decoders.nodeClaim),
        node: this.#versioned('Node', decoders.node),
        nodeMetadata: this.#versioned('Node', decoders.nodeMetadata, 'metadata'),
        pod: this.#versioned('Pod', decoders.pod),
        event: decoders.event,
      },
    });
  }

  /**
   * Answers a call from the stage as it is now, and changes the stage.
   *
   * @param ordinal how many answers the tick has had
   * @param fresh whether the token of the write's target is the present version
   * @param refusing the kind of write that is refused at this moment
   */
  async answer(call: PortCall, ordinal: number, fresh: boolean, refusing: WriteKind | undefined): Promise<PortAnswer> {
    this.#token = `v${ordinal}`;
    this.#shown = [];
    this.#contents = [];
    switch (call.kind) {
      case 'observe':
        return this.#answered(await this.#cluster.observe(), formatInstant(this.#stage.now));
      case 'inspect': {
        const inspected = await this.#cluster.inspect(call.need);
        const { dryRunDeletes } = call.need;
        if (refusing !== 'claimDelete' || dryRunDeletes.length === 0) return this.#answered(inspected);
        const dryRuns = new Map(
          dryRunDeletes.map(({ name }) => [name, { outcome: 'refused' as const, detail: refusalWords }]),
        );
        return this.#answered({ ...inspected, dryRuns }, 'refused');
      }
      case 'reread':
        return this.#answered(await this.#cluster.reread(call.nodePool, call.node));
      case 'putSteps':
        return this.#put(call.entries);
      case 'apply':
        return writeKindOf(call.action) === refusing
          ? { value: refused, key: 'refused', shown: [], landed: false }
          : this.#apply(call.action, fresh);
    }
  }

  #answered(value: unknown, also = ''): PortAnswer {
    return { value, key: `${this.#contents.join()}${also}`, shown: this.#shown, landed: false };
  }

  async #apply(action: Action, fresh: boolean): Promise<PortAnswer> {
    const result = await this.#cluster.apply('target' in action ? withVersion(this.#stage, action, fresh) : action);
    const landed = result.outcome === 'applied';
    const told: ActionResult =
      landed && result.resourceVersion !== undefined ? { ...result, resourceVersion: this.#token } : result;
    const detail = 'detail' in result ? result.detail.replaceAll(/\d+/g, '#') : '';
    const shown = 'target' in action ? [keyOfRef(action.target)] : [];
    return { value: 'detail' in told ? { ...told, detail } : told, key: result.outcome + detail, shown, landed };
  }

  /** A row that is there already is as good as put. */
  #put(entries: readonly UnrecordedStep[]): PortAnswer {
    const rows = new Map(this.#stage.rows);
    for (const entry of entries) if (!rows.has(entryKey(entry))) rows.set(entryKey(entry), stepName(entry));
    const landed = rows.size > this.#stage.rows.size;
    this.#stage.rows = rows;
    return { value: new Set(entries.map(entryKey)), key: 'put', shown: [], landed };
  }

  #versioned<T extends Decodable>(kind: KindName, decode: (json: unknown) => T, part = ''): (json: unknown) => T {
    return (json) => {
      const { name, namespace } = (json as { metadata: { name: string; namespace?: string } }).metadata;
      const content = this.#stage.contentOf(kind, name, namespace) ?? -1;
      this.#shown.push(objectKey(kind, name, namespace));
      this.#contents.push(content);
      const key = `${content}${part}${this.#token}`;
      const known = this.#decoded.get(key) as T | undefined;
      if (known) return known;
      const read = decode(json);
      const fresh = { ...read, meta: { ...read.meta, resourceVersion: this.#token } };
      this.#decoded.set(key, fresh);
      return fresh;
    };
  }

  #plain<T>(kind: KindName, decode: (json: unknown) => T): (json: unknown) => T {
    return (json) => {
      const { name, namespace } = (json as { metadata: { name: string; namespace?: string } }).metadata;
      const content = this.#stage.contentOf(kind, name, namespace) ?? -1;
      this.#contents.push(content);
      const known = this.#decoded.get(`${content}`) as T | undefined;
      if (known) return known;
      const read = decode(json);
      this.#decoded.set(`${content}`, read);
      return read;
    };
  }
}

/** A step as the oracle names it: the attempt and what became of it. */
export const stepName = ({ uid, startedAt, step }: UnrecordedStep): string =>
  `${uid}@${formatInstant(startedAt)}=${step}`;

export const keyOfRef = ({ kind, name, namespace }: ObjectRef): string => objectKey(kind, name, namespace);

/** The action with the store's own version where the token is current, and with one that never was where it is not. */
function withVersion<A extends Action & { readonly target: ObjectRef }>(stage: Stage, action: A, fresh: boolean): A {
  const { kind, name, namespace, resourceVersion } = action.target;
  if (!resourceVersion) return action;
  const present = stage.store.get(kind as KindName, name, namespace)?.metadata.resourceVersion;
  const version = present !== undefined && fresh ? present : 'stale';
  return { ...action, target: { ...action.target, resourceVersion: version } };
}
