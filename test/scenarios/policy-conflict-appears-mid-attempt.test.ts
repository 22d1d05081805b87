import { expect, it } from 'vitest';
import { demonstrationPolicy } from '../../lib/simulator/fleet.ts';
import type { Scenario, Stage } from '../support/scenario.ts';
import { became, claimsOf, expectSameEndAfterEveryCrash, tell, when } from '../support/scenario.ts';
import { stateOf } from '../support/story.ts';

const conflictIsKnown = ({ world }: Stage): boolean =>
  stateOf(world)['warnings']?.includes('PolicyConflict') === true && stateOf(world)['active-rotation'] === undefined;

const scenario: Scenario = {
  minutes: 12,
  moves: [
    {
      when: when.waiting(),
      after: 20,
      make: ({ world }) => void world.store.create({ ...demonstrationPolicy, metadata: { name: 'weekends' } }),
    },
    {
      when: conflictIsKnown,
      after: 30,
      make: ({ world }) => void world.store.delete({ kind: 'RotationPolicy', name: 'weekends' }),
    },
  ],
};

it('a second policy as specific as the first undoes the attempt, names both, and the pool rotates once they agree again (D2-06, D6-01, D7-08, D11-03)', async () => {
  const told = await tell(scenario);
  expect(became(told)).toEqual({
    course: ['start', 'abort', 'start', 'awaitSurge', 'handOver', 'finish'],
    rows: ['started', 'aborted', 'started', 'draining', 'completed'],
    events: [
      'Normal RotationStarted NodePool/api',
      'Normal RotationAborted NodePool/api',
      'Warning GovernanceLost NodePool/api',
      'Warning PolicyConflict NodePool/api',
      'Normal RotationStarted NodePool/api',
      'Normal RotationCompleted NodePool/api',
    ],
    leftovers: [],
  });
  expect(told.table.wire()[1]).toMatchObject({
    reason: expect.stringMatching(/^GovernanceLost: several .*: nights, weekends$/),
  });
  expect(stateOf(told.world)).not.toHaveProperty('warnings');
  expect(claimsOf(told)).toHaveLength(2);
});

it('whatever action the process dies before (D6-01, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(scenario, 2);
});
