import { expect, it } from 'vitest';
import { days } from '../../lib/domain/time.ts';
import { app, appPodsOn, claimObject, fleetWith, placeholderIn } from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import { became, expectSameEndAfterEveryCrash, tell, when } from '../support/scenario.ts';

const asked: unknown[] = [];

// Karpenter states 15155Mi for such an instance, its kubelet offers 64Mi more; the daemon takes 128Mi.
const scenario: Scenario = {
  fleet: fleetWith({
    ages: [days(10)],
    apps: [{ ...app('cache', 1, '1'), requests: { cpu: '1', memory: '15080Mi' } }],
  }),
  minutes: 8,
  moves: [
    {
      when: when.waiting(),
      make: (stage) => asked.push(placeholderIn(stage)?.spec.containers?.map(({ resources }) => resources?.requests)),
    },
  ],
};

it('a drain beyond what Karpenter states is clamped to it, and still fits on the node that comes (R3.3-11, R3.3-15, R3.3-19, D8-04)', async () => {
  const told = await tell(scenario);
  expect(asked).toEqual([[{ cpu: '1', memory: '15027Mi' }]]);
  expect(became(told)).toEqual({
    course: ['start', 'awaitSurge', 'handOver', 'finish'],
    rows: ['started', 'draining', 'completed'],
    events: [
      'Normal RotationStarted NodePool/api',
      'Normal SurgeClamped NodePool/api',
      'Normal RotationCompleted NodePool/api',
    ],
    leftovers: [],
  });
  expect(told.claimsMade).toHaveLength(1);
  expect(appPodsOn(told.world, claimObject(told, told.claimsMade[0])?.status.nodeName ?? '')).toEqual(['cache']);
});

it('whatever action the process dies before (R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
