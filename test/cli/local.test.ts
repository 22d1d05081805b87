/**
 * The main job on the real program: `local --serve` in a process of its own, looked at through HTTPS with the library
 * that every client uses, through kubectl's kubeconfig, and through `history`.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoreV1Api, CustomObjectsApi, KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ended, type Running, runProgram, startProgram } from '../support/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'node-rotation-test-'));
const data = join(folder, 'data');
const report = join(folder, 'report.html');
const cluster = '000000000000/ap-northeast-1/demo';

interface KubeObject {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
}

interface Row {
  readonly step: string;
  readonly claim: string;
  readonly uid: string;
  readonly startedAt: string;
  readonly at: string;
  readonly deadline?: string;
}

interface Printed {
  readonly rotations: readonly {
    readonly nodePool: string;
    readonly nodeClaim: string;
    readonly path: string;
  }[];
  readonly forcefulExpirations: readonly unknown[];
  readonly problems: readonly string[];
}

let program: Running;
let kubeConfig: KubeConfig;

beforeAll(async () => {
  const args = ['local', '--serve', '--data', data, '--report', report, '--output', 'json'];
  program = startProgram(args, { limit: 240_000 });
  const [, file = ''] = await program.says(/kubectl --kubeconfig (\S+) get nodepools/);
  kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(file);
}, 240_000);

afterAll(() => rmSync(folder, { recursive: true }));

async function karpenterObjects(plural: 'nodepools' | 'nodeclaims'): Promise<readonly KubeObject[]> {
  const api = kubeConfig.makeApiClient(CustomObjectsApi);
  const list = await api.listClusterCustomObject({ group: 'karpenter.sh', version: 'v1', plural });
  return (list as { items: readonly KubeObject[] }).items;
}

describe('the served cluster', () => {
  test('has nothing of ours left on any object but the memory of the last rotation (D6-03, D7-06)', async () => {
    const core = kubeConfig.makeApiClient(CoreV1Api);
    const nodes = (await core.listNode()).items;
    const pods = (await core.listPodForAllNamespaces()).items;
    const objects = [
      ...(await karpenterObjects('nodepools')),
      ...(await karpenterObjects('nodeclaims')),
      ...nodes,
      ...pods,
    ];
    const ours = new Set(
      objects.flatMap(({ metadata }) =>
        Object.keys(metadata?.annotations ?? {}).filter((key) => key.startsWith('noderotation.io/')),
      ),
    );
    ours.delete('noderotation.io/warnings');
    expect([...ours].sort()).toEqual(['noderotation.io/last-ended', 'noderotation.io/last-rotation-at']);
    expect(
      nodes.filter(
        ({ spec, metadata }) => spec?.unschedulable || metadata?.annotations?.['karpenter.sh/do-not-disrupt'],
      ),
    ).toEqual([]);
    expect((await core.listNamespacedPod({ namespace: 'node-rotation' })).items).toEqual([]);
    // Every Pod of the workload has found a place again.
    expect(pods.filter(({ status, spec }) => status?.phase !== 'Running' || !spec?.nodeName)).toEqual([]);
    expect(nodes.length).toBeLessThanOrEqual(12);
  });

  test('has Events that tell of every rotation (D11-03)', async () => {
    const api = kubeConfig.makeApiClient(CustomObjectsApi);
    const list = await api.listNamespacedCustomObject({
      group: 'events.k8s.io',
      version: 'v1',
      plural: 'events',
      namespace: 'default',
    });
    const reasons = (list as { items: readonly { reason: string }[] }).items.map(({ reason }) => reason);
    const count = (reason: string): number => reasons.filter((each) => each === reason).length;
    expect(count('RotationCompleted')).toBe(count('RotationStarted'));
    expect(count('RotationCompleted')).toBeGreaterThanOrEqual(12);
  });
});

describe('the end of the program', () => {
  let ended: Ended;
  let printed: Printed;
  let rows: readonly Row[];

  beforeAll(async () => {
    program.interrupt();
    ended = await program.ended;
    printed = JSON.parse(ended.out);
    const history = await runProgram(['history', '--data', data, '--cluster', cluster, '--output', 'json']);
    rows = JSON.parse(history.out);
  }, 60_000);

  test('comes with Ctrl-C and exit code 0, all being as it should be (D13-01, D5-05)', () => {
    expect({ code: ended.code, problems: printed.problems, forceful: printed.forcefulExpirations }).toEqual({
      code: 0,
      problems: [],
      forceful: [],
    });
    expect(existsSync(join(data, 'kubeconfig'))).toBe(false);
  });

  test('every node that was there at the beginning has been rotated, all of them in time, by both paths (D3-07, D7-04)', () => {
    const completed = new Map(rows.filter(({ step }) => step === 'completed').map(({ claim, at }) => [claim, at]));
    const before = rows.filter(({ step, deadline = '' }) => step === 'started' && deadline < '2026-06-15T00:00:00Z');
    expect(before.length).toBe(12);
    expect(new Set(printed.rotations.map(({ path }) => path))).toEqual(new Set(['provisioned', 'absorbed']));
    for (const { claim, deadline = '' } of before)
      expect({ claim, inTime: (completed.get(claim) ?? '9') < deadline }).toEqual({ claim, inTime: true });
  });

  test('the audit rows tell every rotation from its start to its end (D10-02, D10-03)', () => {
    const told = Map.groupBy(rows, ({ uid, startedAt }) => `${uid}@${startedAt}`);
    expect(told.size).toBe(printed.rotations.length);
    for (const steps of told.values())
      expect(steps.map(({ step }) => step)).toEqual(['started', 'draining', 'completed']);
    expect(rows.map(({ at }) => at)).toEqual(rows.map(({ at }) => at).sort());
  });

  test('history picks by pool, by time and by rotation (D10-05)', async () => {
    const [one] = rows as [Row];
    const ask = async (...args: readonly string[]): Promise<readonly Row[]> => {
      const { out } = await runProgram([
        'history',
        '--data',
        data,
        '--cluster',
        cluster,
        '--output',
        'ndjson',
        ...args,
      ]);
      return out
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    };
    const ofRotation = await ask('--rotation', `${one.uid}@${one.startedAt}`);
    expect(ofRotation.map(({ step }) => step)).toEqual(['started', 'draining', 'completed']);
    const ofPool = await ask('--pool', 'batch', '--from', '2026-06-05T17:00:00Z', '--to', '2026-06-05T17:00:00Z');
    expect(ofPool.map(({ step, at }) => `${step} ${at}`)).toEqual(['started 2026-06-05T17:00:00Z']);
    expect(await ask('--pool', 'nothing')).toEqual([]);
  }, 60_000);

  test('the report stands alone: drawn as SVG, described, with nothing to load (D13-01)', () => {
    const page = readFileSync(report, 'utf8');
    expect(page).toMatch(/<svg [^>]*role="img" aria-labelledby="timeline-title timeline-desc"/);
    expect(page).toMatch(/<title id="timeline-title">[^<]+<\/title><desc id="timeline-desc">[^<]+<\/desc>/);
    expect(page).toContain('prefers-color-scheme: dark');
    expect(page.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|<script|<link|@import|url\(/);
    for (const { nodeClaim } of printed.rotations) expect(page).toContain(nodeClaim);
  });

  test('a run that is interrupted halfway says so and is no success (D13-01)', async () => {
    const halfway = startProgram(['local'], { limit: 60_000 });
    await halfway.says(/ started\n/);
    halfway.interrupt();
    const { code, out, err } = await halfway.ended;
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/\nInterrupted at 2026-06-0\dT[^\n]* of virtual time\.[^\n]*\n$/);
  }, 70_000);
});
