/**
 * Objects for tests: complete by default, each test names only what it is about.
 */
import type { DisruptionBudget } from '../../lib/domain/cluster/disruption-budget.ts';
import type { Node, NodeMetadata } from '../../lib/domain/cluster/node.ts';
import type { NodeClaim } from '../../lib/domain/cluster/node-claim.ts';
import type { NodePool } from '../../lib/domain/cluster/node-pool.ts';
import type { ObjectMeta } from '../../lib/domain/cluster/object-ref.ts';
import type { Pod } from '../../lib/domain/cluster/pod.ts';
import type { Quantity } from '../../lib/domain/cluster/quantity.ts';
import type { ResourceList } from '../../lib/domain/cluster/resource-list.ts';
import type { ClusterSnapshot, Inspected } from '../../lib/domain/cluster/snapshot.ts';
import { nothingInspected } from '../../lib/domain/cluster/snapshot.ts';
import type { RotationPolicy, SurgeSettings, WindowEntry } from '../../lib/domain/policy/rotation-policy.ts';
import type { Duration, Instant } from '../../lib/domain/time.ts';
import { days, hours, minutes, parseGoDuration, parseInstant } from '../../lib/domain/time.ts';

/** An instant from RFC 3339 text; a test with a typing error fails at once. */
export function at(text: string): Instant {
  const value = parseInstant(text);
  if (value === undefined) throw new Error(`not an instant: ${text}`);
  return value;
}

/** A duration from Go text. */
export function lasting(text: string): Duration {
  const value = parseGoDuration(text);
  if (value === undefined) throw new Error(`not a duration: ${text}`);
  return value;
}

const suffixes: Readonly<Record<string, bigint>> = {
  m: 10n ** 6n,
  '': 10n ** 9n,
  Mi: 10n ** 9n * 2n ** 20n,
  Gi: 10n ** 9n * 2n ** 30n,
};

/** Amounts such as `{ cpu: '500m', memory: '1Gi' }`; whole numbers with m, Mi, Gi or nothing. */
export function amounts(list: Readonly<Record<string, string>>): ResourceList {
  return new Map(
    Object.entries(list).map(([name, text]) => {
      const match = /^(-?\d+)(m|Mi|Gi|)$/.exec(text);
      if (!match) throw new Error(`not an amount: ${text}`);
      return [name, (BigInt(match[1] as string) * (suffixes[match[2] as string] as bigint)) as Quantity];
    }),
  );
}

export function meta(name: string, over: Partial<ObjectMeta> = {}): ObjectMeta {
  return {
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    created: at('2026-06-01T00:00:00Z'),
    deleting: false,
    labels: {},
    annotations: {},
    finalizers: [],
    ...over,
  };
}

/** A dynamic, ready pool `api` with E 14d and tGP 1h. */
export function aPool(
  over: Partial<Omit<NodePool, 'meta'>> & { meta?: Partial<ObjectMeta>; name?: string } = {},
): NodePool {
  const { meta: metaOver, name = 'api', ...rest } = over;
  return {
    meta: meta(name, { labels: { workload: name }, ...metaOver }),
    template: {
      lifetime: { readable: true, expireAfter: days(14), terminationGracePeriod: hours(1) },
      labels: {},
      taints: [],
      requirements: [],
    },
    ready: true,
    limits: new Map(),
    used: new Map(),
    unreadable: [],
    ...rest,
  };
}

/** A ready claim of pool `api` on the node of the same name with prefix `node-`. */
export function aClaim(
  name: string,
  over: Partial<Omit<NodeClaim, 'meta'>> & {
    meta?: Partial<ObjectMeta>;
    created?: Instant;
    expireAfter?: Duration | 'Never';
    terminationGracePeriod?: Duration | undefined;
  } = {},
): NodeClaim {
  const {
    meta: metaOver,
    created = at('2026-06-01T00:00:00Z'),
    expireAfter = days(14),
    terminationGracePeriod = hours(1),
    ...rest
  } = over;
  const unset = 'terminationGracePeriod' in over && over.terminationGracePeriod === undefined;
  const nodePool = rest.nodePool ?? 'api';
  return {
    meta: meta(name, { created, labels: { 'karpenter.sh/nodepool': nodePool }, ...metaOver }),
    nodePool,
    lifetime: { readable: true, created, expireAfter, ...(unset ? {} : { terminationGracePeriod }) },
    nodeName: `node-${name}`,
    providerId: `aws:///a/${name}`,
    ready: 'True',
    requirements: [],
    capacity: amounts({ cpu: '4', memory: '16Gi', pods: '58' }),
    allocatable: amounts({ cpu: '3900m', memory: '15Gi', pods: '58' }),
    unreadable: [],
    ...rest,
  };
}

/** The light view of a claim's node. */
export function aNodeOf(claim: NodeClaim, over: Partial<ObjectMeta> = {}): NodeMetadata {
  return { meta: aNode(claim, { meta: over }).meta };
}

export function aNode(claim: NodeClaim, over: Partial<Omit<Node, 'meta'>> & { meta?: Partial<ObjectMeta> } = {}): Node {
  const { meta: metaOver, ...rest } = over;
  const name = claim.nodeName ?? `node-${claim.meta.name}`;
  return {
    meta: meta(name, {
      labels: {
        'karpenter.sh/nodepool': claim.nodePool,
        'kubernetes.io/hostname': name,
        'topology.kubernetes.io/zone': 'ap-northeast-1a',
        'kubernetes.io/arch': 'arm64',
        'karpenter.sh/capacity-type': 'on-demand',
      },
      ...metaOver,
    }),
    ...(claim.providerId === undefined ? {} : { providerId: claim.providerId }),
    unschedulable: false,
    ready: true,
    taints: [],
    allocatable: amounts({ cpu: '3920m', memory: '15Gi', pods: '58' }),
    unreadable: [],
    ...rest,
  };
}

/** A running Pod of a ReplicaSet that asks for 500m and 1Gi. */
export function aPod(
  name: string,
  over: Partial<Omit<Pod, 'meta'>> & { meta?: Partial<ObjectMeta>; requests?: Readonly<Record<string, string>> } = {},
): Pod {
  const { meta: metaOver, requests = { cpu: '500m', memory: '1Gi' }, ...rest } = over;
  return {
    meta: meta(name, { namespace: 'shop', ...metaOver }),
    phase: 'Running',
    ready: { status: true, since: at('2026-06-01T00:00:00Z') },
    controllerKind: 'ReplicaSet',
    priority: 0,
    startedAt: at('2026-06-01T00:00:00Z'),
    terminationGracePeriod: minutes(0.5),
    tolerations: [],
    nodeSelector: {},
    requiredNodeAffinity: [],
    resources: {
      containers: [{ name: 'main', requests: amounts(requests), sidecar: false }],
      initContainers: [],
      overhead: new Map(),
    },
    unreadable: [],
    ...rest,
  };
}

export function aBudget(name: string, over: Partial<DisruptionBudget> = {}): DisruptionBudget {
  return {
    meta: meta(name, { namespace: 'shop' }),
    selector: { matchLabels: {}, matchExpressions: [] },
    disruptionsAllowed: 1,
    currentHealthy: 2,
    desiredHealthy: 1,
    expectedPods: 2,
    unreadable: [],
    ...over,
  };
}

/** {Wed, Sat} 02:00–06:00 Asia/Tokyo. */
export const wednesdayAndSaturday: readonly WindowEntry[] = [
  { timezone: 'Asia/Tokyo', days: ['Wed', 'Sat'], start: 2 * 60, end: 6 * 60 },
];

export function aPolicy(
  over: Partial<Omit<RotationPolicy, 'meta' | 'surge'>> & {
    meta?: Partial<ObjectMeta>;
    name?: string;
    surge?: Partial<SurgeSettings>;
  } = {},
): RotationPolicy {
  const { meta: metaOver, name = 'api', surge, ...rest } = over;
  return {
    meta: meta(name, metaOver),
    generation: 1,
    nodePoolSelector: { matchLabels: { workload: 'api' }, matchExpressions: [] },
    mode: 'Rotate',
    ageThreshold: 'auto',
    minRotationChances: 2,
    windows: wednesdayAndSaturday,
    exclusions: [],
    surge: {
      maxUnavailable: 1,
      readyTimeout: minutes(15),
      cooldownAfter: minutes(10),
      failurePause: minutes(10),
      retryBackoff: minutes(30),
      provisioningEstimate: minutes(5),
      wholeNodeReservation: false,
      matchNodeRequirements: {
        required: ['topology.kubernetes.io/zone', 'kubernetes.io/arch', 'karpenter.sh/capacity-type'],
        preferred: [],
      },
      forcefulFallback: false,
      deferBlockedDrains: false,
      ...surge,
    },
    ...rest,
  };
}

/** One pool, one policy, the given claims with their nodes; everything else empty. */
export function aSnapshot(over: Partial<ClusterSnapshot> & { inspected?: Inspected } = {}): ClusterSnapshot {
  const nodeClaims = over.nodeClaims ?? [];
  return {
    observedAt: at('2026-06-09T17:00:00Z'),
    policies: [{ valid: true, policy: aPolicy() }],
    nodePools: [aPool()],
    nodeClaims,
    nodes: nodeClaims.filter((claim) => claim.nodeName !== undefined).map((claim) => aNodeOf(claim)),
    placeholders: [],
    settings: {
      namespace: 'node-rotation',
      image: 'registry.k8s.io/pause:3.10',
      priorityClassName: 'node-rotation-placeholder',
    },
    retired: false,
    inspected: nothingInspected,
    ...over,
  };
}
