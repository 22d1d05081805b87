/**
 * How a NodeClaim becomes a node: launched, registered, initialized; given up when the instance does not appear.
 */
import { formatResourceList, plus } from '../domain/cluster/resource-list.ts';
import type { Instant } from '../domain/time.ts';
import { add, minutes, seconds } from '../domain/time.ts';
import type { Offering } from './instance-types.ts';
import { measuredBonus } from './instance-types.ts';
import type { ClaimObject, NodeObject } from './kube-object.ts';
import { conditionSince, createdAt, isDeleting, isTrue, withCondition } from './kube-object.ts';
import {
  launchChoices,
  nodeLabels,
  nodeOf,
  noteShortage,
  offeringOf,
  poolOf,
  templateLabels,
  terminationFinalizer,
} from './node-claims.ts';
import { drawnSeconds, luckOf } from './random.ts';
import type { Model, WorldState } from './world-state.ts';
import { nextOf } from './world-state.ts';

const launchTimeout = minutes(5);
const registrationTimeout = minutes(15);

export const claimLifecycle: Model = {
  reads: ['NodeClaim', 'Node', 'cloud'],
  run(world) {
    const moments = world.store
      .all<ClaimObject>('NodeClaim')
      .filter((claim) => !isDeleting(claim) && !isTrue(claim, 'Ready'))
      .map((claim) => advanceClaim(world, claim));
    return nextOf(world.now, moments);
  },
};

function advanceClaim(world: WorldState, claim: ClaimObject): Instant | undefined {
  const { now, delays, store } = world;
  const offering = offeringOf(world, claim);
  const after = (range: keyof typeof delays, from: Instant): Instant =>
    add(from, seconds(drawnSeconds(delays[range], claim.metadata.uid + range)));
  const created = createdAt(claim);
  if (!isTrue(claim, 'Launched')) {
    const due = after('launch', created);
    if (due > now) return due;
    return tryLaunch(world, claim, created);
  }
  if (!isTrue(claim, 'Registered')) {
    const due = after('registration', created);
    if (due > now) return due;
    const givesUp = add(created, registrationTimeout);
    if (offering && world.cloud.outcomeOf(offering, claim.metadata.name) !== 'neverRegisters')
      register(world, claim, offering);
    else if (givesUp <= now) store.terminate(claim);
    else return givesUp;
    return undefined;
  }
  const due = after('initialization', conditionSince(claim, 'Registered') ?? now);
  if (due > now) return due;
  initialize(world, claim);
  return undefined;
}

/** The cloud takes the first of the claim's offerings that it has; a claim that gets none is given up at once. */
function tryLaunch(world: WorldState, claim: ClaimObject, created: Instant): Instant | undefined {
  const { store, cloud, now } = world;
  for (const offering of launchChoices(world, claim)) {
    const outcome = cloud.outcomeOf(offering, claim.metadata.name);
    if (outcome === 'insufficientCapacity') {
      noteShortage(world, offering);
      continue;
    }
    if (outcome !== 'neverLaunches') {
      launch(world, claim, offering);
      return undefined;
    }
    const givesUp = add(created, launchTimeout);
    if (givesUp > now) return givesUp;
    break;
  }
  store.remove(claim);
  return undefined;
}

function launch(world: WorldState, claim: ClaimObject, { type, labels }: Offering): void {
  const instance = `i-0${Math.floor(luckOf(claim.metadata.uid) * 2 ** 32)
    .toString(16)
    .padStart(8, '0')}${claim.metadata.uid.slice(-8)}`;
  world.store.update(claim, {
    metadata: { labels: { ...claim.metadata.labels, ...labels } },
    status: {
      providerID: `aws:///${labels['topology.kubernetes.io/zone']}/${instance}`,
      imageID: world.cloud.image,
      capacity: formatResourceList(type.capacity),
      allocatable: formatResourceList(type.allocatable),
      conditions: withCondition(claim.status.conditions, world.now, 'Launched', 'True', 'Launched'),
    },
  });
}

function register(world: WorldState, claim: ClaimObject, offering: Offering): void {
  const { store, now } = world;
  const name = freeHostName(world, claim);
  const labels = nodeLabels(offering, templateLabels(poolOf(claim), claim.metadata.labels, claim.spec));
  store.adopt({
    kind: 'Node',
    metadata: {
      name,
      labels: { ...labels, 'kubernetes.io/hostname': name, 'karpenter.sh/registered': 'true' },
      annotations: { ...claim.metadata.annotations },
      finalizers: [terminationFinalizer],
      ownerReferences: [
        { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name: claim.metadata.name, uid: claim.metadata.uid },
      ],
    },
    spec: { providerID: claim.status.providerID, taints: claim.spec.taints ?? [] },
    status: {
      capacity: formatResourceList(offering.type.capacity),
      allocatable: formatResourceList(plus(offering.type.allocatable, measuredBonus)),
      conditions: withCondition([], now, 'Ready', 'False', 'KubeletNotReady', 'container runtime network not ready'),
    },
  });
  store.update(claim, {
    status: {
      nodeName: name,
      conditions: withCondition(claim.status.conditions, now, 'Registered', 'True', 'Registered'),
    },
  });
}

/** Host names as EC2 gives them, from the private address. */
function freeHostName(world: WorldState, claim: ClaimObject): string {
  for (let attempt = 0; ; attempt += 1) {
    const luck = Math.floor(luckOf(`${claim.metadata.uid}/${attempt}`) * 2 ** 16);
    const name = `ip-10-0-${luck >> 8}-${luck & 255}.ap-northeast-1.compute.internal`;
    if (!world.store.get('Node', name)) return name;
  }
}

function initialize(world: WorldState, claim: ClaimObject): void {
  const { store, now } = world;
  const node = nodeOf(store, claim);
  if (!node) return;
  // Karpenter calls a claim Initialized only once the ephemeral taints are gone, or its planning would refuse the node.
  const taints = (node.spec.taints ?? []).filter((taint) => taint.key !== 'node.kubernetes.io/not-ready');
  const ready = store.update<NodeObject>(node, {
    metadata: { labels: { ...node.metadata.labels, 'karpenter.sh/initialized': 'true' } },
    spec: { ...node.spec, taints },
    status: {
      conditions: withCondition(
        node.status.conditions,
        now,
        'Ready',
        'True',
        'KubeletReady',
        'kubelet is posting ready status',
      ),
    },
  });
  if (!ready) return;
  const initialized = withCondition(claim.status.conditions, now, 'Initialized', 'True', 'Initialized');
  store.update(claim, { status: { conditions: withCondition(initialized, now, 'Ready', 'True', 'Ready') } });
}
