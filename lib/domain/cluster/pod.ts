/**
 * A Pod as far as sizes, drains and the placeholder's readiness need it.
 */
import { nodeKeys, surgeForLabel } from '../rotation/annotation-keys.ts';
import type { Duration, Instant } from '../time.ts';
import type { Taint } from './node-pool.ts';
import type { ObjectMeta, StringMap, Unreadable } from './object-ref.ts';
import { annotation, label } from './object-ref.ts';
import { larger } from './quantity.ts';
import type { Requirement } from './requirements.ts';
import type { ResourceList } from './resource-list.ts';
import { amountOf, maximum, noResources, plus, total } from './resource-list.ts';

export interface ContainerResources {
  readonly name: string;
  readonly requests: ResourceList;
  /** What the kubelet has allocated (status), which differs from the spec during an in-place resize. */
  readonly allocated?: ResourceList;
  /** An init container with restartPolicy Always: it runs beside the main containers. */
  readonly sidecar: boolean;
}

export interface Toleration {
  readonly key?: string;
  readonly operator: 'Equal' | 'Exists';
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

/** One required node-affinity term; the terms of a Pod are alternatives. */
export interface NodeSelectorTerm {
  readonly matchExpressions: readonly Requirement[];
  readonly matchFields: readonly Requirement[];
}

export interface Pod {
  readonly meta: ObjectMeta;
  readonly nodeName?: string;
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  /** Condition Ready, with the instant of its last change where that could be read. */
  readonly ready?: { readonly status: boolean; readonly since?: Instant };
  /** The scheduler's words when it could not place the Pod (PodScheduled False). */
  readonly unschedulable?: { readonly reason: string; readonly message: string };
  /** Kind of the controlling owner, such as ReplicaSet, DaemonSet, Job or Node (a mirror Pod). */
  readonly controllerKind?: string;
  readonly priority: number;
  readonly startedAt?: Instant;
  readonly terminationGracePeriod: Duration;
  readonly tolerations: readonly Toleration[];
  readonly nodeSelector: StringMap;
  readonly requiredNodeAffinity: readonly NodeSelectorTerm[];
  readonly resources: {
    readonly containers: readonly ContainerResources[];
    readonly initContainers: readonly ContainerResources[];
    /** spec.resources.requests of the Pod itself; they win for the resources they name. */
    readonly podLevel?: ResourceList;
    readonly podLevelAllocated?: ResourceList;
    readonly overhead: ResourceList;
  };
  readonly unreadable: readonly Unreadable[];
}

/** Its containers have ended for good: it takes no room and nothing waits for it. @design R3.3-06 */
export const isCompleted = (pod: Pod): boolean => pod.phase === 'Succeeded' || pod.phase === 'Failed';
export const isDaemonSetPod = (pod: Pod): boolean => pod.controllerKind === 'DaemonSet';
/** A static Pod's image in the API: the kubelet alone starts and ends it. */
export const isMirror = (pod: Pod): boolean =>
  pod.controllerKind === 'Node' || annotation(pod.meta, 'kubernetes.io/config.mirror') !== undefined;
/** One of our own placeholders, whichever claim it stands for. */
export const isPlaceholder = (pod: Pod): boolean => label(pod.meta, surgeForLabel) !== undefined;
/** `namespace/name`, as messages name a Pod. */
export const podName = (pod: Pod): string => `${pod.meta.namespace ?? ''}/${pod.meta.name}`;

/**
 * What the scheduler reserves for the Pod.
 *
 * Containers and sidecars run together; each plain init container runs beside the sidecars declared before it, and the
 * largest such moment counts where it exceeds the running sum. Requests of the Pod itself win for the resources they
 * name. Overhead comes on top.
 *
 * @design D8-02
 */
export function requestsOf(pod: Pod): ResourceList {
  const { containers, initContainers, podLevel, podLevelAllocated, overhead } = pod.resources;
  let sidecars = noResources;
  let initPeak = noResources;
  for (const container of initContainers) {
    if (container.sidecar) sidecars = plus(sidecars, heldBy(container));
    initPeak = maximum(initPeak, container.sidecar ? sidecars : plus(sidecars, container.requests));
  }
  const ofContainers = maximum(plus(total(containers.map(heldBy)), sidecars), initPeak);
  // The allocated amounts of a Pod without requests of its own are only the sum of its containers: not looked at.
  const ofPod = [...(podLevel ?? noResources)].map(
    ([name, asked]) => [name, larger(asked, amountOf(podLevelAllocated ?? noResources, name))] as const,
  );
  return plus(new Map([...ofContainers, ...ofPod]), overhead);
}

/** During an in-place resize the larger of what is asked for and what the kubelet still holds. */
const heldBy = (container: ContainerResources): ResourceList =>
  container.allocated === undefined ? container.requests : maximum(container.requests, container.allocated);

/**
 * Whether Karpenter waits for this Pod instead of evicting it: `true`, or a Go duration since the Pod's start.
 *
 * A Pod under a duration that has not started yet is protected; any other value protects nothing. At the instant at
 * which the duration has passed the protection is over.
 */
export function hasActiveDoNotDisrupt(pod: Pod, at: Instant): boolean {
  const text = annotation(pod.meta, nodeKeys.doNotDisrupt);
  if (text === undefined) return false;
  if (text === 'true') return true;
  const lasting = goMilliseconds(text);
  if (lasting === undefined) return false;
  return pod.startedAt === undefined || at - pod.startedAt < lasting;
}

const millisecondsPer: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ns: 1e-6,
};

// More than Go's nanoseconds can hold, and so no duration to Karpenter.
const tooManyMilliseconds = 2 ** 63 / 1e6;

/** Everything that Go itself reads as a duration, fractions and small units included. */
function goMilliseconds(text: string): number | undefined {
  if (/^[+-]?0$/.test(text)) return 0;
  if (!/^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, count, unit] of text.matchAll(/([\d.]+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    sum += Number(count) * (millisecondsPer[unit as string] as number);
  }
  if (sum >= tooManyMilliseconds) return undefined;
  return text.startsWith('-') ? -sum : sum;
}

/** Whether any of the tolerations accepts the taint, by the scheduler's rule. */
export function tolerates(tolerations: readonly Toleration[], taint: Taint): boolean {
  return tolerations.some((toleration) => {
    if (toleration.effect && toleration.effect !== taint.effect) return false;
    if (toleration.key && toleration.key !== taint.key) return false;
    return toleration.operator === 'Exists' || (toleration.value ?? '') === (taint.value ?? '');
  });
}
