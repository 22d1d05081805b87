/**
 * Where rules of the protocol are needed: small explorations, and the rule whose absence each of them notices.
 */
import type { SourceBreak } from '../../support/broken-source.ts';
import { plain } from './bounds.ts';
import type { Search } from './search.ts';

export interface Story extends Search {
  /** The rule taken out of the sources. */
  readonly without: readonly SourceBreak[];
  /** What is then found. */
  readonly finds: string;
}

const engine = (file: string, find: string, replace: string): SourceBreak => ({
  file: `lib/engine/${file}.ts`,
  find,
  replace,
});
const tick = (find: string, replace: string): SourceBreak => ({ file: 'lib/controller/run-tick.ts', find, replace });
/** The delete names the uid alone. */
const unversioned = (because: 'drain' | 'reapSurge'): SourceBreak =>
  tick(
    "if (!('target' in action)) return action;",
    `if (!('target' in action)) return action;
     if (action.kind === 'deleteNodeClaim' && action.because === '${because}')
       return { ...action, target: { ...action.target, resourceVersion: '' } };`,
  );

/** By what is left out. */
export const stories: Readonly<Record<string, Story>> = {
  'a rollback says on the pool that it has begun': {
    ...plain,
    from: 'surgeReady',
    // Frozen it is rolled back, and without the freeze handed over: the surge was ready in time.
    after: ['freeze', 'readyTimeoutPasses'],
    ticks: 2,
    moves: 1,
    allowed: ['unfreeze'],
    looksAtOnce: true,
    without: [
      engine('rollback', 'ending.marker && rotation.phase !== ending.marker', "ending.marker === 'aborting'"),
      engine('invariants', '...(begun ? []', '...(begun || true ? []'),
    ],
    finds: 'the surge host of a hand-over was reaped',
  },
  'the delete of the old claim names its version': {
    ...plain,
    from: 'surgeReady',
    ticks: 2,
    moves: 1,
    allowed: ['freeze'],
    looksAtOnce: true,
    without: [unversioned('drain')],
    finds: 'a drain of ours ended as expired',
  },
  'a failure counts for the attempt that it belongs to': {
    ...plain,
    from: 'waiting',
    after: ['readyTimeoutPasses', 'tick', 'hourPasses'],
    faults: 1,
    moves: 1,
    allowed: ['readyTimeoutPasses'],
    without: [
      engine(
        'rollback',
        "state.state === 'failed' && state.startedAt === rotation.startedAt",
        "state.state === 'failed'",
      ),
    ],
    finds: 'the claim counts 1 failures of 2',
  },
  'the pool knows which attempt ended last': {
    ...plain,
    from: 'waiting',
    refusing: { kind: 'claimPatch', how: 'forGood' },
    without: [
      engine('restore', 'ended?.claimUid === claim.meta.uid && ended.startedAt === copy.startedAt', 'ended === null'),
    ],
    finds: 'ticks go in circles',
  },
  'a drain is restored from the claim': {
    ...plain,
    from: 'surgeReady',
    moves: 1,
    allowed: ['poolReverted'],
    without: [engine('restore', "copy.state !== 'draining' && !(copy.state", '!(copy.state')],
    finds: 'there are 0 rows of the end of uid-old@2026-06-09T17:00:00Z',
  },
  'a delete is not repeated against an opt-out': {
    ...plain,
    from: 'surgeReady',
    faults: 1,
    moves: 1,
    allowed: ['optOut'],
    without: [engine('await-drain', '(candidate !== undefined && isOptedOut(candidate))', 'candidate === null')],
    finds: 'the old claim was deleted although the candidate was opted out',
  },
  'a delete is not repeated in a frozen pool': {
    ...plain,
    from: 'surgeReady',
    faults: 1,
    moves: 1,
    allowed: ['freeze'],
    without: [
      engine('await-drain', 'view.freeze.frozen || old.disruptionReason', 'old.disruptionReason'),
      engine('invariants', 'if (view.freeze.frozen) return [`NodeClaim', 'if (view === null) return [`NodeClaim'),
    ],
    finds: 'the old claim was deleted although the pool was frozen',
  },
  'a delete is not repeated in mode Observe': {
    ...plain,
    from: 'surgeReady',
    faults: 1,
    moves: 1,
    allowed: ['observe'],
    without: [
      engine(
        'await-drain',
        'if (governanceLost(view) !== undefined || !policy) return leave',
        'if (!policy) return leave',
      ),
    ],
    finds: 'the old claim was deleted although the policy was in mode Observe',
  },
  'the pool is read again before the first write': {
    ...plain,
    from: 'surgeReady',
    moves: 1,
    allowed: ['freeze'],
    without: [tick('fingerprint(now.nodePool.meta) !== fingerprint(pool.meta)', 'fingerprint === null')],
    finds: 'a hand-over was begun in a frozen pool',
  },
  'the old node is read again before a hand-over': {
    ...plain,
    from: 'surgeReady',
    moves: 1,
    allowed: ['optOut'],
    without: [tick('fingerprint(now.node.meta) !== fingerprint(decision.nodeAsSeen)', 'fingerprint === null')],
    finds: 'the old claim was deleted although the candidate was opted out',
  },
  'the delete of a reaped claim names its version': {
    ...plain,
    from: 'waiting',
    // The placeholder runs on a node that no tick has seen.
    after: ['step', 'step', 'step', 'step', 'readyTimeoutPasses'],
    moves: 1,
    allowed: ['podComes'],
    without: [unversioned('reapSurge')],
    finds: 'a claim was reaped with a Pod on it',
  },
  'an attempt started again has rows of its own': {
    ...plain,
    from: 'waiting',
    moves: 2,
    allowed: ['observe', 'rotateAgain'],
    without: [
      {
        file: 'lib/domain/rotation/unrecorded.ts',
        find: 'entryKey = (entry: UnrecordedStep): string =>',
        replace: "entryKey = (entry: UnrecordedStep): string => entry.uid + '#' + entry.step ||",
      },
    ],
    finds: 'there is no row of the start of uid-old@2026-06-09T17:01:00Z',
  },
  'a bad host is left only until readyTimeout': {
    ...plain,
    from: 'surgeReady',
    moves: 1,
    allowed: ['hostCordoned'],
    refusing: { kind: 'placeholderDelete', how: 'forGood' },
    without: [engine('await-surge', '!placeholder.meta.deleting && !overdue) {', '!placeholder.meta.deleting) {')],
    finds: 'the rotation never ends',
  },
  'an operator may have protected the surge host': {
    ...plain,
    shape: { spare: true },
    from: 'waiting',
    moves: 1,
    allowed: ['hostProtected'],
    without: [
      engine(
        'protect',
        'nodeAnnotation(node, nodeKeys.surgeFor) === claimName && nodeAnnotation',
        'nodeAnnotation(node, nodeKeys.surgeFor) === claimName && isOwned(node) && nodeAnnotation',
      ),
    ],
    finds: 'the surge is ready and nobody hands over',
  },
  'a drain is given up on the claim first': {
    ...plain,
    from: 'surgeReady',
    ticks: 2,
    moves: 1,
    allowed: ['observe'],
    looksAtOnce: true,
    without: [
      engine(
        'await-drain',
        'if (governanceLost(view) !== undefined || !policy) return leaveDraining(view, rotation, old);',
        "if (!policy || governanceLost(view) !== undefined) return abort(view, { ...rotation, phase: 'pending' }, old, 'lost');",
      ),
    ],
    finds: 'a drain of ours ended as expired',
  },
  'a drain that landed beside a refused delete is followed': {
    ...plain,
    from: 'surgeReady',
    ticks: 2,
    refusing: { kind: 'placeholderDelete', how: 'once' },
    looksAtOnce: true,
    without: [engine('await-surge', "rotation.phase === 'failing' && drainHasBegun", 'view === null && drainHasBegun')],
    finds: 'a drain of ours ended as expired',
  },
  'a refused hand-over is let go of before it is rolled back': {
    ...plain,
    from: 'surgeReady',
    ticks: 2,
    refusing: { kind: 'placeholderDelete', how: 'once' },
    looksAtOnce: true,
    without: [
      engine(
        'rollback',
        "if ('need' in ended || !old || !hasMirror(rotation)) return ended;",
        'if (ended) return ended;',
      ),
    ],
    finds: 'the surge host was reaped during the drain',
  },
};
