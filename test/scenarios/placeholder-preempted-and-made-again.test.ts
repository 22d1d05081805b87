import { expect, it } from 'vitest';
import { accountOf } from '../support/account.ts';
import { annotationsOf, appPodsOn, claimObject, nodeObject, optsOutYoungest, scales } from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, tell } from '../support/scenario.ts';

/** The placeholder's node, seen by the cluster whether or not a tick has got to write it down. */
const bound: NonNullable<Scenario['moves']>[number]['when'] = ({ world }) =>
  world.store
    .all('Pod')
    .some(
      (pod) =>
        pod.metadata.name.startsWith('noderotation-surge-') &&
        (pod.spec as { nodeName?: string }).nodeName !== undefined,
    );

// Pods take 70 s to start, so the placeholder is bound a minute before it runs.
const scenario: Scenario = {
  options: { delays: { podStart: { min: 70, max: 70 } } },
  arrange: optsOutYoungest,
  minutes: 8,
  moves: [{ when: bound, after: 5, make: (stage) => scales(stage, 'web', 8) }],
};

it('Pods of the pool that need the room preempt the placeholder, and it is made again on another node (R3.3-21, D7-02, PR-56)', async () => {
  const told = await tell(scenario);
  expect(accountOf(told)).toEqual({
    course: ['start', 'awaitSurge', 'recreatePlaceholder', 'awaitSurge', 'handOver', 'awaitDrain', 'finish'],
    audit: ['17:00 started', '17:05 draining provisioned', '17:07 completed provisioned'],
    events: ['17:00 Normal RotationStarted NodePool/api', '17:07 Normal RotationCompleted NodePool/api'],
    leftovers: [],
    operators: ['Node opted out'],
    claims: { present: 3, made: 2 },
  });
  // The first host is an ordinary node by now, with the Pods that took the room.
  const first = claimObject(told, told.claimsMade[0])?.status.nodeName ?? '';
  expect(appPodsOn(told.world, first)).toEqual(['web', 'web', 'web']);
  expect(annotationsOf(nodeObject(told, first))).toEqual({});
  expect(told.table.wire().at(-1)).toMatchObject({ surgeClaim: told.claimsMade[1] });
});

it('whatever action the process dies before (R3.8-04, R3.3-21)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
