/**
 * Kubernetes objects as they are on the wire: plain JSON, never changed in place. A new version is a new value, so a
 * list taken earlier stays what it was.
 *
 * The typed views name only what the models read and write; everything else an object carries is kept.
 */
import type { ObjectMeta } from '../domain/cluster/object-ref.ts';
import type { Duration, Instant } from '../domain/time.ts';
import { formatInstant, parseInstant, parseKarpenterDuration, wholeSecond } from '../domain/time.ts';
import type { KindName } from './kinds.ts';

export type Strings = Readonly<Record<string, string>>;

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Strings;
  readonly annotations?: Strings;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: KindName;
  readonly metadata: Metadata;
  readonly spec?: object;
  readonly status?: object;
  readonly [field: string]: unknown;
}

/** An object as a client sends it. */
export interface Manifest {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly metadata: Partial<Metadata> & { readonly generateName?: string };
  readonly spec?: object;
  readonly status?: object;
  readonly [field: string]: unknown;
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime: string;
}

export interface RawTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface RawRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface RawTerm {
  readonly matchExpressions?: readonly RawRequirement[];
  readonly matchFields?: readonly RawRequirement[];
}

export interface RawContainer {
  readonly name?: string;
  readonly resources?: { readonly requests?: Strings; readonly limits?: Strings };
  readonly restartPolicy?: string;
}

export interface PodSpec {
  readonly nodeName?: string;
  readonly containers?: readonly RawContainer[];
  readonly initContainers?: readonly RawContainer[];
  readonly resources?: { readonly requests?: Strings };
  readonly overhead?: Strings;
  readonly nodeSelector?: Strings;
  readonly affinity?: {
    readonly nodeAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: { readonly nodeSelectorTerms?: readonly RawTerm[] };
      readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
        readonly weight: number;
        readonly preference: RawTerm;
      }[];
    };
  };
  readonly tolerations?: readonly {
    readonly key?: string;
    readonly operator?: string;
    readonly value?: string;
    readonly effect?: string;
    readonly tolerationSeconds?: number;
  }[];
  readonly priority?: number;
  readonly priorityClassName?: string;
  readonly preemptionPolicy?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly activeDeadlineSeconds?: number;
}

export interface PodObject extends KubeObject {
  readonly spec: PodSpec;
  readonly status: {
    readonly phase?: string;
    readonly startTime?: string;
    readonly nominatedNodeName?: string;
    readonly conditions?: readonly Condition[];
  };
}

export interface NodeObject extends KubeObject {
  readonly spec: {
    readonly providerID?: string;
    readonly unschedulable?: boolean;
    readonly taints?: readonly RawTaint[];
  };
  readonly status: {
    readonly capacity?: Strings;
    readonly allocatable?: Strings;
    readonly conditions?: readonly Condition[];
  };
}

export interface ClaimSpec {
  readonly expireAfter?: string;
  readonly terminationGracePeriod?: string;
  readonly requirements?: readonly RawRequirement[];
  readonly taints?: readonly RawTaint[];
  readonly resources?: { readonly requests?: Strings };
  readonly nodeClassRef?: object;
}

export interface ClaimObject extends KubeObject {
  readonly spec: ClaimSpec;
  readonly status: {
    readonly nodeName?: string;
    readonly providerID?: string;
    readonly imageID?: string;
    readonly capacity?: Strings;
    readonly allocatable?: Strings;
    readonly lastPodEventTime?: string;
    readonly conditions?: readonly Condition[];
  };
}

export interface PoolObject extends KubeObject {
  readonly spec: {
    readonly template: {
      readonly metadata?: { readonly labels?: Strings; readonly annotations?: Strings };
      readonly spec: ClaimSpec;
    };
    readonly replicas?: number;
    readonly weight?: number;
    readonly limits?: Strings;
    readonly disruption?: {
      readonly consolidationPolicy?: string;
      readonly consolidateAfter?: string;
      readonly budgets?: readonly {
        readonly nodes: string;
        readonly reasons?: readonly string[];
        readonly schedule?: string;
        readonly duration?: string;
      }[];
    };
  };
  readonly status: {
    readonly resources?: Strings;
    readonly nodes?: number;
    readonly conditions?: readonly Condition[];
  };
}

export interface RawSelector {
  readonly matchLabels?: Strings;
  readonly matchExpressions?: readonly RawRequirement[];
}

export interface BudgetObject extends KubeObject {
  readonly spec: {
    readonly selector?: RawSelector;
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
  };
}

export interface PodTemplate {
  readonly metadata?: { readonly labels?: Strings; readonly annotations?: Strings };
  readonly spec: PodSpec;
}

/** A Deployment, ReplicaSet, DaemonSet or StatefulSet. */
export interface WorkloadObject extends KubeObject {
  readonly spec: { readonly replicas?: number; readonly selector?: RawSelector; readonly template: PodTemplate };
}

export const isDeleting = (object: KubeObject): boolean => object.metadata.deletionTimestamp !== undefined;

export const labelOf = (object: KubeObject, key: string): string | undefined => object.metadata.labels?.[key];
export const annotationOf = (object: KubeObject, key: string): string | undefined => object.metadata.annotations?.[key];

/** RFC 3339 in whole seconds, as the API server stamps its times. */
export const stamp = (at: Instant): string => formatInstant(wholeSecond(at));

const readBefore = new Map<string, Instant | undefined>();
/** Texts kept; when there are more, all are forgotten. */
const mostKept = 10_000;

/** A time that one of our own models wrote. The same texts are read again and again, so they are kept. */
export function readStamp(text: string | undefined): Instant | undefined {
  if (text === undefined) return undefined;
  const known = readBefore.get(text);
  if (known !== undefined) return known;
  if (readBefore.size >= mostKept) readBefore.clear();
  const at = parseInstant(text);
  readBefore.set(text, at);
  return at;
}

export const createdAt = (object: KubeObject): Instant => readStamp(object.metadata.creationTimestamp) as Instant;

/** Karpenter's duration field; undefined when absent, `Never` or unreadable. */
export const readDuration = (text: string | undefined): Duration | undefined =>
  text === undefined ? undefined : parseKarpenterDuration(text);

interface WithConditions {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export const conditionOf = (object: WithConditions, type: string): Condition | undefined =>
  object.status?.conditions?.find((condition) => condition.type === type);

export const isTrue = (object: WithConditions, type: string): boolean => conditionOf(object, type)?.status === 'True';

/** The conditions with one of them set; its transition time moves only when its status does. */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  at: Instant,
  type: string,
  status: 'True' | 'False' | 'Unknown',
  reason: string,
  message = '',
): readonly Condition[] {
  const before = conditions?.find((condition) => condition.type === type);
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : stamp(at);
  const next: Condition = { type, status, reason, message, lastTransitionTime };
  return [...(conditions ?? []).filter((condition) => condition.type !== type), next];
}

/** When the condition took its present status. */
export const conditionSince = (object: WithConditions, type: string): Instant | undefined =>
  readStamp(conditionOf(object, type)?.lastTransitionTime);

export const controllerOf = (object: KubeObject): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find((owner) => owner.controller === true);

/** The metadata in the form that the product's own readers of annotations take. */
export function objectMetaOf(object: KubeObject): ObjectMeta {
  const { name, namespace, uid, resourceVersion, labels = {}, annotations = {}, finalizers = [] } = object.metadata;
  const deletionTimestamp = readStamp(object.metadata.deletionTimestamp);
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    uid,
    resourceVersion,
    created: createdAt(object),
    deleting: isDeleting(object),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    labels,
    annotations,
    finalizers,
  };
}
