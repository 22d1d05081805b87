/**
 * A plan of a live cluster, over HTTPS: the plan that a dump of it gives, and nothing written.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KubernetesCluster } from '../../lib/adapters/kubernetes/kubernetes-cluster.ts';
import { TickBudget } from '../../lib/adapters/kubernetes/tick-budget.ts';
import { writeKubeconfig } from '../../lib/cli/kubeconfig-file.ts';
import type { EmbeddedCluster } from '../../lib/cli/local/embedded-cluster.ts';
import { startEmbeddedCluster } from '../../lib/cli/local/embedded-cluster.ts';
import { plan } from '../../lib/cli/plan.ts';
import type { KindName } from '../../lib/simulator/kinds.ts';
import { at } from '../support/builders.ts';
import { run } from '../support/command.ts';

const folder = mkdtempSync(join(tmpdir(), 'node-rotation-live-'));
const kubeconfig = join(folder, 'kubeconfig');
let cluster: EmbeddedCluster;

beforeAll(async () => {
  cluster = await startEmbeddedCluster({ startsAt: at('2026-06-10T18:00:00Z') });
  writeKubeconfig(kubeconfig, cluster.access);
});
afterAll(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function livePlan(when?: string) {
  const written = { out: '', err: '' };
  const surroundings = {
    out: (text: string) => {
      written.out += text;
    },
    err: (text: string) => {
      written.err += text;
    },
    now: () => at('2000-01-01T00:00:00Z'),
  };
  const code = await plan(
    { kubeconfig, output: 'json', ...(when === undefined ? {} : { at: at(when) }) },
    surroundings,
  );
  return { code, err: written.err, document: JSON.parse(written.out) };
}

const kinds: readonly KindName[] = ['RotationPolicy', 'NodePool', 'NodeClaim', 'Node', 'Pod', 'PodDisruptionBudget'];

function dump(): string {
  const items = kinds.flatMap((kind) => {
    const listed = cluster.world.store.list(kind, {});
    return listed.ok ? listed.value.items : [];
  });
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

describe('a live cluster', () => {
  test('is planned for its own time, as its dump is (D13-02, D1-04)', async () => {
    const live = await livePlan();
    expect(live.document.at).toBe('2026-06-10T18:00:00Z');
    const dumped = await run('plan', dump(), { when: '2026-06-10T18:00:00Z' });
    expect(live.document).toEqual(JSON.parse(dumped.out));
    expect(live.code).toBe(dumped.code);
    expect(live.document.nodePools.length).toBeGreaterThan(0);
  });

  test('can be planned for another time, and is left as it is (D13-02)', async () => {
    const before = dump();
    expect((await livePlan('2026-06-30T18:00:00Z')).document.at).toBe('2026-06-30T18:00:00Z');
    expect(dump()).toBe(before);
  });

  test('takes the status of a policy by its own subresource, once (D2-07, D9-04)', async () => {
    const settings = { namespace: 'node-rotation', image: 'pause', priorityClassName: 'placeholder' };
    const look = () =>
      new KubernetesCluster({
        connection: cluster.connection,
        budget: new TickBudget({ toBegin: 10_000, toEnd: 10_000 }),
        instance: 'test',
        settings,
        retired: false,
      });
    const adapter = look();
    const [reading] = (await adapter.observe()).policies;
    if (!reading?.valid) throw new Error('the fleet has a sound policy');
    const { name, uid, resourceVersion } = reading.policy.meta;
    const status = { observedGeneration: 1, conditions: [], matchedNodePools: 3, rotatingNodePools: 0, nodePools: [] };
    const write = {
      kind: 'writeStatus',
      target: { kind: 'RotationPolicy', name, uid, resourceVersion },
      status,
      whenRefused: 'goOn',
    } as const;
    expect(await adapter.apply(write)).toMatchObject({ outcome: 'applied' });
    expect(adapter.exchanges.at(-1)).toMatchObject({ verb: 'patch', resource: 'rotationpolicies/status' });
    expect(await adapter.apply(write)).toMatchObject({ outcome: 'conflict' });
    const [after] = (await look().observe()).policies;
    expect(after).toMatchObject({ status, policy: { windows: reading.policy.windows } });
  });
});
