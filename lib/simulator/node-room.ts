/**
 * What a node has left. A terminating Pod counts until it is gone; a completed one does not count.
 */
import type { ResourceList } from '../domain/cluster/resource-list.ts';
import { exceeding, minus, total } from '../domain/cluster/resource-list.ts';
import { amounts } from './instance-types.ts';
import type { NodeObject, PodObject } from './kube-object.ts';
import type { ObjectStore } from './object-store.ts';
import { isTerminal, needsOf } from './pod-needs.ts';

export const allocatableOf = (node: NodeObject): ResourceList => amounts(node.status.allocatable ?? {});

const usedBy = (pods: readonly PodObject[]): ResourceList =>
  total(pods.filter((pod) => !isTerminal(pod)).map((pod) => needsOf(pod).requests));

/** May be below zero where Pods were put there by name. */
export const roomOn = (store: ObjectStore, node: NodeObject): ResourceList =>
  minus(allocatableOf(node), usedBy(store.podsOn(node.metadata.name)));

/** Whether what is asked fits, resource by resource. */
export const hasRoomFor = (asked: ResourceList, room: ResourceList): boolean => exceeding(asked, room).length === 0;
