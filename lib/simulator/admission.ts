/**
 * What the API server adds to an object on its way in, and what it refuses.
 *
 * Only what a client of ours can meet: names and labels, immutable specs, finalizers, and what each kind adds.
 */
import type { Status } from './api-status.ts';
import { forbidden, invalid, notFound } from './api-status.ts';
import { asDefined, withKarpentersDefault } from './custom-resources.ts';
import { objectionToEvent } from './event-rules.ts';
import type { Kind } from './kinds.ts';
import { kindOf } from './kinds.ts';
import type { KubeObject, NodeObject, PodObject, RawTaint } from './kube-object.ts';
import { isDeleting } from './kube-object.ts';
import { compact, isJsonObject, sameJson } from './merge-patch.ts';
import { isLabelValue, isObjectName, isQualifiedName } from './object-names.ts';
import { admitPod, plainAmounts } from './pod-admission.ts';

export interface Lookup {
  get(kind: 'Namespace' | 'PriorityClass' | 'CustomResourceDefinition', name: string): KubeObject | undefined;
}

export type Admitted = KubeObject | { readonly refusal: Status };

const notReadyTaint: RawTaint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/** Defaults and the first objection to a new object. */
export function admitCreate(kind: Kind, object: KubeObject, lookup: Lookup): Admitted {
  const { name, namespace } = object.metadata;
  if (kind.namespaced) {
    const found = lookup.get('Namespace', namespace ?? '');
    if (!found) return { refusal: notFound(kindOf('Namespace'), namespace ?? '') };
    if (isDeleting(found)) {
      const why = `unable to create new content in namespace ${found.metadata.name} because it is being terminated`;
      return { refusal: forbidden(kind, name, why) };
    }
  }
  if (!isObjectName(name)) {
    const problem = `Invalid value: "${name}": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'`;
    return { refusal: invalid(kind, name, 'metadata.name', problem) };
  }
  const objection =
    objectionToMetadata(kind, object) ?? (kind.kind === 'Event' ? objectionToEvent(kind, object) : undefined);
  if (objection) return { refusal: objection };
  if (kind.kind === 'Pod') return admitPod(kind, object as PodObject, lookup);
  if (kind.kind === 'Node') return admitNode(object as NodeObject);
  return asDefined(kind, withKarpentersDefault(object), lookup);
}

/** Nothing is to be scheduled to a Node before the node-lifecycle controller has looked at it. */
function admitNode(node: NodeObject): KubeObject {
  const taints = (node.spec?.taints ?? []).filter(({ key }) => key !== notReadyTaint.key);
  return withPlainAmounts({ ...node, spec: { ...node.spec, taints: [...taints, notReadyTaint] } });
}

function withPlainAmounts(node: NodeObject): NodeObject {
  if (node.status === undefined) return node;
  const capacity = plainAmounts(node.status.capacity);
  const allocatable = plainAmounts(node.status.allocatable);
  return { ...node, status: compact({ ...node.status, capacity, allocatable }) as NodeObject['status'] };
}

/** The changed object as it is stored, or the first objection to it. */
export function admitChange(kind: Kind, before: KubeObject, after: KubeObject, lookup: Lookup): Admitted {
  const { name } = before.metadata;
  const objection = objectionToSpec(kind, before, after) ?? objectionToMetadata(kind, after);
  if (objection) return { refusal: objection };
  const added = (after.metadata.finalizers ?? []).filter((one) => !before.metadata.finalizers?.includes(one));
  if (isDeleting(before) && added.length > 0) {
    const problem = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`;
    return { refusal: invalid(kind, name, 'metadata.finalizers', problem) };
  }
  return kind.kind === 'Node' ? withPlainAmounts(after as NodeObject) : asDefined(kind, after, lookup);
}

function objectionToSpec(kind: Kind, before: KubeObject, after: KubeObject): Status | undefined {
  if (sameJson(before.spec, after.spec)) return undefined;
  const { name } = before.metadata;
  if (kind.kind === 'NodeClaim') return invalid(kind, name, 'spec', 'Invalid value: "object": spec is immutable');
  if (kind.kind !== 'Pod') return undefined;
  return invalid(
    kind,
    name,
    'spec',
    'Forbidden: pod updates may not change fields other than `spec.activeDeadlineSeconds`',
  );
}

function objectionToMetadata(kind: Kind, object: KubeObject): Status | undefined {
  const { name, labels, annotations } = object.metadata;
  for (const [field, map] of Object.entries({ 'metadata.labels': labels, 'metadata.annotations': annotations })) {
    if (map === undefined) continue;
    if (!isJsonObject(map)) {
      return invalid(kind, name, field, `Invalid value: ${JSON.stringify(map)}: must be an object`);
    }
    for (const [key, value] of Object.entries(map)) {
      if (typeof value !== 'string') {
        return invalid(kind, name, `${field}.${key}`, `Invalid value: ${JSON.stringify(value)}: must be a string`);
      }
      if (!isQualifiedName(key)) return invalid(kind, name, field, `Invalid value: "${key}": not a qualified name`);
      if (field === 'metadata.labels' && !isLabelValue(value)) {
        const form = "a label value has at most 63 characters of A-Z, a-z, 0-9, '-', '_' and '.'";
        return invalid(kind, name, field, `Invalid value: "${value}": ${form}`);
      }
    }
  }
  return undefined;
}
