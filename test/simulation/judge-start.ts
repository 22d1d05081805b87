/**
 * The first write of a rotation: every gate of D6-04 and every disqualifier of D6-05 that can be told from outside.
 */
import type { ClaimObject, PoolObject } from '../../lib/simulator/kube-object.ts';
import type { Grounds } from './grounds.ts';
import { groundsOf } from './grounds.ts';
import type { PolicyTerms } from './policy-terms.ts';
import { boundOf, day, fatalOf, leadOf, readGo, readTime, weekOf, windowAt } from './policy-terms.ts';
import type { Landed, Sight } from './safety.ts';
import type { Anchor } from './seen-cluster.ts';
import { born, condition, isGoing, isOperators, key, lifeOf, nodeOfClaim, note, poolOfClaim } from './seen-cluster.ts';

type Found = readonly { readonly rule: string; readonly message: string }[];

export function judgeStart({ after, sight }: Landed, is: Anchor): Found {
  const name = (after as PoolObject).metadata.name;
  const grounds = groundsOf(sight, name);
  const { seen, pool, terms } = grounds;
  const say = (messages: readonly string[], rule = 'start'): Found =>
    messages.map((message) => ({ rule, message: `pool ${name}: ${is.claim} ${message}` }));
  const claim = seen.claims.find((each) => each.metadata.name === is.claim && each.metadata.uid === is.uid);
  if (!claim || poolOfClaim(claim) !== name) return say(['was started without having been seen in the pool']);
  if (typeof terms === 'string') return say([`was started although ${terms}`]);
  // The claim's own copy says that the attempt is an old one: its anchor is only written again (D5-02).
  const copy = note(claim, key('state'));
  if ((copy === 'pending' || copy === 'draining') && readTime(note(claim, key('started-at'))) === is.startedAt)
    return [];
  const asked = sight.request?.nodeClaim === is.claim ? sight.request : undefined;
  if (is.startedAt !== Math.floor(sight.observedAt / 1000) * 1000) return say(['was started with another time']);
  return [
    ...say(closedGates(grounds, pool as PoolObject, terms, sight, asked !== undefined, asked?.ignoreWindow === true)),
    ...say(unfitness(grounds, claim)),
    ...say(asked ? [] : tooEarly(claim, terms, sight.observedAt), 'startedEarly'),
    ...say(asked ? [] : tooSoon(claim, terms, sight.observedAt)),
    ...say(is.fallback ? noFallback(claim, terms, sight.observedAt) : [], 'fallback'),
  ];
}

function closedGates(
  { frozen }: Grounds,
  pool: PoolObject,
  terms: PolicyTerms,
  { observedAt }: Sight,
  asked: boolean,
  ignoreWindow: boolean,
): readonly string[] {
  const template = pool.spec.template.spec;
  const fatal = fatalOf(
    terms,
    readGo(template.expireAfter ?? '720h'),
    readGo(template.terminationGracePeriod),
    observedAt,
  );
  // A time that cannot be read holds nobody; the product names it.
  const since = (annotation: string): number => {
    const then = readTime(note(pool, key(annotation)));
    return Number.isNaN(then) ? Number.POSITIVE_INFINITY : observedAt - then;
  };
  return [
    ...(fatal === undefined ? [] : [`was started despite ${fatal}`]),
    ...(pool.spec.replicas === undefined ? [] : ['was started in a static pool']),
    ...(condition(pool, 'Ready')?.status === 'True' ? [] : ['was started in a pool that is not ready']),
    ...(frozen ? ['was started during a freeze'] : []),
    ...(ignoreWindow || windowAt(terms, observedAt) !== 'closed' ? [] : ['was started outside every window']),
    ...(asked || since('last-rotation-at') >= terms.cooldownAfter ? [] : ['was started during the cooldown']),
    ...(asked || since('last-failure-at') >= terms.failurePause
      ? []
      : ['was started during the pause after a failure']),
  ];
}

function unfitness({ seen }: Grounds, claim: ClaimObject): readonly string[] {
  const node = nodeOfClaim(seen, claim);
  const state = note(claim, key('state')) ?? '';
  return [
    ...(isGoing(claim) ? ['was started while being deleted'] : []),
    ...(!node || isGoing(node) ? ['was started without a node'] : []),
    ...(isOperators(node) ? ['was started although its operator opted it out'] : []),
    ...(condition(claim, 'Ready')?.status === 'True' ? [] : ['was started while not ready']),
    ...(condition(claim, 'DisruptionReason')?.status === 'True' ? ['was started though Karpenter has chosen it'] : []),
    ...(state === '' || state === 'failed' ? [] : [`was started in state ${state}`]),
  ];
}

/**
 * R3.2-01, R3.2-19. Under `auto` exclusions and clock shifts may bring the time forward (D3-07): with exclusions by any
 * amount, otherwise by three hours.
 */
function tooEarly(claim: ClaimObject, terms: PolicyTerms, at: number): readonly string[] {
  const { deadline, grace } = lifeOf(claim);
  if (terms.ageThreshold !== 'auto')
    return at - born(claim) > terms.ageThreshold ? [] : ['was started before the age threshold'];
  if (deadline === undefined) return ['was started though it never expires'];
  if (terms.exclusions.length > 0) return [];
  const tolerance = weekOf(terms, at).exact ? 3 * 3_600_000 : day;
  const early = deadline - leadOf(terms, grace, at) - at;
  return early <= tolerance ? [] : [`was started ${Math.round(early / 60_000)} minutes before it was due`];
}

/** R3.2-08: at least one retryBackoff after the last failure; how many more depends on the rest of the window. */
function tooSoon(claim: ClaimObject, terms: PolicyTerms, at: number): readonly string[] {
  const failedAt = note(claim, key('state')) === 'failed' ? readTime(note(claim, key('failed-at'))) : Number.NaN;
  return at < failedAt + terms.retryBackoff ? ['was started before its backoff was over'] : [];
}

/** R3.6-01, R3.6-03. */
function noFallback(claim: ClaimObject, terms: PolicyTerms, at: number): readonly string[] {
  const { deadline, grace } = lifeOf(claim);
  return [
    ...(terms.fallback ? [] : ['was started as a fallback, which is off']),
    ...(windowAt(terms, at) === 'closed' ? ['was started as a fallback outside every window'] : []),
    ...(deadline !== undefined && deadline - at < boundOf(terms, grace)
      ? []
      : ['was started as a fallback though time is left']),
  ];
}
