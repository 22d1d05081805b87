/**
 * Kubernetes Events as the events.k8s.io API takes them, with the limits that it checks.
 */
import { createHash } from 'node:crypto';
import type { Kind } from '../../domain/cluster/object-ref.ts';
import type { Instant } from '../../domain/time.ts';
import { formatInstant, millisecond, second } from '../../domain/time.ts';
import type { EventDraft, EventObject } from '../../engine/decision.ts';
import { resourceOf } from './resources.ts';

const controller = 'noderotation.io/controller';
const longestNote = 1024;
const longestName = 253;

export interface EventObjectReference {
  readonly apiVersion: string;
  readonly kind: Kind;
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
}

export interface EventManifest {
  readonly apiVersion: 'events.k8s.io/v1';
  readonly kind: 'Event';
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly eventTime: string;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly action: string;
  readonly type: EventDraft['type'];
  readonly reason: string;
  readonly note: string;
  readonly regarding: EventObjectReference;
  readonly related?: EventObjectReference;
}

/**
 * The Event of a draft. Its name follows from its content and time, so that a repeated request makes no second one.
 *
 * It lies in `default`, where the API wants Events of cluster-scoped objects; an Event of a namespaced object lies beside
 * it, where people look for it.
 *
 * @param instance who reports, such as the cluster's key; at most 128 characters are kept
 * @design D11-03
 */
export function eventManifest(draft: EventDraft, at: Instant, instance: string): EventManifest {
  const { regarding, related, type, reason, note } = draft;
  const identity = createHash('sha256')
    .update(JSON.stringify([regarding.kind, regarding.uid, reason, note, at]))
    .digest('hex')
    .slice(0, 16);
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: {
      name: `${regarding.name.slice(0, longestName - identity.length - 1).replace(/[-.]+$/, '')}.${identity}`,
      namespace: regarding.namespace ?? 'default',
    },
    eventTime: microTime(at),
    reportingController: controller,
    reportingInstance: instance.slice(-128),
    action: 'Rotate',
    type,
    reason,
    note: cut(note, longestNote),
    regarding: reference(regarding),
    ...(related === undefined ? {} : { related: reference(related) }),
  };
}

const reference = ({ kind, name, namespace, uid }: EventObject): EventObjectReference => ({
  apiVersion: resourceOf[kind].apiVersion,
  kind,
  name,
  ...(namespace === undefined ? {} : { namespace }),
  uid,
});

/** With six digits: the only form of MicroTime that every API server reads. */
function microTime(at: Instant): string {
  const fraction = String((at % second) / millisecond).padStart(3, '0');
  return `${formatInstant(at).slice(0, 19)}.${fraction}000Z`;
}

/** Cut to a number of bytes without splitting a character. */
function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  let kept = text.slice(0, bytes - 3);
  while (Buffer.byteLength(kept) > bytes - 3) kept = kept.slice(0, -1);
  return `${kept.replace(/[\uD800-\uDBFF]$/, '')}…`;
}
