import { expect, it } from 'vitest';
import { runTick } from '../../lib/controller/run-tick.ts';
import { add, minutes } from '../../lib/domain/time.ts';
import type { Action } from '../../lib/engine/decision.ts';
import { SimulatedCluster } from '../../lib/simulator/simulated-cluster.ts';
import type { World } from '../../lib/simulator/world.ts';
import { decoders } from '../support/decoders.ts';
import { aWorld, MemoryTable, settings, unhurried } from '../support/story.ts';
import { SafetyOracle } from './safety.ts';
import { key } from './seen-cluster.ts';

/** Who writes what he must not: the oracle has to name the rule, or it could never fail. */
interface Wrong {
  readonly what: string;
  readonly rule: string;
  readonly arrange?: (world: World) => void;
  readonly action: (world: World) => Action;
}

const ref = (world: World, kind: 'NodePool' | 'NodeClaim' | 'Node', index = 0) => {
  const { name, uid, resourceVersion } = (world.store.all(kind)[index] as { metadata: Target }).metadata;
  return { kind, name, uid, resourceVersion };
};
interface Target {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}
const annotates =
  (kind: 'NodePool' | 'NodeClaim', annotations: Record<string, string | null>) =>
  (world: World): Action => ({
    kind: 'annotate',
    target: ref(world, kind),
    annotations,
    whenRefused: 'stop',
  });
const marks =
  (annotations: Record<string, string | null>, unschedulable?: true | null) =>
  (world: World): Action => ({
    kind: 'protect',
    target: ref(world, 'Node'),
    annotations,
    ...(unschedulable === undefined ? {} : { unschedulable }),
    whenRefused: 'stop',
  });
const setsOnNode =
  (metadata: object, spec: object = {}) =>
  (world: World): void =>
    void world.store.patch({ kind: 'Node', name: ref(world, 'Node').name }, { metadata, spec });
const anchored =
  (state?: string) =>
  (world: World): void => {
    const claim = ref(world, 'NodeClaim');
    const annotations = {
      [key('active-rotation')]: claim.name,
      [key('rotation-claim-uid')]: claim.uid,
      [key('started-at')]: '2026-06-09T17:00:00Z',
      ...(state === undefined ? {} : { [key('active-rotation-state')]: state }),
    };
    world.store.patch({ kind: 'NodePool', name: 'api' }, { metadata: { annotations } });
  };
const deletes =
  (because: 'drain' | 'fallback' | 'reapSurge', index = 0) =>
  (world: World): Action => ({
    kind: 'deleteNodeClaim',
    target: ref(world, 'NodeClaim', index),
    because,
    whenRefused: 'stop',
  });
const dnd = 'karpenter.sh/do-not-disrupt';
const begins = (world: World): Record<string, string> => ({
  [key('active-rotation')]: ref(world, 'NodeClaim').name,
  [key('rotation-claim-uid')]: ref(world, 'NodeClaim').uid,
  [key('started-at')]: '2026-06-09T17:00:00Z',
});
const startsAnchor = (world: World): Action => annotates('NodePool', begins(world))(world);
const editsPool =
  (patch: object) =>
  (world: World): void =>
    void world.store.patch({ kind: 'NodePool', name: 'api' }, patch);
const editsPolicy =
  (patch: object) =>
  (world: World): void =>
    void world.store.patch({ kind: 'RotationPolicy', name: 'nights' }, patch);

const wrongs: readonly Wrong[] = [
  { what: 'a foreign annotation', rule: 'foreign', action: annotates('NodeClaim', { 'team.example/owner': 'me' }) },
  {
    what: 'the freeze of a pool',
    rule: 'foreign',
    action: annotates('NodePool', { [key('freeze')]: '2027-01-01T00:00:00Z' }),
  },
  {
    what: "the operator's do-not-disrupt is adopted",
    rule: 'operatorsMark',
    arrange: setsOnNode({ annotations: { [dnd]: 'true' } }),
    action: marks({ [key('do-not-disrupt-owned')]: 'true' }),
  },
  {
    what: "the operator's do-not-disrupt is removed",
    rule: 'operatorsMark',
    arrange: setsOnNode({ annotations: { [dnd]: 'true' } }),
    action: marks({ [dnd]: null }),
  },
  { what: 'a mark for nobody', rule: 'mark', action: marks({ [key('surge-for')]: 'nobody' }) },
  {
    what: "the operator's cordon is undone",
    rule: 'operatorsCordon',
    arrange: setsOnNode({}, { unschedulable: true }),
    action: marks({}, null),
  },
  {
    what: "the operator's cordon is adopted",
    rule: 'operatorsCordon',
    arrange: setsOnNode({}, { unschedulable: true }),
    action: marks({ [key('cordoned')]: 'true' }),
  },
  { what: 'a cordon without a rotation', rule: 'cordon', action: marks({ [key('cordoned')]: 'true' }, true) },
  {
    what: 'a start during a freeze',
    rule: 'start',
    arrange: editsPool({ metadata: { annotations: { [key('freeze')]: '2027-01-01T00:00:00Z' } } }),
    action: startsAnchor,
  },
  {
    what: 'a start during a freeze of the policy',
    rule: 'start',
    arrange: editsPolicy({ metadata: { annotations: { [key('freeze')]: 'until friday' } } }),
    action: startsAnchor,
  },
  {
    what: 'a start in a static pool',
    rule: 'start',
    arrange: editsPool({ spec: { replicas: 0 } }),
    action: startsAnchor,
  },
  {
    what: 'a start under Observe',
    rule: 'start',
    arrange: editsPolicy({ spec: { mode: 'Observe' } }),
    action: startsAnchor,
  },
  {
    what: 'a start outside the window',
    rule: 'start',
    arrange: editsPolicy({
      spec: { maintenanceWindows: [{ timezone: 'UTC', days: ['Mon'], start: '01:00', end: '02:00' }] },
    }),
    action: startsAnchor,
  },
  {
    what: 'a start of a node that was opted out',
    rule: 'start',
    arrange: setsOnNode({ annotations: { [dnd]: 'true' } }),
    action: startsAnchor,
  },
  {
    what: 'a start before anything is due',
    rule: 'startedEarly',
    arrange: editsPolicy({ spec: { ageThreshold: '300h' } }),
    action: startsAnchor,
  },
  { what: 'a start without its audit row', rule: 'auditStep', action: startsAnchor },
  {
    what: 'a second rotation in the pool',
    rule: 'twoRotations',
    arrange: anchored(),
    action: annotates('NodePool', { [key('active-rotation')]: 'another' }),
  },
  {
    what: 'a rollback before the timeout',
    rule: 'failedEarly',
    arrange: anchored(),
    action: annotates('NodePool', { [key('active-rotation-state')]: 'failing' }),
  },
  {
    what: 'an abort for nothing',
    rule: 'abortedForNothing',
    arrange: anchored(),
    action: annotates('NodePool', { [key('active-rotation-state')]: 'aborting' }),
  },
  {
    what: 'an end that is taken back',
    rule: 'endRevoked',
    arrange: anchored('failing'),
    action: annotates('NodePool', { [key('active-rotation-state')]: null }),
  },
  {
    what: 'a success while the old claim is there',
    rule: 'endedFalsely',
    arrange: anchored('draining'),
    action: (world) =>
      annotates('NodePool', {
        ...Object.fromEntries(Object.keys(begins(world)).map((each) => [each, null])),
        [key('active-rotation-state')]: null,
        [key('last-ended')]: `${ref(world, 'NodeClaim').uid}@2026-06-09T17:00:00Z=completed`,
      })(world),
  },
  { what: 'a delete without an anchor', rule: 'delete', action: deletes('drain') },
  { what: 'a drain before the mirror', rule: 'drain', arrange: anchored(), action: deletes('drain') },
  { what: 'a drain without a surge', rule: 'drain', arrange: anchored('draining'), action: deletes('drain') },
  { what: 'a reap of an old node', rule: 'reap', arrange: anchored('failing'), action: deletes('reapSurge', 1) },
  {
    what: 'a fallback that is off',
    rule: 'fallback',
    arrange: (world) => {
      anchored('draining')(world);
      editsPool({ metadata: { annotations: { [key('rotation-mode')]: 'forceful-fallback' } } })(world);
    },
    action: deletes('fallback'),
  },
];

it.each(wrongs)('the oracle names it: $what (D7-10, R3.4-03, R3.4-08, D10-03)', async ({ rule, arrange, action }) => {
  const world = aWorld();
  arrange?.(world);
  const oracle = new SafetyOracle(world);
  const cluster = oracle.watch().guard(new SimulatedCluster({ world, decoders, settings }));
  await cluster.observe();
  expect(await cluster.apply(action(world))).toMatchObject({ outcome: 'applied' });
  expect(oracle.violations.map((each) => each.rule)).toContain(rule);
});

it('the oracle says nothing about a rotation as it should be, and names what is left of one (D7-10, D6-03)', async () => {
  const world = aWorld();
  const oracle = new SafetyOracle(world);
  const table = new MemoryTable();
  oracle.trail.watch(table.rows);
  for (let minute = 0; minute < 10; minute += 1) {
    const cluster = oracle.watch().guard(new SimulatedCluster({ world, decoders, settings }));
    await runTick({ cluster, recorder: table, budget: unhurried });
    world.advance(add(world.now, minutes(1)));
  }
  oracle.trail.atEnd();
  expect(table.trail().length).toBe(3);
  expect(oracle.violations).toEqual([]);
  setsOnNode({ annotations: { [key('surge-for')]: 'gone' } })(world);
  for (let tick = 0; tick < 2; tick += 1)
    oracle.afterTick({ outcome: 'Ok', pools: [], unrecorded: new Map(), unreadable: [] }, true, false);
  expect(oracle.violations.map(({ rule }) => rule)).toEqual(['debris']);
});
