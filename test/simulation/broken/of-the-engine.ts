/**
 * Broken versions of the engine and of the domain below it.
 */
import type { BrokenVersion } from './version.ts';
import { breakOf, unchecked } from './version.ts';

const engine = breakOf('lib/engine');
const domain = breakOf('lib/domain');

export const ofTheEngine: readonly BrokenVersion[] = [
  {
    does: 'deletes the NodeClaim before the pool says that it drains',
    rules: ['D5-03', 'D7-04'],
    breaks: [
      unchecked,
      engine('hand-over', "step: 'handOver',\n    actions,", "step: 'handOver',\n    actions: actions.toReversed(),"),
    ],
    caughtBy: { case: 'nothing is in the way', rule: 'drain' },
  },
  {
    does: 'keeps the placeholder through the drain, so that Karpenter makes a second NodeClaim',
    rules: ['D7-04'],
    breaks: [
      engine(
        'hand-over',
        "step: 'handOver',\n    actions,",
        "step: 'handOver',\n    actions: actions.filter(({ kind }) => kind !== 'deletePlaceholder'),",
      ),
    ],
    caughtBy: { case: 'nothing is in the way', rule: 'drain' },
  },
  {
    does: 'hands over before the placeholder runs',
    rules: ['R3.3-22', 'D7-03'],
    breaks: [engine('surge-host', "placeholder.phase !== 'Running' ||", '')],
    caughtBy: { case: 'everything takes minutes', rule: 'drain' },
  },
  {
    does: 'hands over to a host that it has not protected',
    rules: ['R3.3-22', 'D7-03'],
    breaks: [
      engine(
        'await-surge',
        'const hostMarks = usable && protect(usable, rotation.claim);',
        'const hostMarks = undefined;',
      ),
      engine('surge-host', 'isProtectedFor(host, old.meta.name) && ', ''),
    ],
    caughtBy: { case: 'nothing is in the way', rule: 'drain' },
  },
  {
    does: 'hands over to a host that is being deleted',
    rules: ['R3.3-22', 'D7-03'],
    breaks: [
      engine('surge-host', 'if (host.meta.deleting)', 'if (host === undefined)'),
      engine('surge-host', 'if (claim.meta.deleting)', 'if (claim === undefined)'),
    ],
    caughtBy: { case: 'the surge host is being deleted', rule: 'drain' },
  },
  {
    does: 'hands over to a host that an operator has cordoned',
    rules: ['D7-03'],
    breaks: [engine('surge-host', 'if (host.unschedulable)', 'if (host === undefined)')],
    caughtBy: { case: 'the surge host is cordoned', rule: 'drain' },
  },
  {
    does: 'calls a rotation completed while the old NodeClaim is still being drained',
    rules: ['D7-06'],
    breaks: [engine('await-drain', 'if (!old) return finish', 'if (!old || old.meta.deleting) return finish')],
    caughtBy: { case: 'everything takes minutes', rule: 'endedFalsely' },
  },
  {
    does: 'does not say on the pool which attempt ended last',
    rules: ['D5-02'],
    breaks: [engine('finish', "[poolKeys.lastEnded]: writeLastEnded({ claimUid, startedAt, step: 'completed' }),", '')],
    caughtBy: { case: 'nothing is in the way', rule: 'lastEnded' },
  },
  {
    does: 'hands over without an entry for the audit row',
    rules: ['D10-04'],
    breaks: [engine('hand-over', '...outbox.annotations,', '')],
    caughtBy: { case: 'nothing is in the way', rule: 'auditStep' },
  },
  {
    does: 'cordons a node without marking the cordon as ours',
    rules: ['R3.4-08'],
    breaks: [engine('protect', "if (cordoning && !ours) annotations[nodeKeys.cordoned] = 'true';", '')],
    caughtBy: { case: 'nothing is in the way', rule: 'cordon' },
  },
  {
    does: "undoes an operator's cordon",
    rules: ['R3.4-08'],
    breaks: [unchecked, engine('protect', '...(cordoned ? {', '...(cordoned || true ? {')],
    caughtBy: { case: 'the operator has cordoned the node, and the policy is deleted', rule: 'operatorsCordon' },
  },
  {
    does: "passes off an operator's cordon as ours",
    rules: ['R3.4-08'],
    breaks: [engine('protect', 'cordon !== undefined && !cordon.unschedulable', 'cordon !== undefined')],
    caughtBy: { case: 'the operator has cordoned the node', rule: 'operatorsCordon' },
  },
  {
    does: "removes an operator's do-not-disrupt",
    rules: ['R3.4-03', 'R3.4-05'],
    breaks: [unchecked, engine('protect', 'if (isOwned(node)) annotations', 'annotations')],
    caughtBy: { case: 'the operator protects the surge host', rule: 'operatorsMark' },
  },
  {
    does: "passes off an operator's do-not-disrupt as ours",
    rules: ['R3.4-04'],
    breaks: [engine('protect', 'if (!isOptedOut(node)) {', '{')],
    caughtBy: { case: 'the operator protects the surge host', rule: 'operatorsMark' },
  },
  {
    does: 'sweeps nodes that carry no mark of ours',
    rules: ['D6-03', 'R3.4-03'],
    breaks: [
      unchecked,
      engine('sweep', 'nodes.filter(carriesMarker)', 'nodes'),
      engine('protect', 'if (!carriesMarker(node)) return undefined;', ''),
      engine('protect', 'if (isOwned(node)) annotations', 'annotations'),
    ],
    caughtBy: { case: 'the operator has opted the node out', rule: 'operatorsMark' },
  },
  {
    does: 'rotates a node that its operator has opted out',
    rules: ['R3.2-06', 'D6-05'],
    breaks: [engine('candidates', 'if (node && isOptedOut(node))', 'if (node === null)')],
    caughtBy: { case: 'the operator has opted the node out', rule: 'start' },
  },
  {
    does: 'goes on when an operator opts the candidate out',
    rules: ['D7-08'],
    breaks: [engine('await-surge', 'if (candidate && isOptedOut(candidate))', 'if (candidate === null)')],
    caughtBy: { case: 'the operator opts the candidate out', rule: 'drain' },
  },
  {
    does: 'goes on when no policy governs the pool any more',
    rules: ['D6-01', 'D7-08'],
    breaks: [
      engine(
        'await-surge',
        'if (lost !== undefined || !view.policy) return abort(view, rotation, old, ',
        'if (lost !== undefined || !view.policy) return expire(view, rotation, old, ',
      ),
    ],
    caughtBy: { case: 'the policy is deleted', rule: 'endedFalsely' },
  },
  {
    does: 'starts outside the window',
    rules: ['D6-04', 'D7-10'],
    breaks: [unchecked, engine('gates', 'if (view.occurrence) return undefined;', 'if (view) return undefined;')],
    caughtBy: { case: 'the window opens in an hour', rule: 'start' },
  },
  {
    does: 'starts during a freeze',
    rules: ['R3.1-05', 'D6-04'],
    breaks: [unchecked, engine('gates', 'if (!freeze.frozen) return undefined;', 'if (freeze) return undefined;')],
    caughtBy: { case: 'the pool is frozen', rule: 'start' },
  },
  {
    does: 'takes a freeze that cannot be read for none',
    rules: ['R3.1-05', 'D5-06'],
    breaks: [
      domain('rotation/freeze', 'return { frozen: true, malformed: { on, text } };', 'return { frozen: false };'),
    ],
    caughtBy: { case: 'a freeze cannot be read', rule: 'start' },
  },
  {
    does: 'forgets what is in flight and starts a second rotation in the pool',
    rules: ['D6-02', 'D7-10'],
    breaks: [
      unchecked,
      engine(
        'decide',
        "case 'pending':",
        "case 'pending':\n      return withoutRotation({ ...view, rotation: { phase: 'none' } });",
      ),
      engine('restore', 'const orphans = claimsWithState(view.claims).flatMap', 'const orphans = [].flatMap'),
    ],
    caughtBy: { case: 'two nodes are due', rule: 'twoRotations' },
  },
  {
    does: 'rolls back before readyTimeout has passed',
    rules: ['R3.8-01', 'D7-07'],
    breaks: [
      engine('await-surge', 'const overdue = view.at > readyBy;', 'const overdue = view.at > rotation.startedAt;'),
    ],
    caughtBy: { case: 'no capacity comes', rule: 'failedEarly' },
  },
  {
    does: 'clears the anchor before the attempt is undone',
    rules: ['D7-07', 'R3.8-04'],
    breaks: [
      unchecked,
      engine(
        'rollback',
        'step: ending.step,\n    actions,',
        `step: ending.step,
         actions: [
           ...actions.filter((each) => each.target?.kind === 'NodePool'),
           ...actions.filter((each) => each.target?.kind !== 'NodePool'),
         ],`,
      ),
    ],
    caughtBy: { case: 'nodes never register', rule: 'delete' },
  },
  {
    does: 'reaps whatever came up while another Pod waits for a node',
    rules: ['R3.8-06', 'D7-11'],
    breaks: [unchecked, engine('reap', 'if (others.length > 0 ||', 'if (')],
    caughtBy: { case: 'nodes never register, and another Pod waits', rule: 'reap' },
  },
  {
    does: 'reaps a surge host that others run on',
    rules: ['R3.8-06', 'D7-11'],
    breaks: [unchecked, engine('reap', 'return pods.every((pod) => isDebris(pod, rotation.claim)) ?', 'return pods ?')],
    caughtBy: { case: 'a freeze outlasts the surge, and another Pod runs on its host', rule: 'reap' },
  },
  {
    does: 'reaps a node that was there before the attempt',
    rules: ['R3.8-06', 'D7-11'],
    breaks: [unchecked, engine('reap', 'const induced =\n    bornDuring(rotation, claim) &&', 'const induced =\n   ')],
    caughtBy: { case: 'a freeze outlasts a surge on a spare node', rule: 'reap' },
  },
  {
    does: 'takes a start that cannot be read for the beginning of time',
    rules: ['D5-06', 'D7-11'],
    breaks: [
      domain(
        'rotation/rotation',
        "const startedAt = parseInstant(text(anchorKeys.startedAt) ?? '');",
        "const startedAt = parseInstant(text(anchorKeys.startedAt) ?? '') ?? 0;",
      ),
    ],
    caughtBy: { case: 'the start of a surge on a spare node cannot be read', rule: 'reap' },
  },
  {
    does: 'does not count a failure',
    rules: ['R3.2-12', 'D7-07'],
    breaks: [engine('rollback', 'return isMarkedFailed(rotation, old) ? before : before + 1;', 'return before;')],
    caughtBy: { case: 'no capacity comes', rule: 'failureCount' },
  },
  {
    does: 'tries again without waiting',
    rules: ['R3.2-08'],
    breaks: [engine('candidates', 'backoffUntil !== undefined && view.at < backoffUntil', 'backoffUntil === null')],
    caughtBy: { case: 'no capacity comes', rule: 'start' },
  },
  {
    does: 'waits for its surge without end',
    rules: ['R3.8-01', 'D7-07'],
    breaks: [
      engine('await-surge', 'const overdue = view.at > readyBy;', 'const overdue = view.at < rotation.startedAt;'),
    ],
    caughtBy: { case: 'placeholders are refused for good', rule: 'neverEnds' },
  },
  {
    does: 'falls back outside the window when somebody asks for the rotation',
    rules: ['D12-02', 'R3.6-01'],
    breaks: [
      unchecked,
      engine(
        'decide',
        'if (view.occurrence && fallbackApplies(view, policy, claim))',
        'if (fallbackApplies(view, policy, claim))',
      ),
    ],
    caughtBy: {
      case: 'a rotation of a node near its end is asked for before the window opens',
      rule: 'fallback',
    },
  },
  {
    does: 'sweeps nothing',
    rules: ['D6-03', 'R3.9-02'],
    breaks: [engine('sweep', 'nodes.filter(carriesMarker)', 'nodes.slice(0, 0)')],
    caughtBy: { case: 'the policy is deleted, and GitOps reverts the pool', rule: 'debris' },
  },
  {
    does: 'never finds a node due',
    rules: ['R3.2-01', 'R3.9-01'],
    breaks: [engine('candidates', 'if (!due.due) return no(', 'if (due) return no(')],
    caughtBy: { case: 'a node comes due in peace', rule: 'forcedInPeace' },
  },
];
