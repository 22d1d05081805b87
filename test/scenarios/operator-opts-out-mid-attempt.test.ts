import { expect, it } from 'vitest';
import {
  annotates,
  course,
  eventsOf,
  expectSameEndAfterEveryCrash,
  inFlight,
  tell,
  when,
} from '../support/scenario.ts';
import { leftovers, stateOf } from '../support/story.ts';

let node = '';
const scenario = {
  minutes: 8,
  moves: [
    {
      when: when.waiting(),
      after: 20,
      make: (stage: Parameters<typeof inFlight>[0]) => {
        node = inFlight(stage).node;
        annotates(stage, 'Node', node, { 'noderotation.io/do-not-disrupt-owned': null });
      },
    },
  ],
};

it('an operator who keeps do-not-disrupt for himself aborts the attempt, and his mark stays (D7-02, D7-08, D7-12, R3.4-03, PR-48)', async () => {
  const told = await tell(scenario);
  expect(course(told)).toEqual(['start', 'abort']);
  expect(told.table.trail().map((row) => row.split(' ')[0])).toEqual(['started', 'aborted']);
  expect(eventsOf(told.world)).toContain('Normal RotationAborted NodePool/api');
  expect(leftovers(told.world)).toEqual([]);
  const kept = told.world.store.get('Node', node);
  expect(kept?.metadata.annotations).toMatchObject({ 'karpenter.sh/do-not-disrupt': 'true' });
  expect((kept as unknown as { spec: { unschedulable?: boolean } }).spec.unschedulable ?? false).toBe(false);
  expect(stateOf(told.world)).not.toHaveProperty('last-failure-at');
});

it('whatever action the process dies before (D7-08)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
