/**
 * What follows when the API server refuses a write of a list: its words go on the anchor, so that the Event and the
 * audit row can carry them, and a hand-over turns into a rollback.
 */
import type { NodePool } from '../domain/cluster/node-pool.ts';
import { annotation, refOf } from '../domain/cluster/object-ref.ts';
import { anchorKeys } from '../domain/rotation/annotation-keys.ts';
import type { Action, Decision, Step } from './decision.ts';
import { refusalLength } from './rollback.ts';

const waits: ReadonlySet<Step> = new Set(['start', 'awaitSurge', 'recreatePlaceholder', 'hold']);
const drains: ReadonlySet<Step> = new Set(['handOver', 'repeatDelete', 'startFallback']);

/**
 * The one patch that follows a refused action; undefined when there is nothing to write. An attempt that waits is
 * refused the same every minute, and is told so once.
 *
 * @param pool as read before the list began
 * @design D7-01, D7-04, D7-05, D8-09
 */
export function afterRefusal(pool: NodePool, decision: Decision, refused: Action, detail: string): Action | undefined {
  const itself = refused.kind === 'annotate' && refused.target.kind === 'NodePool';
  if (itself || refused.whenRefused === 'goOn') return undefined;
  const words = detail.slice(0, refusalLength);
  const target = refOf('NodePool', pool.meta);
  if (drains.has(decision.step)) {
    return {
      kind: 'annotate',
      target,
      annotations: { [anchorKeys.state]: 'failing', [anchorKeys.lastRefusal]: words },
      whenRefused: 'goOn',
    };
  }
  const known = annotation(pool.meta, anchorKeys.lastRefusal) === words;
  if (waits.has(decision.step) && !known) {
    return { kind: 'annotate', target, annotations: { [anchorKeys.lastRefusal]: words }, whenRefused: 'goOn' };
  }
  return undefined;
}
