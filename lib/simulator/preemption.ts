/**
 * Which Pods of lower priority have to go so that a Pod finds room, and on which node that costs least.
 */
import { minus, plus } from '../domain/cluster/resource-list.ts';
import { budgetsOf, countBudget } from './disruption-budgets.ts';
import type { NodeObject, PodObject } from './kube-object.ts';
import { isDeleting } from './kube-object.ts';
import { hasRoomFor, roomOn } from './node-room.ts';
import { isTerminal, needsOf } from './pod-needs.ts';
import type { WorldState } from './world-state.ts';

export interface Victims {
  readonly node: NodeObject;
  /** May be empty: enough of them is already leaving. */
  readonly pods: readonly PodObject[];
}

const priorityOf = (pod: PodObject): number => pod.spec.priority ?? 0;

/**
 * Among nodes that differ only in room: fewest violated budgets, then the lowest highest priority, then fewest victims,
 * then by name.
 */
export function chooseVictims(world: WorldState, pod: PodObject, nodes: readonly NodeObject[]): Victims | undefined {
  const choices = nodes.flatMap((node) => victimsOn(world, pod, node) ?? []);
  const ranked = choices.map((choice) => ({
    choice,
    violations: choice.pods.filter((victim) => isHeldByBudget(world, victim)).length,
    highest: Math.max(...choice.pods.map(priorityOf), Number.NEGATIVE_INFINITY),
  }));
  ranked.sort(
    (a, b) =>
      a.violations - b.violations ||
      compare(a.highest, b.highest) ||
      a.choice.pods.length - b.choice.pods.length ||
      (a.choice.node.metadata.name < b.choice.node.metadata.name ? -1 : 1),
  );
  return ranked[0]?.choice;
}

const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);

const isHeldByBudget = (world: WorldState, pod: PodObject): boolean =>
  budgetsOf(world.store, pod).some((budget) => countBudget(world.store, budget).disruptionsAllowed <= 0);

/** All lower priorities go, then as many as possible are spared: those under a budget first, the highest priority first. */
function victimsOn(world: WorldState, pod: PodObject, node: NodeObject): Victims | undefined {
  const need = needsOf(pod).requests;
  const lower = world.store
    .podsOn(node.metadata.name)
    .filter((other) => !isTerminal(other) && priorityOf(other) < priorityOf(pod));
  if (lower.length === 0) return undefined;
  let room = lower.reduce((sum, other) => plus(sum, needsOf(other).requests), roomOn(world.store, node));
  if (!hasRoomFor(need, room)) return undefined;
  const order = lower
    .filter((other) => !isDeleting(other))
    .map((other) => ({ other, held: isHeldByBudget(world, other) }))
    .sort((a, b) => Number(b.held) - Number(a.held) || priorityOf(b.other) - priorityOf(a.other));
  const victims: PodObject[] = [];
  for (const { other } of order) {
    const without = minus(room, needsOf(other).requests);
    if (hasRoomFor(need, without)) room = without;
    else victims.push(other);
  }
  return { node, pods: victims };
}
