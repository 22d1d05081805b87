import { expect, it } from 'vitest';
import { accountOf } from '../support/account.ts';
import { optsOutYoungest, placeholderIn } from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, tell } from '../support/scenario.ts';

// The kubelet refuses the Pod that the scheduler gave it. Pods take 70 s to start, so it is not running yet.
const scenario: Scenario = {
  options: { delays: { podStart: { min: 70, max: 70 } } },
  arrange: optsOutYoungest,
  minutes: 9,
  moves: [
    {
      when: (stage) => placeholderIn(stage)?.spec.nodeName !== undefined,
      after: 5,
      make: (stage) => {
        const pod = placeholderIn(stage);
        if (pod) stage.world.store.update(pod, { status: { phase: 'Failed', reason: 'OutOfcpu' } });
      },
    },
  ],
};

it('a placeholder that failed is removed and made again within the same attempt (D7-02, R3.3-21)', async () => {
  const told = await tell(scenario);
  expect(accountOf(told)).toEqual({
    course: ['start', 'awaitSurge', 'recreatePlaceholder', 'awaitSurge', 'handOver', 'awaitDrain', 'finish'],
    audit: ['17:00 started', '17:05 draining provisioned', '17:07 completed provisioned'],
    events: ['17:00 Normal RotationStarted NodePool/api', '17:07 Normal RotationCompleted NodePool/api'],
    leftovers: [],
    operators: ['Node opted out'],
    claims: { present: 2, made: 1 },
  });
});

it('whatever action the process dies before (R3.8-04, D7-02)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
