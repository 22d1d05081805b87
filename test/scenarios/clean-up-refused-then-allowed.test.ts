import { expect, it } from 'vitest';
import { add, minutes } from '../../lib/domain/time.ts';
import { forbidden } from '../../lib/simulator/api-status.ts';
import { kindOf } from '../../lib/simulator/kinds.ts';
import type { Scenario } from '../support/scenario.ts';
import { became, expectSameEndAfterEveryCrash, inFlight, nodeNow, tell, when } from '../support/scenario.ts';
import { leftovers, opens } from '../support/story.ts';

let node = '';
let between: readonly string[] = [];
/** The policy goes, and with it somebody takes away our right to patch nodes; it comes back four minutes later. */
const scenario: Scenario = {
  minutes: 10,
  moves: [
    {
      when: when.waiting(),
      after: 20,
      make: (stage) => {
        node = inFlight(stage).node;
        stage.world.store.delete({ kind: 'RotationPolicy', name: 'nights' });
        stage.world.store.admission = (verb, object) =>
          verb === 'patch' && object.kind === 'Node'
            ? forbidden(kindOf('Node'), object.metadata.name, 'cannot patch resource "nodes"')
            : undefined;
      },
    },
    {
      when: (stage) => stage.world.now >= add(opens, minutes(5)),
      make: (stage) => {
        between = leftovers(stage.world);
        stage.world.store.admission = () => undefined;
      },
    },
  ],
};

it('marks that may not be taken off do not hold up the end of the attempt, and the sweep takes them off when it may (D6-08, D6-03, D7-08)', async () => {
  const told = await tell(scenario);
  expect(between).toEqual(
    ['surge-for', 'do-not-disrupt-owned', 'cordoned'].map((mark) => `Node ${node}: noderotation.io/${mark}`),
  );
  expect(became(told)).toEqual({
    course: ['start', 'abort'],
    rows: ['started', 'aborted'],
    events: [
      'Normal RotationStarted NodePool/api',
      'Normal RotationAborted NodePool/api',
      'Warning GovernanceLost NodePool/api',
    ],
    leftovers: [],
  });
  expect(nodeNow(told, node)).toEqual({ cordoned: false, doNotDisrupt: undefined });
});

it('whatever action the process dies before (D6-08, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
