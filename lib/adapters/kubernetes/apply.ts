/**
 * One action becomes one request, and its answer one of four results. Nothing is decided here.
 *
 * Every patch carries the version it was decided on, every delete the uid, and the delete of a NodeClaim both.
 */

import type { ActionResult } from '../../controller/ports.ts';
import { assert } from '../../domain/assert.ts';
import type { ObjectRef } from '../../domain/cluster/object-ref.ts';
import { surgeForLabel } from '../../domain/rotation/annotation-keys.ts';
import type { Instant } from '../../domain/time.ts';
import type { Action } from '../../engine/decision.ts';
import type { ApiClient } from './api-client.ts';
import { ApiStatusError, saysGone, TransportError } from './api-error.ts';
import { eventManifest } from './events.ts';
import type { ApiRequest } from './exchange.ts';
import { pathOf, resourceOf, resources } from './resources.ts';

export interface Acting {
  readonly client: ApiClient;
  /** The tick's time, which Events carry. */
  readonly observedAt: Instant;
  /** Who reports Events. */
  readonly instance: string;
}

/** @design D5-04, D5-05 */
export async function apply(acting: Acting, action: Action): Promise<ActionResult> {
  try {
    const answer = await acting.client.request(requestOf(acting, action));
    const resourceVersion = versionIn(answer.body);
    return resourceVersion === undefined ? { outcome: 'applied' } : { outcome: 'applied', resourceVersion };
  } catch (error) {
    if (error instanceof ApiStatusError) return await refusal(acting, action, error);
    if (error instanceof TransportError) return { outcome: 'unreachable', detail: error.message };
    throw error;
  }
}

/** The one request that carries out an action. */
function requestOf({ observedAt, instance }: Acting, action: Action): ApiRequest {
  switch (action.kind) {
    case 'annotate':
      return patch(action.target, { annotations: action.annotations });
    case 'protect':
    case 'unprotect':
      return patch(
        action.target,
        { annotations: action.annotations },
        action.unschedulable === undefined ? undefined : { unschedulable: action.unschedulable },
      );
    case 'writeStatus': {
      const { resource, path } = at(action.target);
      const { resourceVersion } = versioned(action.target);
      const body = { metadata: { resourceVersion }, status: action.status };
      return { verb: 'patch', resource: `${resource}/status`, path: `${path}/status`, body, metadataOnly: true };
    }
    case 'createPlaceholder':
      return {
        verb: 'create',
        resource: resources.pods.plural,
        path: pathOf(resources.pods, { namespace: action.pod.metadata.namespace }),
        body: action.pod,
        metadataOnly: true,
      };
    case 'deletePlaceholder':
      return remove(action.target, { gracePeriodSeconds: 0, preconditions: { uid: action.target.uid } });
    case 'deleteNodeClaim': {
      const { uid, resourceVersion } = versioned(action.target);
      return remove(action.target, { preconditions: { uid, resourceVersion } });
    }
    case 'emitEvent': {
      const event = eventManifest(action.event, observedAt, instance);
      return {
        verb: 'create',
        resource: resources.events.plural,
        path: pathOf(resources.events, { namespace: event.metadata.namespace }),
        body: event,
        metadataOnly: true,
      };
    }
  }
}

function patch(target: ObjectRef, metadata: object, spec?: object): ApiRequest {
  const { resourceVersion } = versioned(target);
  return {
    verb: 'patch',
    ...at(target),
    body: { metadata: { resourceVersion, ...metadata }, ...(spec === undefined ? {} : { spec }) },
    metadataOnly: true,
  };
}

const remove = (target: ObjectRef, options: object): ApiRequest => ({
  verb: 'delete',
  ...at(target),
  body: { apiVersion: 'v1', kind: 'DeleteOptions', ...options },
  metadataOnly: true,
});

function at(target: ObjectRef): Pick<ApiRequest, 'resource' | 'path'> {
  const resource = resourceOf[target.kind];
  return { resource: resource.plural, path: pathOf(resource, { namespace: target.namespace, name: target.name }) };
}

function versioned(target: ObjectRef): ObjectRef {
  assert(
    target.uid !== '' && target.resourceVersion !== '',
    `a write to ${target.kind} ${target.name} names no version`,
  );
  return target;
}

async function refusal(acting: Acting, action: Action, error: ApiStatusError): Promise<ActionResult> {
  const detail = error.message;
  switch (error.code) {
    case 404:
      return missing(action, error);
    case 409:
      if (error.reason !== 'AlreadyExists') return { outcome: 'conflict', detail };
      return alreadyThere(acting, action, error);
    case 401:
    case 408:
    case 410:
    case 429:
      return { outcome: 'unreachable', detail };
    default:
      return { outcome: error.code >= 400 && error.code < 500 ? 'rejected' : 'unreachable', detail };
  }
}

/** What a 404 means depends on what was to be done to the object. @design D5-05 */
function missing(action: Action, error: ApiStatusError): ActionResult {
  const detail = error.message;
  // Here the namespace is what is missing.
  if (action.kind === 'createPlaceholder' || action.kind === 'emitEvent') return { outcome: 'rejected', detail };
  if (!saysGone(error, action.target.name)) return { outcome: 'unreachable', detail };
  switch (action.kind) {
    case 'deletePlaceholder':
      return action.mustExist ? { outcome: 'conflict', detail } : { outcome: 'alreadyDone' };
    case 'deleteNodeClaim':
    case 'unprotect':
      return { outcome: 'alreadyDone' };
    case 'annotate':
    case 'protect':
    case 'writeStatus':
      return { outcome: 'conflict', detail };
  }
}

/** A Pod of that name is ours only when it stands for the same NodeClaim. @design D5-05 */
async function alreadyThere(acting: Acting, action: Action, error: ApiStatusError): Promise<ActionResult> {
  if (action.kind === 'emitEvent') return { outcome: 'alreadyDone' };
  if (action.kind !== 'createPlaceholder') return { outcome: 'conflict', detail: error.message };
  const { name, namespace, labels } = action.pod.metadata;
  try {
    const { body } = await acting.client.request({
      verb: 'get',
      resource: resources.pods.plural,
      path: pathOf(resources.pods, { namespace, name }),
      metadataOnly: true,
    });
    const { metadata } = body as { metadata?: { labels?: Record<string, string>; deletionTimestamp?: unknown } };
    if (metadata?.labels?.[surgeForLabel] !== labels[surgeForLabel]) {
      return { outcome: 'rejected', detail: `${error.message}; the Pod ${namespace}/${name} is not ours` };
    }
    if (metadata?.deletionTimestamp) {
      return { outcome: 'conflict', detail: `the Pod ${namespace}/${name} is still being deleted` };
    }
    return { outcome: 'alreadyDone' };
  } catch (failure) {
    if (saysGone(failure, name)) return { outcome: 'conflict', detail: `the Pod ${namespace}/${name} has just gone` };
    if (failure instanceof ApiStatusError || failure instanceof TransportError) {
      return { outcome: 'unreachable', detail: failure.message };
    }
    throw failure;
  }
}

function versionIn(body: unknown): string | undefined {
  const { kind, metadata } = (body ?? {}) as { kind?: unknown; metadata?: { resourceVersion?: unknown } };
  return kind !== 'Status' && typeof metadata?.resourceVersion === 'string' ? metadata.resourceVersion : undefined;
}
