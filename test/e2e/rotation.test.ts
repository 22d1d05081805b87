/**
 * A rotation from its first write to its last, by the real program on a real control plane with a real Karpenter.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Running, runProgram, startProgram } from '../support/program.ts';
import { type ControlPlane, startControlPlane } from './harness/control-plane.ts';
import { eventually } from './support/eventually.ts';
import { nodeClass, nodePool, oneAtATime, policy, workload } from './support/fleet.ts';
import { kubernetesUnderTest } from './support/kubernetes-under-test.ts';
import { Observer } from './support/observer.ts';

/** A node is due one minute after its creation: A = 7m − (2 · 1m + 1m + 1m + 2m). */
const lifetime = { expireAfter: '7m', terminationGracePeriod: '1m' };
const surge = { readyTimeout: '1m' };
const untilDue = 75_000;
const rotationLimit = 60_000;

let plane: ControlPlane;
let observer: Observer;

beforeAll(async () => {
  plane = await startControlPlane({ kubernetes: kubernetesUnderTest(), delayedPodDelete: true });
  observer = new Observer(plane);
  await plane.api.apply(nodeClass);
});

afterAll(() => plane?.stop());

const access = (): string[] => [
  ...['--kubeconfig', plane.kubeconfig, '--context', 'node-rotation'],
  ...['--data', join(plane.folder, 'audit')],
];
const startRun = (): Running => startProgram(['run', ...access(), '--interval', '2s'], { limit: 240_000 });

interface Row {
  readonly step: string;
  readonly surgePath?: string;
}

/** Runs the program until the pool's rotation has ended. @returns the steps of the audit table, with how they went */
async function rotate(pool: string): Promise<readonly string[]> {
  const program = startRun();
  await program.says(new RegExp(`${pool} {2}\\S+ {2}(completed|failed|expired|aborted)`));
  // One more tick: what a step left over would be swept in it.
  await program.says(new RegExp(`(completed|failed|expired|aborted)\\n(.*\\n)*.*${pool}: CooldownAfter`));
  program.interrupt();
  const { code, err } = await program.ended;
  expect(code, err).toBe(0);
  const history = await runProgram(['history', ...access(), '--pool', pool, '--output', 'json']);
  const rows: readonly Row[] = JSON.parse(history.out);
  return rows.map(({ step, surgePath }) => (surgePath === undefined ? step : `${step}, ${surgePath}`));
}

describe('with a real Karpenter', () => {
  test(
    'a rotation onto a new node creates one NodeClaim, however slow the drain, and leaves nothing of ours (D7-04, D15-01)',
    async () => {
      const pool = 'provisioned';
      await plane.api.apply(nodePool({ name: pool, ...lifetime }));
      await observer.poolReady(pool);
      await plane.api.apply(oneAtATime('web'));
      await plane.api.apply(workload({ name: 'web', pool, replicas: 3, cpu: '900m', stopsIn: '6s' }));
      await observer.runs('web', 3);
      const [old, ...others] = await observer.claimsOf(pool);
      expect({ others, created: await observer.claimsCreated(pool) }).toEqual({ others: [], created: 1 });
      await plane.api.apply(policy(pool, { surge }));

      const steps = await rotate(pool);

      expect(steps).toEqual(['started', 'draining, provisioned', 'completed, provisioned']);
      const claims = await observer.claimsOf(pool);
      const pods = await observer.runs('web', 3);
      expect({
        created: await observer.claimsCreated(pool),
        claims: claims.length,
        oldIsThere: claims.some(({ metadata: { name } }) => name === old?.metadata.name),
        podsOnNodes: new Set(pods.map(({ spec }) => spec.nodeName)).size,
        marks: await observer.marksOf(pool),
        memory: await observer.memoryOf(pool),
      }).toEqual({
        created: 2,
        claims: 1,
        oldIsThere: false,
        podsOnNodes: 1,
        marks: [],
        memory: ['noderotation.io/last-ended', 'noderotation.io/last-rotation-at'],
      });
      await plane.api.delete(`/apis/noderotation.io/v1alpha1/rotationpolicies/${pool}`);
    },
    untilDue + rotationLimit + 60_000,
  );

  test(
    'a rotation into spare room of the pool creates no NodeClaim (D7-04)',
    async () => {
      const pool = 'absorbed';
      await plane.api.apply(nodePool({ name: pool, ...lifetime }));
      await observer.poolReady(pool);
      await plane.api.apply(workload({ name: 'first', pool, replicas: 1, cpu: '3' }));
      await observer.runs('first', 1);
      const [old] = await observer.claimsOf(pool);
      // Later, so that it is not due itself when the first one is.
      await new Promise((resolve) => setTimeout(resolve, 25_000));
      await plane.api.apply(workload({ name: 'second', pool, replicas: 1, cpu: '3' }));
      await observer.runs('second', 1);
      await plane.api.merge('/apis/apps/v1/namespaces/default/deployments/second', { spec: { replicas: 0 } });
      await eventually('the second node to be empty', 30_000, async () =>
        (await observer.podsOf('second')).length === 0 ? true : undefined,
      );
      await plane.api.apply(policy(pool, { surge }));

      const steps = await rotate(pool);

      expect(steps).toEqual(['started', 'draining, absorbed', 'completed, absorbed']);
      const claims = await observer.claimsOf(pool);
      await observer.runs('first', 1);
      expect({
        created: await observer.claimsCreated(pool),
        claims: claims.length,
        oldIsThere: claims.some(({ metadata: { name } }) => name === old?.metadata.name),
        marks: await observer.marksOf(pool),
      }).toEqual({ created: 2, claims: 1, oldIsThere: false, marks: [] });
    },
    untilDue + rotationLimit + 90_000,
  );
});
