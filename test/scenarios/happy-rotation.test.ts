import { expect, it } from 'vitest';
import { course, eventsOf, expectSameEndAfterEveryCrash, tell } from '../support/scenario.ts';
import { leftovers, namesOf } from '../support/story.ts';

const scenario = { minutes: 8 };

it('one due node is rotated with its replacement up first, and exactly one NodeClaim is made (D7-01, D7-04, D7-06, R3.3-02, PR-03, PR-105)', async () => {
  const told = await tell(scenario);
  expect(course(told)).toEqual(['start', 'awaitSurge', 'handOver', 'finish']);
  expect(told.table.trail().map((row) => row.split(' ')[0])).toEqual(['started', 'draining', 'completed']);
  expect(eventsOf(told.world)).toEqual([
    'Normal RotationStarted NodePool/api',
    'Normal RotationCompleted NodePool/api',
  ]);
  expect(namesOf(told.world, 'NodeClaim')).toHaveLength(2);
  expect(leftovers(told.world)).toEqual([]);
});

it('a process that dies before any one of its actions finishes the rotation all the same (R3.8-04, D5-03, D7-01)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
