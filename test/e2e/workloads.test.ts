/**
 * Rotations of nodes that run what people run: every kind of workload, constraints on where it may go, and neighbours
 * that matter more than a placeholder.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freezeKey } from '../../lib/domain/rotation/annotation-keys.ts';
import type { KubeDocument } from './harness/kube-api.ts';
import { eventually } from './support/eventually.ts';
import { keepEvidence } from './support/evidence.ts';
import { oneAtATime, podTemplate, policy, statefulSet, workload } from './support/fleet.ts';
import { dueAtOnce, longLived, provisionedStory, RotatingCluster } from './support/rotating-cluster.ts';

const limit = 180_000;
let cluster: RotatingCluster;

beforeAll(async () => {
  cluster = await RotatingCluster.start();
});

afterAll(() => cluster?.stop());
keepEvidence(() => cluster);

const nodesOf = async (app: string): Promise<readonly string[]> => [
  ...new Set((await cluster.see.podsOf(app)).map(({ spec }) => spec.nodeName ?? 'none')),
];

const daemonSet = (name: string, template: object): KubeDocument => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, template },
});

const job = (name: string, template: { readonly spec: object }): KubeDocument => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } },
});

describe.concurrent('with a real Karpenter', () => {
  test(
    'a StatefulSet moves one Pod after the other, beside DaemonSets and a Job that has ended (R3.3-06, R3.5-01)',
    async () => {
      const pool = 'mixed';
      await cluster.apply(
        { name: pool, ...longLived },
        daemonSet('mixed-agent', podTemplate({ name: 'mixed-agent', pool, cpu: '200m' })),
        oneAtATime('mixed-db'),
        statefulSet({ name: 'mixed-db', pool, replicas: 3, cpu: '600m', stopsIn: '3s' }),
        job('mixed-report', podTemplate({ name: 'mixed-report', pool, cpu: '900m' })),
      );
      await cluster.see.runs('mixed-db', 3);
      await cluster.see.runs('mixed-agent', 1);
      await eventually('the Job to end', 60_000, async () => {
        const [pod] = await cluster.see.podsOf('mixed-report');
        return pod?.status.phase === 'Succeeded' ? true : undefined;
      });
      const old = await cluster.onlyClaimOf(pool);
      await cluster.plane.api.apply(policy(pool, dueAtOnce));
      await cluster.ended(pool, limit);

      await cluster.see.runs('mixed-db', 3);
      await cluster.see.runs('mixed-agent', 1);
      expect({ ...(await cluster.outcomeOf(pool, old)), nodes: (await nodesOf('mixed-db')).length }).toEqual({
        ...provisionedStory,
        nodes: 1,
      });
    },
    limit,
  );

  test(
    'Pods that are spread over the nodes of a pool stay spread (R3.5-01)',
    async () => {
      const pool = 'spread';
      const topologySpreadConstraints = [
        {
          ...{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'DoNotSchedule' },
          labelSelector: { matchLabels: { app: pool } },
        },
      ];
      await cluster.apply(
        { name: pool, ...longLived },
        oneAtATime(pool),
        workload({ name: pool, pool, replicas: 2, cpu: '2', stopsIn: '3s', podSpec: { topologySpreadConstraints } }),
      );
      await cluster.see.runs(pool, 2);
      const before = await cluster.settled(pool);
      await cluster.plane.api.apply(policy(pool, dueAtOnce));
      await cluster.ended(pool, limit);

      const [first] = await cluster.rowsOf(pool);
      const old = before.find(({ metadata }) => metadata.name === first?.claim);
      await cluster.see.runs(pool, 2);
      expect({ ...(await cluster.outcomeOf(pool, old)), nodes: (await nodesOf(pool)).length }).toEqual({
        ...provisionedStory,
        claims: 2,
        nodes: 2,
      });
    },
    limit,
  );

  test(
    'of a pool with requirements of every operator the new node has the zone and the size of the old one (R3.7-01, R3.7-04)',
    async () => {
      const pool = 'zonal';
      const cpu = 'karpenter.kwok.sh/instance-cpu';
      await cluster.apply(
        {
          name: pool,
          ...longLived,
          labels: { 'example.org/tier': 'gold' },
          requirements: [
            { key: cpu, operator: 'Gt', values: ['1'] },
            { key: cpu, operator: 'Lt', values: ['9'] },
            { key: cpu, operator: 'Gte', values: ['4'] },
            { key: cpu, operator: 'Lte', values: ['8'] },
            {
              key: 'topology.kubernetes.io/zone',
              operator: 'In',
              values: ['test-zone-b', 'test-zone-c', 'test-zone-d'],
            },
            { key: 'topology.kubernetes.io/zone', operator: 'NotIn', values: ['test-zone-d'] },
            { key: 'karpenter.kwok.sh/instance-family', operator: 'Exists' },
            { key: 'example.org/quarantine', operator: 'DoesNotExist' },
          ],
        },
        workload({
          ...{ name: pool, pool, replicas: 2, cpu: '900m' },
          podSpec: { nodeSelector: { 'karpenter.sh/nodepool': pool, 'topology.kubernetes.io/zone': 'test-zone-c' } },
        }),
      );
      await cluster.see.runs(pool, 2);
      const old = await cluster.onlyClaimOf(pool);
      const labelsOf = async (): Promise<object> => {
        const { labels = {} } = (await cluster.see.nodesOf(pool))[0]?.metadata ?? {};
        return [cpu, 'topology.kubernetes.io/zone', 'karpenter.kwok.sh/instance-family'].map((key) => labels[key]);
      };
      const before = await labelsOf();
      const required = [
        'topology.kubernetes.io/zone',
        cpu,
        'karpenter.kwok.sh/instance-family',
        'example.org/quarantine',
      ];
      await cluster.plane.api.apply(
        policy(pool, { ...dueAtOnce, surge: { ...dueAtOnce.surge, matchNodeRequirements: { required } } }),
      );
      await cluster.ended(pool, limit);

      await cluster.see.runs(pool, 2);
      expect({ ...(await cluster.outcomeOf(pool, old)), labels: await labelsOf() }).toEqual({
        ...provisionedStory,
        labels: before,
      });
    },
    limit,
  );

  test(
    'a placeholder that a Pod of higher priority pushes out is made again and finds another node (R3.3-21)',
    async () => {
      const pool = 'pushed';
      await cluster.plane.api.apply({
        ...{ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'urgent' }, value: 1_000 },
      });
      await cluster.apply({ name: pool, ...longLived }, workload({ name: pool, pool, replicas: 3, cpu: '900m' }));
      await cluster.see.runs(pool, 3);
      const old = await cluster.onlyClaimOf(pool);
      const anHour = new Date(Date.now() + 3_600_000).toISOString();
      await cluster.plane.api.apply(policy(pool, dueAtOnce));
      await cluster.started(pool);
      await cluster.annotate(pool, { [freezeKey]: anHour });
      await cluster.surgeSeen(pool);
      const [first] = await cluster.see.placeholdersOf(pool);
      await cluster.plane.api.apply(
        workload({ name: 'urgent', pool, replicas: 1, cpu: '2', podSpec: { priorityClassName: 'urgent' } }),
      );
      const [urgent] = await cluster.see.runs('urgent', 1);
      await cluster.annotate(pool, { [freezeKey]: null });
      await cluster.ended(pool, limit);

      await cluster.see.runs(pool, 3);
      expect({
        ...(await cluster.outcomeOf(pool, old)),
        tookThePlace: urgent?.spec.nodeName === first?.spec.nodeName,
      }).toEqual({ ...provisionedStory, created: 2, claims: 2, tookThePlace: true });
    },
    limit,
  );
});
