/**
 * The ends of a rotation that did not succeed: rolled back (a failure), aborted (nobody's failure), expired.
 *
 * The first write says on the NodePool that an end has begun; nothing is undone before it lands, because another tick
 * may just be handing over. The last write clears the anchor, so an end that died half-way is finished by any later tick.
 */
import type { NodeClaim } from '../domain/cluster/node-claim.ts';
import { refOf } from '../domain/cluster/object-ref.ts';
import { anchorKeys, claimKeys, poolKeys } from '../domain/rotation/annotation-keys.ts';
import type { AnchoredRotation, AnnotationPatch } from '../domain/rotation/rotation.ts';
import { readClaimState, writeLastEnded, writeRotation } from '../domain/rotation/rotation.ts';
import type { RotationStep, StepFacts, UnrecordedStep } from '../domain/rotation/unrecorded.ts';
import { formatInstant, wholeSecond } from '../domain/time.ts';
import type { Action, Decision, Need, Notice, Step } from './decision.ts';
import type { PoolView } from './pool-view.ts';
import { placeholderOf } from './pool-view.ts';
import { unprotectAll } from './protect.ts';
import { reap } from './reap.ts';
import { annotateClaim, annotatePool, appendStep, deletePlaceholder, event, maybe } from './writes.ts';

/** Annotations hold at most this much of the server's words. @design D5-01 */
export const refusalLength = 200;

interface Ending {
  readonly step: Step;
  readonly entry: Extract<RotationStep, 'failed' | 'aborted' | 'expired'>;
  readonly event: { readonly type: 'Normal' | 'Warning'; readonly reason: string };
  /** The anchor's state while the end is under way; expiry needs none, since nothing is reaped or decided in it. */
  readonly marker?: 'failing' | 'aborting';
  readonly reason: string;
  readonly refusal?: string;
  /** Failures of this claim, this one included. */
  readonly retryCount?: number;
}

/** readyTimeout has passed, or a write was refused: the attempt failed. @design R3.8-01, D7-07 */
export function rollBack(
  view: PoolView,
  rotation: AnchoredRotation,
  old: NodeClaim | undefined,
  reason: string,
  refusal?: string,
): Decision | { readonly need: Need } {
  const ending: Ending = {
    step: 'rollBack',
    entry: 'failed',
    event: { type: 'Warning', reason: 'RotationFailed' },
    marker: 'failing',
    reason,
    ...maybeRefusal(refusal ?? rotation.lastRefusal),
    ...(old ? { retryCount: failuresOf(rotation, old) } : {}),
  };
  const ended = end(view, rotation, old, ending, old ? maybe(markFailed(view, rotation, old)) : [], {
    [poolKeys.lastFailureAt]: formatInstant(view.at),
  });
  if ('need' in ended || !old || !hasMirror(rotation)) return ended;
  // A refused delete ended the hand-over; another tick's may still be on its way.
  const letGo = [...maybe(markPending(old, rotation)), annotatePool(view, noMirror)];
  return { ...ended, actions: [...letGo, ...ended.actions] };
}

/** The anchor says that the old claim is to be deleted, and nobody has let go of that. */
export const hasMirror = (rotation: AnchoredRotation): boolean =>
  rotation.phase !== 'pending' && rotation.drainingAt !== undefined;

const noMirror: AnnotationPatch = {
  [anchorKeys.drainingAt]: null,
  [anchorKeys.surgeWait]: null,
  [anchorKeys.surgePath]: null,
};

/**
 * Governance was lost, an operator opted out, or Karpenter chose the node: undone without counting a failure.
 *
 * From a drain whose delete has not landed the claim lets go first: another tick may still be about to send that delete.
 *
 * @design D7-08, D7-05
 */
export function abort(
  view: PoolView,
  rotation: AnchoredRotation,
  old: NodeClaim | undefined,
  reason: string,
): Decision | { readonly need: Need } {
  const ending: Ending = {
    step: 'abort',
    entry: 'aborted',
    event: { type: 'Normal', reason: 'RotationAborted' },
    marker: 'aborting',
    reason,
    ...maybeRefusal(rotation.lastRefusal),
  };
  if (!old) return end(view, rotation, old, ending, [], {});
  if (rotation.phase !== 'draining') return end(view, rotation, old, ending, maybe(clearState(old)), {});
  const ended = end(view, rotation, old, ending, [annotateClaim(old, noCopy, 'goOn')], {});
  return 'need' in ended ? ended : { ...ended, actions: [...maybe(markPending(old, rotation)), ...ended.actions] };
}

/** The old claim went while the surge was pending: Karpenter's drain is under way, nothing is reaped. @design D7-02, R3.2-52 */
export function expire(
  view: PoolView,
  rotation: AnchoredRotation,
  old: NodeClaim | undefined,
  reason: string,
): Decision | { readonly need: Need } {
  const ending: Ending = {
    step: 'expire',
    entry: 'expired',
    event: { type: 'Warning', reason: 'RotationExpired' },
    reason,
  };
  const mark =
    old && readClaimState(old.meta).state !== 'expired'
      ? annotateClaim(old, { [claimKeys.state]: 'expired' }, 'goOn')
      : undefined;
  return end(view, rotation, old, ending, maybe(mark), {});
}

function end(
  view: PoolView,
  rotation: AnchoredRotation,
  old: NodeClaim | undefined,
  ending: Ending,
  claimActions: readonly Action[],
  poolAnnotations: AnnotationPatch,
): Decision | { readonly need: Need } {
  const reaping = ending.marker ? reap(view, rotation) : { actions: [], notices: [] };
  if ('need' in reaping) return reaping;
  const placeholder = placeholderOf(view.snapshot, rotation.claim);
  const entry = entryOf(view, rotation, ending.entry, {
    reason: ending.reason,
    ...(rotation.surgeClaim ? { surgeClaim: rotation.surgeClaim } : {}),
    ...(ending.refusal ? { refusal: ending.refusal } : {}),
    ...(ending.retryCount !== undefined ? { retryCount: ending.retryCount } : {}),
    ...(old?.nodeName ? { node: old.nodeName } : {}),
  });
  const outbox = appendStep(view.pool.meta, entry);
  const actions: Action[] = [
    ...maybe(
      ending.marker && rotation.phase !== ending.marker
        ? annotatePool(view, { [anchorKeys.state]: ending.marker, ...(hasMirror(rotation) ? noMirror : {}) })
        : undefined,
    ),
    ...reaping.actions,
    ...maybe(placeholder && !placeholder.meta.deleting ? deletePlaceholder(placeholder) : undefined),
    ...unprotectAll(view.snapshot, rotation.claim, old),
    ...claimActions,
    annotatePool(view, {
      ...writeRotation({ phase: 'none' }),
      ...poolAnnotations,
      [poolKeys.lastEnded]: writeLastEnded({
        claimUid: rotation.claimUid,
        startedAt: rotation.startedAt,
        step: ending.entry,
      }),
      ...outbox.annotations,
    }),
    event(
      ending.event.type,
      ending.event.reason,
      noteOf(rotation, ending),
      refOf('NodePool', view.pool.meta),
      old && refOf('NodeClaim', old.meta),
    ),
  ];
  const notices: readonly Notice[] = [...reaping.notices, ...outbox.notices];
  return {
    nodePool: view.pool.meta.name,
    step: ending.step,
    actions,
    notices,
    transition: entry,
    grounds: {
      windowOpen: view.occurrence !== undefined,
      frozen: view.freeze.frozen,
      staticPool: false,
      ...('guarded' in reaping && reaping.guarded !== undefined ? { reapGuarded: reaping.guarded } : {}),
    },
  };
}

function noteOf(rotation: AnchoredRotation, ending: Ending): string {
  const outcome = {
    failed: 'failed and was rolled back',
    aborted: 'was aborted and undone',
    expired: 'ended with its node',
  }[ending.entry];
  const words = ending.refusal ? ` The API server said: ${ending.refusal}` : '';
  return `The rotation of NodeClaim ${rotation.claim} ${outcome}: ${ending.reason}.${words}`;
}

/** The claim's own mark of a failure, unless it already carries the one of this attempt. @design D7-07, R3.2-12 */
function markFailed(view: PoolView, rotation: AnchoredRotation, old: NodeClaim): Action | undefined {
  if (isMarkedFailed(rotation, old)) return undefined;
  return annotateClaim(old, failedAnnotations(rotation.startedAt, view.at, failuresOf(rotation, old)), 'goOn');
}

function isMarkedFailed(rotation: AnchoredRotation, old: NodeClaim): boolean {
  const state = readClaimState(old.meta);
  return state.state === 'failed' && state.startedAt === rotation.startedAt;
}

/** Failures of the claim once this attempt counts. @design R3.2-12 */
function failuresOf(rotation: AnchoredRotation, old: NodeClaim): number {
  const state = readClaimState(old.meta);
  const before = state.state === 'malformed' ? 0 : state.retryCount;
  return isMarkedFailed(rotation, old) ? before : before + 1;
}

/** What a claim carries after a failed attempt. @param failures this one included */
export const failedAnnotations = (
  startedAt: AnchoredRotation['startedAt'],
  failedAt: AnchoredRotation['startedAt'],
  failures: number,
): AnnotationPatch => ({
  [claimKeys.state]: 'failed',
  [claimKeys.failedAt]: formatInstant(wholeSecond(failedAt)),
  [claimKeys.startedAt]: formatInstant(startedAt),
  [claimKeys.retryCount]: String(failures),
  [claimKeys.surgeClaim]: null,
  [claimKeys.mode]: null,
});

const copyKeys = [claimKeys.state, claimKeys.startedAt, claimKeys.surgeClaim, claimKeys.mode];
const noCopy: AnnotationPatch = Object.fromEntries(copyKeys.map((key) => [key, null]));

/** Takes an attempt's copy off the claim; the count of failures stays. */
export function clearState(claim: NodeClaim): Action | undefined {
  const keys = copyKeys.filter((key) => Object.hasOwn(claim.meta.annotations, key));
  return keys.length === 0
    ? undefined
    : annotateClaim(claim, Object.fromEntries(keys.map((key) => [key, null])), 'goOn');
}

/**
 * The claim's copy when a delete that never landed is given up, before the pool says so: whoever is still about to send
 * that delete named the claim's version, and is refused.
 *
 * @design D7-05, D7-08, D5-05
 */
export function markPending(old: NodeClaim, { startedAt }: Pick<AnchoredRotation, 'startedAt'>): Action | undefined {
  const state = readClaimState(old.meta);
  if (state.state === 'pending' && state.startedAt === startedAt) return undefined;
  return annotateClaim(old, { [claimKeys.state]: 'pending', [claimKeys.startedAt]: formatInstant(startedAt) }, 'goOn');
}

const maybeRefusal = (words: string | undefined): { refusal?: string } =>
  words ? { refusal: words.slice(0, refusalLength) } : {};

/** The audit entry of a step, its time in whole seconds. */
export const entryOf = (
  view: PoolView,
  rotation: Pick<AnchoredRotation, 'claim' | 'claimUid' | 'startedAt'>,
  step: RotationStep,
  facts: StepFacts,
): UnrecordedStep => ({
  step,
  at: wholeSecond(view.at),
  claim: rotation.claim,
  uid: rotation.claimUid,
  startedAt: rotation.startedAt,
  ...facts,
});
