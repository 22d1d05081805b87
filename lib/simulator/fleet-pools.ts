/**
 * NodePools of a fleet with nodes that have long been there, each with its claim.
 *
 * What a pool does not say is as in Auto Mode: 336h, one hour of grace, on demand, every zone, WhenEmpty after ten
 * minutes, a tenth at a time. A node may differ from its pool, as one does that was launched before the pool was edited.
 */
import { formatResourceList, plus } from '../domain/cluster/resource-list.ts';
import type { Duration, Instant } from '../domain/time.ts';
import { add, days, minutes, subtract } from '../domain/time.ts';
import { hashAnnotations } from './drift.ts';
import type { InstanceType } from './instance-types.ts';
import { instanceTypes, measuredBonus, offeringsOf, zones } from './instance-types.ts';
import type { ClaimSpec, PoolObject, RawTaint, Strings } from './kube-object.ts';
import { stamp, withCondition } from './kube-object.ts';
import { nodePoolLabel, terminationFinalizer } from './node-claims.ts';
import type { World } from './world.ts';

export interface FleetPool {
  readonly name: string;
  readonly instanceType: string;
  readonly nodes: number;
  /** Per node; the oldest first. */
  readonly ages: readonly Duration[];
  readonly limits?: Strings;
  /** Karpenter's text, `Never` included. */
  readonly expireAfter?: string;
  /** null leaves it out of the pool. */
  readonly terminationGracePeriod?: string | null;
  /** Nodes by index whose claims were made under another template. */
  readonly differing?: Readonly<Record<number, Pick<ClaimSpec, 'expireAfter' | 'terminationGracePeriod'>>>;
  readonly zones?: readonly string[];
  readonly capacityType?: 'on-demand' | 'spot';
  readonly taints?: readonly RawTaint[];
  /** Beside `workload`, which is the pool's name; on the pool and on its nodes. */
  readonly labels?: Strings;
  readonly weight?: number;
  /** A pool of a fixed size. */
  readonly replicas?: number;
  readonly disruption?: NonNullable<PoolObject['spec']['disruption']>;
}

type Template = ClaimSpec & { readonly nodeClassRef: object };

function templateSpecOf(pool: FleetPool, type: InstanceType): Template {
  const { expireAfter = '336h', terminationGracePeriod = '1h', taints } = pool;
  return {
    expireAfter,
    ...(terminationGracePeriod === null ? {} : { terminationGracePeriod }),
    nodeClassRef: { group: 'eks.amazonaws.com', kind: 'NodeClass', name: 'default' },
    ...(taints === undefined ? {} : { taints }),
    requirements: [
      { key: 'node.kubernetes.io/instance-type', operator: 'In', values: [pool.instanceType] },
      { key: 'karpenter.sh/capacity-type', operator: 'In', values: [pool.capacityType ?? 'on-demand'] },
      { key: 'kubernetes.io/arch', operator: 'In', values: [type.arch] },
      { key: 'topology.kubernetes.io/zone', operator: 'In', values: pool.zones ?? zones },
    ],
  };
}

/** Puts the pool and its nodes into the world. A type that the world does not sell is a bug of the caller. */
export function addPool(world: World, pool: FleetPool): void {
  const type = world.instanceTypes.find(({ name }) => name === pool.instanceType) ?? (instanceTypes[0] as InstanceType);
  const labels = { workload: pool.name, ...pool.labels };
  const { weight, replicas, limits } = pool;
  const object = world.store.adopt<PoolObject>({
    kind: 'NodePool',
    metadata: { name: pool.name, labels, creationTimestamp: stamp(subtract(world.now, days(30))) },
    spec: {
      template: { metadata: { labels }, spec: templateSpecOf(pool, type) },
      disruption: pool.disruption ?? {
        consolidationPolicy: 'WhenEmpty',
        consolidateAfter: '10m',
        budgets: [{ nodes: '10%' }],
      },
      ...(limits === undefined ? {} : { limits }),
      ...(weight === undefined ? {} : { weight }),
      ...(replicas === undefined ? {} : { replicas }),
    },
  });
  for (const [index, age] of pool.ages.slice(0, pool.nodes).entries())
    addNode(world, pool, type, object, index, subtract(world.now, age));
}

function addNode(
  world: World,
  pool: FleetPool,
  type: InstanceType,
  owner: PoolObject,
  index: number,
  created: Instant,
): void {
  const { store, random } = world;
  const within = pool.zones ?? zones;
  const zone = within[index % within.length];
  const offering = offeringsOf(type).find(
    ({ labels }) =>
      labels['topology.kubernetes.io/zone'] === zone &&
      labels['karpenter.sh/capacity-type'] === (pool.capacityType ?? 'on-demand'),
  );
  const name = `${pool.name}-${random.suffix()}`;
  const hostName = freeHostName(world);
  const registered = add(created, minutes(1));
  const labels = { ...offering?.labels, ...owner.spec.template.metadata?.labels, [nodePoolLabel]: pool.name };
  const annotations = hashAnnotations(owner);
  const providerID = `aws:///${zone}/i-0${random.uid().slice(-12)}`;
  const conditions = ['Launched', 'Registered', 'Initialized', 'Ready'].reduce(
    (before, condition) => withCondition(before, registered, condition, 'True', condition),
    withCondition([], registered, 'ConsistentStateFound', 'True', 'ConsistentStateFound'),
  );
  const { template } = owner.spec;
  const claim = store.adopt({
    kind: 'NodeClaim',
    metadata: {
      name,
      labels,
      annotations,
      finalizers: [terminationFinalizer],
      creationTimestamp: stamp(created),
      ownerReferences: [{ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: pool.name, uid: owner.metadata.uid }],
    },
    spec: {
      // Auto Mode gives every claim a grace, also where the pool names none.
      terminationGracePeriod: '24h0m0s',
      ...template.spec,
      ...pool.differing?.[index],
      resources: { requests: { cpu: '1', memory: '2Gi', pods: '5' } },
    },
    status: {
      nodeName: hostName,
      providerID,
      imageID: world.cloud.image,
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
      annotations,
      finalizers: [terminationFinalizer],
      creationTimestamp: stamp(registered),
      ownerReferences: [{ apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name, uid: claim.metadata.uid }],
    },
    spec: { providerID, taints: pool.taints ?? [] },
    status: {
      capacity: formatResourceList(type.capacity),
      allocatable: formatResourceList(plus(type.allocatable, measuredBonus)),
      conditions: withCondition([], registered, 'Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
    },
  });
}

/** Two nodes of a large fleet do not share an address. */
function freeHostName({ store, random }: World): string {
  for (;;) {
    const name = `ip-10-0-${random.below(256)}-${random.below(256)}.ap-northeast-1.compute.internal`;
    if (!store.get('Node', name)) return name;
  }
}
