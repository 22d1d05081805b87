import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keyOfContext } from '../../lib/cli/kubeconfig-context.ts';
import { writeKubeconfig } from '../../lib/cli/kubeconfig-file.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../lib/cli/local/embedded-cluster.ts';
import { add, seconds } from '../../lib/domain/time.ts';
import { at } from '../support/builders.ts';
import { runProgram, startProgram } from '../support/program.ts';
import { oneDueNode } from '../support/story.ts';

const folder = mkdtempSync(join(tmpdir(), 'node-rotation-test-'));
const kubeconfig = join(folder, 'kubeconfig');
const data = join(folder, 'data');
let embedded: EmbeddedCluster;
let clock: NodeJS.Timeout;

beforeAll(async () => {
  embedded = await startEmbeddedCluster({ startsAt: at('2026-06-09T17:00:00Z'), fleet: oneDueNode });
  writeKubeconfig(kubeconfig, embedded.access);
  // Twenty times as fast as the real clock.
  clock = setInterval(() => embedded.world.advance(add(embedded.world.now, seconds(4))), 200);
});

afterAll(async () => {
  clearInterval(clock);
  await embedded.stop();
  rmSync(folder, { recursive: true });
});

describe('run', () => {
  test('rotates a cluster behind a kubeconfig, and ends on Ctrl-C after the tick in hand (D13-01)', async () => {
    const args = [
      'run',
      '--kubeconfig',
      kubeconfig,
      '--context',
      'node-rotation-demo',
      '--interval',
      '1s',
      '--data',
      data,
    ];
    const program = startProgram(args, { limit: 60_000 });
    await program.says(/api {2}api-\w+ {2}completed/);
    program.interrupt();
    const { code, out, err } = await program.ended;
    expect({ code, out }, err).toEqual({ code: 0, out: '' });
    expect(err).toMatch(/ started\n[\s\S]* draining\n[\s\S]* completed\n/);
    expect(err.trimEnd()).toMatch(/Ended\. A rotation in flight goes on with the next tick, whoever makes it\.$/);
  }, 70_000);

  test('leaves rows that history finds under the same context (D10-05)', async () => {
    const args = ['history', '--kubeconfig', kubeconfig, '--data', data, '--output', 'json'];
    const { code, out, err } = await runProgram(args);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out).map(({ step }: { step: string }) => step)).toEqual(['started', 'draining', 'completed']);
  }, 30_000);

  test('goes on after a failure that was not there at the beginning (D1-05)', async () => {
    const args = ['run', '--kubeconfig', kubeconfig, '--interval', '1s', '--data', data];
    const program = startProgram(args, { limit: 60_000 });
    await program.says(/^Rotating /m);
    embedded.serverFaults({ next: () => 'serverError' });
    await program.says(/\(Unreachable\)[^\n]*\n/);
    embedded.serverFaults({ next: () => undefined });
    await program.says(/\(Unreachable\)[\s\S]*\n2026-06-09T[^\n]* api: /);
    program.interrupt();
    expect((await program.ended).code).toBe(0);
  }, 70_000);

  test('lets nobody else use its data folder meanwhile (D13-01)', async () => {
    const args = ['run', '--kubeconfig', kubeconfig, '--interval', '1s', '--data', data];
    const first = startProgram(args, { limit: 60_000 });
    await first.says(/^Rotating /m);
    const second = await runProgram(args);
    expect(second).toMatchObject({
      code: 3,
      err: expect.stringMatching(/^The data folder .* is in use by process \d+\..*\n$/),
    });
    first.interrupt();
    expect((await first.ended).code).toBe(0);
  }, 70_000);
});

test.each([
  { context: 'arn:aws:eks:eu-west-1:123456789012:cluster/blue', key: '123456789012/eu-west-1/blue' },
  { context: 'arn:aws-cn:eks:cn-north-1:123456789012:cluster/blue', key: '123456789012/cn-north-1/blue' },
  { context: 'blue', key: 'kubeconfig/host:6443/blue' },
  { context: 'arn:aws:eks:eu-west-1:1:cluster/blue', key: 'kubeconfig/host:6443/arn:aws:eks:eu-west-1:1:cluster/blue' },
])('an EKS context has the name that a deployment gives its cluster: $context (D1-01)', ({ context, key }) => {
  expect(keyOfContext({ context, server: new URL('https://host:6443') })).toBe(key);
});
