import { expect, it } from 'vitest';
import type { Move, Scenario, Stage } from '../support/scenario.ts';
import { became, claimsOf, expectSameEndAfterEveryCrash, inFlight, nodeNow, tell, when } from '../support/scenario.ts';
import { stateOf } from '../support/story.ts';

let old = { claim: '', node: '' };
const missed = (stage: Stage): number => stage.steps.filter((step) => step.endsWith('Timeout')).length;
const outage = (ticks: number, from: Move['when'] = when.waiting()): Scenario => ({
  minutes: ticks + 8,
  moves: [
    {
      when: from,
      make: (stage) => {
        old = inFlight(stage);
        stage.faults = { next: () => 'lostRequest' };
      },
    },
    {
      when: (stage) => missed(stage) === ticks,
      make: (stage) => {
        stage.faults = { next: () => undefined };
      },
    },
  ],
});

it('ten minutes without an API are ten ticks skipped, and the rotation goes on where it was (R3.8-03, D1-05, D6-03)', async () => {
  const told = await tell(outage(10));
  expect(missed(told)).toBe(10);
  expect(told.ticks.filter((tick) => tick.outcome === 'Timeout').every((tick) => tick.pools.length === 0)).toBe(true);
  expect(became(told)).toEqual({
    course: ['start', 'awaitSurge', 'handOver', 'finish'],
    rows: ['started', 'draining', 'completed'],
    events: ['Normal RotationStarted NodePool/api', 'Normal RotationCompleted NodePool/api'],
    leftovers: [],
  });
  // The surge was ready long before anybody could look: the wait is measured by the placeholder, not by the ticks.
  expect(told.table.wire()[1]).toMatchObject({ surgeWait: expect.stringMatching(/^[1-9]?\d(m\d\d?)?s$/) });
  expect(nodeNow(told, old.node)).toBe('gone');
});

it('an outage beyond readyTimeout fails nothing that was protected before it and ready in time (D7-02, D7-03)', async () => {
  const told = await tell(outage(20, when.hostSeen()));
  expect(became(told)).toMatchObject({ rows: ['started', 'draining', 'completed'], leftovers: [] });
  expect(stateOf(told.world)).not.toHaveProperty('last-failure-at');
  expect(claimsOf(told)).toHaveLength(2);
});

it('an outage beyond readyTimeout that began before the host could be protected ends in a rollback (D7-02, D7-03, R3.8-01)', async () => {
  const told = await tell(outage(20));
  expect(became(told)).toMatchObject({ course: ['start', 'rollBack'], rows: ['started', 'failed'], leftovers: [] });
  expect(nodeNow(told, old.node)).toEqual({ cordoned: false, doNotDisrupt: undefined });
  expect(claimsOf(told)).toHaveLength(2);
});

it('whatever action the process dies before (R3.8-03, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(outage(10), 2);
});
