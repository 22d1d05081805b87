/**
 * What people do while a rotation runs: hold it, take the node out, take the policy away, cordon a node themselves.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freezeKey, nodeKeys } from '../../lib/domain/rotation/annotation-keys.ts';
import { eventually } from './support/eventually.ts';
import { keepEvidence } from './support/evidence.ts';
import { nodeClassNamed, oneAtATime, policy, workload } from './support/fleet.ts';
import type { Seen } from './support/observer.ts';
import {
  dueAtOnce,
  longLived,
  memoryOfFailure,
  provisionedStory,
  RotatingCluster,
} from './support/rotating-cluster.ts';

const limit = 180_000;
/** Three ticks: what was going to happen has happened. */
const aWhile = 7_000;
const policies = '/apis/noderotation.io/v1alpha1/rotationpolicies';
let cluster: RotatingCluster;

beforeAll(async () => {
  cluster = await RotatingCluster.start({ karpenter: { featureGates: { StaticCapacity: true } } });
});

afterAll(() => cluster?.stop());
keepEvidence(() => cluster);

const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();

/** A pool of one node with three Pods; the next machine takes its time to come. */
async function populated(pool: string, registrationDelay: string): Promise<Seen> {
  await cluster.plane.api.apply(nodeClassNamed(pool));
  await cluster.apply(
    { name: pool, ...longLived, nodeClass: pool },
    oneAtATime(pool),
    workload({ name: pool, pool, replicas: 3, cpu: '900m', stopsIn: '4s' }),
  );
  await cluster.see.runs(pool, 3);
  await cluster.plane.api.apply(nodeClassNamed(pool, registrationDelay));
  return cluster.onlyClaimOf(pool);
}

/**
 * The rotation waits, whatever the surge does, and nothing starts after it. Of a surge that has its node, an abort knows
 * which it is; of one that has none it would not, while Pods of other tests wait for nodes too.
 */
async function heldWithSurge(pool: string): Promise<void> {
  await cluster.started(pool);
  await cluster.annotate(pool, { [freezeKey]: inAnHour() });
  await cluster.surgeSeen(pool);
}

const nodeNameOf = async (pool: string): Promise<string> => {
  const [node, ...others] = await cluster.see.nodesOf(pool);
  if (!node || others.length > 0) throw new Error(`NodePool ${pool} has not one node`);
  return node.metadata.name;
};

const changeNode = (name: string, patch: object): Promise<string> =>
  cluster.plane.api.merge(`/api/v1/nodes/${name}`, patch);

describe.concurrent('with a real Karpenter', () => {
  test(
    'a freeze holds a rotation whose surge is ready, and without it the rotation goes on (R3.1-06)',
    async () => {
      const pool = 'held';
      const old = await populated(pool, '3s');
      await cluster.plane.api.apply(policy(pool, dueAtOnce));
      await heldWithSurge(pool);
      await wait(aWhile);
      const [claims, [placeholder]] = await Promise.all([cluster.see.claimsOf(pool), cluster.see.placeholdersOf(pool)]);
      const held = {
        deleting: claims.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length,
        claims: claims.length,
        placeholder: placeholder?.status.phase,
      };
      await cluster.annotate(pool, { [freezeKey]: null });
      await cluster.ended(pool, limit);

      await cluster.see.runs(pool, 3);
      expect({ held, ...(await cluster.outcomeOf(pool, old)) }).toEqual({
        held: { deleting: 0, claims: 2, placeholder: 'Running' },
        ...provisionedStory,
      });
    },
    limit,
  );

  test(
    'a freeze that lasts longer than readyTimeout ends in a rollback, with the new node taken back (R3.1-08, R3.8-01)',
    async () => {
      const pool = 'frozen';
      const old = await populated(pool, '0s');
      await cluster.plane.api.apply(policy(pool, { ...dueAtOnce, surge: { readyTimeout: '15s' } }));
      await cluster.started(pool);
      await cluster.annotate(pool, { [freezeKey]: inAnHour() });
      await cluster.ended(pool, limit);
      await cluster.claimsBecome(pool, 1);

      expect(await cluster.outcomeOf(pool, old)).toEqual({
        ...provisionedStory,
        steps: ['started', 'failed'],
        events: ['RotationStarted', 'RotationFailed'],
        oldIsThere: true,
        marks: memoryOfFailure(old),
      });
    },
    limit,
  );

  test(
    'a freeze does not touch a drain (R3.1-09)',
    async () => {
      const pool = 'late';
      const old = await populated(pool, '0s');
      await cluster.plane.api.apply(policy(pool, dueAtOnce));
      await cluster.draining(pool);
      await cluster.annotate(pool, { [freezeKey]: inAnHour() });
      await cluster.ended(pool, limit);

      await cluster.see.runs(pool, 3);
      expect(await cluster.outcomeOf(pool, old)).toEqual(provisionedStory);
    },
    limit,
  );

  test(
    'a node that its operator opts out mid-attempt stays, with the mark of the operator and none of ours (D7-12, D7-08)',
    async () => {
      const pool = 'kept-out';
      const old = await populated(pool, '0s');
      const node = await nodeNameOf(pool);
      await cluster.plane.api.apply(policy(pool, dueAtOnce));
      await heldWithSurge(pool);
      await changeNode(node, { metadata: { annotations: { [nodeKeys.owned]: null } } });
      await cluster.ended(pool, limit);
      await cluster.claimsBecome(pool, 1);
      await cluster.told(pool, 'PoolOptedOut');

      // Events know seconds only, and two of these belong to the same tick.
      const { events, ...outcome } = await cluster.outcomeOf(pool, old);
      expect({ ...outcome, events: events.toSorted() }).toEqual({
        ...provisionedStory,
        steps: ['started', 'aborted'],
        events: ['PoolOptedOut', 'RotationAborted', 'RotationStarted'],
        oldIsThere: true,
        marks: [`${node} has ${nodeKeys.doNotDisrupt}`],
      });
    },
    limit,
  );

  test(
    'a drain is followed to its end when the policy is deleted meanwhile (D6-01)',
    async () => {
      const pool = 'orphan';
      const old = await populated(pool, '0s');
      await cluster.plane.api.apply(policy(pool, dueAtOnce));
      await cluster.draining(pool);
      await cluster.plane.api.delete(`${policies}/${pool}`);
      await cluster.ended(pool, limit);

      await cluster.see.runs(pool, 3);
      const { events, ...outcome } = await cluster.outcomeOf(pool, old);
      const { events: usual, ...story } = provisionedStory;
      expect({ outcome, events: new Set(events) }).toEqual({
        outcome: story,
        events: new Set([...usual, 'GovernanceLost']),
      });
    },
    limit,
  );

  test(
    'a node that its operator had cordoned is rotated, or stays cordoned when the policy goes before (R3.4-08, R3.4-09, D6-01)',
    async () => {
      const pool = 'cordoned';
      const old = await populated(pool, '0s');
      const node = await nodeNameOf(pool);
      await changeNode(node, { spec: { unschedulable: true } });
      await cluster.plane.api.apply(policy(pool, dueAtOnce));
      await heldWithSurge(pool);
      await cluster.plane.api.delete(`${policies}/${pool}`);
      await cluster.ended(pool, limit);
      await cluster.claimsBecome(pool, 1);
      await cluster.told(pool, 'GovernanceLost');
      const { events: toldFirst, ...aborted } = await cluster.outcomeOf(pool, old);
      await cluster.annotate(pool, { [freezeKey]: null });
      await cluster.plane.api.apply(policy(pool, dueAtOnce));
      await cluster.completed(pool, limit);

      await cluster.see.runs(pool, 3);
      const { events, ...afterwards } = await cluster.outcomeOf(pool, old);
      const { events: usual, ...story } = provisionedStory;
      const toldOfAbort = ['RotationStarted', 'RotationAborted', 'GovernanceLost'];
      expect({ aborted, afterwards, toldFirst: new Set(toldFirst), told: new Set(events) }).toEqual({
        toldFirst: new Set(toldOfAbort),
        told: new Set([...toldOfAbort, ...usual]),
        aborted: {
          ...story,
          steps: ['started', 'aborted'],
          oldIsThere: true,
          marks: [`${node} is cordoned`],
        },
        afterwards: {
          ...story,
          steps: ['started', 'aborted', ...story.steps],
          created: 2,
        },
      });
    },
    limit,
  );

  test(
    'a static pool is told once that it is refused, and left alone (R3.3-03)',
    async () => {
      const pool = 'static';
      await cluster.apply({
        ...{ name: pool, ...longLived, disruption: { consolidateAfter: '0s' }, spec: { replicas: 1 } },
        // Without it the kwok provider cannot launch a static claim, and Karpenter then provisions for no pool at all.
        requirements: [{ key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['c-4x-amd64-linux'] }],
      });
      await eventually('the static node', 60_000, async () =>
        (await cluster.see.nodesOf(pool)).length === 1 ? true : undefined,
      );
      const old = await cluster.onlyClaimOf(pool);
      await cluster.plane.api.apply(policy(pool, dueAtOnce));
      await cluster.told(pool, 'StaticNodePool');
      await wait(aWhile);

      expect(await cluster.outcomeOf(pool, old)).toEqual({
        ...provisionedStory,
        steps: [],
        events: ['StaticNodePool'],
        created: 0,
        oldIsThere: true,
      });
    },
    limit,
  );
});
