/**
 * What is common to every Kubernetes object we look at: its metadata, and a reference precise enough to write to it.
 *
 * A reference carries uid and resourceVersion because every write names the version it was decided on.
 */
import type { Instant } from '../time.ts';

export type Kind = 'NodePool' | 'NodeClaim' | 'Node' | 'Pod' | 'RotationPolicy';

export type StringMap = Readonly<Record<string, string>>;

/** Metadata as decoded. Keys of the maps come from people: look them up with `label` and `annotation`. */
export interface ObjectMeta {
  readonly name: string;
  /** Absent on cluster-scoped objects. */
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Absent when the object carried none or one that does not parse. */
  readonly created?: Instant;
  /** True as soon as a deletionTimestamp is set, even an unreadable one. */
  readonly deleting: boolean;
  readonly deletionTimestamp?: Instant;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly finalizers: readonly string[];
}

/** One version of one object. @design D5-05 */
export interface ObjectRef {
  readonly kind: Kind;
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** A field that was present but could not be read: named, never guessed. @design D5-06 */
export interface Unreadable {
  /** Path inside the object, such as `spec.expireAfter`. */
  readonly path: string;
  readonly text: string;
  /** What is wrong and what would be right. */
  readonly problem: string;
}

export function refOf(kind: Kind, meta: ObjectMeta): ObjectRef {
  const { name, namespace, uid, resourceVersion } = meta;
  return namespace === undefined
    ? { kind, name, uid, resourceVersion }
    : { kind, name, namespace, uid, resourceVersion };
}

/** The identity under which later writes of a tick find the version of an earlier one. */
export const keyOf = (ref: ObjectRef): string => `${ref.kind}/${ref.namespace ?? ''}/${ref.name}`;

export const label = (meta: ObjectMeta, key: string): string | undefined => own(meta.labels, key);
export const annotation = (meta: ObjectMeta, key: string): string | undefined => own(meta.annotations, key);

/** A value of the map itself, never one of its prototype: keys come from people. */
export function own<T>(map: Readonly<Record<string, T>>, key: string): T | undefined {
  // Most maps lack most keys, and thousands of them are asked in every tick.
  const value = map[key];
  return value !== undefined && Object.hasOwn(map, key) ? value : undefined;
}
