/**
 * Which NodeClaims are no longer what their NodePool asks for: Karpenter's Drifted condition.
 *
 * The hash covers the template without its requirements, so that a changed expireAfter makes every node drift; a
 * requirement drifts a node only when the node does not satisfy it.
 */
import type { ClaimObject, PoolObject, Strings } from './kube-object.ts';
import { annotationOf, conditionOf, isDeleting, isTrue, withCondition } from './kube-object.ts';
import { poolOf } from './node-claims.ts';
import { satisfies } from './pod-needs.ts';
import { luckOf } from './random.ts';
import type { Model, WorldState } from './world-state.ts';

const hashKey = 'karpenter.sh/nodepool-hash';
const hashVersionKey = 'karpenter.sh/nodepool-hash-version';

const known = new WeakMap<object, Strings>();

/** The annotations that a new claim of the pool bears, and the pool itself. */
export function hashAnnotations(pool: Pick<PoolObject, 'spec'>): Strings {
  const { template } = pool.spec;
  const { requirements: _, ...rest } = template.spec;
  const hash = known.get(template) ?? hashOf({ metadata: template.metadata ?? {}, spec: rest });
  known.set(template, hash);
  return hash;
}

const hashOf = (template: object): Strings => ({
  [hashKey]: String(Math.floor(luckOf(JSON.stringify(sorted(template))) * 2 ** 32)),
  [hashVersionKey]: 'v3',
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  );
}

/** Keeps the hash on every pool and the Drifted condition on every launched claim. */
export const drift: Model = {
  reads: ['NodePool', 'NodeClaim', 'cloud'],
  run(world) {
    const { store } = world;
    const pools = new Map<string, PoolObject>();
    for (const pool of store.all<PoolObject>('NodePool')) {
      const hash = hashAnnotations(pool);
      const stale = Object.entries(hash).some(([key, value]) => annotationOf(pool, key) !== value);
      if (stale) store.update(pool, { metadata: { annotations: { ...pool.metadata.annotations, ...hash } } });
      pools.set(pool.metadata.name, pool);
    }
    for (const claim of store.all<ClaimObject>('NodeClaim')) {
      const pool = pools.get(poolOf(claim));
      if (pool && !isDeleting(claim) && isTrue(claim, 'Launched')) mark(world, claim, driftOf(world, pool, claim));
    }
    return undefined;
  },
};

function mark({ store, now }: WorldState, claim: ClaimObject, reason: string | undefined): void {
  const before = conditionOf(claim, 'Drifted');
  if (before?.reason === reason) return;
  const conditions =
    reason === undefined
      ? (claim.status.conditions ?? []).filter(({ type }) => type !== 'Drifted')
      : withCondition(claim.status.conditions, now, 'Drifted', 'True', reason);
  store.update(claim, { status: { conditions } });
}

function driftOf({ cloud }: WorldState, pool: PoolObject, claim: ClaimObject): string | undefined {
  const wanted = hashAnnotations(pool);
  const sameVersion = annotationOf(claim, hashVersionKey) === wanted[hashVersionKey];
  const bears = annotationOf(claim, hashKey);
  if (sameVersion && bears !== undefined && bears !== wanted[hashKey]) return 'NodePoolDrifted';
  if (!satisfies(pool.spec.template.spec.requirements ?? [], claim.metadata.labels ?? {})) return 'RequirementsDrifted';
  const { imageID } = claim.status;
  return imageID !== undefined && imageID !== cloud.image ? 'AMIDrift' : undefined;
}
