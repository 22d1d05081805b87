/**
 * The anchor: one rotation per pool, begun only when everything allows it, changed and ended only as D7 says.
 */
import type { KubeObject, PoolObject } from '../../lib/simulator/kube-object.ts';
import { foreignChanges } from './foreign-parts.ts';
import { groundsOf } from './grounds.ts';
import { judgeStart } from './judge-start.ts';
import type { Landed, Sight } from './safety.ts';
import type { Anchor } from './seen-cluster.ts';
import { anchorOf, condition, isGoing, isOperators, key, named, nodeOfClaim, note } from './seen-cluster.ts';

type Found = readonly { readonly rule: string; readonly message: string }[];

export function judgePool(landed: Landed): Found {
  const { before, after, sight } = landed;
  const foreign = foreignChanges('NodePool', before, after);
  if (!before || !after) return foreign;
  const [was, is] = [anchorOf(before), anchorOf(after)];
  const name = after.metadata.name;
  const no = (rule: string, message: string): Found => [{ rule, message: `pool ${name}: ${message}` }];
  if (!was && is) return [...foreign, ...judgeStart(landed, is)];
  if (was && !is) return [...foreign, ...judgeEnd(landed, was)];
  if (!was || !is) return foreign;
  if (was.claim !== is.claim) return no('twoRotations', `${was.claim} on the anchor became ${is.claim}`);
  if (!was.malformed && (was.uid !== is.uid || was.startedAt !== is.startedAt))
    return no('anchorChanged', `uid or start of ${was.claim} changed`);
  const ending = was.state === 'failing' || was.state === 'aborting';
  if (ending && is.state !== was.state) return no('endRevoked', `${was.state} became ${is.state}`);
  if (was.state !== is.state && is.state === 'failing') return [...foreign, ...judgeFailing(sight, before, was)];
  if (was.state !== is.state && is.state === 'aborting') return [...foreign, ...judgeAborting(sight, name, was)];
  return foreign;
}

/** Only for a timeout, a refusal of the server, or an anchor that nobody can read. R3.8-01, D7-01, D7-04, D5-06 */
function judgeFailing(sight: Sight, before: KubeObject, was: Anchor): Found {
  const name = before.metadata.name;
  const { terms, seen } = groundsOf(sight, name);
  if (was.malformed || anchorOf(named(seen.pools, name))?.malformed) return [];
  if (sight.refused || note(before, key('last-refusal')) !== undefined) return [];
  if (typeof terms === 'object' && sight.observedAt > was.startedAt + terms.readyTimeout) return [];
  if (sight.refusedDryRun) return [];
  return [{ rule: 'failedEarly', message: `pool ${name}: ${was.claim} is rolled back before its readyTimeout` }];
}

/** Only when governance is lost, the candidate was taken by somebody, or a fallback may not be repeated. D7-08, D7-05 */
function judgeAborting(sight: Sight, pool: string, was: Anchor): Found {
  const { terms, seen } = groundsOf(sight, pool);
  const claim = named(seen.claims, was.claim);
  const taken =
    claim !== undefined &&
    (condition(claim, 'DisruptionReason')?.status === 'True' || isOperators(nodeOfClaim(seen, claim)));
  if (typeof terms === 'string' || taken || was.fallback) return [];
  return [
    { rule: 'abortedForNothing', message: `pool ${pool}: ${was.claim} is aborted though nothing speaks against it` },
  ];
}

/** The last write: it names the attempt and how it ended, and that is what was seen. D5-01, D7-06, D7-07, D7-08 */
function judgeEnd({ before, after, sight }: Landed, was: Anchor): Found {
  const pool = (after as PoolObject).metadata.name;
  const no = (rule: string, message: string): Found => [{ rule, message: `pool ${pool}: ${message}` }];
  const left = Object.keys(after?.metadata.annotations ?? {}).filter((annotation) => anchorParts.has(annotation));
  if (left.length > 0) return no('anchorParts', `the end of ${was.claim} leaves ${left.join(', ')}`);
  const ended = note(after, key('last-ended')) ?? '';
  const step = ended.slice(ended.lastIndexOf('=') + 1);
  if (!was.malformed && ended !== `${was.uid}@${note(before, key('started-at'))}=${step}`)
    return no('lastEnded', `the end of ${was.claim} says ${ended}`);
  const seen = groundsOf(sight, pool).seen;
  const claim = seen.claims.find(
    (each) => each.metadata.name === was.claim && (was.uid === undefined || each.metadata.uid === was.uid),
  );
  const present = claim !== undefined && !isGoing(claim);
  switch (step) {
    case 'completed':
      // A drain that another tick's write turned into an end is followed to its own (D7-07).
      return (was.state === 'draining' ||
        (was.state === 'failing' && note(before, key('draining-at')) !== undefined)) &&
        !claim
        ? []
        : no('endedFalsely', `${was.claim} is called completed (${was.state}, ${claim ? 'present' : 'gone'})`);
    case 'expired':
      return !present && was.state !== 'draining' ? [] : no('endedFalsely', `${was.claim} is called expired`);
    case 'failed':
    case 'aborted':
      return (was.state === (step === 'failed' ? 'failing' : 'aborting') || was.malformed) && present
        ? []
        : no('endedFalsely', `${was.claim} is called ${step} (${was.state}, ${present ? 'present' : 'gone or going'})`);
    default:
      return no('lastEnded', `the end of ${was.claim} says ${ended}`);
  }
}

const anchorParts = new Set(
  [
    'active-rotation',
    'rotation-claim-uid',
    'started-at',
    'active-rotation-state',
    'surge-claim',
    'draining-at',
    'surge-wait',
    'surge-path',
    'rotation-mode',
    'last-refusal',
  ].map(key),
);
