/**
 * The end of a drain: the old claim is gone, so the marks come off and the pool's slot is free again.
 */
import { refOf } from '../domain/cluster/object-ref.ts';
import { poolKeys } from '../domain/rotation/annotation-keys.ts';
import type { AnchoredRotation } from '../domain/rotation/rotation.ts';
import { writeLastEnded, writeRotation } from '../domain/rotation/rotation.ts';
import { between, formatDuration, formatInstant, wholeSecond } from '../domain/time.ts';
import type { Decision } from './decision.ts';
import type { PoolView } from './pool-view.ts';
import { placeholderOf } from './pool-view.ts';
import { unprotectAll } from './protect.ts';
import { entryOf } from './rollback.ts';
import { annotatePool, appendStep, deletePlaceholder, event, maybe } from './writes.ts';

/** @design D7-06, R3.3-09 */
export function finish(view: PoolView, rotation: AnchoredRotation & { phase: 'draining' }): Decision {
  const { claim, claimUid, startedAt, mode, surgeClaim, surgeWait, surgePath, drainingAt } = rotation;
  const drain =
    drainingAt === undefined || drainingAt > view.at ? undefined : between(drainingAt, wholeSecond(view.at));
  const entry = entryOf(view, rotation, 'completed', {
    mode,
    ...(surgeClaim ? { surgeClaim } : {}),
    ...(surgePath ? { surgePath } : {}),
    ...(surgeWait !== undefined ? { surgeWait } : {}),
    ...(drain !== undefined ? { drain } : {}),
  });
  const outbox = appendStep(view.pool.meta, entry);
  const placeholder = placeholderOf(view.snapshot, claim);
  const parts = [
    mode === 'forceful-fallback' ? 'without a surge (forceful fallback)' : `surgePath=${surgePath ?? 'unknown'}`,
    ...(surgeWait !== undefined ? [`surge wait ${formatDuration(surgeWait)}`] : []),
    ...(drain !== undefined ? [`drain ${formatDuration(drain)}`] : []),
  ];
  return {
    nodePool: view.pool.meta.name,
    step: 'finish',
    actions: [
      ...unprotectAll(view.snapshot, claim, undefined),
      ...maybe(placeholder && !placeholder.meta.deleting ? deletePlaceholder(placeholder) : undefined),
      annotatePool(view, {
        ...writeRotation({ phase: 'none' }),
        [poolKeys.lastRotationAt]: formatInstant(wholeSecond(view.at)),
        [poolKeys.lastEnded]: writeLastEnded({ claimUid, startedAt, step: 'completed' }),
        ...outbox.annotations,
      }),
      event(
        'Normal',
        'RotationCompleted',
        `NodeClaim ${claim} was rotated: ${parts.join(', ')}.`,
        refOf('NodePool', view.pool.meta),
      ),
    ],
    notices: outbox.notices,
    transition: entry,
    grounds: { windowOpen: view.occurrence !== undefined, frozen: view.freeze.frozen, staticPool: false },
  };
}
