import { expect, it } from 'vitest';
import type { Scenario, Stage } from '../support/scenario.ts';
import { became, expectSameEndAfterEveryCrash, inFlight, nodeNow, tell, when } from '../support/scenario.ts';
import { stateOf } from '../support/story.ts';

const withZone = ({ world }: Stage, timezone: string): void => {
  const maintenanceWindows = [{ timezone, days: ['Wed', 'Sat'], start: '02:00', end: '06:00' }];
  world.store.patch({ kind: 'RotationPolicy', name: 'nights' }, { spec: { maintenanceWindows } });
};

let node = '';
let between: ReturnType<typeof nodeNow> = 'gone';
const scenario: Scenario = {
  minutes: 12,
  moves: [
    {
      when: when.waiting(),
      after: 20,
      make: (stage) => {
        node = inFlight(stage).node;
        withZone(stage, '+09:00');
      },
    },
    {
      when: when.over(),
      after: 30,
      make: (stage) => {
        between = nodeNow(stage, node);
        withZone(stage, 'Asia/Tokyo');
      },
    },
  ],
};

it('an edit that makes the policy invalid undoes the attempt, and the corrected policy starts it anew (D2-03, D2-04, D2-06, D6-01, D7-08)', async () => {
  const told = await tell(scenario);
  expect(became(told)).toEqual({
    course: ['start', 'abort', 'start', 'awaitSurge', 'handOver', 'finish'],
    rows: ['started', 'aborted', 'started', 'draining', 'completed'],
    events: [
      'Normal RotationStarted NodePool/api',
      'Normal RotationAborted NodePool/api',
      'Warning GovernanceLost NodePool/api',
      'Normal RotationStarted NodePool/api',
      'Normal RotationCompleted NodePool/api',
    ],
    leftovers: [],
  });
  expect(told.table.wire()[1]).toMatchObject({ reason: 'GovernanceLost: RotationPolicy nights is invalid' });
  expect(between).toEqual({ cordoned: false, doNotDisrupt: undefined });
  expect(stateOf(told.world)).not.toHaveProperty('last-failure-at');
});

it('whatever action the process dies before (D6-01, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(scenario, 2);
});
