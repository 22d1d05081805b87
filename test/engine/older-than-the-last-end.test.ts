import { expect, it } from 'vitest';
import { aClaim, aPool, aSnapshot, at as instantOf } from '../support/builders.ts';
import { decisionOn, due, inWords } from '../support/rotations.ts';

const ended = (startedAt: string) =>
  aPool({ meta: { annotations: { 'noderotation.io/last-ended': `uid-last@${startedAt}=completed` } } });
// Outside every window: nothing else happens.
const at = { observedAt: instantOf('2026-06-09T16:45:00Z') };
const pending = due('old', {
  meta: { annotations: { 'noderotation.io/state': 'pending', 'noderotation.io/started-at': '2026-06-09T16:00:00Z' } },
});

it('a claim that did not take the mark of its end is not restored once a later attempt has ended; its state is swept (D5-02, D6-03)', () => {
  const decision = decisionOn(aSnapshot({ nodePools: [ended('2026-06-09T16:30:00Z')], nodeClaims: [pending], ...at }));
  expect(decision.step).not.toBe('restore');
  expect(inWords(decision.actions)).toContain('annotate NodeClaim/old');
  expect(
    decision.actions.find((action) => action.kind === 'annotate' && action.target.kind === 'NodeClaim'),
  ).toMatchObject({
    annotations: { 'noderotation.io/state': null, 'noderotation.io/started-at': null },
  });
});

it('one that began after the last end, or in the same second, is restored (D5-02)', () => {
  for (const startedAt of ['2026-06-09T15:00:00Z', '2026-06-09T16:00:00Z']) {
    const decision = decisionOn(aSnapshot({ nodePools: [ended(startedAt)], nodeClaims: [pending], ...at }));
    expect(decision.step).toBe('restore');
  }
});

it('warnings about a claim wait for its Node, which would keep a copy of them (D11-03)', () => {
  const short = { expireAfter: 3_600_000 as never };
  const warned = (claim: ReturnType<typeof aClaim>) =>
    inWords(decisionOn(aSnapshot({ nodeClaims: [claim], ...at })).actions).includes('annotate NodeClaim/young');
  expect(warned(aClaim('young', short))).toBe(true);
  const { nodeName: _none, ...unregistered } = aClaim('young', short);
  expect(warned(unregistered)).toBe(false);
});
