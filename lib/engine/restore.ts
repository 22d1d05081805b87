/**
 * Rotations whose anchor is missing or unreadable. Somebody may have reverted the NodePool; the claims still know.
 */
import type { NodeClaim } from '../domain/cluster/node-claim.ts';
import type { AnchoredRotation, Rotation } from '../domain/rotation/rotation.ts';
import { readClaimState, writeRotation } from '../domain/rotation/rotation.ts';
import { wholeSecond } from '../domain/time.ts';
import { awaitDrain } from './await-drain.ts';
import type { Decision, Need } from './decision.ts';
import type { PoolView } from './pool-view.ts';
import { claimsWithState, findClaim, governanceLost } from './pool-view.ts';
import { entryOf, expire, rollBack } from './rollback.ts';
import { startFacts } from './start.ts';
import { annotatePool, appendStep } from './writes.ts';

/** The claim in flight whose anchor is gone: the oldest, unless its attempt is known to have ended. @design D5-02 */
export function orphanedRotation(view: PoolView): { claim: NodeClaim; rotation: AnchoredRotation } | undefined {
  if (view.rotation.phase !== 'none' || governanceLost(view) !== undefined) return undefined;
  const ended = view.history.lastEnded;
  const orphans = claimsWithState(view.claims).flatMap((claim) => {
    const copy = readClaimState(claim.meta);
    if (copy.state !== 'draining' && !(copy.state === 'pending' && !claim.meta.deleting)) return [];
    // A pool rotates one claim after another: what began before the attempt that ended last has ended, too, and its
    // claim only did not take the mark.
    if (ended && copy.startedAt < ended.startedAt) return [];
    if (ended?.claimUid === claim.meta.uid && ended.startedAt === copy.startedAt) return [];
    const attempt = {
      claim: claim.meta.name,
      claimUid: claim.meta.uid,
      startedAt: copy.startedAt,
      mode: copy.mode,
      ...(copy.surgeClaim ? { surgeClaim: copy.surgeClaim } : {}),
    };
    const rotation: AnchoredRotation =
      copy.state === 'pending'
        ? { phase: 'pending', ...attempt }
        : { phase: 'draining', ...attempt, drainingAt: wholeSecond(claim.meta.deletionTimestamp ?? view.at) };
    return [{ claim, rotation }];
  });
  return orphans.sort(
    (a, b) => a.rotation.startedAt - b.rotation.startedAt || (a.claim.meta.name < b.claim.meta.name ? -1 : 1),
  )[0];
}

/**
 * Writes the anchor again. Window and freeze do not gate it: the rotation has already begun.
 *
 * Whoever reverted the pool took its outbox, too. The start is put on it once more: its row has the same key, so the
 * table holds it once whether or not it had arrived.
 *
 * @design D5-02, D10-03
 */
export function restore(view: PoolView, claim: NodeClaim, rotation: AnchoredRotation): Decision {
  const step = rotation.mode === 'forceful-fallback' ? 'fallbackStarted' : 'started';
  const entry = { ...entryOf(view, rotation, step, startFacts(claim)), at: rotation.startedAt };
  const outbox = appendStep(view.pool.meta, entry);
  return {
    nodePool: view.pool.meta.name,
    step: 'restore',
    actions: [annotatePool(view, { ...writeRotation(rotation), ...outbox.annotations })],
    notices: outbox.notices,
    transition: entry,
    grounds: { windowOpen: view.occurrence !== undefined, frozen: view.freeze.frozen, staticPool: false },
  };
}

/**
 * The attempt behind an anchor that cannot be read, as far as it is known.
 *
 * What the anchor lacks is taken from the claim's own copy; without one the attempt counts as begun in this tick, so
 * that nothing passes for induced by it and nothing is reaped.
 *
 * @design D5-06
 */
export function repaired(view: PoolView, rotation: Rotation & { phase: 'malformed' }): AnchoredRotation {
  const old = findClaim(view, rotation.claim, rotation.claimUid);
  const copy = old && readClaimState(old.meta);
  const known = copy && (copy.state === 'pending' || copy.state === 'draining');
  return {
    phase: rotation.draining ? 'draining' : 'pending',
    claim: rotation.claim,
    claimUid: rotation.claimUid ?? old?.meta.uid ?? 'unknown',
    startedAt: known ? copy.startedAt : wholeSecond(view.at),
    mode: known ? copy.mode : 'surge',
    ...(rotation.surgeClaim ? { surgeClaim: rotation.surgeClaim } : {}),
  };
}

/** A drain is followed to its end, anything else is rolled back: nothing is guessed. @design D5-06 */
export function endMalformed(
  view: PoolView,
  rotation: Rotation & { phase: 'malformed' },
): Decision | { readonly need: Need } {
  const attempt = repaired(view, rotation);
  if (attempt.phase === 'draining') return awaitDrain(view, attempt);
  const old = findClaim(view, attempt.claim, rotation.claimUid);
  const text = JSON.stringify(rotation.text);
  const reason = `StateMalformed: annotation ${rotation.key} of NodePool ${view.pool.meta.name} cannot be read: ${text}`;
  if (!old || old.meta.deleting) return expire(view, attempt, old, reason);
  return rollBack(view, attempt, old, reason);
}
