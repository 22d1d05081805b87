/**
 * Small constructors for the intended writes, so that the rules that order them read as lists.
 */

import type { NodeClaim } from '../domain/cluster/node-claim.ts';
import type { ObjectMeta, ObjectRef } from '../domain/cluster/object-ref.ts';
import { annotation, refOf } from '../domain/cluster/object-ref.ts';
import type { Pod } from '../domain/cluster/pod.ts';
import { poolKeys } from '../domain/rotation/annotation-keys.ts';
import type { AnnotationPatch } from '../domain/rotation/rotation.ts';
import type { UnrecordedStep } from '../domain/rotation/unrecorded.ts';
import { outboxLimit, readOutbox, toWire, writeOutbox } from '../domain/rotation/unrecorded.ts';
import type { Action, EventDraft, EventObject, Need, Notice, WhenRefused } from './decision.ts';
import type { PoolView } from './pool-view.ts';

export const annotatePool = (
  view: PoolView,
  annotations: AnnotationPatch,
  whenRefused: WhenRefused = 'stop',
): Action => ({
  kind: 'annotate',
  target: refOf('NodePool', view.pool.meta),
  annotations,
  whenRefused,
});

export const annotateClaim = (
  claim: NodeClaim,
  annotations: AnnotationPatch,
  whenRefused: WhenRefused = 'stop',
): Action => ({
  kind: 'annotate',
  target: refOf('NodeClaim', claim.meta),
  annotations,
  whenRefused,
});

export const deletePlaceholder = (pod: Pod, over: { mustExist?: boolean; whenRefused?: WhenRefused } = {}): Action => ({
  kind: 'deletePlaceholder',
  target: refOf('Pod', pod.meta),
  mustExist: over.mustExist ?? false,
  whenRefused: over.whenRefused ?? 'goOn',
});

/** Zero or one element: lists of optional actions stay flat. */
export const maybe = <T>(value: T | undefined): readonly T[] => (value === undefined ? [] : [value]);

/** The patch of the outbox with one more step, and what had to leave it to stay within its limit. @design D10-04 */
export function appendStep(
  meta: ObjectMeta,
  entry: UnrecordedStep,
): { annotations: AnnotationPatch; notices: readonly Notice[] } {
  const outbox = readOutbox(annotation(meta, poolKeys.unrecorded));
  const entries = [...outbox.entries, entry];
  const lost: string[] = [...outbox.unreadable];
  while (entries.length > outboxLimit.entries || byteLength(writeOutbox(entries) ?? '') > outboxLimit.bytes) {
    const oldest = entries.shift();
    if (oldest === undefined) break;
    lost.push(JSON.stringify(toWire(oldest)));
  }
  return {
    annotations: { [poolKeys.unrecorded]: writeOutbox(entries) },
    notices: lost.map((text) => ({
      code: 'AuditLost',
      severity: 'warn',
      message: `This step will have no audit row: ${text}`,
    })),
  };
}

// Annotations are UTF-8; everything beyond ASCII counts by its code points' lengths.
function byteLength(text: string): number {
  let bytes = 0;
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

export function event(
  type: 'Normal' | 'Warning',
  reason: string,
  note: string,
  regarding: ObjectRef,
  related?: ObjectRef,
): Action {
  const draft: EventDraft = {
    type,
    reason,
    note,
    regarding: eventObject(regarding),
    ...(related ? { related: eventObject(related) } : {}),
  };
  return { kind: 'emitEvent', event: draft, whenRefused: 'goOn' };
}

function eventObject({ kind, name, uid, namespace }: ObjectRef): EventObject {
  return namespace === undefined ? { kind, name, uid } : { kind, name, uid, namespace };
}

const nothing: Need = {
  nodes: [],
  podsOnNodes: [],
  dryRunDeletes: [],
  disruptionBudgets: false,
  unscheduledPods: false,
};

/** A request to look before deciding. */
export const need = (over: Partial<Need>): { readonly need: Need } => ({ need: { ...nothing, ...over } });

export const nothingNeeded = (wanted: Need): boolean =>
  wanted.nodes.length + wanted.podsOnNodes.length + wanted.dryRunDeletes.length === 0 &&
  !wanted.disruptionBudgets &&
  !wanted.unscheduledPods;

export function mergeNeeds(needs: readonly Need[]): Need {
  const unique = <T>(items: readonly T[], key: (item: T) => string): T[] => [
    ...new Map(items.map((item) => [key(item), item])).values(),
  ];
  return {
    nodes: unique(
      needs.flatMap((each) => each.nodes),
      (name) => name,
    ),
    podsOnNodes: unique(
      needs.flatMap((each) => each.podsOnNodes),
      (name) => name,
    ),
    dryRunDeletes: unique(
      needs.flatMap((each) => each.dryRunDeletes),
      (ref) => ref.name,
    ),
    disruptionBudgets: needs.some((each) => each.disruptionBudgets),
    unscheduledPods: needs.some((each) => each.unscheduledPods),
  };
}
