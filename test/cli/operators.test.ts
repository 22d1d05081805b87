/**
 * What an operator asks besides plans: what a cluster lacks, what to apply to it, and what has happened.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { openEmbedded } from '../../lib/cli/audit-store.ts';
import { writeKubeconfig } from '../../lib/cli/kubeconfig-file.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../lib/cli/local/embedded-cluster.ts';
import { minutes, subtract } from '../../lib/domain/time.ts';
import { at } from '../support/builders.ts';
import { runProgram } from '../support/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'operators-'));
const cluster = '123456789012/ap-northeast-1/prod';

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('manifests prints everything that is applied, each object once and readable (D9-04, D13-01)', async () => {
  const { code, out, err } = await runProgram(['manifests']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const objects = parseAllDocuments(out).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as { kind: string; metadata: { name: string } };
  });
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    'CustomResourceDefinition rotationpolicies.noderotation.io',
    'Namespace node-rotation',
    'PriorityClass node-rotation-placeholder',
    'ClusterRole node-rotation',
    'ClusterRoleBinding node-rotation',
    'Role node-rotation-placeholder',
    'RoleBinding node-rotation-placeholder',
  ]);
}, 30_000);

describe('history', () => {
  const data = join(folder, 'data');
  const noon = at('2026-06-09T12:00:00Z');

  beforeAll(async () => {
    const store = await openEmbedded(data, 0);
    const startedAt = at('2026-06-09T17:00:00Z');
    await store.table.putStep(cluster, 'api', { step: 'started', at: startedAt, claim: 'api-1', uid: 'u', startedAt });
    await store.table.putNote({
      cluster,
      nodePool: 'api',
      kind: 'run',
      at: noon,
      key: 'RUN#1',
      facts: { run: 'event-1', event: 'answered', outcome: 'Refused', nodeClaim: 'api-1', plan: 'x'.repeat(500) },
    });
    await store.table.putNote({
      cluster,
      kind: 'policy',
      at: noon,
      key: 'POLICY#1',
      facts: { policy: 'api', generation: 2 },
    });
    const others = [
      ['tick', { change: 'failing', outcome: 'AuthFailed' }],
      ['finding', { change: 'opened', code: 'ZoneNotPinned', on: 'NodePool/batch', severity: 'warn' }],
      ['cluster', { change: 'dropped', reason: 'gone' }],
    ] as const;
    for (const [n, [kind, facts]] of others.entries()) {
      const where = kind === 'finding' ? { cluster, nodePool: 'batch' } : { cluster };
      await store.table.putNote({ ...where, kind, at: subtract(noon, minutes(3 - n)), key: `${kind}#1`, facts });
    }
    await store.close();
  });

  const ask = async (...args: readonly string[]) =>
    (await runProgram(['history', '--data', data, '--cluster', cluster, ...args])).out;
  const kindsOf = async (...args: readonly string[]): Promise<readonly string[]> =>
    JSON.parse(await ask('-o', 'json', ...args)).map(({ kind }: { kind: string }) => kind);

  test('shows every kind of row, oldest first, a plan by its beginning (D10-02, D10-05)', async () => {
    const lines = (await ask()).trimEnd().split('\n');
    expect(lines.map((line) => line.split(/\s+/).slice(0, 4))).toEqual([
      ['TIME', 'NODEPOOL', 'NODECLAIM', 'STEP'],
      ['2026-06-09T11:57:00Z', 'tick', 'change=failing', 'outcome=AuthFailed'],
      ['2026-06-09T11:58:00Z', 'batch', 'finding', 'change=opened'],
      ['2026-06-09T11:59:00Z', 'cluster', 'change=dropped', 'reason=gone'],
      ['2026-06-09T12:00:00Z', 'policy', 'generation=2', 'policy=api'],
      ['2026-06-09T12:00:00Z', 'api', 'api-1', 'run'],
      ['2026-06-09T17:00:00Z', 'api', 'api-1', 'started'],
    ]);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(400);
  }, 30_000);

  test('picks by kind, by pool, by time; of a rotation it shows the steps only (D10-05)', async () => {
    expect(await kindsOf('--kind', 'run')).toEqual(['run']);
    expect(await kindsOf('--kind', 'step')).toEqual(['step']);
    expect(await kindsOf('--pool', 'api')).toEqual(['run', 'step']);
    expect(await kindsOf('--from', '2026-06-09T12:00:00Z', '--to', '2026-06-09T12:00:00Z')).toEqual(['policy', 'run']);
    expect(await kindsOf('--pool', 'batch')).toEqual(['finding']);
    expect(await kindsOf('--rotation', 'u@2026-06-09T17:00:00Z')).toEqual(['step']);
    const [run] = JSON.parse(await ask('-o', 'json', '--kind', 'run'));
    expect(run).toMatchObject({ kind: 'run', cluster, nodePool: 'api', run: 'event-1', outcome: 'Refused' });
  }, 120_000);

  test.each([
    ['json', (text: string): readonly unknown[] => JSON.parse(text)],
    [
      'ndjson',
      (text: string) =>
        text
          .trimEnd()
          .split('\n')
          .map((line): unknown => JSON.parse(line)),
    ],
    ['yaml', (text: string): readonly unknown[] => parseAllDocuments(text)[0]?.toJS()],
  ])(
    'as %s has every kind of row whole, in the order of time (D10-02, D10-05, D13-01)',
    async (format, read) => {
      const rows = read(await ask('-o', format)) as readonly { kind: string; at: string; plan?: string }[];
      expect(rows.map(({ kind, at: when }) => `${when} ${kind}`)).toEqual([
        '2026-06-09T11:57:00Z tick',
        '2026-06-09T11:58:00Z finding',
        '2026-06-09T11:59:00Z cluster',
        '2026-06-09T12:00:00Z policy',
        '2026-06-09T12:00:00Z run',
        '2026-06-09T17:00:00Z step',
      ]);
      expect(rows.find(({ kind }) => kind === 'run')?.plan).toHaveLength(500);
    },
    30_000,
  );

  test('refuses a kind that there is not (D13-01)', async () => {
    const { code, err } = await runProgram(['history', '--data', data, '--cluster', cluster, '--kind', 'steps']);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/Choose one of step, finding, .*\n$/) });
  }, 30_000);
});

describe('preflight', () => {
  let embedded: EmbeddedCluster;
  const kubeconfig = join(folder, 'kubeconfig');

  beforeAll(async () => {
    embedded = await startEmbeddedCluster({ startsAt: at('2026-06-09T17:00:00Z') });
    writeKubeconfig(kubeconfig, embedded.access);
  });

  afterAll(async () => await embedded.stop());

  test('an endpoint that nobody serves is exit code 3 and one row (D9-06, D13-01)', async () => {
    const nowhere = join(folder, 'nowhere');
    writeKubeconfig(nowhere, { ...embedded.access, server: 'https://127.0.0.1:1' });
    const { code, out } = await runProgram(['preflight', '--kubeconfig', nowhere, '-o', 'json']);
    expect(code).toBe(3);
    expect(JSON.parse(out)).toMatchObject([{ check: 'endpoint', verdict: 'missing' }]);
  }, 30_000);

  test('flags that mean nothing are exit code 2 (D13-01)', async () => {
    const { code, err } = await runProgram(['preflight', '--kubeconfig', kubeconfig, '--cluster', 'prod']);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/account\/region\/name/) });
  }, 30_000);
});
