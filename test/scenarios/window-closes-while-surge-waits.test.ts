import { expect, it } from 'vitest';
import { demonstrationPolicy } from '../../lib/simulator/fleet.ts';
import type { Scenario } from '../support/scenario.ts';
import { became, expectSameEndAfterEveryCrash, nodeNow, tell } from '../support/scenario.ts';
import { oneDueNode } from '../support/story.ts';

/** Open for an hour from 02:00 in Tokyo; the story begins two minutes before it closes. */
const closesSoon = {
  ...demonstrationPolicy,
  spec: {
    ...(demonstrationPolicy['spec'] as object),
    maintenanceWindows: [{ timezone: 'Asia/Tokyo', days: ['Wed', 'Sat'], start: '01:02', end: '02:02' }],
  },
};
const scenario: Scenario = {
  minutes: 9,
  fleet: { ...oneDueNode, policy: closesSoon },
  options: { delays: { registration: { min: 200, max: 200 } } },
};

it('a surge that is ready only after the window has closed is handed over all the same (R3.1-04, D7-02)', async () => {
  const told = await tell(scenario);
  expect(became(told)).toMatchObject({
    course: ['start', 'awaitSurge', 'handOver', 'finish'],
    rows: ['started', 'draining', 'completed'],
    leftovers: [],
  });
  const times = told.table.wire().map((row) => String(row.at).slice(11, 16));
  expect(times[0]).toBe('17:00');
  expect(String(times[1]) > '17:02').toBe(true);
  expect(nodeNow(told, String(told.table.wire()[0]?.node))).toBe('gone');
});

it('nothing new starts behind it (R3.1-03, R3.8-07)', async () => {
  const told = await tell({ ...scenario, minutes: 40 });
  expect(told.table.trail().filter((row) => row.startsWith('started'))).toHaveLength(1);
});

it('whatever action the process dies before (R3.1-04, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(scenario, 2);
});
