/**
 * The cluster as it was at one moment, for judging a write by what its tick had seen.
 *
 * Objects of the simulated API are never changed in place, so a view is a handful of references and costs nothing.
 */
import type { ClaimObject, KubeObject, NodeObject, PodObject, PoolObject } from '../../lib/simulator/kube-object.ts';
import type { World } from '../../lib/simulator/world.ts';
import type { PolicyTerms } from './policy-terms.ts';
import { governing, readGo, readTime } from './policy-terms.ts';

export const key = (name: string): string => `noderotation.io/${name}`;
export const doNotDisrupt = 'karpenter.sh/do-not-disrupt';
export const placeholderNamespace = 'node-rotation';

export interface SeenCluster {
  readonly at: number;
  readonly policies: readonly KubeObject[];
  readonly pools: readonly PoolObject[];
  readonly claims: readonly ClaimObject[];
  readonly nodes: readonly NodeObject[];
  readonly pods: readonly PodObject[];
}

export const lookAt = ({ store, now }: World): SeenCluster => ({
  at: now,
  policies: store.all('RotationPolicy'),
  pools: store.all<PoolObject>('NodePool'),
  claims: store.all<ClaimObject>('NodeClaim'),
  nodes: store.all<NodeObject>('Node'),
  pods: store.all<PodObject>('Pod'),
});

export const note = (object: KubeObject | undefined, name: string): string | undefined =>
  object?.metadata.annotations?.[name];
export const named = <T extends KubeObject>(objects: readonly T[], name: string | undefined): T | undefined =>
  objects.find((object) => object.metadata.name === name);
export const isGoing = (object: KubeObject): boolean => object.metadata.deletionTimestamp !== undefined;
export const born = (object: KubeObject): number => Date.parse(object.metadata.creationTimestamp);
export const poolOfClaim = (claim: KubeObject): string => claim.metadata.labels?.['karpenter.sh/nodepool'] ?? '';

export const condition = (object: KubeObject, type: string): { status: string; reason?: string } | undefined =>
  (object.status as { conditions?: { type: string; status: string; reason?: string }[] } | undefined)?.conditions?.find(
    (each) => each.type === type,
  );

/** Set by an operator: "true" without our marker. R3.2-06 */
export const isOperators = (node: KubeObject | undefined): boolean =>
  note(node, doNotDisrupt) === 'true' && note(node, key('do-not-disrupt-owned')) !== 'true';

export const nodeOfClaim = (seen: SeenCluster, claim: ClaimObject | undefined): NodeObject | undefined =>
  named(seen.nodes, claim?.status.nodeName);
export const claimOfNode = (seen: SeenCluster, node: string): ClaimObject | undefined =>
  seen.claims.find((claim) => claim.status.nodeName === node);

/** Ours by namespace and label; the value of a long name is shortened, so it is compared by its beginning. */
export const isPlaceholder = (pod: KubeObject, claim?: string): boolean => {
  const value = pod.metadata.labels?.[key('surge-for')];
  if (pod.metadata.namespace !== placeholderNamespace || value === undefined) return false;
  return claim === undefined || value === claim || (value.length === 63 && claim.startsWith(value.slice(0, 40)));
};

export interface Anchor {
  readonly claim: string;
  readonly uid: string | undefined;
  readonly startedAt: number;
  readonly state: string | undefined;
  readonly surgeClaim: string | undefined;
  readonly fallback: boolean;
  /** A part that identifies the attempt, or its state, is missing or no value of ours. */
  readonly malformed: boolean;
}

export function anchorOf(pool: KubeObject | undefined): Anchor | undefined {
  const claim = note(pool, key('active-rotation'));
  if (claim === undefined || claim === '') return undefined;
  const startedAt = readTime(note(pool, key('started-at')));
  const state = note(pool, key('active-rotation-state'));
  const uid = note(pool, key('rotation-claim-uid')) || undefined;
  return {
    claim,
    uid,
    startedAt,
    state,
    surgeClaim: note(pool, key('surge-claim')),
    fallback: note(pool, key('rotation-mode')) === 'forceful-fallback',
    malformed:
      uid === undefined ||
      Number.isNaN(startedAt) ||
      (state !== undefined && !['draining', 'failing', 'aborting'].includes(state)),
  };
}

/** D5-06: a claim's state, its time and its count are values of ours. One that is not is told, and left to an operator. */
export function isCopyReadable(claim: KubeObject | undefined): boolean {
  if (!/^\d{1,9}$/.test(note(claim, key('retry-count')) ?? '0')) return false;
  const state = note(claim, key('state')) ?? '';
  const times: Readonly<Record<string, string>> = {
    pending: 'started-at',
    draining: 'started-at',
    failed: 'failed-at',
  };
  const time = times[state];
  return time === undefined ? ['', 'expired'].includes(state) : !Number.isNaN(readTime(note(claim, key(time))));
}

/** Why D6-01 lets nothing start in the pool; otherwise the policy that governs it. */
export function governance(seen: SeenCluster, pool: PoolObject | undefined, retired: boolean): PolicyTerms | string {
  if (!pool) return 'the pool is gone';
  if (isGoing(pool)) return 'the pool is being deleted';
  if (retired) return 'the cluster is retired';
  const policy = governing(pool.metadata.labels ?? {}, seen.policies);
  if (policy === undefined) return 'no policy matches';
  if (policy === 'conflict') return 'policies conflict';
  if (policy.broken !== 'no') return `policy ${policy.name} is invalid`;
  return policy.observe ? `policy ${policy.name} observes` : policy;
}

export const lifeOf = (claim: ClaimObject): { deadline: number | undefined; grace: number | undefined } => {
  const expireAfter = readGo(claim.spec.expireAfter);
  return {
    deadline: expireAfter === undefined ? undefined : born(claim) + expireAfter,
    grace: readGo(claim.spec.terminationGracePeriod),
  };
};
