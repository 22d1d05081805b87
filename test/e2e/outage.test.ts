/**
 * An API server that goes away and comes back while the program runs.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProgram } from '../support/program.ts';
import { type ControlPlane, startControlPlane } from './harness/control-plane.ts';
import { nodePool } from './support/fleet.ts';
import { kubernetesUnderTest } from './support/kubernetes-under-test.ts';

let plane: ControlPlane;

beforeAll(async () => {
  plane = await startControlPlane({ kubernetes: kubernetesUnderTest(), karpenter: false });
  await plane.api.apply(nodePool({ name: 'api', expireAfter: '336h', terminationGracePeriod: '1h' }));
});

afterAll(() => plane?.stop());

test('the program goes on after an outage of the API server (D1-05)', async () => {
  const access = ['--kubeconfig', plane.kubeconfig, '--context', 'node-rotation'];
  const data = join(plane.folder, 'audit');
  const program = startProgram(['run', ...access, '--interval', '1s', '--data', data], { limit: 120_000 });
  await program.says(/ {2}api: /);
  await plane.stopPart('kube-apiserver');
  await program.says(/\(Unreachable\)/);
  await plane.start('kube-apiserver');
  await program.says(/\(Unreachable\)[\s\S]* {2}api: /);
  program.interrupt();
  const { code, err } = await program.ended;
  expect(code, err).toBe(0);
}, 150_000);
