/**
 * The demonstration fleet: a dozen nodes in two pools, with Deployments, daemons, budgets, and the policy that rotates them.
 *
 * Ages are spread over the days before the start, so that nothing is past its deadline and every node falls due within
 * two weeks. Any other fleet is built in the same way: see `FleetPool` and `FleetApp` for what can be said of one.
 */
import type { Duration } from '../domain/time.ts';
import { add, days, duration, hours, minutes } from '../domain/time.ts';
import type { FleetApp } from './fleet-apps.ts';
import { appManifests, daemonManifest, workloadNamespace } from './fleet-apps.ts';
import type { FleetPool } from './fleet-pools.ts';
import { addPool } from './fleet-pools.ts';
import type { Manifest, Strings } from './kube-object.ts';
import type { World } from './world.ts';

export type { FleetApp } from './fleet-apps.ts';
export type { FleetPool } from './fleet-pools.ts';

export interface Fleet {
  readonly pools: readonly FleetPool[];
  readonly apps: readonly FleetApp[];
  readonly daemons: readonly { readonly name: string; readonly requests: Strings }[];
  readonly policy: Manifest;
}

export const placeholderNamespace = 'node-rotation';
export const placeholderPriorityClass = 'node-rotation-placeholder';

/** {Wed, Sat} 02:00–06:00 Asia/Tokyo for both pools. */
export const demonstrationPolicy: Manifest = {
  apiVersion: 'noderotation.io/v1alpha1',
  kind: 'RotationPolicy',
  metadata: { name: 'nights' },
  spec: {
    nodePoolSelector: { matchExpressions: [{ key: 'workload', operator: 'In', values: ['api', 'batch'] }] },
    minRotationChances: 2,
    maintenanceWindows: [{ timezone: 'Asia/Tokyo', days: ['Wed', 'Sat'], start: '02:00', end: '06:00' }],
    surge: { readyTimeout: '15m', cooldownAfter: '10m', retryBackoff: '30m' },
  },
};

/** Ages from `oldest` downwards, evenly spread. */
const spread = (count: number, oldest: Duration, step: Duration): readonly Duration[] =>
  Array.from({ length: count }, (_, index) => duration(oldest - index * step));

export const demonstrationFleet: Fleet = {
  pools: [
    {
      name: 'api',
      instanceType: 'm7g.xlarge',
      nodes: 7,
      ages: spread(7, days(6), hours(19)),
      limits: { cpu: '64', memory: '256Gi' },
    },
    {
      name: 'batch',
      instanceType: 'm7g.2xlarge',
      nodes: 5,
      ages: spread(5, duration(days(5) + hours(7)), hours(23)),
      limits: { cpu: '80' },
    },
  ],
  apps: [
    { name: 'web', pool: 'api', replicas: 14, requests: { cpu: '900m', memory: '2Gi' }, budget: { maxUnavailable: 2 } },
    {
      name: 'checkout',
      pool: 'api',
      replicas: 9,
      requests: { cpu: '700m', memory: '3Gi' },
      budget: { minAvailable: '80%' },
    },
    {
      name: 'search',
      pool: 'api',
      replicas: 4,
      requests: { cpu: '500m', memory: '1Gi' },
      budget: { maxUnavailable: 1 },
    },
    {
      name: 'encoder',
      pool: 'batch',
      replicas: 5,
      requests: { cpu: '3', memory: '8Gi' },
      budget: { maxUnavailable: 1 },
    },
    {
      name: 'reports',
      pool: 'batch',
      replicas: 5,
      requests: { cpu: '750m', memory: '4Gi' },
      budget: { maxUnavailable: '25%' },
    },
  ],
  daemons: [
    { name: 'node-agent', requests: { cpu: '100m', memory: '128Mi' } },
    { name: 'log-shipper', requests: { cpu: '50m', memory: '96Mi' } },
  ],
  policy: demonstrationPolicy,
};

/** Puts the fleet into the world at its present instant, and lets its Pods come up. */
export function buildFleet(world: World, fleet: Fleet = demonstrationFleet): void {
  const { store } = world;
  for (const name of ['default', 'kube-system', workloadNamespace, placeholderNamespace]) {
    store.create({ kind: 'Namespace', metadata: { name } });
  }
  store.create({
    kind: 'PriorityClass',
    metadata: { name: placeholderPriorityClass },
    value: -10,
    preemptionPolicy: 'Never',
    globalDefault: false,
    description: 'Placeholder Pods of node rotation',
  });
  store.create(fleet.policy);
  for (const pool of fleet.pools) addPool(world, pool);
  for (const daemon of fleet.daemons) store.create(daemonManifest(daemon.name, daemon.requests));
  for (const app of fleet.apps) {
    const taints = fleet.pools.find(({ name }) => name === app.pool)?.taints ?? [];
    for (const manifest of appManifests(app, [...new Set(taints.map(({ key }) => key))])) store.create(manifest);
  }
  world.advance(add(world.now, minutes(1)));
}
