/**
 * The hand-over from the old node to the surge host. Its order is what keeps a crash harmless and Karpenter from
 * planning a second node: durable marks, then the placeholder's room is freed, then the old claim is deleted.
 */
import type { NodeClaim } from '../domain/cluster/node-claim.ts';
import { refOf } from '../domain/cluster/object-ref.ts';
import type { Pod } from '../domain/cluster/pod.ts';
import { claimKeys } from '../domain/rotation/annotation-keys.ts';
import type { AnchoredRotation } from '../domain/rotation/rotation.ts';
import { readClaimState, writeRotation } from '../domain/rotation/rotation.ts';
import { formatInstant, seconds, wholeSecond } from '../domain/time.ts';
import type { Action, Decision, Need } from './decision.ts';
import type { PoolView } from './pool-view.ts';
import { claimOnNode, nodeOf } from './pool-view.ts';
import { entryOf, rollBack } from './rollback.ts';
import { surgePathOf, surgeWaitOf } from './surge-host.ts';
import { annotateClaim, annotatePool, appendStep, deletePlaceholder, maybe, need } from './writes.ts';

/** A hand-over is begun only with this much of the tick's budget left. @design D7-04 */
export const handOverNeeds = seconds(10);

/**
 * @param placeholder Running on the surge host, which has been found ready in this tick
 * @design D7-04, D5-03, R3.5-01
 */
export function handOver(
  view: PoolView,
  rotation: AnchoredRotation & { phase: 'pending' },
  old: NodeClaim,
  placeholder: Pod,
): Decision | { readonly need: Need } {
  const dryRun = view.snapshot.inspected.dryRuns.get(old.meta.name);
  if (dryRun === undefined) return need({ dryRunDeletes: [refOf('NodeClaim', old.meta)] });
  if (dryRun.outcome === 'refused')
    return rollBack(view, rotation, old, 'the API server refuses to delete the old NodeClaim', dryRun.detail);

  const hostName = placeholder.nodeName ?? '';
  const host = claimOnNode(view.snapshot, hostName);
  const surgePath = surgePathOf(view, rotation, hostName);
  const surgeWait = surgeWaitOf(view, rotation, placeholder);
  const surgeClaim = host?.meta.name ?? rotation.surgeClaim;
  const facts = { surgeWait, ...(surgePath ? { surgePath } : {}), ...(surgeClaim ? { surgeClaim } : {}) };
  const drainingAt = wholeSecond(view.at);
  const entry = entryOf(view, rotation, 'draining', { node: hostName, ...facts });
  const outbox = appendStep(view.pool.meta, entry);
  const candidateNode = nodeOf(view.snapshot, old);
  const actions: readonly Action[] = [
    ...maybe(markDraining(old, { ...rotation, ...facts })),
    annotatePool(view, {
      ...writeRotation({ ...rotation, phase: 'draining', drainingAt, ...facts }),
      ...outbox.annotations,
    }),
    deletePlaceholder(placeholder, { mustExist: true, whenRefused: 'stop' }),
    { kind: 'deleteNodeClaim', target: refOf('NodeClaim', old.meta), because: 'drain', whenRefused: 'stop' },
  ];
  return {
    nodePool: view.pool.meta.name,
    step: 'handOver',
    actions,
    notices: outbox.notices,
    transition: entry,
    needs: handOverNeeds,
    grounds: {
      windowOpen: view.occurrence !== undefined,
      frozen: view.freeze.frozen,
      staticPool: false,
      surgeReady: true,
    },
    ...(candidateNode ? { rereadNode: refOf('Node', candidateNode.meta), nodeAsSeen: candidateNode.meta } : {}),
  };
}

/** The claim's copy, before the pool's mirror: a reverted NodePool must not make a drain forgotten. @design D5-02 */
export function markDraining(
  old: NodeClaim,
  { startedAt, surgeClaim, mode }: Pick<AnchoredRotation, 'startedAt' | 'surgeClaim' | 'mode'>,
): Action | undefined {
  const state = readClaimState(old.meta);
  if (state.state === 'draining' && state.startedAt === startedAt) return undefined;
  return annotateClaim(old, {
    [claimKeys.state]: 'draining',
    [claimKeys.startedAt]: formatInstant(startedAt),
    ...(surgeClaim ? { [claimKeys.surgeClaim]: surgeClaim } : {}),
    ...(mode === 'forceful-fallback' ? { [claimKeys.mode]: mode } : {}),
  });
}
