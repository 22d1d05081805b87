/**
 * What follows when the API server refuses a write of a list: its words go on the anchor, so that the Event and the
 * audit row can carry them, and a hand-over turns into a rollback.
 */
import type { NodePool } from '../domain/cluster/node-pool.ts';
import { refOf } from '../domain/cluster/object-ref.ts';
import { anchorKeys } from '../domain/rotation/annotation-keys.ts';
import type { Action, Decision, Step } from './decision.ts';
import { refusalLength } from './rollback.ts';

const startsOrCreates: ReadonlySet<Step> = new Set(['start', 'recreatePlaceholder']);
const drains: ReadonlySet<Step> = new Set(['handOver', 'repeatDelete', 'startFallback']);

/**
 * The one patch that follows a refused action; undefined when there is nothing to write.
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
  if (startsOrCreates.has(decision.step)) {
    return { kind: 'annotate', target, annotations: { [anchorKeys.lastRefusal]: words }, whenRefused: 'goOn' };
  }
  return undefined;
}
