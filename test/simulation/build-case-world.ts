/**
 * Puts the pools, nodes, workloads and policies of a case into a simulated world.
 */
import { formatResourceList, parseResourceList, plus } from '../../lib/domain/cluster/resource-list.ts';
import type { Instant } from '../../lib/domain/time.ts';
import { add, days, minutes, subtract } from '../../lib/domain/time.ts';
import { hashAnnotations } from '../../lib/simulator/drift.ts';
import type { InstanceType } from '../../lib/simulator/instance-types.ts';
import { instanceTypes, measuredBonus, offeringsOf } from '../../lib/simulator/instance-types.ts';
import type { KubeObject, Manifest, PoolObject } from '../../lib/simulator/kube-object.ts';
import { stamp, withCondition } from '../../lib/simulator/kube-object.ts';
import { nodePoolLabel, terminationFinalizer } from '../../lib/simulator/node-claims.ts';
import { runAnnotation, stopAnnotation } from '../../lib/simulator/workloads.ts';
import { World } from '../../lib/simulator/world.ts';
import type { Delays } from '../../lib/simulator/world-state.ts';
import { at } from '../support/builders.ts';
import type { AppPlan, NodePlan, PoolPlan, SimCase } from './sim-case.ts';

const resources = (list: Readonly<Record<string, string>>) => parseResourceList(list, '').list;

/** One type with an accelerator, which the simulator's own list lacks. */
const gpuType: InstanceType = {
  name: 'g5.xlarge',
  arch: 'amd64',
  capacity: resources({ cpu: '4', memory: '16Gi', pods: '58', 'ephemeral-storage': '80Gi', 'nvidia.com/gpu': '1' }),
  allocatable: resources({
    cpu: '3920m',
    memory: '15155Mi',
    pods: '58',
    'ephemeral-storage': '80Gi',
    'nvidia.com/gpu': '1',
  }),
  price: 1006,
};
const types = instanceTypes.some(({ name }) => name === gpuType.name) ? instanceTypes : [...instanceTypes, gpuType];

const slowly: Partial<Delays> = {
  launch: { min: 5, max: 60 },
  registration: { min: 60, max: 420 },
  initialization: { min: 5, max: 120 },
  podStart: { min: 5, max: 120 },
  podStop: { min: 3, max: 120 },
};

export const workloadNamespace = 'shop';

export function buildCaseWorld(simCase: SimCase): World {
  const startsAt = at(simCase.startsAt);
  const world = new World({
    startsAt: subtract(startsAt, minutes(2)),
    seed: simCase.seed,
    instanceTypes: types,
    repairsNodes: simCase.repairsNodes ?? false,
    ...(simCase.slow ? { delays: slowly } : {}),
  });
  const { store } = world;
  for (const name of ['default', 'kube-system', workloadNamespace, 'node-rotation'])
    store.create({ kind: 'Namespace', metadata: { name } });
  store.create({
    kind: 'PriorityClass',
    metadata: { name: 'node-rotation-placeholder' },
    value: -10,
    preemptionPolicy: 'Never',
  });
  for (const policy of simCase.policies) store.create(policy);
  for (const pool of simCase.pools) addPool(world, pool, startsAt);
  for (let index = 0; index < simCase.daemons; index += 1) store.create(daemon(index));
  for (const app of simCase.apps) {
    if (simCase.pools.some(({ name }) => name === app.pool))
      for (const manifest of appManifests(app)) store.create(manifest);
  }
  world.advance(startsAt);
  return world;
}

const templateOf = (pool: PoolPlan, own: NodePlan | undefined) => {
  const expireAfter = own?.expireAfter ?? pool.expireAfter;
  const terminationGracePeriod = own?.terminationGracePeriod ?? pool.terminationGracePeriod;
  return {
    ...(expireAfter === undefined ? {} : { expireAfter }),
    ...(terminationGracePeriod === undefined ? {} : { terminationGracePeriod }),
    ...(pool.tainted ? { taints: [{ key: 'team', value: pool.team, effect: 'NoSchedule' }] } : {}),
    nodeClassRef: { group: 'eks.amazonaws.com', kind: 'NodeClass', name: 'default' },
    requirements: [
      { key: 'node.kubernetes.io/instance-type', operator: 'In', values: [pool.instanceType] },
      { key: 'karpenter.sh/capacity-type', operator: 'In', values: [pool.capacityType] },
      { key: 'topology.kubernetes.io/zone', operator: 'In', values: pool.zones },
    ],
  };
};

/** What GitOps holds of a pool, and reverts it to. */
export const poolManifest = (pool: PoolPlan): Manifest => ({
  kind: 'NodePool',
  metadata: { name: pool.name, labels: { workload: pool.name, team: pool.team } },
  spec: {
    template: { metadata: { labels: { workload: pool.name } }, spec: templateOf(pool, undefined) },
    disruption: {
      consolidationPolicy: pool.consolidationPolicy ?? 'WhenEmpty',
      consolidateAfter: pool.consolidateAfter,
      budgets: [{ nodes: pool.budget ?? '10%' }],
    },
    ...(pool.limits ? { limits: pool.limits } : {}),
    ...(pool.replicas === undefined ? {} : { replicas: pool.replicas }),
  },
});

function addPool(world: World, pool: PoolPlan, startsAt: Instant): void {
  const manifest = poolManifest(pool);
  const object = world.store.adopt<PoolObject>({
    ...manifest,
    metadata: { ...manifest.metadata, creationTimestamp: stamp(subtract(startsAt, days(60))) },
  });
  for (const [index, node] of pool.nodes.entries()) addNode(world, pool, node, object, index, startsAt);
}

function addNode(
  world: World,
  pool: PoolPlan,
  plan: NodePlan,
  owner: PoolObject,
  index: number,
  startsAt: Instant,
): void {
  const { store } = world;
  const type = types.find(({ name }) => name === pool.instanceType) as InstanceType;
  const zone = pool.zones[index % pool.zones.length] as string;
  const offering = offeringsOf(type).find(
    ({ labels }) =>
      labels['topology.kubernetes.io/zone'] === zone && labels['karpenter.sh/capacity-type'] === pool.capacityType,
  );
  const created = subtract(startsAt, minutes(plan.ageMinutes));
  const registered = add(created, minutes(1));
  const name = `${pool.name}-n${index}`;
  const hostName = `node-${name}`;
  const labels = { ...offering?.labels, workload: pool.name, [nodePoolLabel]: pool.name };
  const providerID = `aws:///${zone}/i-${name}`;
  const taints = pool.tainted ? [{ key: 'team', value: pool.team, effect: 'NoSchedule' }] : [];
  const conditions = ['Launched', 'Registered', 'Initialized', 'Ready'].reduce(
    (before, condition) => withCondition(before, registered, condition, 'True', condition),
    withCondition([], registered, 'ConsistentStateFound', 'True', 'ConsistentStateFound'),
  );
  const spec = templateOf(pool, plan);
  const claim = store.adopt<KubeObject>({
    kind: 'NodeClaim',
    metadata: {
      name,
      labels,
      // One with a life of its own is from before templates were hashed, and does not drift by them.
      ...((plan.expireAfter ?? plan.terminationGracePeriod) ? {} : { annotations: hashAnnotations(owner) }),
      finalizers: [terminationFinalizer],
      creationTimestamp: stamp(created),
      ownerReferences: [{ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: pool.name, uid: owner.metadata.uid }],
    },
    spec: {
      ...spec,
      expireAfter: spec.expireAfter ?? '720h',
      terminationGracePeriod: spec.terminationGracePeriod ?? '24h0m0s',
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
      finalizers: [terminationFinalizer],
      creationTimestamp: stamp(registered),
      ownerReferences: [{ apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name, uid: claim.metadata.uid }],
    },
    spec: { providerID, taints },
    status: {
      capacity: formatResourceList(type.capacity),
      allocatable: formatResourceList(plus(type.allocatable, measuredBonus)),
      conditions: withCondition([], registered, 'Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
    },
  });
}

function daemon(index: number): Manifest {
  const labels = { app: `daemon-${index}` };
  return {
    kind: 'DaemonSet',
    metadata: { name: `daemon-${index}`, namespace: 'kube-system', labels },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [{ name: 'main', resources: { requests: { cpu: '50m', memory: '64Mi' } } }],
          tolerations: [{ operator: 'Exists' }],
        },
      },
    },
  };
}

function appManifests(app: AppPlan): readonly Manifest[] {
  const labels = { app: app.name };
  const accelerators = Object.fromEntries(Object.entries(app.requests).filter(([name]) => name.includes('/')));
  const template = {
    metadata: {
      labels,
      annotations: {
        [stopAnnotation]: String(app.stopSeconds),
        ...(app.runSeconds === undefined ? {} : { [runAnnotation]: String(app.runSeconds) }),
        ...(app.doNotDisrupt ? { 'karpenter.sh/do-not-disrupt': 'true' } : {}),
      },
    },
    spec: {
      containers: [{ name: 'main', resources: { requests: app.requests, limits: accelerators } }],
      nodeSelector: { workload: app.pool },
      tolerations: [{ key: 'team', operator: 'Exists' }],
      terminationGracePeriodSeconds: app.graceSeconds,
      ...(app.kind === 'Job' ? { activeDeadlineSeconds: 4 * 3600 } : {}),
    },
  };
  const metadata = { name: app.name, namespace: workloadNamespace, labels };
  const budgets = app.budget ? [app.name, ...(app.twoBudgets ? [`${app.name}-again`] : [])] : [];
  return [
    ...(app.kind === 'Pod'
      ? Array.from({ length: app.replicas }, (_, index) => ({
          kind: 'Pod',
          metadata: { ...template.metadata, name: `${app.name}-${index}`, namespace: workloadNamespace },
          spec: template.spec,
        }))
      : app.kind === 'Job'
        ? [{ kind: 'Job', metadata, spec: { completions: 3 * app.replicas, parallelism: app.replicas, template } }]
        : [
            { kind: app.kind, metadata, spec: { replicas: app.replicas, selector: { matchLabels: labels }, template } },
          ]),
    ...budgets.map((name) => ({
      kind: 'PodDisruptionBudget',
      metadata: { name, namespace: workloadNamespace },
      spec: { selector: { matchLabels: labels }, ...app.budget },
    })),
  ];
}
