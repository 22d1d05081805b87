import { expect, it } from 'vitest';
import { days, duration, minutes } from '../../lib/domain/time.ts';
import { faultsAt } from '../../lib/simulator/faults.ts';
import { accountOf } from '../support/account.ts';
import { fleetWith, optsOutYoungest } from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import { tell } from '../support/scenario.ts';
import { stateOf } from '../support/story.ts';

// Forty minutes are left at the opening, and the first delete never arrives.
const scenario: Scenario = {
  fleet: fleetWith({
    ages: [duration(days(14) - minutes(50)), days(2)],
    surge: { forcefulFallback: { enabled: true } },
  }),
  arrange: (stage) => {
    optsOutYoungest(stage);
    stage.faults = faultsAt([{ verb: 'delete', kind: 'NodeClaim', nth: 1, fault: 'lostRequest' }]);
  },
  minutes: 8,
  moves: [
    {
      when: (stage) => stateOf(stage.world)['rotation-mode'] === 'forceful-fallback',
      after: 20,
      make: ({ world }) =>
        void world.store.patch(
          { kind: 'RotationPolicy', name: 'nights' },
          { spec: { surge: { forcefulFallback: { enabled: false } } } },
        ),
    },
  ],
};

it('a fallback that is turned off before its delete has landed is taken back, and the node gets its surge (D7-05, D6-07, R3.6-04)', async () => {
  const told = await tell(scenario);
  expect(accountOf(told)).toMatchObject({
    course: ['startFallback (unreachable)', 'abort', 'start', 'awaitSurge', 'handOver', 'finish'],
    audit: [
      '17:00 fallbackStarted',
      "17:01 aborted: the fallback's delete never landed and forcefulFallback is no longer enabled",
      '17:02 started',
      '17:04 draining provisioned',
      '17:05 completed provisioned',
    ],
    leftovers: [],
    operators: ['Node opted out'],
  });
  expect(told.ticks.flatMap(({ pools }) => pools).filter(({ stopped }) => stopped?.startsWith('Invariant'))).toEqual(
    [],
  );
});
