/**
 * What the port makes of an object's metadata, and how an action refers to it.
 */
import type { Kind, ObjectMeta, ObjectRef } from '../../lib/domain/cluster/object-ref.ts';
import { at } from '../support/builders.ts';
import type { Raw } from './operators-hand.ts';

/** The whole metadata of an object that the server has just answered with. */
export function metaOf({ metadata }: Raw): ObjectMeta {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp } = metadata;
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    uid,
    resourceVersion,
    created: at(creationTimestamp),
    deleting: deletionTimestamp !== undefined,
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp: at(deletionTimestamp) }),
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    finalizers: metadata.finalizers ?? [],
  };
}

/** This version of the object. */
export const refOf = ({ kind, metadata }: Raw): ObjectRef => ({
  kind: kind as Kind,
  name: metadata.name,
  ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
  uid: metadata.uid,
  resourceVersion: metadata.resourceVersion,
});
