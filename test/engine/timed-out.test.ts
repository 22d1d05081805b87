import { expect, it } from 'vitest';
import { at } from '../support/builders.ts';
import { decisionOn, surgeIsReady } from '../support/rotations.ts';

const inTime = { ready: { status: true, since: at('2026-06-09T17:02:00Z') } };
const frozen = { pool: { 'noderotation.io/freeze': '2026-06-09T20:00:00Z' } };
const late = { observedAt: '2026-06-09T17:16:00Z' };
const closing = { startedAt: '2026-06-09T20:45:00Z', observedAt: '2026-06-09T21:02:01Z' };

it.each([
  [
    'the surge never ran',
    { ...late, placeholder: { phase: 'Pending' as const } },
    'the surge was not ready within 15m',
  ],
  [
    'it was not ready under the freeze either',
    { ...late, ...frozen, placeholder: { phase: 'Pending' as const } },
    'the surge was not ready within 15m',
  ],
  [
    'a freeze held a surge that was ready',
    { ...late, ...frozen, placeholder: inTime },
    'a freeze held the rotation beyond readyTimeout (15m)',
  ],
  [
    'no tick came until the window was closed',
    {
      ...closing,
      placeholder: { ready: { status: true, since: at('2026-06-09T20:50:00Z') } },
      host: { created: at('2026-06-09T20:46:00Z') },
    },
    'the surge was ready in time, but no tick handed over within 15m and the window has closed',
  ],
])('a rollback after readyTimeout says why: %s (D7-02, D7-07, R3.1-08)', (_why, over, reason) => {
  expect(decisionOn(surgeIsReady(over).snapshot).transition).toMatchObject({ step: 'failed', reason });
});
