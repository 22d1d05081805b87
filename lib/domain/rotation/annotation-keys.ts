/**
 * Every key we write or read on objects. No other file spells one out.
 *
 * Times are RFC 3339 UTC in whole seconds, durations Go strings. `karpenter.sh/do-not-disrupt` is Karpenter's own.
 */

/** On a NodePool: the anchor and what must survive the old claim. @design D5-01 */
export const anchorKeys = {
  claim: 'noderotation.io/active-rotation',
  claimUid: 'noderotation.io/rotation-claim-uid',
  startedAt: 'noderotation.io/started-at',
  state: 'noderotation.io/active-rotation-state',
  surgeClaim: 'noderotation.io/surge-claim',
  drainingAt: 'noderotation.io/draining-at',
  surgeWait: 'noderotation.io/surge-wait',
  surgePath: 'noderotation.io/surge-path',
  mode: 'noderotation.io/rotation-mode',
  lastRefusal: 'noderotation.io/last-refusal',
} as const;

/** On a NodePool: what outlives a rotation. */
export const poolKeys = {
  lastEnded: 'noderotation.io/last-ended',
  lastRotationAt: 'noderotation.io/last-rotation-at',
  lastFailureAt: 'noderotation.io/last-failure-at',
  unrecorded: 'noderotation.io/unrecorded',
} as const;

/** On a NodeClaim: the claim's copy of the rotation, for people and for a restore. @design D5-02 */
export const claimKeys = {
  state: 'noderotation.io/state',
  startedAt: 'noderotation.io/started-at',
  surgeClaim: 'noderotation.io/surge-claim',
  mode: 'noderotation.io/rotation-mode',
  failedAt: 'noderotation.io/failed-at',
  retryCount: 'noderotation.io/retry-count',
} as const;

/** On a Node. @design R3.4-02, R3.4-06, R3.4-07 */
export const nodeKeys = {
  doNotDisrupt: 'karpenter.sh/do-not-disrupt',
  owned: 'noderotation.io/do-not-disrupt-owned',
  surgeFor: 'noderotation.io/surge-for',
  cordoned: 'noderotation.io/cordoned',
} as const;

/** Operator's hold, on a NodePool or a RotationPolicy. @design R3.1-05, D5-07 */
export const freezeKey = 'noderotation.io/freeze';
/** Codes of warnings that have begun and not ended, on a NodePool or NodeClaim. @design D11-03 */
export const warningsKey = 'noderotation.io/warnings';
/** Label of a placeholder Pod: the NodeClaim that it stands for. */
export const surgeForLabel = 'noderotation.io/surge-for';
/** Prefix shared by every key of ours. */
export const keyPrefix = 'noderotation.io/';
