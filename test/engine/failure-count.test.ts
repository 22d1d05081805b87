import { expect, it } from 'vitest';
import { decisionOn, surgeIsReady } from '../support/rotations.ts';

const overdue = (over: Record<string, string>) => {
  const { snapshot } = surgeIsReady({ observedAt: '2026-06-09T17:16:00Z', placeholder: { phase: 'Pending' } });
  const nodeClaims = snapshot.nodeClaims.map((claim) =>
    claim.meta.name === 'old'
      ? { ...claim, meta: { ...claim.meta, annotations: { ...claim.meta.annotations, ...over } } }
      : claim,
  );
  return decisionOn({ ...snapshot, nodeClaims });
};

it.each([
  ['the first failure', {}, 1],
  ['a third one', { 'noderotation.io/retry-count': '2' }, 3],
  [
    'a rollback that died after it had marked the claim',
    {
      'noderotation.io/state': 'failed',
      'noderotation.io/failed-at': '2026-06-09T17:16:00Z',
      'noderotation.io/retry-count': '3',
    },
    3,
  ],
])(
  'the row of %s says how often the claim has failed, so that an alarm can count (D10-02, D11-01, D11-05, R3.2-12)',
  (_which, state, count) => {
    expect(overdue(state).transition).toMatchObject({ step: 'failed', retryCount: count });
  },
);
