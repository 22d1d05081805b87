import { expect, it } from 'vitest';
import { days } from '../../lib/domain/time.ts';
import type { PoolObject } from '../../lib/simulator/kube-object.ts';
import { noteOf } from '../support/account.ts';
import { app, claimObject, fleetWith, nodeObject } from '../support/moves.ts';
import type { Scenario, Stage, Told } from '../support/scenario.ts';
import { became, claimsOf, expectSameEndAfterEveryCrash, tell } from '../support/scenario.ts';

const zoneKey = 'topology.kubernetes.io/zone';
const zoneOf = (stage: Pick<Stage, 'world'>, node: string | undefined): string | undefined =>
  nodeObject(stage, node)?.metadata.labels?.[zoneKey];

/** Where the node to be rotated is, and where the other one is. */
let zones: readonly (string | undefined)[] = [];
const replacementZone = (told: Told): string | undefined =>
  zoneOf(told, claimObject(told, told.claimsMade[0])?.status.nodeName);

// The younger node has room for all of the older one's Pods, in another zone.
const scenario: Scenario = {
  fleet: fleetWith({ ages: [days(10), days(2)], apps: [app('web', 2, '900m')] }),
  arrange: (stage) => {
    zones = claimsOf(stage).map(({ node }) => zoneOf(stage, node));
  },
  minutes: 8,
};

it('spare room in another zone is not taken: the replacement comes up in the zone of the old node (R3.7-01, R3.7-02, PR-58)', async () => {
  const told = await tell(scenario);
  expect(became(told).rows).toEqual(['started', 'draining', 'completed']);
  expect(zones[0]).not.toBe(zones[1]);
  expect([told.claimsMade.length, replacementZone(told)]).toEqual([1, zones[0]]);
});

/** The pool is moved out of the old node's zone before the window opens. */
const moved: Scenario = {
  ...scenario,
  arrange: (stage) => {
    scenario.arrange?.(stage);
    const pool = stage.world.store.get('NodePool', 'api') as PoolObject;
    const { template } = pool.spec;
    const requirements = (template.spec.requirements ?? []).map((requirement) =>
      requirement.key === zoneKey
        ? { ...requirement, values: (requirement.values ?? []).filter((zone) => zone !== zones[0]) }
        : requirement,
    );
    stage.world.store.update(pool, { spec: { template: { ...template, spec: { ...template.spec, requirements } } } });
  },
};

it('a zone that the pool has left is not asked for: the node is rotated out of it, with a warning (D8-08, R3.7-02, PR-59)', async () => {
  const told = await tell(moved);
  expect(became(told)).toEqual({
    course: ['start', 'awaitSurge', 'handOver', 'finish'],
    rows: ['started', 'draining', 'completed'],
    events: [
      'Normal RotationStarted NodePool/api',
      'Warning RequirementDropped NodePool/api',
      'Normal RotationCompleted NodePool/api',
    ],
    leftovers: [],
  });
  expect(noteOf(told, 'RequirementDropped')).toContain(`no longer allows ${zoneKey}=${zones[0]} (it allows `);
  expect(claimsOf(told).map(({ node }) => zoneOf(told, node))).not.toContain(zones[0]);
});

it('whatever action the process dies before (R3.8-04, D7-06)', async () => {
  await expectSameEndAfterEveryCrash(moved);
});
