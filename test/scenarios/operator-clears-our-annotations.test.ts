import { expect, it } from 'vitest';
import type { Scenario, Stage } from '../support/scenario.ts';
import {
  annotates,
  became,
  claimState,
  claimsOf,
  expectSameEndAfterEveryCrash,
  inFlight,
  nodeNow,
  tell,
  when,
} from '../support/scenario.ts';
import { stateOf } from '../support/story.ts';

const nodeMarks = {
  'karpenter.sh/do-not-disrupt': null,
  'noderotation.io/do-not-disrupt-owned': null,
  'noderotation.io/surge-for': null,
  'noderotation.io/cordoned': null,
};
const claimMarks = {
  'noderotation.io/state': null,
  'noderotation.io/started-at': null,
  'noderotation.io/surge-claim': null,
};

let old = { claim: '', node: '' };
const after: unknown[] = [];
const clear = (stage: Stage): void => {
  old = inFlight(stage);
  annotates(stage, 'Node', old.node, nodeMarks);
  annotates(stage, 'NodeClaim', old.claim, claimMarks);
};
const look = (stage: Stage): void => void after.push(nodeNow(stage, old.node), claimState(stage, old.claim));

const scenario: Scenario = {
  minutes: 10,
  options: { delays: { registration: { min: 130, max: 130 } } },
  moves: [
    { when: when.waiting(), after: 20, make: clear },
    { when: when.waiting(), make: look },
  ],
};

it('marks that an operator wipes off node and claim are back at the next tick, and the rotation goes on (D7-01, R3.1-07, R3.4-07)', async () => {
  after.length = 0;
  const told = await tell(scenario);
  const startedAt = told.table.wire()[0]?.startedAt;
  expect(after).toEqual([
    { cordoned: true, doNotDisrupt: 'true' },
    { state: 'pending', 'started-at': startedAt },
  ]);
  expect(became(told)).toEqual({
    course: ['start', 'awaitSurge', 'handOver', 'finish'],
    rows: ['started', 'draining', 'completed'],
    events: [
      'Normal RotationStarted NodePool/api',
      'Warning SurgeUnschedulable NodePool/api',
      'Normal RotationCompleted NodePool/api',
    ],
    leftovers: [],
  });
  expect(nodeNow(told, old.node)).toBe('gone');
  expect(claimsOf(told)).toHaveLength(2);
});

it('wiped off the pool, too, the attempt is forgotten and a new one takes over its placeholder and its node (D6-03, D5-05, D8-06)', async () => {
  const told = await tell({
    minutes: 10,
    moves: [
      {
        when: when.waiting(),
        after: 20,
        make: (stage) => {
          clear(stage);
          const ours = Object.keys(stateOf(stage.world)).map((key) => [`noderotation.io/${key}`, null] as const);
          annotates(stage, 'NodePool', 'api', Object.fromEntries(ours));
        },
      },
    ],
  });
  expect(became(told)).toMatchObject({
    course: ['start', 'awaitSurge', 'handOver', 'finish'],
    rows: ['started', 'started', 'draining', 'completed'],
    leftovers: [],
  });
  expect(new Set(told.table.wire().map((row) => row.claim))).toEqual(new Set([old.claim]));
  expect(told.claimsMade).toHaveLength(1);
});

it('whatever action the process dies before (D7-01, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(scenario, 2);
});
