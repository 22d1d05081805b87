/**
 * The happy path over HTTPS and DynamoDB's protocol, again and again: each time the process dies at another write, and
 * another process takes over with nothing but what the cluster and the table hold.
 */
import { afterEach, describe, expect, test } from 'vitest';
import type { AuditTable } from '../../lib/adapters/aws/audit-table.ts';
import { TickRecorder } from '../../lib/adapters/aws/recorder.ts';
import { KubernetesCluster } from '../../lib/adapters/kubernetes/kubernetes-cluster.ts';
import { TickBudget } from '../../lib/adapters/kubernetes/tick-budget.ts';
import { type AuditStore, openEmbedded } from '../../lib/cli/audit-store.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../lib/cli/local/embedded-cluster.ts';
import { leftovers } from '../../lib/cli/local/leftovers.ts';
import type { Cluster, Recorder } from '../../lib/controller/ports.ts';
import { runTick } from '../../lib/controller/run-tick.ts';
import { add, days, minutes, seconds } from '../../lib/domain/time.ts';
import { type RecordedStep, tellRotations } from '../../lib/report/rotation-story.ts';
import { demonstrationPolicy, type Fleet } from '../../lib/simulator/fleet.ts';
import { at } from '../support/builders.ts';

const opens = at('2026-06-09T17:00:00Z');
const cluster = 'test';

/** Two due nodes, whose Pods fill them: each rotation needs a new node. */
const full: Fleet = {
  pools: [{ name: 'api', instanceType: 'm7g.xlarge', nodes: 2, ages: [days(10), days(9)], limits: { cpu: '64' } }],
  apps: [
    { name: 'web', pool: 'api', replicas: 8, requests: { cpu: '900m', memory: '2Gi' }, budget: { maxUnavailable: 1 } },
  ],
  daemons: [{ name: 'node-agent', requests: { cpu: '100m', memory: '128Mi' } }],
  policy: demonstrationPolicy,
};

/** One due node, whose few Pods fit on the other one, in whatever zone that is. */
const roomy: Fleet = {
  ...full,
  pools: [{ name: 'api', instanceType: 'm7g.xlarge', nodes: 2, ages: [days(10), days(2)], limits: { cpu: '64' } }],
  apps: [
    { name: 'web', pool: 'api', replicas: 2, requests: { cpu: '900m', memory: '2Gi' }, budget: { maxUnavailable: 1 } },
  ],
  policy: {
    ...demonstrationPolicy,
    spec: {
      nodePoolSelector: {},
      maintenanceWindows: [{ timezone: 'Asia/Tokyo', days: ['Wed', 'Sat'], start: '02:00', end: '06:00' }],
      surge: { matchNodeRequirements: { required: ['kubernetes.io/arch'] } },
    },
  },
};

class Killed extends Error {}

/** How many writes are left until the process dies. */
interface Lifetime {
  writesLeft: number;
  written: number;
}

/** A write lands, and the process dies before it hears of it. */
async function write<T>(life: Lifetime, act: () => Promise<T>): Promise<T> {
  if (life.writesLeft <= 0) throw new Killed();
  const result = await act();
  life.written += 1;
  life.writesLeft -= 1;
  if (life.writesLeft <= 0) throw new Killed();
  return result;
}

const mortalCluster = (inner: Cluster, life: Lifetime): Cluster => ({
  observe: () => inner.observe(),
  inspect: (need) => inner.inspect(need),
  reread: (pool, node) => inner.reread(pool, node),
  apply: (action) => write(life, () => inner.apply(action)),
});

const mortalRecorder = (inner: Recorder, life: Lifetime): Recorder => ({
  putSteps: (pool, entries) => write(life, () => inner.putSteps(pool, entries)),
  record: (tick) => inner.record(tick),
});

const silent = { info: () => {}, warn: () => {}, error: () => {} };

let embedded: EmbeddedCluster | undefined;
let store: AuditStore | undefined;

afterEach(async () => {
  await embedded?.stop();
  await store?.close();
});

/** The first half hour of the window, a tick a minute. @param diesAfter writes; another process follows within the same minute */
async function rotate(fleet: Fleet, diesAfter = Number.POSITIVE_INFINITY) {
  embedded = await startEmbeddedCluster({ startsAt: opens, fleet });
  store = await openEmbedded(undefined, 0);
  const { world, connection } = embedded;
  const { table } = store;
  const tick = async (life: Lifetime): Promise<void> => {
    const budget = new TickBudget({ toBegin: seconds(40), toEnd: seconds(47) });
    const settings = { namespace: 'node-rotation', image: 'pause', priorityClassName: 'node-rotation-placeholder' };
    const real = new KubernetesCluster({ connection, budget, instance: cluster, settings, retired: false });
    const recorder = new TickRecorder({ cluster, table, log: silent });
    await runTick({ cluster: mortalCluster(real, life), recorder: mortalRecorder(recorder, life), budget });
  };
  const first: Lifetime = { writesLeft: diesAfter, written: 0 };
  let life = first;
  let deaths = 0;
  for (let minute = 0; minute < 25; minute += 1) {
    try {
      await tick(life);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      deaths += 1;
      life = { writesLeft: Number.POSITIVE_INFINITY, written: 0 };
      await tick(life);
    }
    world.advance(add(world.now, minutes(1)));
  }
  return { outcome: await outcomeOf(embedded, table), writes: first.written, deaths };
}

/** What must not depend on where a process died. */
async function outcomeOf({ world }: EmbeddedCluster, table: AuditTable) {
  const rows: RecordedStep[] = [];
  for await (const { nodePool, entry } of table.byCluster(cluster)) rows.push({ nodePool, ...entry });
  const stories = tellRotations(rows);
  return {
    // In the order of the steps; a death may cost a minute, so their times are left out.
    rows: stories.map(({ uid }) => rows.filter((row) => row.uid === uid).map(({ step, claim }) => `${step} ${claim}`)),
    stories: stories.map(({ nodeClaim, outcome, path }) => ({ nodeClaim, outcome, path })),
    leftovers: leftovers(world.store),
    nodes: world.store.all('Node').length,
    claims: world.store.all('NodeClaim').length,
    pods: world.store.all('Pod').length,
    lastEnded: world.store
      .all('NodePool')
      .map(({ metadata }) => metadata.annotations?.['noderotation.io/last-ended']?.split('@')[0]),
    forceful: world.forcefulExpirations,
  };
}

describe.each([
  { what: 'a new node takes the Pods over', fleet: full, rotations: 2, nodes: 2, path: 'provisioned' },
  { what: 'the other node takes the Pods over', fleet: roomy, rotations: 1, nodes: 1, path: 'absorbed' },
])('killed and started again, where $what', ({ fleet, rotations, nodes, path }) => {
  test('every rotation finishes with the same rows and the same end, whichever write was the last (D5-01, D10-04)', async () => {
    const undisturbed = await rotate(fleet);
    expect(undisturbed.outcome.stories).toEqual(
      Array.from({ length: rotations }, () => expect.objectContaining({ outcome: 'completed', path })),
    );
    expect(undisturbed.outcome).toMatchObject({ leftovers: [], forceful: [], nodes, claims: nodes });
    await embedded?.stop();
    await store?.close();
    for (let diesAfter = 1; diesAfter <= undisturbed.writes; diesAfter += 1) {
      const { outcome, deaths } = await rotate(fleet, diesAfter);
      expect({ diesAfter, deaths, outcome }).toEqual({ diesAfter, deaths: 1, outcome: undisturbed.outcome });
      await embedded?.stop();
      await store?.close();
    }
    expect(undisturbed.writes).toBeGreaterThan(rotations * 12);
  }, 180_000);
});
