import { expect, it } from 'vitest';
import type { Manifest } from '../../lib/simulator/kube-object.ts';
import { accountOf } from '../support/account.ts';
import { annotationsOf, claimObject, fleetWith, optsOutYoungest } from '../support/moves.ts';
import type { Scenario, Stage } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, tell } from '../support/scenario.ts';

const closingAt = (end: string, policy: Manifest): Manifest => {
  const spec = policy['spec'] as Record<string, unknown>;
  const days = ['Wed', 'Sat'];
  return { ...policy, spec: { ...spec, maintenanceWindows: [{ timezone: 'Asia/Tokyo', days, start: '02:00', end }] } };
};

const fleet = fleetWith({ surge: { readyTimeout: '2m', retryBackoff: '3m', failurePause: '1m' } });

// The window is half an hour long and the cloud has nothing to give.
const scenario: Scenario = {
  fleet: { ...fleet, policy: closingAt('02:30', fleet.policy) },
  arrange: (stage) => {
    optsOutYoungest(stage);
    stage.world.launchOutcome = () => 'insufficientCapacity';
  },
  minutes: 40,
};

it('retries wait 1, 2, 4 times the backoff, but no longer than the window lasts while a shorter wait fits (R3.2-08, R3.2-09, R3.2-10, R3.2-11, R3.1-03)', async () => {
  const told = await tell(scenario);
  const why = 'the surge was not ready within 2m';
  const { audit, events, ...rest } = accountOf(told);
  expect(audit).toEqual([
    '17:00 started',
    `17:03 failed for the 1st time: ${why}`,
    // 3m later
    '17:06 started',
    `17:09 failed for the 2nd time: ${why}`,
    // 6m later
    '17:15 started',
    `17:18 failed for the 3rd time: ${why}`,
    // 12m would be the close itself, so 6m again
    '17:24 started',
    `17:27 failed for the 4th time: ${why}`,
    // 24m lies beyond the close, and so do 12m, 6m and 3m: the next window
  ]);
  expect(events.filter((line) => line.includes('Rotation'))).toEqual([
    '17:00 Normal RotationStarted NodePool/api',
    '17:03 Warning RotationFailed NodePool/api',
    '17:06 Normal RotationStarted NodePool/api',
    '17:09 Warning RotationFailed NodePool/api',
    '17:15 Normal RotationStarted NodePool/api',
    '17:18 Warning RotationFailed NodePool/api',
    '17:24 Normal RotationStarted NodePool/api',
    '17:27 Warning RotationFailed NodePool/api',
  ]);
  expect(rest).toMatchObject({
    course: Array.from({ length: 4 }, () => ['start', 'awaitSurge', 'rollBack']).flat(),
    leftovers: [],
    operators: ['Node opted out'],
    claims: { present: 2 },
  });
  const [failed] = told.table.wire();
  expect(annotationsOf(claimObject(told, String(failed?.claim)))).toMatchObject({
    'noderotation.io/state': 'failed',
    'noderotation.io/failed-at': '2026-06-09T17:27:00Z',
    'noderotation.io/retry-count': '4',
  });
  const last = told.ticks.at(-1)?.pools.find(({ decision }) => decision.nodePool === 'api')?.decision;
  expect(last?.blocked?.reason).toBe('OutOfWindow');
});

it('whatever action the process dies before (R3.8-04, R3.2-12)', async () => {
  // Two failures: a crash must neither lose nor double a count. The later ones are the same lists again. Instances that
  // never register take the place of launches that fail every ten seconds, which would be a story of its own length.
  const arrange = (stage: Stage): void => {
    optsOutYoungest(stage);
    stage.world.launchOutcome = () => 'neverRegisters';
  };
  await expectSameEndAfterEveryCrash({ ...scenario, arrange, minutes: 10 });
});
