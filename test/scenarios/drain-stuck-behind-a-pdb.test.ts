import { expect, it } from 'vitest';
import { accountOf, noteOf } from '../support/account.ts';
import { app, drainsForAnHour, fleetWith, graceOfOldest } from '../support/moves.ts';
import type { Scenario, Stage } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, tell, when } from '../support/scenario.ts';
import { stateOf } from '../support/story.ts';

const isStuck = ({ world }: Stage): boolean => stateOf(world)['warnings']?.includes('DrainStuck') ?? false;

function relaxesBudget({ world }: Stage): void {
  const patched = world.store.patch(
    { kind: 'PodDisruptionBudget', namespace: 'shop', name: 'db' },
    { spec: { minAvailable: 1 } },
  );
  if (!patched.ok) throw new Error(patched.status.message);
}

// The old claim has no terminationGracePeriod, so nothing ever ends its drain; the budget of db allows no eviction.
const scenario: Scenario = {
  fleet: fleetWith({ apps: [app('web', 5, '900m'), app('db', 2, '500m', { minAvailable: 2 })] }),
  arrange: (stage) => graceOfOldest(stage, undefined),
  minutes: 68,
  moves: [{ when: isStuck, after: 30, make: relaxesBudget }],
};

it('a drain behind a budget that allows nothing is announced, then reported stuck with what holds it, and ends when that is gone (D6-06, D7-05, D11-03, PR-23, PR-51)', async () => {
  const told = await tell(scenario);
  expect(accountOf(told)).toEqual({
    course: ['start', 'awaitSurge', 'handOver', 'awaitDrain', 'finish'],
    audit: ['17:00 started', '17:02 draining provisioned', '18:06 completed provisioned'],
    events: [
      '17:00 Normal RotationStarted NodePool/api',
      '17:00 Warning DrainBlocked NodePool/api',
      '18:05 Warning DrainStuck NodePool/api',
      '18:06 Normal RotationCompleted NodePool/api',
    ],
    leftovers: [],
    operators: [],
    claims: { present: 2, made: 1 },
  });
  expect(noteOf(told, 'DrainStuck')).toMatch(
    /^The drain of claim has taken 1h3m, longer than its grace allows\. PodDisruptionBudget shop\/db \(minAvailable 2 of 2\) can never allow an eviction of shop\/db-\S+\. Allow one disruption, or run one replica more\. Pods left: shop\/db-\S+\. Finalizers: karpenter\.sh\/termination\.$/,
  );
  expect(stateOf(told.world)).not.toHaveProperty('warnings');
});

it('whatever action the process dies before (R3.8-04, D7-05)', async () => {
  // The hour is skipped: its ticks do nothing.
  const moves: Scenario['moves'] = [{ when: when.draining(), make: drainsForAnHour }, ...(scenario.moves ?? [])];
  await expectSameEndAfterEveryCrash({ ...scenario, moves, minutes: 8 });
});
