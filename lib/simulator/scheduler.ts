/**
 * The kube-scheduler: binds pending Pods, says why it cannot, and preempts lower priorities where a Pod may.
 *
 * A node reserved for a preemptor (nominatedNodeName) is no room for anybody of lower priority.
 */
import type { ResourceList } from '../domain/cluster/resource-list.ts';
import { amountOf, exceeding, minus, total } from '../domain/cluster/resource-list.ts';
import type { Condition, NodeObject, PodObject } from './kube-object.ts';
import { createdAt, isDeleting, isTrue, withCondition } from './kube-object.ts';
import { allocatableOf, hasRoomFor, roomOn } from './node-room.ts';
import type { Needs } from './pod-needs.ts';
import { acceptsNode, needsOf, refusedTaints, termMatches } from './pod-needs.ts';
import { chooseVictims } from './preemption.ts';
import type { Model, WorldState } from './world-state.ts';

const unschedulableTaint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

export const scheduler: Model = {
  reads: ['Pod', 'Node', 'PodDisruptionBudget', 'ReplicaSet', 'StatefulSet'],
  run(world) {
    const pending = world.store.podsOn('').filter((pod) => pod.status.phase === 'Pending' && !isDeleting(pod));
    const order = pending.toSorted(
      (a, b) =>
        (b.spec.priority ?? 0) - (a.spec.priority ?? 0) ||
        createdAt(a) - createdAt(b) ||
        (a.metadata.name < b.metadata.name ? -1 : 1),
    );
    for (const pod of order) place(world, pod);
    return undefined;
  },
};

function place(world: WorldState, pod: PodObject): void {
  const { store } = world;
  const needs = needsOf(pod);
  const nodes = store.all<NodeObject>('Node');
  const verdicts = nodes.map((node) => ({ node, objection: objectionTo(needs, node) }));
  const open = verdicts.filter(({ objection }) => objection === undefined).map(({ node }) => node);
  const roomFor = (node: NodeObject): ResourceList => minus(roomOn(store, node), heldForOthers(world, node, pod));
  const fitting = open.filter((node) => hasRoomFor(needs.requests, roomFor(node)));
  const best = bestOf(world, needs, fitting);
  if (best) {
    bind(world, pod, best);
    return;
  }
  const victims =
    pod.spec.preemptionPolicy === 'Never' || reservedNode(world, pod) ? undefined : chooseVictims(world, pod, open);
  for (const victim of victims?.pods ?? []) store.terminate(victim);
  const reasons = verdicts.map(
    ({ node, objection }) => objection ?? `Insufficient ${exceeding(needs.requests, roomFor(node))[0] ?? 'room'}`,
  );
  store.update(pod, {
    status: {
      nominatedNodeName: victims?.node.metadata.name ?? reservedNode(world, pod),
      conditions: scheduledCondition(world, pod, false, unschedulableMessage(reasons, victims !== undefined)),
    },
  });
}

/** The node that was cleared for this Pod, while it still exists. */
function reservedNode(world: WorldState, pod: PodObject): string | undefined {
  const name = pod.status.nominatedNodeName;
  const stillLeaving = name !== undefined && world.store.podsOn(name).some(isDeleting);
  return stillLeaving && world.store.get('Node', name) ? name : undefined;
}

/** Room that preemptors of at least this priority have been promised there. */
function heldForOthers(world: WorldState, node: NodeObject, pod: PodObject): ResourceList {
  const others = world.store
    .podsOn('')
    .filter(
      (other) =>
        other.status.nominatedNodeName === node.metadata.name &&
        other.metadata.uid !== pod.metadata.uid &&
        (other.spec.priority ?? 0) >= (pod.spec.priority ?? 0),
    );
  return total(others.map((other) => needsOf(other).requests));
}

function objectionTo(needs: Needs, node: NodeObject): string | undefined {
  const taints = node.spec.taints ?? [];
  if (node.spec.unschedulable && refusedTaints(needs, [unschedulableTaint]).length > 0)
    return 'node(s) were unschedulable';
  const [refusedTaint] = refusedTaints(needs, taints);
  if (refusedTaint) return `node(s) had untolerated taint(s) {${refusedTaint.key}: ${refusedTaint.value ?? ''}}`;
  if (!isTrue(node, 'Ready')) return 'node(s) were not ready';
  if (!acceptsNode(needs, node)) return "node(s) didn't match Pod's node affinity/selector";
  return undefined;
}

/** The highest sum of preferred weights; among equals the one with the largest free share, then by name. */
function bestOf(world: WorldState, needs: Needs, nodes: readonly NodeObject[]): NodeObject | undefined {
  const ranked = nodes.map((node) => ({ node, preference: preferenceFor(needs, node), free: freeShare(world, node) }));
  ranked.sort(
    (a, b) => b.preference - a.preference || b.free - a.free || (a.node.metadata.name < b.node.metadata.name ? -1 : 1),
  );
  return ranked[0]?.node;
}

const preferenceFor = (needs: Needs, node: NodeObject): number =>
  needs.preferences
    .filter(({ term }) => termMatches(term, node.metadata.labels ?? {}, node.metadata.name))
    .reduce((sum, { weight }) => sum + weight, 0);

function freeShare(world: WorldState, node: NodeObject): number {
  const room = roomOn(world.store, node);
  const whole = allocatableOf(node);
  const share = (resource: string): number =>
    Number(amountOf(room, resource)) / Math.max(1, Number(amountOf(whole, resource)));
  return share('cpu') + share('memory');
}

function bind(world: WorldState, pod: PodObject, node: NodeObject): void {
  world.store.update(pod, {
    spec: { nodeName: node.metadata.name },
    status: { nominatedNodeName: undefined, conditions: scheduledCondition(world, pod, true, '') },
  });
}

function scheduledCondition(
  world: WorldState,
  pod: PodObject,
  scheduled: boolean,
  message: string,
): readonly Condition[] {
  return scheduled
    ? withCondition(pod.status.conditions, world.now, 'PodScheduled', 'True', '')
    : withCondition(pod.status.conditions, world.now, 'PodScheduled', 'False', 'Unschedulable', message);
}

/** In the words of the real one: `0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.` */
function unschedulableMessage(reasons: readonly string[], preempting: boolean): string {
  if (reasons.length === 0) return 'no nodes available to schedule pods';
  const counts = [...Map.groupBy(reasons, (reason) => reason)]
    .map(([reason, same]) => `${same.length} ${reason}`)
    .sort();
  const outlook = preempting
    ? ''
    : ` preemption: 0/${reasons.length} nodes are available: no lower-priority Pods would make room.`;
  return `0/${reasons.length} nodes are available: ${counts.join(', ')}.${outlook}`;
}
