/**
 * What a Pod asks of a node: amounts, tolerations, selectors. Scheduler and Karpenter read it from here.
 */
import type { Pod, Toleration } from '../domain/cluster/pod.ts';
import { hasActiveDoNotDisrupt, requestsOf, tolerates } from '../domain/cluster/pod.ts';
import { units } from '../domain/cluster/quantity.ts';
import type { Requirement } from '../domain/cluster/requirements.ts';
import { allows, valuesOf } from '../domain/cluster/requirements.ts';
import type { ResourceList } from '../domain/cluster/resource-list.ts';
import { noResources } from '../domain/cluster/resource-list.ts';
import type { Instant } from '../domain/time.ts';
import { seconds } from '../domain/time.ts';
import { amounts } from './instance-types.ts';
import type {
  NodeObject,
  PodObject,
  PodSpec,
  RawContainer,
  RawRequirement,
  RawTaint,
  RawTerm,
  Strings,
} from './kube-object.ts';
import { annotationOf, controllerOf, objectMetaOf, readStamp } from './kube-object.ts';

const doNotDisruptKey = 'karpenter.sh/do-not-disrupt';

export interface Preference {
  readonly weight: number;
  readonly term: RawTerm;
}

export interface Needs {
  /** The Pod's own slot is among them, as `pods`. */
  readonly requests: ResourceList;
  readonly tolerations: readonly Toleration[];
  readonly nodeSelector: Strings;
  /** Alternatives; empty when there is no requirement. */
  readonly requiredTerms: readonly RawTerm[];
  /** Heaviest first. */
  readonly preferences: readonly Preference[];
}

const known = new WeakMap<PodSpec, Needs>();

export function needsOf(pod: PodObject): Needs {
  const { spec } = pod;
  const before = known.get(spec);
  if (before) return before;
  const affinity = spec.affinity?.nodeAffinity;
  const preferences = (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
    ({ weight, preference }) => ({ weight, term: preference }),
  );
  const needs: Needs = {
    requests: new Map([...requestsOf(viewOf(pod)), ['pods', units(1)]]),
    tolerations: tolerationsOf(spec),
    nodeSelector: spec.nodeSelector ?? {},
    requiredTerms: affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [],
    preferences: preferences.toSorted((a, b) => b.weight - a.weight),
  };
  known.set(spec, needs);
  return needs;
}

const tolerationsOf = (spec: PodSpec): readonly Toleration[] =>
  (spec.tolerations ?? []).map((toleration) => ({
    ...toleration,
    operator: toleration.operator === 'Exists' ? 'Exists' : 'Equal',
  }));

const requestsIn = (resources: { readonly requests?: Strings } | undefined): ResourceList =>
  resources?.requests === undefined ? noResources : amounts(resources.requests);

function viewOf(pod: PodObject): Pod {
  const { spec, status } = pod;
  const container = (of: RawContainer) => ({
    name: of.name ?? '',
    requests: requestsIn(of.resources),
    sidecar: of.restartPolicy === 'Always',
  });
  const controllerKind = controllerOf(pod)?.kind;
  const startedAt = readStamp(status.startTime);
  return {
    meta: objectMetaOf(pod),
    phase: (status.phase ?? 'Pending') as Pod['phase'],
    ...(spec.nodeName === undefined ? {} : { nodeName: spec.nodeName }),
    ...(controllerKind === undefined ? {} : { controllerKind }),
    ...(startedAt === undefined ? {} : { startedAt }),
    priority: spec.priority ?? 0,
    terminationGracePeriod: seconds(spec.terminationGracePeriodSeconds ?? 30),
    tolerations: tolerationsOf(spec),
    nodeSelector: spec.nodeSelector ?? {},
    requiredNodeAffinity: [],
    resources: {
      containers: (spec.containers ?? []).map(container),
      initContainers: (spec.initContainers ?? []).map(container),
      ...(spec.resources === undefined ? {} : { podLevel: requestsIn(spec.resources) }),
      overhead: spec.overhead === undefined ? noResources : amounts(spec.overhead),
    },
    unreadable: [],
  };
}

/** Taints that keep new Pods away and that this Pod does not tolerate. */
export const refusedTaints = (needs: Needs, taints: readonly RawTaint[]): readonly RawTaint[] =>
  taints.filter((taint) => taint.effect !== 'PreferNoSchedule' && !tolerates(needs.tolerations, taint));

export function satisfies(requirements: readonly RawRequirement[], labels: Strings): boolean {
  return requirements.every((requirement) => {
    const set = valuesOf({ values: [], ...requirement } as Requirement);
    return (
      set !== undefined && allows(set, Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined)
    );
  });
}

/** A term without any expression matches nothing, as in Kubernetes. */
export function termMatches(term: RawTerm, labels: Strings, nodeName: string): boolean {
  const { matchExpressions = [], matchFields = [] } = term;
  if (matchExpressions.length + matchFields.length === 0) return false;
  return satisfies(matchExpressions, labels) && satisfies(matchFields, { 'metadata.name': nodeName });
}

export const selectorHolds = (needs: Needs, labels: Strings): boolean =>
  Object.entries(needs.nodeSelector).every(([key, value]) => labels[key] === value);

/** Whether nodeSelector and required affinity accept the node. */
export function acceptsNode(needs: Needs, node: NodeObject): boolean {
  const labels = node.metadata.labels ?? {};
  if (!selectorHolds(needs, labels)) return false;
  return (
    needs.requiredTerms.length === 0 ||
    needs.requiredTerms.some((term) => termMatches(term, labels, node.metadata.name))
  );
}

export const isTerminal = (pod: PodObject): boolean =>
  pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed';
export const isDaemon = (pod: PodObject): boolean => controllerOf(pod)?.kind === 'DaemonSet';
export const isStateful = (pod: PodObject): boolean => controllerOf(pod)?.kind === 'StatefulSet';

/** Whether Karpenter waits for this Pod instead of evicting it. */
export const mayNotBeDisrupted = (pod: PodObject, at: Instant): boolean =>
  annotationOf(pod, doNotDisruptKey) !== undefined && hasActiveDoNotDisrupt(viewOf(pod), at);
