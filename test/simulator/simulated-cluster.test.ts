import { describe, expect, test } from 'vitest';
import type { ObjectRef } from '../../lib/domain/cluster/object-ref.ts';
import { nothingInspected } from '../../lib/domain/cluster/snapshot.ts';
import type { Action } from '../../lib/engine/decision.ts';
import type { FaultPlan } from '../../lib/simulator/faults.ts';
import { faultsAt } from '../../lib/simulator/faults.ts';
import type { KindName } from '../../lib/simulator/kinds.ts';
import { SimulatedCluster } from '../../lib/simulator/simulated-cluster.ts';
import type { World } from '../../lib/simulator/world.ts';
import { at } from '../support/builders.ts';
import { decoders } from '../support/decoders.ts';
import { addPod, addPool, claims, emptyWorld, nodes, only, pass, placeholderOf } from '../support/small-world.ts';

const settings = { namespace: 'node-rotation', image: 'pause', priorityClassName: 'node-rotation-placeholder' };

function oneNode() {
  const world = emptyWorld();
  addPool(world);
  addPod(world, 'a');
  pass(world, '2m');
  return world;
}

const clusterOf = (world: World, over: { faults?: FaultPlan; crashAfterActions?: number } = {}) =>
  new SimulatedCluster({ world, decoders, settings, ...over });

function refTo(world: World, kind: KindName, name: string, namespace?: string): ObjectRef {
  const metadata = world.store.get(kind, name, namespace)?.metadata;
  if (!metadata) throw new Error(`no ${kind} ${name}`);
  const { uid, resourceVersion } = metadata;
  return { kind: kind as ObjectRef['kind'], name, uid, resourceVersion, ...(namespace ? { namespace } : {}) };
}

const claimRef = (world: World) => refTo(world, 'NodeClaim', only(claims(world)).metadata.name);
const annotate = (target: ObjectRef): Action => ({
  kind: 'annotate',
  target,
  annotations: { 'noderotation.io/x': '1' },
  whenRefused: 'stop',
});
const drain = (target: ObjectRef): Action => ({
  kind: 'deleteNodeClaim',
  target,
  because: 'drain',
  whenRefused: 'stop',
});
const noNeed = { nodes: [], podsOnNodes: [], dryRunDeletes: [], disruptionBudgets: false, unscheduledPods: false };

describe('looking', () => {
  test('the light snapshot has the virtual clock in whole seconds, and placeholders only among Pods (D14-01)', async () => {
    const world = oneNode();
    pass(world, '500ms');
    const label = { 'noderotation.io/surge-for': 'x' };
    addPod(world, 'surge', { namespace: 'node-rotation', labels: label });
    addPod(world, 'stranger', { namespace: 'node-rotation' });
    const seen = await clusterOf(world).observe();
    expect(seen.observedAt).toBe(at('2026-06-01T00:02:00Z'));
    expect(seen.placeholders.map(({ meta }) => meta.name)).toEqual(['surge']);
    expect([seen.nodePools.length, seen.nodeClaims.length, seen.nodes.length]).toEqual([1, 1, 1]);
  });

  test('only what is needed is inspected, and what is gone is said to be gone (D14-01)', async () => {
    const world = oneNode();
    const name = only(nodes(world)).metadata.name;
    const cluster = clusterOf(world);
    expect(await cluster.inspect(noNeed)).toEqual(nothingInspected);
    const seen = await cluster.inspect({
      ...noNeed,
      nodes: [name, 'ip-none'],
      podsOnNodes: [name],
      dryRunDeletes: [claimRef(world)],
    });
    expect([seen.nodes.get('ip-none'), seen.dryRuns.get(claimRef(world).name)]).toEqual([
      'gone',
      { outcome: 'accepted' },
    ]);
    expect(seen.podsOnNode.get(name)?.map(({ meta }) => meta.name)).toEqual(['a']);
    expect(claims(world).every(({ metadata }) => metadata.deletionTimestamp === undefined)).toBe(true);
  });

  test('a dry-run delete that is forbidden is refused with the words of the server (D7-04)', async () => {
    const world = oneNode();
    world.store.admission = () => ({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      code: 403,
      message: 'not today',
    });
    const seen = await clusterOf(world).inspect({ ...noNeed, dryRunDeletes: [claimRef(world)] });
    expect(seen.dryRuns.get(claimRef(world).name)).toEqual({ outcome: 'refused', detail: 'not today' });
  });

  test.each([
    ['throttled', 'Throttled'],
    ['serverError', 'Unreachable'],
    ['tornList', 'Timeout'],
  ] as const)('a list that is %s is no snapshot: %s (D14-02)', async (fault, outcome) => {
    const cluster = clusterOf(oneNode(), { faults: faultsAt([{ verb: 'list', nth: 3, fault }]) });
    await expect(cluster.observe()).rejects.toMatchObject({ outcome });
  });
});

describe('acting', () => {
  test('a patch returns the version for the next write, which the old one no longer is (D5-05)', async () => {
    const world = oneNode();
    const target = refTo(world, 'NodePool', 'api');
    const cluster = clusterOf(world);
    const first = await cluster.apply(annotate(target));
    expect(first).toEqual({ outcome: 'applied', resourceVersion: refTo(world, 'NodePool', 'api').resourceVersion });
    expect(await cluster.apply({ ...annotate(target), annotations: { y: '2' } } as Action)).toMatchObject({
      outcome: 'conflict',
    });
  });

  test('marks and cordon are one patch, and null takes the cordon away (D5-04)', async () => {
    const world = oneNode();
    const { name } = only(nodes(world)).metadata;
    const act = (kind: 'protect' | 'unprotect', unschedulable: true | null): Action => ({
      kind,
      target: refTo(world, 'Node', name),
      annotations: { 'noderotation.io/cordoned': unschedulable === null ? null : 'true' },
      unschedulable,
      whenRefused: 'stop',
    });
    await clusterOf(world).apply(act('protect', true));
    expect(only(nodes(world))).toMatchObject({
      metadata: { annotations: { 'noderotation.io/cordoned': 'true' } },
      spec: { unschedulable: true },
    });
    await clusterOf(world).apply(act('unprotect', null));
    expect(only(nodes(world)).spec).not.toHaveProperty('unschedulable');
  });

  test('the old claim is deleted at the version that was seen only (D5-05)', async () => {
    const world = oneNode();
    const seen = claimRef(world);
    const cluster = clusterOf(world);
    await cluster.apply(annotate(seen));
    expect(await cluster.apply(drain(seen))).toMatchObject({ outcome: 'conflict' });
    expect(await cluster.apply(drain(claimRef(world)))).toMatchObject({ outcome: 'applied' });
  });

  test('what is gone: a claim is done, a placeholder of a hand-over is a conflict, marks to undo are done (D5-05)', async () => {
    const world = oneNode();
    const cluster = clusterOf(world);
    const gone = (kind: ObjectRef['kind']): ObjectRef => ({
      kind,
      name: 'gone',
      namespace: 'node-rotation',
      uid: 'u',
      resourceVersion: '1',
    });
    const placeholder = (mustExist: boolean): Action => ({
      kind: 'deletePlaceholder',
      target: gone('Pod'),
      mustExist,
      whenRefused: 'stop',
    });
    const actions: Action[] = [
      drain(gone('NodeClaim')),
      placeholder(false),
      placeholder(true),
      annotate(gone('NodePool')),
      { kind: 'unprotect', target: gone('Node'), annotations: {}, whenRefused: 'goOn' },
    ];
    const outcomes = [];
    for (const action of actions) outcomes.push((await cluster.apply(action)).outcome);
    expect(outcomes).toEqual(['alreadyDone', 'alreadyDone', 'conflict', 'conflict', 'alreadyDone']);
  });

  test('a placeholder that is already there is done when it stands for the same claim (D5-05)', async () => {
    const world = oneNode();
    const cluster = clusterOf(world);
    const creating = (claim: string): Action => ({
      kind: 'createPlaceholder',
      pod: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: 'surge',
          namespace: 'node-rotation',
          labels: { 'noderotation.io/surge-for': claim },
          annotations: {},
        },
        spec: { containers: [] },
      },
      whenRefused: 'stop',
    });
    const outcomes = [];
    for (const claim of ['x', 'x', 'y']) outcomes.push((await cluster.apply(creating(claim))).outcome);
    expect(outcomes).toEqual(['applied', 'alreadyDone', 'rejected']);
  });

  test('a placeholder goes with grace 0, at once (D8-06)', async () => {
    const world = oneNode();
    const { name } = placeholderOf(world, 'api', '1').metadata;
    pass(world, '10s');
    const target = refTo(world, 'Pod', name, 'node-rotation');
    await clusterOf(world).apply({ kind: 'deletePlaceholder', target, mustExist: true, whenRefused: 'stop' });
    expect(world.store.get('Pod', name, 'node-rotation')).toBeUndefined();
  });

  test('an Event carries six digits of the virtual clock (D11-03)', async () => {
    const world = oneNode();
    const regarding = { kind: 'NodePool', name: 'api', uid: 'u' } as const;
    await clusterOf(world).apply({
      kind: 'emitEvent',
      event: { type: 'Normal', reason: 'RotationStarted', note: 'n', regarding },
      whenRefused: 'goOn',
    });
    expect(only(world.store.all('Event'))).toMatchObject({
      metadata: { namespace: 'default' },
      reason: 'RotationStarted',
      eventTime: '2026-06-01T00:02:00.000000Z',
    });
  });

  test.each([
    ['throttled', 'unreachable', false],
    ['serverError', 'unreachable', false],
    ['conflict', 'conflict', false],
    ['lostRequest', 'unreachable', false],
    ['lostResponse', 'unreachable', true],
  ] as const)('%s: the outcome is %s, written: %s (D14-02)', async (fault, outcome, written) => {
    const world = oneNode();
    const cluster = clusterOf(world, { faults: faultsAt([{ verb: 'patch', nth: 1, fault }]) });
    const result = await cluster.apply(annotate(refTo(world, 'NodePool', 'api')));
    expect(result.outcome).toBe(outcome);
    expect(world.store.get('NodePool', 'api')?.metadata.annotations?.['noderotation.io/x'] !== undefined).toBe(written);
  });

  test('after so many actions the process dies before the next (D14-02)', async () => {
    const world = oneNode();
    const cluster = clusterOf(world, { crashAfterActions: 1 });
    await cluster.apply(annotate(refTo(world, 'NodePool', 'api')));
    await expect(cluster.apply(annotate(refTo(world, 'NodePool', 'api')))).rejects.toThrow(
      'the process died before annotate',
    );
  });
});
