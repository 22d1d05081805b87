/**
 * Deployments, DaemonSets and the kubelets: Pods come back when they are evicted, start after a while, stop after a while.
 *
 * How long a Pod takes to stop is drawn by chance; an annotation of the Pod can say it instead.
 */
import type { Instant } from '../domain/time.ts';
import { add, duration, earliest, instant, second, seconds } from '../domain/time.ts';
import type {
  KubeObject,
  NodeObject,
  OwnerReference,
  PodObject,
  PodTemplate,
  RawTaint,
  WorkloadObject,
} from './kube-object.ts';
import {
  annotationOf,
  conditionSince,
  controllerOf,
  createdAt,
  isDeleting,
  isTrue,
  readStamp,
  stamp,
  withCondition,
} from './kube-object.ts';
import { isInstanceGone, waitsForItsNode } from './node-health.ts';
import { isTerminal, needsOf, refusedTaints, selectorHolds } from './pod-needs.ts';
import { drawnSeconds } from './random.ts';
import type { Model, WorldState } from './world-state.ts';
import { nextOf } from './world-state.ts';

/** Keeps a ReplicaSet per Deployment and the wanted number of Pods per ReplicaSet. */
export const replicaSets: Model = {
  reads: ['Deployment', 'ReplicaSet', 'Pod', 'Namespace', 'PriorityClass'],
  run(world) {
    const { store } = world;
    for (const deployment of store.all<WorkloadObject>('Deployment')) keepReplicaSet(world, deployment);
    const pods = Map.groupBy(store.all<PodObject>('Pod'), (pod) => controllerOf(pod)?.uid);
    const owners = new Set<string>();
    for (const set of store.all<WorkloadObject>('ReplicaSet')) {
      owners.add(set.metadata.uid);
      const own = (pods.get(set.metadata.uid) ?? []).filter((pod) => !isDeleting(pod) && !isTerminal(pod));
      const wanted = set.spec.replicas ?? 1;
      for (let missing = wanted - own.length; missing > 0; missing -= 1) createPod(world, set, set.spec.template);
      for (const surplus of own.slice(wanted)) store.terminate(surplus);
      store.update(set, {
        status: { replicas: wanted, readyReplicas: own.filter((pod) => isTrue(pod, 'Ready')).length },
      });
    }
    for (const pod of store.all<PodObject>('Pod')) {
      const owner = controllerOf(pod);
      if (owner?.kind === 'ReplicaSet' && !owners.has(owner.uid)) store.terminate(pod);
    }
    return undefined;
  },
};

function keepReplicaSet({ store }: WorldState, deployment: WorkloadObject): void {
  const { namespace } = deployment.metadata;
  const name = `${deployment.metadata.name}-${deployment.metadata.uid.slice(0, 8)}`;
  const { replicas = 1, selector, template } = deployment.spec;
  const set = store.get('ReplicaSet', name, namespace) as WorkloadObject | undefined;
  if (set) store.update(set, { spec: { replicas } });
  else {
    const metadata = {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ownerReferences: [ownedBy(deployment)],
    };
    store.adopt({ kind: 'ReplicaSet', metadata, spec: { replicas, selector, template }, status: {} });
  }
  const current = store.get('ReplicaSet', name, namespace) as WorkloadObject;
  store.update(deployment, { status: { replicas, readyReplicas: 0, ...current.status } });
}

/** One Pod of each DaemonSet on every node that it fits by labels and taints; bound by name, past every scheduler. */
export const daemonSets: Model = {
  reads: ['DaemonSet', 'Node', 'Pod', 'Namespace', 'PriorityClass'],
  run(world) {
    const { store } = world;
    for (const set of store.all<WorkloadObject>('DaemonSet')) {
      for (const node of store.all<NodeObject>('Node')) {
        const present = store
          .podsOn(node.metadata.name)
          .some((pod) => controllerOf(pod)?.uid === set.metadata.uid && !isTerminal(pod));
        if (present || isDeleting(node) || !belongs(set, node)) continue;
        createPod(world, set, {
          ...set.spec.template,
          spec: { ...set.spec.template.spec, nodeName: node.metadata.name },
        });
      }
    }
    return undefined;
  },
};

function belongs(set: WorkloadObject, node: NodeObject): boolean {
  const needs = needsOf({ ...set, spec: set.spec.template.spec, status: {} } as unknown as PodObject);
  const ignored = ['node.kubernetes.io/unschedulable', 'node.kubernetes.io/not-ready'];
  const taints = (node.spec.taints ?? []).filter(({ key }) => !ignored.includes(key));
  return selectorHolds(needs, node.metadata.labels ?? {}) && refusedTaints(needs, taints).length === 0;
}

export const ownedBy = (owner: KubeObject): OwnerReference => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid,
  controller: true,
});

/** A Pod that the server refuses (a quota, a missing namespace) is tried again whenever something changes. */
export function createPod({ store, random }: WorldState, owner: KubeObject, template: PodTemplate): void {
  const { namespace } = owner.metadata;
  store.create({
    kind: 'Pod',
    metadata: {
      ...template.metadata,
      name: `${owner.metadata.name}-${random.suffix()}`,
      ...(namespace === undefined ? {} : { namespace }),
      ownerReferences: [ownedBy(owner)],
    },
    spec: template.spec,
  });
}

/** Starts Pods on Ready nodes and takes away those that have stopped, or whose node is gone. */
export const kubelets: Model = {
  reads: ['Pod', 'Node', 'cloud'],
  run(world) {
    const { store, now } = world;
    const moments = store.all<PodObject>('Pod').map((pod) => {
      if (pod.spec.nodeName === undefined) return undefined;
      const node = store.get('Node', pod.spec.nodeName) as NodeObject | undefined;
      if (!node) {
        store.remove(pod);
        return undefined;
      }
      // A kubelet that does not report neither starts nor stops anything.
      if (!isTrue(node, 'Ready') || isInstanceGone(world, node.spec.providerID)) return undefined;
      return isDeleting(pod) ? stopPod(world, pod) : runPod(world, pod);
    });
    return nextOf(now, moments);
  },
};

function stopPod({ store, now, delays }: WorldState, pod: PodObject): Instant | undefined {
  const ends = readStamp(pod.metadata.deletionTimestamp) ?? now;
  const grace = pod.metadata.deletionGracePeriodSeconds ?? 0;
  const takes = Math.min(
    grace,
    secondsIn(pod, stopAnnotation) ?? drawnSeconds(delays.podStop, `${pod.metadata.uid}stop`),
  );
  const due = add(ends, duration((takes - grace) * second));
  if (due > now) return due;
  store.remove(pod);
  return undefined;
}

/** Whole seconds that a Pod's process takes to end when it is asked to, as its annotation says. */
export const stopAnnotation = 'simulator/stop-seconds';

/** Whole seconds after which the Pod of a Job, or one that nobody owns, ends by itself and has succeeded. */
export const runAnnotation = 'simulator/run-seconds';

function secondsIn(pod: PodObject, annotation: string): number | undefined {
  const text = annotationOf(pod, annotation);
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}

function runPod(world: WorldState, pod: PodObject): Instant | undefined {
  const { store, now, delays } = world;
  const boundAt = conditionSince(pod, 'PodScheduled') ?? createdAt(pod);
  const started = readStamp(pod.status.startTime) ?? boundAt;
  if (pod.status.phase === 'Pending') {
    const due = add(boundAt, seconds(drawnSeconds(delays.podStart, `${pod.metadata.uid}start`)));
    if (due > now) return due;
    store.update(pod, {
      status: {
        phase: 'Running',
        startTime: stamp(boundAt),
        conditions: withCondition(pod.status.conditions, now, 'Ready', 'True', ''),
      },
    });
  }
  if (waitsForItsNode(pod)) {
    store.update(pod, { status: { conditions: withCondition(pod.status.conditions, now, 'Ready', 'True', '') } });
  }
  return isTerminal(pod) ? undefined : endPod(world, pod, started);
}

/** At its deadline a Pod fails; one that ends by itself succeeds. */
function endPod({ store, now }: WorldState, pod: PodObject, started: Instant): Instant | undefined {
  const after = (length: number | undefined): Instant => (length === undefined ? never : add(started, seconds(length)));
  const deadline = after(pod.spec.activeDeadlineSeconds);
  const done = after(secondsIn(pod, runAnnotation));
  const due = earliest(deadline, done);
  if (due > now) return due === never ? undefined : due;
  const succeeded = done <= deadline;
  const conditions = pod.status.conditions;
  store.update(pod, {
    status: succeeded
      ? { phase: 'Succeeded', conditions: withCondition(conditions, now, 'Ready', 'False', 'PodCompleted') }
      : {
          phase: 'Failed',
          reason: 'DeadlineExceeded',
          conditions: withCondition(conditions, now, 'Ready', 'False', 'PodFailed'),
        },
  });
  return undefined;
}

const never = instant(Number.MAX_SAFE_INTEGER);

const cordonTaint: RawTaint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
const notReadyTaint: RawTaint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/** Whether the two taints say what cordon and readiness say. */
function hasTaintsOf(node: NodeObject): boolean {
  const bears = (taint: RawTaint): boolean => (node.spec.taints ?? []).some(({ key }) => key === taint.key);
  return bears(cordonTaint) === (node.spec.unschedulable ?? false) && bears(notReadyTaint) !== isTrue(node, 'Ready');
}

/** The node-lifecycle controller: turns the cordon and a missing readiness into the taints that Karpenter looks at. */
export const nodeTaints: Model = {
  reads: ['Node'],
  run({ store }) {
    for (const node of store.all<NodeObject>('Node')) {
      if (hasTaintsOf(node)) continue;
      const others = (node.spec.taints ?? []).filter(({ key }) => key !== cordonTaint.key && key !== notReadyTaint.key);
      const cordon = node.spec.unschedulable ? [cordonTaint] : [];
      const notReady = isTrue(node, 'Ready') ? [] : [notReadyTaint];
      store.update(node, { spec: { taints: [...others, ...cordon, ...notReady] } });
    }
    return undefined;
  },
};
