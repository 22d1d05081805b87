import { expect, it } from 'vitest';
import { days } from '../../lib/domain/time.ts';
import { accountOf, noteOf } from '../support/account.ts';
import { annotationsOf, app, claimObject, fleetWith, hostOf, nodeObject, optsOutYoungest } from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, inFlight, tell } from '../support/scenario.ts';

let host = '';
const onHost: unknown[] = [];

// Of four half-empty nodes the first, which is due, and the last share a zone.
const scenario: Scenario = {
  fleet: fleetWith({
    ages: [days(10), days(2), days(2), days(2)],
    apps: [app('web', 6, '900m'), app('db', 4, '400m')],
  }),
  arrange: optsOutYoungest,
  minutes: 7,
  moves: [
    {
      when: (stage) => inFlight(stage).surgeClaim !== undefined,
      make: (stage) => {
        host = hostOf(stage);
        onHost.push(annotationsOf(nodeObject(stage, host)));
      },
    },
  ],
};

it('spare room takes the drain: the node that has it is protected, and no NodeClaim is made (R3.3-08, R3.3-09, R3.3-10, R3.4-01, D7-04, PR-105)', async () => {
  const told = await tell(scenario);
  expect(onHost).toEqual([
    {
      'karpenter.sh/do-not-disrupt': 'true',
      'noderotation.io/do-not-disrupt-owned': 'true',
      'noderotation.io/surge-for': told.table.wire()[0]?.claim,
    },
  ]);
  expect(accountOf(told)).toEqual({
    course: ['start', 'awaitSurge', 'handOver', 'finish'],
    audit: ['17:00 started', '17:02 draining absorbed', '17:03 completed absorbed'],
    events: ['17:00 Normal RotationStarted NodePool/api', '17:03 Normal RotationCompleted NodePool/api'],
    leftovers: [],
    operators: ['Node opted out'],
    claims: { present: 3, made: 0 },
  });
  expect(noteOf(told, 'RotationCompleted')).toMatch(
    /^NodeClaim claim was rotated: surgePath=absorbed, surge wait \d+s, drain 1m\.$/,
  );
  // The host is an ordinary node again.
  expect(annotationsOf(nodeObject(told, host))).toEqual({});
  expect(claimObject(told, String(told.table.wire().at(-1)?.surgeClaim))?.status.nodeName).toBe(host);
});

it('whatever action the process dies before (R3.8-04, D7-06)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
