/**
 * A rotation from its first write to its last, by the real program on a real control plane with a real Karpenter.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from './support/eventually.ts';
import { keepEvidence } from './support/evidence.ts';
import { nodePool, oneAtATime, policy, statefulSet, workload } from './support/fleet.ts';
import { provisionedStory, RotatingCluster } from './support/rotating-cluster.ts';

/** A node is due one minute after its creation: A = 7m − (2 · 1m + 1m + 1m + 2m). */
const lifetime = { expireAfter: '7m', terminationGracePeriod: '1m' };
const surge = { readyTimeout: '1m' };
const limit = 240_000;

let cluster: RotatingCluster;

beforeAll(async () => {
  cluster = await RotatingCluster.start();
});

afterAll(() => cluster?.stop());
keepEvidence(() => cluster);

describe.concurrent('with a real Karpenter', () => {
  test(
    'a rotation onto a new node creates one NodeClaim, however slow the drain, and leaves nothing of ours (D7-04, D15-01)',
    async () => {
      const pool = 'provisioned';
      await cluster.apply(
        { name: pool, ...lifetime },
        oneAtATime('web'),
        workload({ name: 'web', pool, replicas: 3, cpu: '900m', stopsIn: '6s' }),
      );
      await cluster.see.runs('web', 3);
      const old = await cluster.onlyClaimOf(pool);
      await cluster.plane.api.apply(policy(pool, { surge }));
      await cluster.ended(pool, limit);

      const pods = await cluster.see.runs('web', 3);
      expect({
        ...(await cluster.outcomeOf(pool, old)),
        podsOnNodes: new Set(pods.map(({ spec }) => spec.nodeName)).size,
        memory: await cluster.see.memoryOf(pool),
      }).toEqual({
        ...provisionedStory,
        podsOnNodes: 1,
        memory: ['noderotation.io/last-ended', 'noderotation.io/last-rotation-at'],
      });
    },
    limit,
  );

  test(
    'a rotation into spare room of the pool creates no NodeClaim (D7-04)',
    async () => {
      const pool = 'absorbed';
      await cluster.apply({ name: pool, ...lifetime }, workload({ name: 'first', pool, replicas: 1, cpu: '3' }));
      await cluster.see.runs('first', 1);
      const old = await cluster.onlyClaimOf(pool);
      // Later, so that it is not due itself when the first one is.
      await wait(25_000);
      await cluster.plane.api.apply(workload({ name: 'second', pool, replicas: 1, cpu: '3' }));
      await cluster.see.runs('second', 1);
      await cluster.plane.api.merge('/apis/apps/v1/namespaces/default/deployments/second', { spec: { replicas: 0 } });
      await eventually('the second node to be empty', 30_000, async () =>
        (await cluster.see.podsOf('second')).length === 0 ? true : undefined,
      );
      const before = await cluster.created(pool);
      await cluster.plane.api.apply(policy(pool, { surge }));
      await cluster.ended(pool, limit);

      await cluster.see.runs('first', 1);
      const { created, ...outcome } = await cluster.outcomeOf(pool, old);
      expect({ ...outcome, created: created - before }).toEqual({
        ...provisionedStory,
        steps: ['started', 'draining, absorbed', 'completed, absorbed'],
        created: 0,
      });
    },
    limit,
  );

  test(
    'three pools under one policy rotate side by side, one node each (D7-10)',
    async () => {
      const pools = ['red', 'green', 'blue'];
      const olds = await Promise.all(
        pools.map(async (name) => {
          const document = nodePool({ name, ...lifetime });
          await cluster.plane.api.apply({ ...document, metadata: { name, labels: { workload: 'three' } } });
          await cluster.see.poolReady(name);
          await cluster.plane.api.apply(workload({ name, pool: name, replicas: 2, cpu: '1500m', stopsIn: '3s' }));
          await cluster.see.runs(name, 2);
          return cluster.onlyClaimOf(name);
        }),
      );
      await cluster.plane.api.apply(policy('three', { surge }));
      await Promise.all(pools.map((pool) => cluster.ended(pool, limit)));

      const outcomes = await Promise.all(pools.map((pool, place) => cluster.outcomeOf(pool, olds[place])));
      expect(outcomes).toEqual(pools.map(() => provisionedStory));
    },
    limit,
  );

  test(
    'with a placeholder kept through the drain Karpenter makes a second node, which is why ours goes first (D7-04)',
    async () => {
      const pool = 'kept';
      const { api } = cluster.plane;
      await cluster.apply(
        { name: pool, ...lifetime, expireAfter: '2h' },
        oneAtATime(pool),
        // A Deployment's Pods may all be gone before Karpenter has planned, because each is replaced at once.
        statefulSet({ name: pool, pool, replicas: 3, cpu: '900m', stopsIn: '6s' }),
      );
      await cluster.see.runs(pool, 3);
      const old = await cluster.onlyClaimOf(pool);
      const [oldNode] = await cluster.see.nodesOf(pool);
      await api.merge(`/api/v1/nodes/${oldNode?.metadata.name}`, { spec: { unschedulable: true } });
      await api.apply({
        ...{ apiVersion: 'v1', kind: 'Pod' },
        metadata: { name: pool, namespace: 'node-rotation', labels: { 'karpenter.sh/nodepool': pool } },
        spec: keptPlaceholder(pool),
      });
      await eventually('the placeholder to run', 60_000, async () => {
        const [placeholder] = await cluster.see.placeholdersOf(pool);
        return placeholder?.status.phase === 'Running' ? true : undefined;
      });
      await api.delete(`/apis/karpenter.sh/v1/nodeclaims/${old.metadata.name}`);
      await eventually('the old claim to be gone', 60_000, async () => {
        const claims = await cluster.see.claimsOf(pool);
        return claims.every(({ metadata }) => metadata.name !== old.metadata.name) ? true : undefined;
      });
      await cluster.see.runs(pool, 3);

      // One for the placeholder, and one that nobody needed.
      const created = await cluster.created(pool);
      expect({ created, claims: (await cluster.see.claimsOf(pool)).length }).toEqual({ created: 2, claims: 2 });
    },
    limit,
  );
});

/** What stands for three Pods of 900m. */
const keptPlaceholder = (pool: string): object => ({
  nodeSelector: { 'karpenter.sh/nodepool': pool },
  priorityClassName: 'node-rotation-placeholder',
  terminationGracePeriodSeconds: 0,
  securityContext: { runAsNonRoot: true, runAsUser: 65_534, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [
    {
      ...{ name: 'pause', image: 'registry.k8s.io/pause:3.10', resources: { requests: { cpu: '2700m' } } },
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    },
  ],
});
