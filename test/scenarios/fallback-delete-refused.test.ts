import { expect, it } from 'vitest';
import { days, duration, minutes } from '../../lib/domain/time.ts';
import { accountOf, noteOf } from '../support/account.ts';
import { at } from '../support/builders.ts';
import { annotationsOf, claimObject, fleetWith, guardsDeletes, optsOutYoungest } from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, inFlight, tell } from '../support/scenario.ts';

const retried: unknown[] = [];

// A webhook guards NodeClaims until 17:05.
const scenario: Scenario = {
  fleet: fleetWith({
    ages: [duration(days(14) - minutes(50)), days(2)],
    surge: { readyTimeout: '2m', retryBackoff: '5m', failurePause: '2m', forcefulFallback: { enabled: true } },
  }),
  arrange: (stage) => {
    optsOutYoungest(stage);
    guardsDeletes(stage, 'the guard is on duty', () => stage.world.now < at('2026-06-09T17:05:00Z'));
  },
  minutes: 11,
  moves: [
    {
      when: (stage) => stage.world.now > at('2026-06-09T17:05:00Z') && inFlight(stage).claim !== '',
      make: (stage) =>
        retried.push(annotationsOf(claimObject(stage, inFlight(stage).claim))['noderotation.io/retry-count']),
    },
  ],
};

it('a fallback whose delete is refused fails with the words of the server, and is tried again after its backoff (D7-01, D7-05, D8-09, R3.6-05)', async () => {
  const told = await tell(scenario);
  const words = 'nodeclaims.karpenter.sh "claim" is forbidden: the guard is on duty';
  expect(accountOf(told)).toEqual({
    course: ['startFallback (rejected)', 'rollBack', 'startFallback', 'awaitDrain', 'finish'],
    audit: [
      '17:00 fallbackStarted',
      `17:01 failed for the 1st time: the API server refused a write (${words})`,
      '17:06 fallbackStarted',
      '17:08 completed',
    ],
    events: [
      '17:00 Warning ForcefulFallback NodePool/api',
      '17:01 Warning RotationFailed NodePool/api',
      '17:06 Warning ForcefulFallback NodePool/api',
      '17:08 Normal RotationCompleted NodePool/api',
    ],
    leftovers: [],
    operators: ['Node opted out'],
    claims: { present: 2, made: 1 },
  });
  expect(noteOf(told, 'RotationFailed')).toBe(
    `The rotation of NodeClaim claim failed and was rolled back: the API server refused a write. The API server said: ${words}`,
  );
  expect(retried).toEqual(['1']);
});

it('whatever action the process dies before (R3.8-04, D7-05)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
