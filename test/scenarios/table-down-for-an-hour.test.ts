import { expect, it } from 'vitest';
import { readOutbox } from '../../lib/domain/rotation/unrecorded.ts';
import type { Scenario, Stage } from '../support/scenario.ts';
import { became, expectSameEndAfterEveryCrash, tell } from '../support/scenario.ts';
import { opens, stateOf } from '../support/story.ts';

const outbox = (stage: Stage): readonly string[] =>
  readOutbox(stateOf(stage.world).unrecorded).entries.map(({ step }) => step);
const minutesSinceOpening = (stage: Stage): number => (stage.world.now - opens) / 60_000;

let waiting: readonly string[] = [];
const scenario = (minutesDown: number): Scenario => ({
  minutes: minutesDown + 3,
  arrange: (stage) => {
    stage.table.down = true;
  },
  moves: [
    {
      when: (stage) => minutesSinceOpening(stage) >= minutesDown,
      make: (stage) => {
        waiting = outbox(stage);
        stage.table.down = false;
      },
    },
  ],
});

it('an hour without the audit table delays no step, and the rows arrive afterwards with the times of their steps (D10-04, D10-03)', async () => {
  const told = await tell(scenario(60));
  expect(waiting).toEqual(['started', 'draining', 'completed']);
  expect(became(told)).toEqual({
    course: ['start', 'awaitSurge', 'handOver', 'finish'],
    rows: ['started', 'draining', 'completed'],
    events: ['Normal RotationStarted NodePool/api', 'Normal RotationCompleted NodePool/api'],
    leftovers: [],
  });
  expect(told.table.wire().map((row) => String(row.at).slice(11, 16))).toEqual(['17:00', '17:02', '17:03']);
  expect(outbox(told)).toEqual([]);
});

it('what a tick could not record it names, and names it until it is recorded (D10-04)', async () => {
  const told = await tell(scenario(60));
  const named = told.ticks.map((tick) => (tick.unrecorded.get('api') ?? []).map(({ step }) => step).join(' '));
  expect([...new Set(named)]).toEqual(['started', 'started draining', 'started draining completed', '']);
  expect(named.filter((names) => names === '')).toHaveLength(2);
});

it('whatever action the process dies before (D10-04, R3.8-04)', async () => {
  // Ten minutes are as good as sixty here: the rotation is over and its rows wait.
  await expectSameEndAfterEveryCrash(scenario(10));
});
