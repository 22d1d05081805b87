/**
 * An API server that goes away and comes back while rotations are in each of their phases.
 *
 * Karpenter, scheduler and the rest lose it too, and take their time to find back. Each pool has a program of its own,
 * so that one can be cut off between the mark of its hand-over and the delete of the old NodeClaim.
 */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anchorKeys, freezeKey } from '../../lib/domain/rotation/annotation-keys.ts';
import { keepEvidence } from './support/evidence.ts';
import { nodeClassNamed, oneAtATime, policy, workload } from './support/fleet.ts';
import { startGateway } from './support/one-pool-gateway.ts';
import {
  dueAtOnce,
  longLived,
  provisionedStory,
  RotatingCluster,
  readRows,
  stepsOf,
} from './support/rotating-cluster.ts';
import { everything } from './support/scope.ts';

const outage = everything ? 120_000 : 15_000;
/** Of each condition after it: whoever tried in vain waits longer and longer before trying again. */
const limit = 300_000;
/** In the patch of the NodePool that comes right before the placeholder's and the old NodeClaim's deletes. */
const handOverMarked = `"${anchorKeys.state}":"draining"`;
const patient = { ...dueAtOnce, surge: { readyTimeout: '15m' } };
let cluster: RotatingCluster;

beforeAll(async () => {
  cluster = await RotatingCluster.start({ ticking: false });
});

afterAll(() => cluster?.stop());
keepEvidence(() => cluster);

interface PoolOptions {
  /** Of the next machine. */
  readonly registrationDelay?: string;
  readonly stopsIn?: string;
  readonly breakAt?: string;
}

/** A pool of one node with three Pods, and a program that rotates nothing before it has a policy. */
async function populated(pool: string, { registrationDelay = '0s', stopsIn = '2s', breakAt }: PoolOptions = {}) {
  await cluster.plane.api.apply(nodeClassNamed(pool));
  await cluster.apply(
    { name: pool, ...longLived, terminationGracePeriod: '10m', nodeClass: pool },
    // A long outage makes the node controller say of Pods that they are not ready, and kwok has no kubelet to deny it.
    oneAtATime(pool, { unhealthyPodEvictionPolicy: 'AlwaysAllow' }),
    workload({ name: pool, pool, replicas: 3, cpu: '900m', stopsIn }),
  );
  await cluster.see.runs(pool, 3);
  await cluster.plane.api.apply(nodeClassNamed(pool, registrationDelay));
  const old = await cluster.onlyClaimOf(pool);
  let broke = (): void => {};
  const broken = new Promise<void>((resolve) => {
    broke = resolve;
  });
  const gateway = await startGateway({
    ...{ plane: cluster.plane, pool, broken: broke },
    ...(breakAt !== undefined && { breakAt }),
  });
  const access = ['--kubeconfig', gateway.kubeconfig, '--context', 'node-rotation'];
  const table = ['--cluster', `e2e/outage/${pool}`, '--data', join(cluster.plane.folder, pool)];
  const program = cluster.run(['run', ...access, ...table, '--interval', '2s'], { limit: outage + 4 * limit });
  await program.says(/Ctrl-C ends it/);
  const begin = (): Promise<void> => cluster.plane.api.apply(policy(pool, patient));
  const outcome = async () => {
    await cluster.ended(pool, limit);
    await cluster.see.runs(pool, 3, limit);
    program.interrupt();
    const { code, err } = await program.ended;
    gateway.close();
    const steps = stepsOf(await readRows(table));
    const { created, claims, oldIsThere, marks } = await cluster.foundAfter(pool, old);
    // Karpenter may see the old claim's deletion before it sees that the placeholder is gone; then it makes one node more.
    return { code, err: code === 0 ? '' : err, steps, oldIsThere, marks, surged: created >= 1 && claims === created };
  };
  return { pool, old, gateway, program, broken, begin, outcome };
}

/** Whether the pool says that it drains, and whether its old NodeClaim is being deleted. */
async function drainOf({ pool, old }: Awaited<ReturnType<typeof populated>>) {
  await cluster.draining(pool, 1_000);
  const claim = (await cluster.see.claimsOf(pool)).find(({ metadata }) => metadata.name === old.metadata.name);
  return claim && { deleting: claim.metadata.deletionTimestamp !== undefined };
}

test(
  'rotations in every phase end as if the API server had never been away (D1-05, D7-05, R3.8-03)',
  async () => {
    const [unstarted, waiting, ready, handing, emptying] = await Promise.all([
      populated('unstarted'),
      // Its machine comes after the outage: one that kwok cannot make a Node of at its time never gets one.
      populated('waiting', { registrationDelay: `${outage / 1000 + 40}s` }),
      populated('ready'),
      populated('handing', { breakAt: handOverMarked }),
      // Each Pod takes longer to stop than the API server is away.
      populated('emptying', { stopsIn: `${outage / 1000 + 15}s` }),
    ]);
    const all = [unstarted, waiting, ready, handing, emptying];
    await ready.begin();
    await cluster.started(ready.pool, limit);
    await cluster.annotate(ready.pool, { [freezeKey]: new Date(Date.now() + 3_600_000).toISOString() });
    await cluster.surgeSeen(ready.pool, limit);
    await Promise.all([handing.begin(), waiting.begin()]);
    await Promise.all([handing.broken, cluster.claimsBecome(waiting.pool, 2)]);
    await emptying.begin();
    await cluster.draining(emptying.pool, limit);
    await wait(1_000);
    const drains = () => Promise.all([handing, emptying].map(drainOf));
    expect(await drains()).toEqual([{ deleting: false }, { deleting: true }]);
    await unstarted.begin();
    await cluster.plane.stopPart('kube-apiserver');
    await Promise.all(all.map(({ program }) => program.says(/\(Unreachable\)/)));
    handing.gateway.passAll();
    await wait(outage);
    await cluster.plane.start('kube-apiserver');
    await cluster.annotate(ready.pool, { [freezeKey]: null });

    const outcomes = await Promise.all(all.map(({ outcome }) => outcome()));
    const { steps, oldIsThere, marks } = provisionedStory;
    const usual = { code: 0, err: '', steps, oldIsThere, marks, surged: true };
    // The hand-over whose delete never landed is made again where its host was thought unready meanwhile (D7-05).
    const again = { ...usual, steps: steps.flatMap((step) => (step.startsWith('draining') ? [step, step] : step)) };
    expect([usual, again]).toContainEqual(outcomes[all.indexOf(handing)]);
    expect(outcomes.toSpliced(all.indexOf(handing), 1)).toEqual([usual, usual, usual, usual]);
  },
  outage + 4 * limit,
);
