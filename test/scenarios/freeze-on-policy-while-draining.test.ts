import { expect, it } from 'vitest';
import { accountOf } from '../support/account.ts';
import { app, fleetWith, freezes, graceOfOldest } from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, tell, when } from '../support/scenario.ts';

// The budget of db never allows an eviction, so the drain takes the whole grace of its claim.
const scenario: Scenario = {
  fleet: {
    ...fleetWith({
      apps: [app('web', 5, '900m'), app('db', 2, '500m', { minAvailable: 2 })],
      surge: { cooldownAfter: '1m' },
    }),
  },
  arrange: (stage) => graceOfOldest(stage, '4m'),
  minutes: 14,
  moves: [
    {
      when: when.draining(),
      after: 20,
      make: (stage) => freezes(stage, 'RotationPolicy', 'nights', '2026-06-10T00:00:00Z'),
    },
  ],
};

it('a freeze on the policy does not touch a drain under way, it finishes (R3.1-09, D5-07, D7-05)', async () => {
  const told = await tell(scenario);
  expect(accountOf(told)).toEqual({
    course: ['start', 'awaitSurge', 'handOver', 'awaitDrain', 'finish'],
    audit: ['17:00 started', '17:02 draining provisioned', '17:06 completed provisioned'],
    events: [
      '17:00 Normal RotationStarted NodePool/api',
      '17:00 Warning DrainBlocked NodePool/api',
      '17:06 Normal RotationCompleted NodePool/api',
    ],
    leftovers: [],
    operators: ['RotationPolicy nights frozen until 2026-06-10T00:00:00Z'],
    claims: { present: 2, made: 1 },
  });
  const last = told.ticks.at(-1)?.pools.find(({ decision }) => decision.nodePool === 'api')?.decision;
  expect(last?.blocked?.reason).toBe('Frozen');
});

it('whatever action the process dies before (R3.8-04, R3.1-09)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
