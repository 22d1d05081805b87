/**
 * How an object changes: by a client's merge patch, by a model's own write, by being told to end.
 */
import type { Kind } from './kinds.ts';
import type { KubeObject, Metadata, PodObject } from './kube-object.ts';
import type { JsonObject } from './merge-patch.ts';
import { compact, mergePatch } from './merge-patch.ts';
import { isTerminal } from './pod-needs.ts';

/** Changed members of an object's parts; undefined removes a member. */
export interface Change {
  readonly metadata?: { readonly [K in keyof Metadata]?: Metadata[K] | undefined };
  readonly spec?: object;
  readonly status?: object;
}

export function changed(current: KubeObject, change: Change): KubeObject {
  const part = (before: object | undefined, after: object | undefined): object | undefined =>
    after === undefined ? before : compact({ ...before, ...after });
  return compact({
    ...current,
    metadata: part(current.metadata, change.metadata) as Metadata,
    spec: part(current.spec, change.spec),
    status: part(current.status, change.status),
  }) as KubeObject;
}

/** Only a Pod that has a node and has not ended is given time to stop. */
export function graceOf(object: KubeObject, asked: number | undefined): number {
  if (object.kind !== 'Pod') return 0;
  const { nodeName, terminationGracePeriodSeconds = 30 } = (object as PodObject).spec;
  return nodeName === undefined || isTerminal(object as PodObject)
    ? 0
    : Math.max(0, asked ?? terminationGracePeriodSeconds);
}

/** An empty map or list of metadata is not stored: it counts as absent. */
export const filled = <T extends object>(parts: T): { readonly [K in keyof T]: T[K] | undefined } =>
  Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, isEmpty(part) ? undefined : part])) as {
    readonly [K in keyof T]: T[K] | undefined;
  };

const isEmpty = (part: unknown): boolean => typeof part === 'object' && part !== null && Object.keys(part).length === 0;

/** What a client's patch makes of the object: the server's own fields stay, and status has its own door. */
export function patched(
  kind: Kind,
  current: KubeObject,
  patch: JsonObject,
  subresource: 'status' | undefined,
): KubeObject {
  const merged = mergePatch(current, patch) as KubeObject;
  if (subresource === 'status') return compact({ ...current, status: merged.status }) as KubeObject;
  const { labels, annotations, finalizers, ownerReferences } = merged.metadata;
  return compact({
    ...merged,
    apiVersion: current.apiVersion,
    kind: current.kind,
    metadata: compact({ ...current.metadata, ...filled({ labels, annotations, finalizers, ownerReferences }) }),
    status: kind.hasStatus ? current.status : merged.status,
  }) as KubeObject;
}
