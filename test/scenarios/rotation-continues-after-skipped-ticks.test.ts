import { expect, it } from 'vitest';
import { add, minutes } from '../../lib/domain/time.ts';
import type { Move, Scenario } from '../support/scenario.ts';
import { became, claimsOf, expectSameEndAfterEveryCrash, nodeNow, tell, when } from '../support/scenario.ts';
import { opens } from '../support/story.ts';

/** No tick runs for a while: the queue dropped them, the function was throttled, the region had a bad morning. */
const silence = (from: Move['when'], until: number): Move[] => [
  {
    when: from,
    make: (stage) => {
      stage.ticksAtOnce = 0;
    },
  },
  {
    when: (stage) => stage.world.now >= add(opens, minutes(until)),
    make: (stage) => {
      stage.ticksAtOnce = 1;
    },
  },
];
const whilePending: Scenario = { minutes: 16, moves: silence(when.waiting(), 9) };
const whileDraining: Scenario = { minutes: 16, moves: silence(when.draining(), 9) };

const whole = {
  course: ['start', 'awaitSurge', 'handOver', 'finish'],
  rows: ['started', 'draining', 'completed'],
  events: ['Normal RotationStarted NodePool/api', 'Normal RotationCompleted NodePool/api'],
  leftovers: [],
};

it('ticks that never ran while the surge waited cost time and nothing else (R3.8-03, R3.8-04, D7-02)', async () => {
  const told = await tell(whilePending);
  expect(became(told)).toEqual(whole);
  expect(told.table.wire().map((row) => String(row.at).slice(11, 16))).toEqual(['17:00', '17:11', '17:12']);
  // Measured by when the placeholder became Ready, not by when the next tick looked.
  expect(told.table.wire()[1]).toMatchObject({ surgeWait: '1m8s' });
  expect(told.claimsMade).toHaveLength(1);
});

it('ticks that never ran while the old node drained leave the end to the next one (R3.8-04, D7-06)', async () => {
  const told = await tell(whileDraining);
  expect(became(told)).toEqual(whole);
  expect(nodeNow(told, String(told.table.wire()[0]?.node))).toBe('gone');
  expect(claimsOf(told)).toHaveLength(2);
});

it('whatever action the process dies before (R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(whilePending);
  await expectSameEndAfterEveryCrash(whileDraining, 3);
});
