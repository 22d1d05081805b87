import { expect, test } from 'vitest';
import type { JobObject } from '../../lib/simulator/jobs.ts';
import { isTrue } from '../../lib/simulator/kube-object.ts';
import { runAnnotation } from '../../lib/simulator/workloads.ts';
import type { World } from '../../lib/simulator/world.ts';
import { addPool, claims, create, emptyWorld, nodes, only, pass } from '../support/small-world.ts';

function withJob(
  spec: { completions?: number; parallelism?: number; backoffLimit?: number },
  deadline?: number,
): World {
  const world = emptyWorld();
  addPool(world, { consolidateAfter: '2m' });
  create(world, {
    kind: 'Job',
    metadata: { name: 'report', namespace: 'shop' },
    spec: {
      ...spec,
      template: {
        metadata: { annotations: { [runAnnotation]: '60' } },
        spec: {
          containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }],
          ...(deadline === undefined ? {} : { activeDeadlineSeconds: deadline }),
        },
      },
    },
  });
  return world;
}
const job = (world: World) => world.store.get('Job', 'report', 'shop') as JobObject;
const phases = (world: World) => world.store.all('Pod').map(({ status }) => (status as { phase: string }).phase);

test('a Job runs its Pods side by side until enough have succeeded, and then its node is empty (D14-02)', () => {
  const world = withJob({ completions: 3, parallelism: 2 });
  pass(world, '50s');
  expect(phases(world)).toEqual(['Running', 'Running']);
  pass(world, '2m30s');
  expect([phases(world), job(world).status?.succeeded, isTrue(job(world), 'Complete')]).toEqual([
    ['Succeeded', 'Succeeded', 'Succeeded'],
    3,
    true,
  ]);
  pass(world, '5m');
  expect([claims(world), phases(world), job(world).status?.succeeded]).toEqual([[], [], 3]);
});

test('a Pod of a Job that a drain evicts is made again elsewhere (D14-02)', () => {
  const world = withJob({});
  pass(world, '50s');
  const old = only(claims(world)).metadata.name;
  world.store.delete({ kind: 'NodeClaim', name: old });
  pass(world, '50s');
  expect([phases(world), only(nodes(world)).metadata.deletionTimestamp]).toEqual([['Running'], undefined]);
  pass(world, '1m');
  expect(isTrue(job(world), 'Complete')).toBe(true);
});

test('a Job whose Pods fail gives up after its backoff limit (D14-02)', () => {
  const world = withJob({ backoffLimit: 2 }, 30);
  pass(world, '5m');
  expect([job(world).status?.failed, isTrue(job(world), 'Failed'), isTrue(job(world), 'Complete')]).toEqual([
    3,
    true,
    false,
  ]);
});
