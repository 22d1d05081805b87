import { expect, test } from 'vitest';
import { days, hours } from '../../lib/domain/time.ts';
import type { Fleet } from '../../lib/simulator/fleet.ts';
import { buildFleet, demonstrationPolicy } from '../../lib/simulator/fleet.ts';
import { zones } from '../../lib/simulator/instance-types.ts';
import type { ClaimObject, NodeObject, PodObject } from '../../lib/simulator/kube-object.ts';
import { World } from '../../lib/simulator/world.ts';
import { at } from '../support/builders.ts';

const mixed: Fleet = {
  pools: [
    {
      name: 'tainted',
      instanceType: 'm7g.xlarge',
      nodes: 3,
      ages: [days(3), days(2), days(1)],
      limits: { nodes: '5' },
      expireAfter: '200h',
      terminationGracePeriod: null,
      differing: { 1: { expireAfter: 'Never', terminationGracePeriod: '5m' } },
      zones: [zones[1] as string],
      taints: [{ key: 'team', value: 'red', effect: 'NoSchedule' }],
      labels: { team: 'red' },
    },
    { name: 'gpu', instanceType: 'g6.xlarge', nodes: 1, ages: [hours(1)], capacityType: 'spot' },
    { name: 'fixed', instanceType: 'm7i.xlarge', nodes: 0, ages: [], replicas: 2 },
  ],
  apps: [
    { name: 'web', pool: 'tainted', replicas: 2, requests: { cpu: '1' }, budget: { minAvailable: '100%' } },
    {
      name: 'db',
      pool: 'tainted',
      replicas: 2,
      requests: { cpu: '1' },
      kind: 'StatefulSet',
      graceSeconds: 600,
      stopSeconds: 90,
    },
    { name: 'train', pool: 'gpu', replicas: 1, requests: { 'nvidia.com/gpu': '1' }, kind: 'Job', doNotDisrupt: 'true' },
  ],
  daemons: [],
  policy: demonstrationPolicy,
};

test('a fleet can be mixed of every kind of pool and workload, and all of it runs (D14-02)', () => {
  const world = new World({ startsAt: at('2026-06-01T00:00:00Z') });
  buildFleet(world, mixed);
  world.advance(at('2026-06-01T00:04:00Z'));
  const claims = world.store
    .all<ClaimObject>('NodeClaim')
    .map(({ spec, metadata }) => [
      metadata.labels?.['karpenter.sh/nodepool'],
      spec.expireAfter,
      spec.terminationGracePeriod,
      metadata.labels?.['topology.kubernetes.io/zone'],
    ]);
  expect(claims.filter(([pool]) => pool === 'tainted').sort()).toEqual([
    ['tainted', '200h', '24h0m0s', zones[1]],
    ['tainted', '200h', '24h0m0s', zones[1]],
    ['tainted', 'Never', '5m', zones[1]],
  ]);
  expect(
    claims
      .map(([pool]) => pool)
      .filter((pool) => pool !== 'tainted')
      .sort(),
  ).toEqual(['fixed', 'fixed', 'gpu']);
  const pods = world.store
    .all<PodObject>('Pod')
    .map(({ metadata, status, spec }) => [
      metadata.labels?.['app'],
      status.phase,
      spec.terminationGracePeriodSeconds,
      (world.store.get('Node', spec.nodeName ?? '') as NodeObject).metadata.labels?.['karpenter.sh/nodepool'],
    ]);
  expect(pods.sort()).toEqual([
    ['db', 'Running', 600, 'tainted'],
    ['db', 'Running', 600, 'tainted'],
    ['train', 'Running', 30, 'gpu'],
    ['web', 'Running', 30, 'tainted'],
    ['web', 'Running', 30, 'tainted'],
  ]);
  expect(claims.length).toBe(6);
});

test('two hundred nodes have two hundred names (D14-02)', () => {
  const world = new World({ startsAt: at('2026-06-01T00:00:00Z') });
  const ages = Array.from({ length: 200 }, () => hours(2));
  const pools = [
    { name: 'large', instanceType: 'm7g.large', nodes: 200, ages, disruption: { consolidateAfter: 'Never' } },
  ];
  buildFleet(world, { ...mixed, pools, apps: [] });
  expect([world.store.all('NodeClaim').length, world.store.all('Node').length]).toEqual([200, 200]);
});
