/**
 * The demonstration fleet: a dozen nodes in two pools, with Deployments, daemons, budgets, and the policy that rotates them.
 *
 * Ages are spread over the days before the start, so that nothing is past its deadline and every node falls due within
 * two weeks.
 */
import { formatResourceList, plus } from '../domain/cluster/resource-list.ts';
import type { Duration, Instant } from '../domain/time.ts';
import { add, days, duration, hours, minutes, subtract } from '../domain/time.ts';
import { instanceTypes, measuredBonus, offeringsOf, zones } from './instance-types.ts';
import type { KubeObject, Manifest, Strings } from './kube-object.ts';
import { stamp, withCondition } from './kube-object.ts';
import { nodePoolLabel, terminationFinalizer } from './node-claims.ts';
import type { World } from './world.ts';

export interface FleetPool {
  readonly name: string;
  readonly instanceType: string;
  readonly nodes: number;
  /** Per node; the oldest first. */
  readonly ages: readonly Duration[];
  readonly limits: Strings;
}

export interface FleetApp {
  readonly name: string;
  readonly pool: string;
  readonly replicas: number;
  readonly requests: Strings;
  readonly budget: { readonly maxUnavailable?: number | string; readonly minAvailable?: number | string };
}

export interface Fleet {
  readonly pools: readonly FleetPool[];
  readonly apps: readonly FleetApp[];
  readonly daemons: readonly { readonly name: string; readonly requests: Strings }[];
  readonly policy: Manifest;
}

export const placeholderNamespace = 'node-rotation';
export const placeholderPriorityClass = 'node-rotation-placeholder';
const workloadNamespace = 'shop';

/** {Wed, Sat} 02:00–06:00 Asia/Tokyo for both pools. */
export const demonstrationPolicy: Manifest = {
  apiVersion: 'noderotation.io/v1alpha1',
  kind: 'RotationPolicy',
  metadata: { name: 'nights' },
  spec: {
    nodePoolSelector: { matchExpressions: [{ key: 'workload', operator: 'In', values: ['api', 'batch'] }] },
    minRotationChances: 2,
    maintenanceWindows: [{ timezone: 'Asia/Tokyo', days: ['Wed', 'Sat'], start: '02:00', end: '06:00' }],
    surge: { readyTimeout: '15m', cooldownAfter: '10m', retryBackoff: '30m' },
  },
};

/** Ages from `oldest` downwards, evenly spread. */
const spread = (count: number, oldest: Duration, step: Duration): readonly Duration[] =>
  Array.from({ length: count }, (_, index) => duration(oldest - index * step));

export const demonstrationFleet: Fleet = {
  pools: [
    {
      name: 'api',
      instanceType: 'm7g.xlarge',
      nodes: 7,
      ages: spread(7, days(6), hours(19)),
      limits: { cpu: '64', memory: '256Gi' },
    },
    {
      name: 'batch',
      instanceType: 'm7g.2xlarge',
      nodes: 5,
      ages: spread(5, duration(days(5) + hours(7)), hours(23)),
      limits: { cpu: '80' },
    },
  ],
  apps: [
    { name: 'web', pool: 'api', replicas: 14, requests: { cpu: '900m', memory: '2Gi' }, budget: { maxUnavailable: 2 } },
    {
      name: 'checkout',
      pool: 'api',
      replicas: 9,
      requests: { cpu: '700m', memory: '3Gi' },
      budget: { minAvailable: '80%' },
    },
    {
      name: 'search',
      pool: 'api',
      replicas: 4,
      requests: { cpu: '500m', memory: '1Gi' },
      budget: { maxUnavailable: 1 },
    },
    {
      name: 'encoder',
      pool: 'batch',
      replicas: 5,
      requests: { cpu: '3', memory: '8Gi' },
      budget: { maxUnavailable: 1 },
    },
    {
      name: 'reports',
      pool: 'batch',
      replicas: 5,
      requests: { cpu: '750m', memory: '4Gi' },
      budget: { maxUnavailable: '25%' },
    },
  ],
  daemons: [
    { name: 'node-agent', requests: { cpu: '100m', memory: '128Mi' } },
    { name: 'log-shipper', requests: { cpu: '50m', memory: '96Mi' } },
  ],
  policy: demonstrationPolicy,
};

/** Puts the fleet into the world at its present instant, and lets its Pods come up. */
export function buildFleet(world: World, fleet: Fleet = demonstrationFleet): void {
  const { store } = world;
  for (const name of ['default', 'kube-system', workloadNamespace, placeholderNamespace]) {
    store.create({ kind: 'Namespace', metadata: { name } });
  }
  store.create({
    kind: 'PriorityClass',
    metadata: { name: placeholderPriorityClass },
    value: -10,
    preemptionPolicy: 'Never',
    globalDefault: false,
    description: 'Placeholder Pods of node rotation',
  });
  store.create(fleet.policy);
  for (const pool of fleet.pools) addPool(world, pool);
  for (const daemon of fleet.daemons) store.create(daemonManifest(daemon.name, daemon.requests));
  for (const app of fleet.apps) {
    for (const manifest of appManifests(app)) store.create(manifest);
  }
  world.advance(add(world.now, minutes(1)));
}

const templateSpecOf = (pool: FleetPool) => ({
  expireAfter: '336h',
  terminationGracePeriod: '1h',
  nodeClassRef: { group: 'eks.amazonaws.com', kind: 'NodeClass', name: 'default' },
  requirements: [
    { key: 'node.kubernetes.io/instance-type', operator: 'In', values: [pool.instanceType] },
    { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
    { key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] },
    { key: 'topology.kubernetes.io/zone', operator: 'In', values: zones },
  ],
});

function addPool(world: World, pool: FleetPool): void {
  const spec = templateSpecOf(pool);
  const object = world.store.adopt<KubeObject>({
    kind: 'NodePool',
    metadata: {
      name: pool.name,
      labels: { workload: pool.name },
      creationTimestamp: stamp(subtract(world.now, days(30))),
    },
    spec: {
      template: { metadata: { labels: { workload: pool.name } }, spec },
      disruption: { consolidationPolicy: 'WhenEmpty', consolidateAfter: '10m', budgets: [{ nodes: '10%' }] },
      limits: pool.limits,
    },
  });
  for (const [index, age] of pool.ages.slice(0, pool.nodes).entries())
    addNode(world, pool, object, index, subtract(world.now, age));
}

/** A node that has long been there, with its claim. */
function addNode(world: World, pool: FleetPool, owner: KubeObject, index: number, created: Instant): void {
  const { store, random } = world;
  const type = instanceTypes.find(({ name }) => name === pool.instanceType) ?? instanceTypes[0];
  if (!type) return;
  const zone = zones[index % zones.length];
  const offering = offeringsOf(type).find(
    ({ labels }) =>
      labels['topology.kubernetes.io/zone'] === zone && labels['karpenter.sh/capacity-type'] === 'on-demand',
  );
  const name = `${pool.name}-${random.suffix()}`;
  const hostName = `ip-10-0-${random.below(256)}-${random.below(256)}.ap-northeast-1.compute.internal`;
  const registered = add(created, minutes(1));
  const labels = { ...offering?.labels, workload: pool.name, [nodePoolLabel]: pool.name };
  const providerID = `aws:///${zone}/i-0${random.uid().slice(-12)}`;
  const conditions = ['Launched', 'Registered', 'Initialized', 'Ready'].reduce(
    (before, condition) => withCondition(before, registered, condition, 'True', condition),
    withCondition([], registered, 'ConsistentStateFound', 'True', 'ConsistentStateFound'),
  );
  const claim = store.adopt<KubeObject>({
    kind: 'NodeClaim',
    metadata: {
      name,
      labels,
      finalizers: [terminationFinalizer],
      creationTimestamp: stamp(created),
      ownerReferences: [{ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: pool.name, uid: owner.metadata.uid }],
    },
    spec: { ...templateSpecOf(pool), resources: { requests: { cpu: '1', memory: '2Gi', pods: '5' } } },
    status: {
      nodeName: hostName,
      providerID,
      capacity: formatResourceList(type.capacity),
      allocatable: formatResourceList(type.allocatable),
      conditions,
    },
  });
  store.adopt({
    kind: 'Node',
    metadata: {
      name: hostName,
      labels: {
        ...labels,
        'kubernetes.io/hostname': hostName,
        'karpenter.sh/registered': 'true',
        'karpenter.sh/initialized': 'true',
      },
      finalizers: [terminationFinalizer],
      creationTimestamp: stamp(registered),
      ownerReferences: [{ apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name, uid: claim.metadata.uid }],
    },
    spec: { providerID, taints: [] },
    status: {
      capacity: formatResourceList(type.capacity),
      allocatable: formatResourceList(plus(type.allocatable, measuredBonus)),
      conditions: withCondition([], registered, 'Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
    },
  });
}

const container = (name: string, requests: Strings) => ({
  name,
  image: `registry.example/${name}:1`,
  resources: { requests },
});

function daemonManifest(name: string, requests: Strings): Manifest {
  const labels = { app: name };
  return {
    kind: 'DaemonSet',
    metadata: { name, namespace: 'kube-system', labels },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [container(name, requests)], tolerations: [{ operator: 'Exists' }] },
      },
    },
  };
}

function appManifests(app: FleetApp): readonly Manifest[] {
  const labels = { app: app.name };
  const metadata = { name: app.name, namespace: workloadNamespace, labels };
  const spec = { containers: [container(app.name, app.requests)], nodeSelector: { workload: app.pool } };
  return [
    {
      kind: 'Deployment',
      metadata,
      spec: { replicas: app.replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    },
    { kind: 'PodDisruptionBudget', metadata, spec: { selector: { matchLabels: labels }, ...app.budget } },
  ];
}
