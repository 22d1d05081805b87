/**
 * Nodes that stop answering: their Pods count as unhealthy, are told to go after their toleration, and the node may be repaired.
 *
 * A machine that is gone is noticed 40 seconds later, and its NodeClaim is deleted on Karpenter's next two-minute round;
 * nothing is drained then. Repair looks at neither budgets nor do-not-disrupt, and drains nothing either.
 */
import { tolerates } from '../domain/cluster/pod.ts';
import type { Instant } from '../domain/time.ts';
import { add, minutes, seconds } from '../domain/time.ts';
import type { ClaimObject, NodeObject, PodObject } from './kube-object.ts';
import { conditionSince, isDeleting, isTrue, stamp, withCondition } from './kube-object.ts';
import { livingClaims, nodeOf, poolOf, terminationTimestamp } from './node-claims.ts';
import { isDaemon, isTerminal } from './pod-needs.ts';
import type { Model, WorldState } from './world-state.ts';
import { nextBeat, nextOf } from './world-state.ts';

const noticedAfter = seconds(40);
const collectsEverySeconds = 120;
const usualToleration = seconds(300);
const repairsAfter = minutes(30);
const notReadyTaint = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' };
const nodeNotReady = 'NodeNotReady';

/** Sets whether the kubelet of a node reports; what it runs stays as it is until it reports again. */
export function setNodeReady(world: WorldState, name: string, ready: boolean): void {
  const node = world.store.get('Node', name) as NodeObject | undefined;
  if (!node) return;
  const conditions = ready
    ? withCondition(
        node.status.conditions,
        world.now,
        'Ready',
        'True',
        'KubeletReady',
        'kubelet is posting ready status',
      )
    : withCondition(
        node.status.conditions,
        world.now,
        'Ready',
        'Unknown',
        'NodeStatusUnknown',
        'Kubelet stopped posting node status.',
      );
  world.store.update(node, { status: { conditions } });
}

/** The machine under a node is gone, this moment, and nobody was told. */
export function takeInstance(world: WorldState, nodeName: string): void {
  const node = world.store.get('Node', nodeName) as NodeObject | undefined;
  if (node?.spec.providerID) world.cloud.takeAway(node.spec.providerID, world.now);
}

/** The cloud wants a spot instance back: Karpenter begins to drain it, and in two minutes the machine is gone. */
export function interruptSpot(world: WorldState, nodeName: string): void {
  const node = world.store.get('Node', nodeName) as NodeObject | undefined;
  const claim = world.store.all<ClaimObject>('NodeClaim').find(({ status }) => status.nodeName === nodeName);
  if (!node?.spec.providerID || !claim) return;
  world.cloud.takeAway(node.spec.providerID, add(world.now, minutes(2)));
  world.store.terminate(claim);
}

export const isInstanceGone = ({ cloud, now }: WorldState, providerID: string | undefined): boolean =>
  (cloud.goneAt(providerID) ?? Number.POSITIVE_INFINITY) <= now;

/** Notices machines that are gone. */
export const goneInstances: Model = {
  reads: ['NodeClaim', 'Node', 'cloud'],
  run(world) {
    const { store, cloud, now } = world;
    const moments = store.all<ClaimObject>('NodeClaim').map((claim) => {
      const gone = cloud.goneAt(claim.status.providerID);
      if (gone === undefined) return undefined;
      const noticed = add(gone, noticedAfter);
      const collected = nextBeat(noticed, collectsEverySeconds);
      const node = nodeOf(store, claim);
      if (noticed <= now && node && isTrue(node, 'Ready')) setNodeReady(world, node.metadata.name, false);
      if (collected <= now && !isDeleting(claim)) store.terminate(claim);
      return nextOf(now, [gone, noticed, collected]);
    });
    return nextOf(now, moments);
  },
};

/** The node-lifecycle controller's part: Pods of a silent node are unhealthy, then told to go. */
export const silentNodes: Model = {
  reads: ['Node', 'Pod'],
  run({ store, now }) {
    const moments: (Instant | undefined)[] = [];
    for (const node of store.all<NodeObject>('Node')) {
      if (isTrue(node, 'Ready')) continue;
      const since = conditionSince(node, 'Ready') ?? now;
      for (const pod of store.podsOn(node.metadata.name)) {
        if (isTerminal(pod)) continue;
        const { conditions } = pod.status;
        if (isTrue(pod, 'Ready'))
          store.update(pod, { status: { conditions: withCondition(conditions, now, 'Ready', 'False', nodeNotReady) } });
        const stays = toleratedFor(pod);
        if (stays === undefined || isDeleting(pod)) continue;
        if (add(since, stays) <= now) store.terminate(pod);
        else moments.push(add(since, stays));
      }
    }
    return nextOf(now, moments);
  },
};

/** undefined stands for ever. Admission gives every Pod five minutes that says nothing itself. */
function toleratedFor(pod: PodObject): ReturnType<typeof seconds> | undefined {
  if (isDaemon(pod)) return undefined;
  const raw = (pod.spec.tolerations ?? []).filter((toleration) =>
    tolerates([{ ...toleration, operator: toleration.operator === 'Exists' ? 'Exists' : 'Equal' }], notReadyTaint),
  );
  if (raw.length === 0) return usualToleration;
  const limits = raw.flatMap(({ tolerationSeconds }) => (tolerationSeconds === undefined ? [] : [tolerationSeconds]));
  return limits.length === 0 ? undefined : seconds(Math.max(0, Math.min(...limits)));
}

/** Whether a Pod is unhealthy only because its node does not report. */
export const waitsForItsNode = (pod: PodObject): boolean =>
  pod.status.conditions?.some(
    ({ type, status, reason }) => type === 'Ready' && status === 'False' && reason === nodeNotReady,
  ) ?? false;

/** Karpenter's repair: deletes what has not been Ready for half an hour, unless more than a fifth of the pool is. */
export const nodeRepair: Model = {
  reads: ['NodeClaim', 'Node'],
  run({ store, now }) {
    const moments = store.all<ClaimObject>('NodeClaim').map((claim) => {
      const node = nodeOf(store, claim);
      if (!node || isDeleting(claim) || isTrue(node, 'Ready') || !isTrue(claim, 'Initialized')) return undefined;
      const due = add(conditionSince(node, 'Ready') ?? now, repairsAfter);
      if (due > now) return due;
      const fellows = livingClaims(store, poolOf(claim)).flatMap((other) => nodeOf(store, other) ?? []);
      const unhealthy = fellows.filter((other) => !isTrue(other, 'Ready')).length;
      if (unhealthy > Math.ceil(fellows.length * 0.2)) return undefined;
      const annotations = { ...claim.metadata.annotations, [terminationTimestamp]: stamp(now) };
      const told = store.update(claim, { metadata: { annotations } });
      if (told) store.terminate(told);
      return undefined;
    });
    return nextOf(now, moments);
  },
};
