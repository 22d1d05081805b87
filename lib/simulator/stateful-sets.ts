/**
 * StatefulSets: Pods with fixed names, made one after the other, and made again only when their predecessor is gone.
 *
 * So a Pod that is slow to stop holds its own successor up, and Karpenter goes on counting it while it stops.
 */
import type { PodObject, WorkloadObject } from './kube-object.ts';
import { controllerOf, isDeleting, isTrue } from './kube-object.ts';
import { isTerminal } from './pod-needs.ts';
import { ownedBy } from './workloads.ts';
import type { Model, WorldState } from './world-state.ts';

export const statefulSets: Model = {
  reads: ['StatefulSet', 'Pod', 'Namespace', 'PriorityClass'],
  run(world) {
    const { store } = world;
    const sets = store.all<WorkloadObject>('StatefulSet');
    for (const set of sets) keepPods(world, set);
    const owners = new Set(sets.map((set) => set.metadata.uid));
    for (const pod of store.all<PodObject>('Pod')) {
      const owner = controllerOf(pod);
      if (owner?.kind === 'StatefulSet' && !owners.has(owner.uid)) store.terminate(pod);
    }
    return undefined;
  },
};

/** In the order of their numbers: what is not yet Ready, or still stopping, holds up all that come after it. */
function keepPods({ store }: WorldState, set: WorkloadObject): void {
  const { name, namespace, uid } = set.metadata;
  const wanted = set.spec.replicas ?? 1;
  const present = store.all<PodObject>('Pod').filter((pod) => controllerOf(pod)?.uid === uid);
  const podOf = (ordinal: number): PodObject | undefined =>
    present.find((pod) => pod.metadata.name === `${name}-${ordinal}`);
  for (const pod of present) {
    if (isTerminal(pod) || Number(pod.metadata.name.slice(name.length + 1)) >= wanted) store.terminate(pod);
  }
  for (let ordinal = 0; ordinal < wanted; ordinal += 1) {
    const pod = podOf(ordinal);
    if (pod && !isDeleting(pod) && isTrue(pod, 'Ready')) continue;
    if (!pod) {
      store.create({
        kind: 'Pod',
        metadata: {
          ...set.spec.template.metadata,
          name: `${name}-${ordinal}`,
          ...(namespace === undefined ? {} : { namespace }),
          ownerReferences: [ownedBy(set)],
        },
        spec: set.spec.template.spec,
      });
    }
    break;
  }
  store.update(set, {
    status: { replicas: present.length, readyReplicas: present.filter((pod) => isTrue(pod, 'Ready')).length },
  });
}
