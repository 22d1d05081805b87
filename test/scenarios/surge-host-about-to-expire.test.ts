import { expect, it } from 'vitest';
import { days, duration, minutes } from '../../lib/domain/time.ts';
import type { ClaimObject } from '../../lib/simulator/kube-object.ts';
import { createdAt } from '../../lib/simulator/kube-object.ts';
import { accountOf } from '../support/account.ts';
import { app, fleetWith, placeholderIn } from '../support/moves.ts';
import type { Scenario, Stage } from '../support/scenario.ts';
import { annotates, expectSameEndAfterEveryCrash, tell, when } from '../support/scenario.ts';

const oldest = (stage: Pick<Stage, 'world'>): ClaimObject | undefined =>
  stage.world.store.all<ClaimObject>('NodeClaim').toSorted((a, b) => createdAt(a) - createdAt(b))[0];

let landedOnOldest = false;

// Of four nodes the first and the last share a zone. The last expires at 17:04; its operator keeps it until then.
const scenario: Scenario = {
  fleet: fleetWith({
    ages: [days(10), days(2), days(2), duration(days(14) - minutes(14))],
    apps: [app('web', 6, '900m'), app('db', 4, '400m')],
  }),
  arrange: (stage) =>
    annotates(stage, 'Node', oldest(stage)?.status.nodeName ?? '', { 'karpenter.sh/do-not-disrupt': 'true' }),
  minutes: 11,
  moves: [
    // The scheduler puts the placeholder there, because no other node has the room.
    {
      when: when.waiting(),
      after: 30,
      make: (stage) => {
        landedOnOldest = placeholderIn(stage)?.spec.nodeName === oldest(stage)?.status.nodeName;
      },
    },
  ],
};

it('spare room on a node that is about to expire is no surge: the placeholder is moved until it finds a host that lasts (D7-02, D7-03, R3.3-07, R3.3-22, PR-56)', async () => {
  const told = await tell(scenario);
  expect(landedOnOldest).toBe(true);
  expect(accountOf(told)).toEqual({
    course: [
      'start',
      ...['leaveBadHost', 'recreatePlaceholder'],
      ...['leaveBadHost', 'recreatePlaceholder'],
      'awaitSurge',
      'handOver',
      'finish',
    ],
    audit: ['17:00 started', '17:06 draining provisioned', '17:07 completed provisioned'],
    events: [
      '17:00 Normal RotationStarted NodePool/api',
      '17:00 Warning WillExpireForcefully NodeClaim/claim',
      '17:07 Normal RotationCompleted NodePool/api',
    ],
    leftovers: [],
    // The opted-out node has ended with its deadline; until then nobody touched it.
    operators: [],
    claims: { present: 3, made: 1 },
  });
  expect(told.world.forcefulExpirations).toHaveLength(1);
  expect(told.table.wire().at(-1)).toMatchObject({ surgeClaim: told.claimsMade[0] });
});

it('whatever action the process dies before (R3.8-04, D7-02)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
