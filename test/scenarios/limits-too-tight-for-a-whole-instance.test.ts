import { expect, it } from 'vitest';
import { days } from '../../lib/domain/time.ts';
import { accountOf } from '../support/account.ts';
import { app, fleetWith } from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import { claimsOf, expectSameEndAfterEveryCrash, tell } from '../support/scenario.ts';

const deleted: string[] = [];

// Two instances of 4 CPUs are in use; the drain would fit under the limit, a third instance would not.
const scenario: Scenario = {
  fleet: fleetWith({
    ages: [days(10), days(2)],
    apps: [app('web', 6, '900m')],
    surge: { readyTimeout: '3m' },
  }),
  arrange: ({ world }) => {
    deleted.length = 0;
    world.store.patch({ kind: 'NodePool', name: 'api' }, { spec: { limits: { cpu: '11' } } });
    world.store.onChange(({ object }) => {
      if (object.kind === 'NodeClaim' && object.metadata.deletionTimestamp) deleted.push(object.metadata.name);
    });
  },
  minutes: 6,
};

it('limits with room for the Pods and not for a whole instance are warned of, and the attempt ends with nothing deleted (D8-05, R3.8-01, PR-18, PR-33)', async () => {
  const told = await tell(scenario);
  expect(accountOf(told)).toEqual({
    course: ['start', 'awaitSurge', 'rollBack'],
    audit: ['17:00 started', '17:04 failed for the 1st time: the surge was not ready within 3m'],
    events: [
      '17:00 Normal RotationStarted NodePool/api',
      '17:00 Warning HeadroomTight NodePool/api',
      '17:00 Warning NoHeadroom NodePool/api',
      '17:01 Warning SurgeUnschedulable NodePool/api',
      '17:04 Warning RotationFailed NodePool/api',
    ],
    leftovers: [],
    operators: [],
    claims: { present: 2, made: 0 },
  });
  expect([deleted, claimsOf(told).length]).toEqual([[], 2]);
});

it('whatever action the process dies before (R3.8-04, D7-07)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
