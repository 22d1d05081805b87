/**
 * A cluster of any size, standing still in one of three moments: nothing to do, a node to start with, a surge that is ready.
 *
 * It forgets what is written to it, so that every tick of a run meets the same moment. Only policy status and the list of
 * warnings are kept: a cluster that has been ticked before has them.
 */
import { own } from '../../lib/domain/cluster/object-ref.ts';
import {
  anchorKeys,
  claimKeys,
  nodeKeys,
  surgeForLabel,
  warningsKey,
} from '../../lib/domain/rotation/annotation-keys.ts';
import { placeholderName } from '../../lib/domain/surge/placeholder.ts';
import { add, days, duration, formatInstant, hours, type Instant, minutes, subtract } from '../../lib/domain/time.ts';
import {
  type Json,
  type NodeShape,
  nodeClaimOf,
  nodeMetadataOf,
  nodeNameOf,
  nodeOf,
  podOf,
  uidOf,
} from './eks-objects.ts';

export const moments = ['idle', 'start', 'handOver'] as const;
export type Moment = (typeof moments)[number];

export interface ClusterShape {
  readonly nodes: number;
  readonly podsPerNode: number;
  readonly moment: Moment;
}

export const poolCount = 4;
/** Nodes of the first pool that are due where a start is to be seen. */
const dueNodes = 8;
const lifetime = days(14);
/** The others are no older than this, which is not due where a window opens every day. */
const oldest = days(5);
/** Hours: less than two days before a deadline. */
const longSince = 24 * 13;

const poolOf = (index: number): string => `pool-${index % poolCount}`;
const claimOf = (index: number): string => `${poolOf(index)}-${(index * 7_919 + 46_656).toString(36).padStart(5, '0')}`;

/** The node that a rotation in flight replaces, and the node that stands in for it. */
const old = 0;
const host = poolCount;

export class FixtureCluster {
  readonly shape: ClusterShape;
  readonly #now: Instant;
  readonly #policy: Record<string, unknown>;
  readonly #pools: Record<string, unknown>[];
  readonly #indexes: ReadonlyMap<string, number>;

  /** @param now everything is as old as it has to be for this time */
  constructor(shape: ClusterShape, now: Instant) {
    this.shape = shape;
    this.#now = now;
    this.#policy = { ...policy(now, shape.moment !== 'idle') };
    this.#pools = Array.from({ length: poolCount }, (_, n) => ({ ...this.#pool(n) }));
    this.#indexes = new Map(Array.from({ length: shape.nodes }, (_, n) => [nodeNameOf(n), n]));
  }

  get policies(): readonly Json[] {
    return [this.#policy];
  }

  get nodePools(): readonly Json[] {
    return this.#pools;
  }

  *nodeClaims(): Generator<Json> {
    for (let n = 0; n < this.shape.nodes; n += 1) yield nodeClaimOf(this.#claimShape(n));
  }

  *nodeMetadata(): Generator<Json> {
    for (let n = 0; n < this.shape.nodes; n += 1) yield nodeMetadataOf(this.#nodeShape(n));
  }

  /** undefined for a node that is not there. */
  node(name: string): Json | undefined {
    const index = this.#indexes.get(name);
    return index === undefined ? undefined : nodeOf(this.#nodeShape(index));
  }

  podsOn(name: string): readonly Json[] {
    const index = this.#indexes.get(name);
    if (index === undefined) return [];
    const created = formatInstant(subtract(this.#now, days(2)));
    const pods = Array.from({ length: this.shape.podsPerNode }, (_, n) => podOf(index, n, created));
    return index === host ? [...pods, ...this.placeholders()] : pods;
  }

  placeholders(): readonly Json[] {
    if (this.shape.moment !== 'handOver') return [];
    const pod = podOf(host, 99, formatInstant(subtract(this.#now, minutes(4)))) as { metadata: object; spec: object };
    return [
      {
        ...pod,
        metadata: {
          ...pod.metadata,
          name: placeholderName(claimOf(old)),
          namespace: 'node-rotation',
          labels: { [surgeForLabel]: claimOf(old), 'karpenter.sh/nodepool': poolOf(old) },
          ownerReferences: [],
        },
        spec: { ...pod.spec, priority: -10 },
      },
    ];
  }

  /** Takes over what a cluster that has been ticked before would have. */
  keepStanding(collection: string, name: string, patch: Json): void {
    if (collection === 'rotationpolicies' && patch.status !== undefined) this.#policy.status = patch.status;
    const annotations = (patch.metadata as { annotations?: Record<string, string | null> } | undefined)?.annotations;
    const codes = own(annotations ?? {}, warningsKey);
    if (collection !== 'nodepools' || codes === undefined) return;
    const pool = this.#pools.find((each) => (each.metadata as { name: string }).name === name);
    const metadata = pool?.metadata as { annotations?: Record<string, string | null> } | undefined;
    if (metadata) metadata.annotations = { ...metadata.annotations, [warningsKey]: codes };
  }

  #age(index: number): Instant {
    const { moment, nodes } = this.shape;
    if (moment === 'handOver' && index === host) return subtract(this.#now, minutes(6));
    const due = moment === 'start' && poolOf(index) === poolOf(0) && index / poolCount < dueNodes;
    if (due || (moment === 'handOver' && index === old)) return subtract(this.#now, hours(longSince - index));
    return subtract(this.#now, duration(Math.round((oldest * (index + 1)) / nodes)));
  }

  #claimShape(index: number): NodeShape {
    const rotating = this.shape.moment === 'handOver' && index === old;
    return {
      ...this.#shape(index),
      ...(rotating
        ? {
            annotations: {
              [claimKeys.state]: 'pending',
              [claimKeys.startedAt]: this.#startedAt(),
              [claimKeys.surgeClaim]: claimOf(host),
            },
          }
        : {}),
    };
  }

  #nodeShape(index: number): NodeShape {
    if (this.shape.moment !== 'handOver' || (index !== old && index !== host)) return this.#shape(index);
    const marks = {
      [nodeKeys.doNotDisrupt]: 'true',
      [nodeKeys.owned]: 'true',
      [nodeKeys.surgeFor]: claimOf(old),
    };
    return index === host
      ? { ...this.#shape(index), annotations: marks }
      : { ...this.#shape(index), annotations: { ...marks, [nodeKeys.cordoned]: 'true' }, unschedulable: true };
  }

  #shape(index: number): NodeShape {
    return { claim: claimOf(index), pool: poolOf(index), index, created: formatInstant(this.#age(index)) };
  }

  #startedAt(): string {
    return formatInstant(subtract(this.#now, minutes(8)));
  }

  #pool(number: number): Json {
    const name = `pool-${number}`;
    const rotating = this.shape.moment === 'handOver' && number === old % poolCount;
    return {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: {
        annotations: {
          'karpenter.sh/nodepool-hash': '6698513171926428124',
          'karpenter.sh/nodepool-hash-version': 'v3',
          ...(rotating
            ? {
                [anchorKeys.claim]: claimOf(old),
                [anchorKeys.claimUid]: uidOf(1, old),
                [anchorKeys.startedAt]: this.#startedAt(),
                [anchorKeys.surgeClaim]: claimOf(host),
              }
            : {}),
        },
        creationTimestamp: formatInstant(subtract(this.#now, days(90))),
        generation: 3,
        labels: { workload: 'bench' },
        name,
        resourceVersion: String(900_000 + number),
        uid: uidOf(9, number),
      },
      spec: {
        disruption: { budgets: [{ nodes: '10%' }], consolidateAfter: '10m', consolidationPolicy: 'WhenEmpty' },
        limits: { cpu: '100000', memory: '400000Gi' },
        template: {
          metadata: { labels: { workload: 'bench' } },
          spec: {
            expireAfter: `${lifetime / hours(1)}h`,
            nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
            requirements: [
              { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
              { key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] },
              { key: 'karpenter.k8s.aws/instance-category', operator: 'In', values: ['c', 'm', 'r'] },
            ],
            terminationGracePeriod: '1h',
          },
        },
      },
      status: {
        conditions: [
          {
            lastTransitionTime: formatInstant(subtract(this.#now, days(90))),
            message: '',
            reason: 'Ready',
            status: 'True',
            type: 'Ready',
          },
        ],
        resources: {
          cpu: String(this.shape.nodes),
          memory: `${this.shape.nodes * 4}Gi`,
          nodes: String(this.shape.nodes / 4),
        },
      },
    };
  }
}

const clock = (at: Instant): string => formatInstant(at).slice(11, 16);
const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;

/** Open from an hour before `now` for four hours on every day; or shut for the next two days and more. */
function policy(now: Instant, open: boolean): Json {
  const today = new Date(now).getUTCDay();
  const shutDays = [3, 5].map((ahead) => weekdays[(today + ahead) % 7]);
  const window = open
    ? { days: weekdays, start: clock(subtract(now, hours(1))), end: clock(add(now, hours(3))) }
    : { days: shutDays, start: '02:00', end: '06:00' };
  return {
    apiVersion: 'noderotation.io/v1alpha1',
    kind: 'RotationPolicy',
    metadata: { name: 'bench', uid: uidOf(8, 0), resourceVersion: '800000', generation: 1 },
    spec: {
      nodePoolSelector: { matchLabels: { workload: 'bench' } },
      maintenanceWindows: [{ timezone: 'UTC', ...window }],
      surge: { readyTimeout: '15m', cooldownAfter: '10m', retryBackoff: '30m' },
    },
  };
}
