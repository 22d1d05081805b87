/**
 * What the API server adds to an object on its way in, and what it refuses.
 *
 * Only what a client of ours can meet: Pod defaults and priority classes, immutable specs, limits equal to requests.
 */
import type { Status } from './api-status.ts';
import { forbidden, invalid, notFound } from './api-status.ts';
import type { Kind } from './kinds.ts';
import { kindOf } from './kinds.ts';
import type { KubeObject, PodObject, PodSpec } from './kube-object.ts';
import { isJsonObject, sameJson } from './merge-patch.ts';

export interface Lookup {
  get(kind: 'Namespace' | 'PriorityClass', name: string): KubeObject | undefined;
}

/** Defaults and the first objection to a new object. */
export function admitCreate(kind: Kind, object: KubeObject, lookup: Lookup): KubeObject | { readonly refusal: Status } {
  const name = object.metadata.name;
  if (kind.namespaced) {
    const namespace = lookup.get('Namespace', object.metadata.namespace ?? '');
    if (!namespace) return { refusal: notFound(kindOf('Namespace'), object.metadata.namespace ?? '') };
    if (namespace.metadata.deletionTimestamp !== undefined) {
      return {
        refusal: forbidden(
          kind,
          name,
          `unable to create new content in namespace ${namespace.metadata.name} because it is being terminated`,
        ),
      };
    }
  }
  const objection = objectionTo(kind, object);
  if (objection) return { refusal: objection };
  return kind.kind === 'Pod' ? admitPod(kind, object as PodObject, lookup) : object;
}

function admitPod(kind: Kind, pod: PodObject, lookup: Lookup): KubeObject | { readonly refusal: Status } {
  const className = pod.spec.priorityClassName;
  const priorityClass = className === undefined ? undefined : lookup.get('PriorityClass', className);
  if (className !== undefined && priorityClass === undefined) {
    return { refusal: forbidden(kind, pod.metadata.name, `no PriorityClass with name ${className} was found`) };
  }
  const spec: PodSpec = {
    ...pod.spec,
    terminationGracePeriodSeconds: pod.spec.terminationGracePeriodSeconds ?? 30,
    priority: typeof priorityClass?.value === 'number' ? priorityClass.value : 0,
    preemptionPolicy:
      pod.spec.preemptionPolicy ??
      (typeof priorityClass?.preemptionPolicy === 'string' ? priorityClass.preemptionPolicy : 'PreemptLowerPriority'),
  };
  return { ...pod, spec, status: { phase: 'Pending' } };
}

/** The first objection to a changed object. */
export function objectionToChange(kind: Kind, before: KubeObject, after: KubeObject): Status | undefined {
  const name = before.metadata.name;
  if (!sameJson(before.spec, after.spec)) {
    if (kind.kind === 'NodeClaim') return invalid(kind, name, 'spec', 'Invalid value: "object": spec is immutable');
    if (kind.kind === 'Pod') {
      return invalid(
        kind,
        name,
        'spec',
        'Forbidden: pod updates may not change fields other than `spec.activeDeadlineSeconds`',
      );
    }
  }
  return objectionTo(kind, after);
}

function objectionTo(kind: Kind, object: KubeObject): Status | undefined {
  const { name, labels, annotations } = object.metadata;
  for (const [field, map] of Object.entries({ 'metadata.labels': labels, 'metadata.annotations': annotations })) {
    if (map === undefined) continue;
    if (!isJsonObject(map))
      return invalid(kind, name, field, `Invalid value: ${JSON.stringify(map)}: must be an object`);
    for (const [key, value] of Object.entries(map)) {
      if (typeof value !== 'string')
        return invalid(kind, name, `${field}.${key}`, `Invalid value: ${JSON.stringify(value)}: must be a string`);
      if (field === 'metadata.labels' && !/^$|^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(value)) {
        return invalid(
          kind,
          name,
          field,
          `Invalid value: "${value}": a label value has at most 63 characters of A-Z, a-z, 0-9, '-', '_' and '.'`,
        );
      }
    }
  }
  return kind.kind === 'Pod' ? objectionToResources(kind, object as PodObject) : undefined;
}

/** Extended resources and huge pages cannot be overcommitted. */
function objectionToResources(kind: Kind, pod: PodObject): Status | undefined {
  for (const [index, container] of (pod.spec.containers ?? []).entries()) {
    for (const [resource, amount] of Object.entries(container.resources?.requests ?? {})) {
      const overcommittable = !resource.includes('/') && !resource.startsWith('hugepages-');
      if (overcommittable || container.resources?.limits?.[resource] === amount) continue;
      const field = `spec.containers[${index}].resources.limits`;
      return invalid(
        kind,
        pod.metadata.name,
        field,
        `Required value: Limit must be set for non overcommitable resources (${resource})`,
      );
    }
  }
  return undefined;
}
