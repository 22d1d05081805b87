/**
 * A cluster out of files: what kubectl printed, looked at through the same decoders as a live one.
 *
 * What a dump does not hold is not known, which differs from not being there: without Nodes, Pods or their kinds the
 * questions that need them stay unanswered.
 */
import {
  type Decoded,
  decodeNode,
  decodeNodeClaim,
  decodeNodeMetadata,
  decodeNodePool,
} from '../adapters/kubernetes/decode.ts';
import { decodeDisruptionBudget } from '../adapters/kubernetes/decode-disruption-budget.ts';
import { decodePod } from '../adapters/kubernetes/decode-pod.ts';
import { readPolicy } from '../adapters/kubernetes/policy-document.ts';
import type { Cluster } from '../controller/ports.ts';
import type { DisruptionBudget } from '../domain/cluster/disruption-budget.ts';
import type { Node, NodeMetadata } from '../domain/cluster/node.ts';
import type { NodeClaim } from '../domain/cluster/node-claim.ts';
import type { NodePool } from '../domain/cluster/node-pool.ts';
import { own } from '../domain/cluster/object-ref.ts';
import type { Pod } from '../domain/cluster/pod.ts';
import type { Inspected, LightSnapshot, PlaceholderSettings } from '../domain/cluster/snapshot.ts';
import type { PolicyReading } from '../domain/policy/rotation-policy.ts';
import { metaOf } from '../domain/policy/rotation-policy.ts';
import { surgeForLabel } from '../domain/rotation/annotation-keys.ts';
import type { Instant } from '../domain/time.ts';
import type { Need } from '../engine/decision.ts';
import type { Documents, RawObject } from './documents.ts';
import { exitCodes, Failure } from './failure.ts';

const groups = {
  RotationPolicy: 'noderotation.io',
  NodePool: 'karpenter.sh',
  NodeClaim: 'karpenter.sh',
  Node: '',
  Pod: '',
  PodDisruptionBudget: 'policy',
} as const;
type KnownKind = keyof typeof groups;

export interface Dump {
  readonly policies: readonly PolicyReading[];
  readonly nodePools: readonly NodePool[];
  readonly nodeClaims: readonly NodeClaim[];
  /** Absent, like the two below, when the dump holds none and does not say that there are none. */
  readonly nodes?: readonly { readonly light: NodeMetadata; readonly whole: Node }[];
  readonly pods?: readonly Pod[];
  readonly disruptionBudgets?: readonly DisruptionBudget[];
  /** What was left out because it cannot even be named, with its place. */
  readonly refused: readonly string[];
  /** What the reader should know about the dump itself. */
  readonly notices: readonly string[];
}

/**
 * @param required kinds without which nothing can be said
 * @throws Failure when a required kind is missing
 * @design D13-02, D2-03
 */
export function readDump(documents: Documents, required: readonly KnownKind[]): Dump {
  const notices: string[] = [];
  const refused: string[] = [];
  const byKind = Map.groupBy(documents.objects.filter(isKnown), ({ kind }) => kind as KnownKind);
  notices.push(...ignored(documents.objects.filter((object) => !isKnown(object))));
  const raw = (kind: KnownKind): readonly RawObject[] | undefined =>
    byKind.get(kind) ?? (documents.listed.has(kind) || (documents.emptyList && kind === 'NodeClaim') ? [] : undefined);
  const missing = required.filter((kind) => raw(kind) === undefined);
  if (missing.length > 0) {
    const commands = missing.map((kind) => `kubectl get ${kind.toLowerCase()} -o yaml`).join(', ');
    throw new Failure(
      exitCodes.usage,
      `The files hold no ${missing.join(', no ')}, without which nothing can be said. Add the output of ${commands} with -f.`,
    );
  }
  const decode = <T>(kind: KnownKind, read: (value: unknown) => Decoded<T>): readonly T[] | undefined =>
    raw(kind) &&
    latest(raw(kind) ?? [], notices).flatMap(({ value, where }) => {
      const found = read(value);
      if (found.ok) return [found.value];
      refused.push(`${where}: ${found.problem}`);
      return [];
    });
  const policies = latest(raw('RotationPolicy') ?? [], notices).map(({ value }) => readPolicy(value));
  const nodes = decode('Node', readNode);
  const pods = decode('Pod', decodePod);
  const disruptionBudgets = decode('PodDisruptionBudget', decodeDisruptionBudget);
  return {
    policies: policies.toSorted((a, b) => (metaOf(a).name < metaOf(b).name ? -1 : 1)),
    nodePools: decode('NodePool', decodeNodePool) ?? [],
    nodeClaims: decode('NodeClaim', decodeNodeClaim) ?? [],
    ...(nodes ? { nodes } : {}),
    ...(pods ? { pods } : {}),
    ...(disruptionBudgets ? { disruptionBudgets } : {}),
    refused,
    notices,
  };
}

function isKnown({ group, kind }: RawObject): boolean {
  return own<string>(groups, kind) === group;
}

/** Each unknown kind once, with how many of it there are. */
function ignored(objects: readonly RawObject[]): readonly string[] {
  const named = Map.groupBy(objects, ({ group, kind }) => (group === '' ? kind : `${kind}.${group}`));
  return [...named].map(([kind, all]) => `${all.length} of kind ${kind} ignored (${all[0]?.where})`);
}

/** Of objects that occur twice the last one counts. */
function latest(objects: readonly RawObject[], notices: string[]): readonly RawObject[] {
  const byName = new Map<string, RawObject>();
  const unnamed: RawObject[] = [];
  for (const object of objects) {
    const { name, namespace } = (object.value.metadata ?? {}) as { name?: unknown; namespace?: unknown };
    if (typeof name !== 'string') {
      unnamed.push(object);
      continue;
    }
    const key = `${String(namespace ?? '')}/${name}`;
    const before = byName.get(key);
    if (before)
      notices.push(`${object.kind} ${name} stands in ${before.where} and in ${object.where}; the latter is used`);
    byName.set(key, object);
  }
  return [...byName.values(), ...unnamed];
}

function readNode(value: unknown): Decoded<{ light: NodeMetadata; whole: Node }> {
  const light = decodeNodeMetadata(value);
  const whole = decodeNode(value);
  if (!light.ok) return light;
  return whole.ok ? { ok: true, value: { light: light.value, whole: whole.value } } : whole;
}

/** What the reader of a plan should know about the gaps. @design D13-02 */
export function gapsOf({ nodes, pods, disruptionBudgets }: Dump): readonly string[] {
  const gaps: string[] = [];
  if (!nodes)
    gaps.push(
      'No Nodes in the files: opt-outs and sizes are unknown, so nothing is said about a start (surge, placeholder).',
    );
  if (!pods) gaps.push('No Pods in the files: nothing is said about sizes and the placeholder (surge, placeholder).');
  if (!disruptionBudgets && nodes && pods)
    gaps.push('No PodDisruptionBudgets in the files: drains are judged as if there were none.');
  return gaps;
}

/** @design D13-02, D14-01 */
export class DumpCluster implements Pick<Cluster, 'observe' | 'inspect'> {
  readonly #dump: Dump;
  readonly #at: Instant;
  readonly #settings: PlaceholderSettings;

  /** @param at the instant for which the plan is made: a dump itself has no time */
  constructor(dump: Dump, at: Instant, settings: PlaceholderSettings) {
    this.#dump = dump;
    this.#at = at;
    this.#settings = settings;
  }

  async observe(): Promise<LightSnapshot> {
    const { policies, nodePools, nodeClaims, nodes, pods } = this.#dump;
    return {
      observedAt: this.#at,
      policies,
      nodePools,
      nodeClaims,
      nodes: nodes ? nodes.map(({ light }) => light) : nodeClaims.flatMap(nodeBehind),
      placeholders: (pods ?? []).filter(
        ({ meta }) => meta.namespace === this.#settings.namespace && own(meta.labels, surgeForLabel) !== undefined,
      ),
      settings: this.#settings,
      retired: false,
    };
  }

  /** What the dump can answer; a question that it cannot stays open. */
  async inspect(need: Need): Promise<Inspected> {
    const { nodes, pods, disruptionBudgets } = this.#dump;
    return {
      nodes: new Map(
        nodes
          ? need.nodes.map((name) => [name, nodes.find(({ whole }) => whole.meta.name === name)?.whole ?? 'gone'])
          : [],
      ),
      podsOnNode: new Map(
        pods ? need.podsOnNodes.map((name) => [name, pods.filter(({ nodeName }) => nodeName === name)]) : [],
      ),
      dryRuns: new Map(need.dryRunDeletes.map(({ name }) => [name, { outcome: 'accepted' }])),
      ...(need.disruptionBudgets ? { disruptionBudgets: disruptionBudgets ?? [] } : {}),
      ...(need.unscheduledPods && pods
        ? { unscheduledPods: pods.filter(({ nodeName, phase }) => nodeName === undefined && phase === 'Pending') }
        : {}),
    };
  }
}

/** The node that a claim says it has, so that the claim can be judged without it. */
function nodeBehind({ meta, nodeName }: NodeClaim): readonly NodeMetadata[] {
  if (nodeName === undefined) return [];
  const { created, labels } = meta;
  return [
    {
      meta: {
        name: nodeName,
        uid: '',
        resourceVersion: '',
        ...(created === undefined ? {} : { created }),
        deleting: false,
        labels,
        annotations: {},
        finalizers: [],
      },
    },
  ];
}
