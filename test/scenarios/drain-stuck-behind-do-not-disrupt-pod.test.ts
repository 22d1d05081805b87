import { expect, it } from 'vitest';
import type { PodObject } from '../../lib/simulator/kube-object.ts';
import { accountOf, noteOf } from '../support/account.ts';
import { annotationsOf, drainsForAnHour, graceOfOldest, optsOutYoungest } from '../support/moves.ts';
import type { Scenario, Stage } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, inFlight, tell, when } from '../support/scenario.ts';
import { stateOf } from '../support/story.ts';

const isStuck = ({ world }: Stage): boolean => stateOf(world)['warnings']?.includes('DrainStuck') ?? false;

const held = ({ world }: Stage): readonly PodObject[] =>
  world.store
    .all<PodObject>('Pod')
    .filter((pod) => pod.metadata.namespace === 'shop' && annotationsOf(pod)['karpenter.sh/do-not-disrupt'] === 'true');

/** A long job begins on the candidate after the look at its Pods. */
function holdsOnePod(stage: Stage): void {
  const [pod] = stage.world.store
    .podsOn(inFlight(stage).node)
    .filter(({ metadata }) => metadata.labels?.['app'] === 'web');
  if (pod) stage.world.store.update(pod, { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } });
}

/** The job is done. */
function endsIt(stage: Stage): void {
  for (const pod of held(stage)) stage.world.store.terminate(pod);
}

let protectedUntilItsEnd = 0;

const scenario: Scenario = {
  arrange: (stage) => {
    optsOutYoungest(stage);
    graceOfOldest(stage, undefined);
  },
  minutes: 68,
  moves: [
    { when: when.waiting(), after: 10, make: holdsOnePod },
    {
      when: isStuck,
      after: 30,
      make: (stage) => {
        protectedUntilItsEnd = held(stage).length;
        endsIt(stage);
      },
    },
  ],
};

it('a drain behind a Pod with do-not-disrupt is reported stuck with its name, and the Pod is left to end by itself (D7-05, D11-03, R3.5-01, PR-51)', async () => {
  const told = await tell(scenario);
  expect(accountOf(told)).toEqual({
    course: ['start', 'awaitSurge', 'handOver', 'awaitDrain', 'finish'],
    audit: ['17:00 started', '17:02 draining provisioned', '18:06 completed provisioned'],
    events: [
      '17:00 Normal RotationStarted NodePool/api',
      '18:05 Warning DrainStuck NodePool/api',
      '18:06 Normal RotationCompleted NodePool/api',
    ],
    leftovers: [],
    operators: ['Node opted out'],
    claims: { present: 2, made: 1 },
  });
  expect(protectedUntilItsEnd).toBe(1);
  expect(noteOf(told, 'DrainStuck')).toMatch(
    /^The drain of claim has taken 1h3m, longer than its grace allows\. Pod shop\/web-\S+ carries karpenter\.sh\/do-not-disrupt: the drain waits for it without end\./,
  );
});

it('whatever action the process dies before (R3.8-04, D7-05)', async () => {
  // The hour is skipped: its ticks do nothing.
  const [hold, end] = scenario.moves ?? [];
  const moves: Scenario['moves'] = [
    ...(hold ? [hold] : []),
    { when: when.draining(), make: drainsForAnHour },
    ...(end ? [end] : []),
  ];
  await expectSameEndAfterEveryCrash({ ...scenario, moves, minutes: 8 });
});
