/**
 * What a node has left. A terminating Pod counts until it is gone; a completed one does not count.
 */
import type { ResourceList } from '../domain/cluster/resource-list.ts';
import { amountOf, minus, total } from '../domain/cluster/resource-list.ts';
import { amounts } from './instance-types.ts';
import type { NodeObject, PodObject } from './kube-object.ts';
import type { ObjectStore } from './object-store.ts';
import { isTerminal, needsOf } from './pod-needs.ts';

export const allocatableOf = (node: NodeObject): ResourceList => amounts(node.status.allocatable ?? {});

const knownUse = new WeakMap<readonly PodObject[], ResourceList>();

/** Kept for the array: the store gives the same one as long as no Pod of the node changes. */
function usedBy(pods: readonly PodObject[]): ResourceList {
  const known = knownUse.get(pods) ?? total(pods.filter((pod) => !isTerminal(pod)).map((pod) => needsOf(pod).requests));
  knownUse.set(pods, known);
  return known;
}

/** May be below zero where Pods were put there by name. */
export const roomOn = (store: ObjectStore, node: NodeObject): ResourceList =>
  minus(allocatableOf(node), usedBy(store.podsOn(node.metadata.name)));

/** Whether what is asked fits, resource by resource. */
export function hasRoomFor(asked: ResourceList, room: ResourceList): boolean {
  for (const [resource, amount] of asked) if (amount > amountOf(room, resource)) return false;
  return true;
}
