/**
 * What Karpenter itself does while a rotation runs: consolidate, drift, expire, lose a node.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freezeKey } from '../../lib/domain/rotation/annotation-keys.ts';
import { eventually } from './support/eventually.ts';
import { keepEvidence } from './support/evidence.ts';
import { nodeClassNamed, nodePool, oneAtATime, policy, workload } from './support/fleet.ts';
import type { Seen } from './support/observer.ts';
import { dueAtOnce, longLived, provisionedStory, RotatingCluster } from './support/rotating-cluster.ts';

const limit = 240_000;
const eager = { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: '0s', budgets: [{ nodes: '100%' }] };
/** Nothing is disrupted for anything, and so no drift either. */
const idle = { consolidationPolicy: 'WhenEmpty', consolidateAfter: 'Never', budgets: [{ nodes: '0' }] };
let cluster: RotatingCluster;

beforeAll(async () => {
  cluster = await RotatingCluster.start();
});

afterAll(() => cluster?.stop());
keepEvidence(() => cluster);

const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();

interface Life {
  readonly registrationDelay: string;
  readonly disruption: object;
  readonly expireAfter?: string;
}

/** A pool of one node with three Pods that move one by one; the next machine takes its time to come. */
async function populated(pool: string, { registrationDelay, ...life }: Life): Promise<Seen> {
  await cluster.plane.api.apply(nodeClassNamed(pool));
  await cluster.apply(
    { name: pool, nodeClass: pool, ...longLived, ...life },
    oneAtATime(pool),
    workload({ name: pool, pool, replicas: 3, cpu: '900m', stopsIn: '5s' }),
  );
  await cluster.see.runs(pool, 3);
  await cluster.plane.api.apply(nodeClassNamed(pool, registrationDelay));
  return cluster.onlyClaimOf(pool);
}

/** Every node of the pool differs from its template now. */
const editTemplate = (pool: string, disruption: object): Promise<void> =>
  cluster.plane.api.apply(
    nodePool({ name: pool, nodeClass: pool, ...longLived, disruption, labels: { 'example.org/edited': 'yes' } }),
  );

const isDrifted = ({ status }: Seen): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Drifted' && value === 'True') ?? false;

describe.concurrent('with a real Karpenter', () => {
  test(
    'a pool that is consolidated at once is rotated with one NodeClaim, and nothing is taken from under it (R3.4-01, D7-04)',
    async () => {
      const pool = 'eager';
      const old = await populated(pool, { registrationDelay: '12s', disruption: eager });
      await cluster.plane.api.apply(policy(pool, dueAtOnce));
      await cluster.ended(pool, limit);

      await cluster.see.runs(pool, 3);
      expect(await cluster.outcomeOf(pool, old)).toEqual(provisionedStory);
    },
    limit,
  );

  test.each([
    ['waits for its surge', 'drifts-early', '15s', (pool: string) => cluster.claimsBecome(pool, 2)],
    ['drains', 'drifts-late', '0s', (pool: string) => cluster.draining(pool)],
  ])(
    'a template edit while a rotation %s is left to Karpenter until the rotation has ended (R3.4-01)',
    async (_, pool, registrationDelay, phase) => {
      const disruption = { ...eager, consolidationPolicy: 'WhenEmpty', consolidateAfter: 'Never' };
      const old = await populated(pool, { registrationDelay, disruption });
      await cluster.plane.api.apply(policy(pool, dueAtOnce));
      await phase(pool);
      await editTemplate(pool, disruption);
      await eventually('the surge to drift', 60_000, async () => {
        const claims = await cluster.see.claimsOf(pool);
        const surge = claims.find(({ metadata: { name } }) => name !== old.metadata.name);
        return surge && isDrifted(surge) ? true : undefined;
      });
      await cluster.ended(pool, limit);
      // Then, unprotected, the node that was made from the old template is Karpenter's to replace.
      await eventually('Karpenter to replace the drifted node', 90_000, async () => {
        const claims = await cluster.see.claimsOf(pool);
        return claims.length === 1 && claims.every((claim) => !isDrifted(claim)) ? true : undefined;
      });

      await cluster.see.runs(pool, 3);
      expect(await cluster.outcomeOf(pool, old)).toEqual({ ...provisionedStory, created: 2 });
    },
    limit,
  );

  test(
    'a node whose deadline comes while its surge is awaited is left to Karpenter, and so is the surge (R3.4-10, D7-02)',
    async () => {
      const pool = 'expires';
      const old = await populated(pool, { registrationDelay: '90s', disruption: idle, expireAfter: '50s' });
      // The claim keeps its own deadline; the schedule comes from the template.
      await editTemplate(pool, idle);
      await cluster.plane.api.apply(policy(pool, { ...dueAtOnce, surge: { readyTimeout: '3m' } }));
      await cluster.claimsBecome(pool, 2);
      const surge = (await cluster.see.claimsOf(pool)).find(({ metadata: { name } }) => name !== old.metadata.name);
      // So that nothing starts after it.
      await cluster.annotate(pool, { [freezeKey]: inAnHour() });
      await cluster.ended(pool, limit);

      await cluster.see.runs(pool, 3, 150_000);
      const { steps, oldIsThere, marks } = await cluster.outcomeOf(pool, old);
      const left = (await cluster.see.claimsOf(pool)).map(({ metadata: { name } }) => name);
      // Karpenter may have planned one more node before the placeholder was gone: the native baseline.
      expect({ steps, oldIsThere, marks, surgeIsThere: left.includes(surge?.metadata.name ?? '') }).toEqual({
        steps: ['started', 'expired'],
        oldIsThere: false,
        marks: [],
        surgeIsThere: true,
      });
    },
    limit,
  );

  test(
    'a surge host that is deleted before the hand-over is replaced by another (D7-02)',
    async () => {
      const pool = 'lost';
      const old = await populated(pool, { registrationDelay: '0s', disruption: idle });
      await cluster.plane.api.apply(policy(pool, dueAtOnce));
      await cluster.started(pool);
      await cluster.annotate(pool, { [freezeKey]: inAnHour() });
      await cluster.surgeSeen(pool);
      const claims = await cluster.see.claimsOf(pool);
      const surge = claims.find(({ metadata: { name } }) => name !== old.metadata.name);
      await cluster.plane.api.delete(`/apis/karpenter.sh/v1/nodeclaims/${surge?.metadata.name}`);
      await eventually('the surge to be gone', 60_000, async () => {
        const left = await cluster.see.claimsOf(pool);
        return left.every(({ metadata: { name } }) => name !== surge?.metadata.name) ? true : undefined;
      });
      await cluster.annotate(pool, { [freezeKey]: null });
      await cluster.ended(pool, limit);

      await cluster.see.runs(pool, 3);
      expect(await cluster.outcomeOf(pool, old)).toEqual({ ...provisionedStory, created: 2 });
    },
    limit,
  );

  test(
    'a node with too little time left for a surge is drained without one, under its PDBs (R3.6-01, R3.6-05, R3.6-06)',
    async () => {
      const pool = 'forceful';
      const old = await populated(pool, { registrationDelay: '0s', disruption: idle, expireAfter: '4m' });
      await editTemplate(pool, idle);
      const surge = { ...dueAtOnce.surge, forcefulFallback: { enabled: true } };
      await cluster.plane.api.apply(policy(pool, { ...dueAtOnce, surge }));
      await cluster.ended(pool, limit);

      await cluster.see.runs(pool, 3);
      const { events, ...outcome } = await cluster.outcomeOf(pool, old);
      const { events: _, ...story } = provisionedStory;
      expect({ outcome, told: events.includes('ForcefulFallback') }).toEqual({
        outcome: { ...story, steps: ['fallbackStarted', 'completed'] },
        told: true,
      });
    },
    limit,
  );
});
