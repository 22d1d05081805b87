import { expect, it } from 'vitest';
import type { KubeObject } from '../../lib/simulator/kube-object.ts';
import type { Scenario, Stage } from '../support/scenario.ts';
import {
  became,
  claimState,
  expectSameEndAfterEveryCrash,
  inFlight,
  nodeNow,
  tell,
  when,
} from '../support/scenario.ts';

let candidate = { claim: '', node: '' };

/** `kubectl delete nodepool --cascade=foreground`: the pool stays, being deleted, until its NodeClaims are gone. */
const deletedInForeground = (stage: Stage): void => {
  candidate = inFlight(stage);
  const { store } = stage.world;
  store.update(store.get('NodePool', 'api') as KubeObject, { metadata: { finalizers: ['foregroundDeletion'] } });
  store.delete({ kind: 'NodePool', name: 'api' });
};

/** `kubectl delete nodepool --cascade=orphan`: the pool is gone, its NodeClaims and Nodes stay. */
const deletedAsOrphan = (stage: Stage): void => {
  candidate = inFlight(stage);
  stage.world.store.delete({ kind: 'NodePool', name: 'api' });
};

const going: Scenario = { minutes: 6, moves: [{ when: when.waiting(), after: 20, make: deletedInForeground }] };
const gone: Scenario = { minutes: 6, moves: [{ when: when.waiting(), after: 20, make: deletedAsOrphan }] };

it('a NodePool that is being deleted takes its waiting rotation back first (D6-01, D7-08)', async () => {
  const told = await tell(going);
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
  expect(told.table.wire()[1]).toMatchObject({ reason: 'GovernanceLost: NodePool api is being deleted' });
  expect(nodeNow(told, candidate.node)).toEqual({ cordoned: false, doNotDisrupt: undefined });
});

it('a NodePool that is gone leaves nothing of ours on the nodes and claims that it orphaned (D6-01, D6-03, R3.9-02)', async () => {
  const told = await tell(gone);
  expect(became(told)).toEqual({
    course: ['start'],
    rows: ['started'],
    events: ['Normal RotationStarted NodePool/api'],
    leftovers: [],
  });
  expect(nodeNow(told, candidate.node)).toEqual({ cordoned: false, doNotDisrupt: undefined });
  expect(claimState(told, candidate.claim)).toEqual({});
});

it('whatever action the process dies before (D6-01, D6-03, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(going);
  await expectSameEndAfterEveryCrash(gone);
});
