/**
 * Jobs: Pods that end by themselves, made again when they are evicted or fail, until enough have succeeded.
 *
 * A finished Pod takes no room and stays as an object until its node goes; the Job remembers that it has counted it.
 */
import type { Condition, KubeObject, PodObject, PodTemplate } from './kube-object.ts';
import { controllerOf, isDeleting, isTrue, withCondition } from './kube-object.ts';
import { isTerminal } from './pod-needs.ts';
import { createPod } from './workloads.ts';
import type { Model, WorldState } from './world-state.ts';

export interface JobObject extends KubeObject {
  readonly spec: {
    readonly completions?: number;
    readonly parallelism?: number;
    readonly backoffLimit?: number;
    readonly template: PodTemplate;
  };
  readonly status?: {
    readonly active?: number;
    readonly succeeded?: number;
    readonly failed?: number;
    /** Names of the finished Pods that are in the two numbers. */
    readonly counted?: readonly string[];
    readonly conditions?: readonly Condition[];
  };
}

export const jobs: Model = {
  reads: ['Job', 'Pod', 'Namespace', 'PriorityClass'],
  run(world) {
    const { store } = world;
    const pods = Map.groupBy(store.all<PodObject>('Pod'), (pod) => controllerOf(pod)?.uid);
    const owners = new Set<string>();
    for (const job of store.all<JobObject>('Job')) {
      owners.add(job.metadata.uid);
      keepJob(world, job, pods.get(job.metadata.uid) ?? []);
    }
    for (const pod of store.all<PodObject>('Pod')) {
      const owner = controllerOf(pod);
      if (owner?.kind === 'Job' && !owners.has(owner.uid)) store.terminate(pod);
    }
    return undefined;
  },
};

function keepJob(world: WorldState, job: JobObject, own: readonly PodObject[]): void {
  const { store, now } = world;
  const before = job.status ?? {};
  if (isTrue(job, 'Complete') || isTrue(job, 'Failed')) return;
  const fresh = own.filter((pod) => isTerminal(pod) && !before.counted?.includes(pod.metadata.name));
  const succeeded = (before.succeeded ?? 0) + fresh.filter(({ status }) => status.phase === 'Succeeded').length;
  const failed = (before.failed ?? 0) + fresh.filter(({ status }) => status.phase === 'Failed').length;
  const { completions = 1, parallelism = 1, backoffLimit = 6, template } = job.spec;
  const running = own.filter((pod) => !isTerminal(pod) && !isDeleting(pod));
  const over = succeeded >= completions ? 'Complete' : failed > backoffLimit ? 'Failed' : undefined;
  const wanted = over ? 0 : Math.min(parallelism, completions - succeeded);
  for (let missing = wanted - running.length; missing > 0; missing -= 1) createPod(world, job, template);
  store.update(job, {
    status: {
      active: wanted,
      succeeded,
      failed,
      counted: [...(before.counted ?? []), ...fresh.map((pod) => pod.metadata.name)],
      conditions: over ? withCondition(before.conditions, now, over, 'True', over) : before.conditions,
    },
  });
}
