import { expect, it } from 'vitest';
import type { Scenario, Stage } from '../support/scenario.ts';
import { annotates, became, claimsOf, expectSameEndAfterEveryCrash, nodeNow, tell, when } from '../support/scenario.ts';

/** The node that has just come up, before any tick has seen the placeholder on it. */
const newest = (stage: Stage): string => claimsOf(stage).at(-1)?.node ?? '';

let host = '';
const scenario: Scenario = {
  minutes: 9,
  options: { delays: { registration: { min: 30, max: 30 } } },
  moves: [
    {
      when: when.waiting(),
      after: 45,
      make: (stage) => {
        host = newest(stage);
        annotates(stage, 'Node', host, { 'karpenter.sh/do-not-disrupt': 'true' });
      },
    },
  ],
};

it('a surge host that its operator protects first serves as host, and keeps his mark when ours are gone (D7-03, R3.4-03, R3.4-05)', async () => {
  const told = await tell(scenario);
  expect(became(told)).toEqual({
    course: ['start', 'awaitSurge', 'handOver', 'finish'],
    rows: ['started', 'draining', 'completed'],
    events: ['Normal RotationStarted NodePool/api', 'Normal RotationCompleted NodePool/api'],
    leftovers: [],
  });
  expect(host).not.toBe('');
  expect(newest(told)).toBe(host);
  expect(nodeNow(told, host)).toEqual({ cordoned: false, doNotDisrupt: 'true' });
});

it('whatever action the process dies before (D7-03, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
