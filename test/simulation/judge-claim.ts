/**
 * NodeClaims: of whose annotations we change our own, and which ones we may delete (D7-10 a to d).
 */
import type { ClaimObject, NodeObject } from '../../lib/simulator/kube-object.ts';
import { foreignChanges } from './foreign-parts.ts';
import { groundsOf } from './grounds.ts';
import { boundOf, readTime, windowAt } from './policy-terms.ts';
import type { Landed, Sight } from './safety.ts';
import { sometimes } from './safety.ts';
import type { Anchor, SeenCluster } from './seen-cluster.ts';
import {
  anchorOf,
  born,
  claimOfNode,
  condition,
  doNotDisrupt,
  isCopyReadable,
  isGoing,
  isOperators,
  isPlaceholder,
  key,
  lifeOf,
  named,
  nodeOfClaim,
  note,
  poolOfClaim,
} from './seen-cluster.ts';

type Found = readonly { readonly rule: string; readonly message: string }[];

export const judgeClaimPatch = ({ before, after }: Landed): Found => [
  ...foreignChanges('NodeClaim', before, after),
  ...notCounted(before as ClaimObject | undefined, after as ClaimObject | undefined),
];

/** R3.2-12: each failed attempt counts once. What somebody has garbled counts as nothing. */
function notCounted(before: ClaimObject | undefined, after: ClaimObject | undefined): Found {
  const attempt = (claim: ClaimObject | undefined): string | undefined =>
    note(claim, key('state')) === 'failed' ? note(claim, key('started-at')) : undefined;
  const count = (claim: ClaimObject | undefined): number => Number(note(claim, key('retry-count')) ?? 0);
  const failed = attempt(after);
  if (failed === undefined || failed === attempt(before) || !isCopyReadable(before)) return [];
  if (count(after) === count(before) + 1) return [];
  const message = `NodeClaim ${after?.metadata.name}: ${count(before)} failures became ${count(after)} with one more`;
  return [{ rule: 'failureCount', message }];
}

export function judgeClaimDelete(landed: Landed): Found {
  const { before, now, sight } = landed;
  const claim = before as ClaimObject;
  const name = claim.metadata.name;
  const poolName = poolOfClaim(claim);
  const say = (rule: string, messages: readonly string[]): Found =>
    messages.map((message) => ({ rule, message: `NodeClaim ${name}: ${message}` }));
  const seenBefore = sight.looks.some((seen) => named(seen.claims, name)?.metadata.uid === claim.metadata.uid);
  if (!seenBefore) return say('delete', ['deleted without having been seen']);
  if (
    landed.action.kind === 'deleteNodeClaim' &&
    landed.action.target.resourceVersion !== claim.metadata.resourceVersion
  )
    return say('deleteVersion', ['deleted at another version than the one decided on']);
  const pool = named(now.pools, poolName);
  // The delete names the claim's version, not the pool's: it cannot know who meddles with the pool just before it lands.
  const anchor = (landed.tampered(poolName) ? lastKnownAnchor(sight, poolName) : undefined) ?? anchorOf(pool);
  if (!anchor) return say('delete', ['deleted without an anchor on its pool']);
  const isOld = anchor.claim === name && (anchor.malformed || anchor.uid === claim.metadata.uid);
  if (!isOld) return say('reap', notReapable(landed, claim, anchor));
  if (anchor.state !== 'draining') return say('drain', [`deleted while the pool says ${anchor.state ?? 'pending'}`]);
  return anchor.fallback
    ? say('fallback', noFallback(sight, poolName, claim))
    : say('drain', [...notHandedOver(landed, poolName, claim), ...notReady(sight, poolName, claim, anchor)]);
}

/** As this tick wrote it, else as it read it last. */
function lastKnownAnchor({ written, rereads, looks }: Sight, pool: string): Anchor | undefined {
  const last = rereads.get(pool) ?? (looks[0] as SeenCluster);
  return anchorOf(written.get(pool) ?? named(last.pools, pool));
}

/** D5-05, D7-04, D7-05: the gates of a drain that begins, or begins again. */
function notHandedOver({ sight, now }: Landed, poolName: string, claim: ClaimObject): readonly string[] {
  const { terms, frozen, seen } = groundsOf(sight, poolName);
  const again = sight.rereads.get(poolName);
  const node = claim.status.nodeName;
  const optedOut =
    isOperators(nodeOfClaim(seen, claim)) || (again !== undefined && isOperators(named(again.nodes, node)));
  const left = now.pods.filter((pod) => isPlaceholder(pod, claim.metadata.name) && !isGoing(pod));
  const seenLeft = left.filter((pod) =>
    sight.looks.some(({ pods }) => pods.some((each) => each.metadata.uid === pod.metadata.uid)),
  );
  return [
    ...(typeof terms === 'string' ? [`drained although ${terms}`] : []),
    ...(frozen ? ['drained during a freeze'] : []),
    ...(optedOut ? ['drained although its operator opted it out'] : []),
    ...(condition(named(seen.claims, claim.metadata.name) as ClaimObject, 'DisruptionReason')?.status === 'True'
      ? ['drained though Karpenter has chosen it']
      : []),
    // One that another tick makes in between is not this tick's to know.
    ...(seenLeft.length > 0 ? ['drained before its placeholder was gone'] : []),
  ];
}

/** D7-03: some host stood ready when the tick looked. A placeholder that is gone belongs to a hand-over begun earlier. */
function notReady(sight: Sight, poolName: string, claim: ClaimObject, anchor: Anchor): readonly string[] {
  const list = sight.looks[0] as SeenCluster;
  const placeholder = list.pods.find((pod) => isPlaceholder(pod, claim.metadata.name) && !isGoing(pod));
  const begunBefore = anchorOf(named(list.pools, poolName))?.state === 'draining';
  if (!placeholder && !begunBefore) return ['drained without a placeholder'];
  if (placeholder && !begunBefore && placeholder.status.phase !== 'Running')
    return [`drained while its placeholder is ${placeholder.status.phase}`];
  const host = placeholder?.spec.nodeName ?? named(list.claims, anchor.surgeClaim)?.status.nodeName;
  if (host === undefined) return ['drained without a surge host'];
  if (host === claim.status.nodeName) return ['drained onto itself'];
  const faults = sight.looks.map((seen) => hostFault(seen, sight, poolName, claim, host));
  return faults.includes(undefined) ? [] : [`drained though its host ${host} ${faults[0]}`];
}

function hostFault(seen: SeenCluster, sight: Sight, pool: string, old: ClaimObject, host: string): string | undefined {
  const node = named(seen.nodes, host);
  if (!node) return 'is gone';
  const claim = claimOfNode(seen, host);
  const grace = lifeOf(old).grace ?? 3_600_000;
  const deadline = claim && lifeOf(claim).deadline;
  if (node.metadata.labels?.['karpenter.sh/nodepool'] !== pool) return 'is of another pool';
  if (condition(node, 'Ready')?.status !== 'True') return 'is not Ready';
  if (isGoing(node) || (claim && isGoing(claim))) return 'is being deleted';
  if (node.spec.unschedulable) return 'is cordoned';
  if (claim && condition(claim, 'DisruptionReason')?.status === 'True') return 'was chosen by Karpenter';
  if (deadline !== undefined && deadline <= sight.observedAt + grace + 120_000) return 'expires too soon';
  return isProtected(node, old.metadata.name) ? undefined : 'is not protected for it';
}

const isProtected = (node: NodeObject, claim: string): boolean =>
  note(node, key('surge-for')) === claim && note(node, doNotDisrupt) === 'true';

/** R3.6-01, D6-07, D7-05. */
function noFallback(sight: Sight, poolName: string, claim: ClaimObject): readonly string[] {
  const { terms, frozen, pool, seen } = groundsOf(sight, poolName);
  if (typeof terms === 'string') return [`fell back although ${terms}`];
  const { deadline, grace } = lifeOf(claim);
  const repeated = anchorOf(pool)?.claim === claim.metadata.name;
  return [
    ...(terms.fallback ? [] : ['fell back though that is off']),
    ...(frozen ? ['fell back during a freeze'] : []),
    ...(pool?.spec.replicas === undefined ? [] : ['fell back in a static pool']),
    ...(windowAt(terms, sight.observedAt) === 'closed' ? ['fell back outside every window'] : []),
    ...(deadline !== undefined && (repeated || deadline - sight.observedAt < boundOf(terms, grace))
      ? []
      : ['fell back though time is left']),
    ...(isOperators(nodeOfClaim(seen, claim)) ? ['fell back although its operator opted it out'] : []),
  ];
}

/** R3.8-06, D7-11. */
function notReapable({ sight, action }: Landed, claim: ClaimObject, anchor: Anchor): readonly string[] {
  if (action.kind !== 'deleteNodeClaim' || action.because !== 'reapSurge') return ['is not the one on the anchor'];
  const ending = anchor.state === 'failing' || anchor.state === 'aborting';
  const list = sight.looks[0] as SeenCluster;
  const pool = poolOfClaim(claim);
  const placeholder = list.pods.find((pod) => isPlaceholder(pod, anchor.claim));
  const node = claim.status.nodeName;
  const since = beganAt(anchor, named(list.claims, anchor.claim), sight);
  const tied = (node !== undefined && placeholder?.spec.nodeName === node) || anchor.surgeClaim === claim.metadata.name;
  const unregistered = list.claims.filter(
    (each) =>
      poolOfClaim(each) === pool &&
      each.status.nodeName === undefined &&
      !isGoing(each) &&
      born(each) >= since &&
      each.metadata.name !== anchor.claim,
  );
  const waiting = (seen: SeenCluster): boolean =>
    seen.pods.some(
      (pod) =>
        pod.spec.nodeName === undefined &&
        !isGoing(pod) &&
        !isPlaceholder(pod, anchor.claim) &&
        pod.status.phase === 'Pending',
    );
  const used = (seen: SeenCluster): boolean =>
    seen.pods.some((pod) => pod.spec.nodeName === node && isMissed(pod, anchor.claim));
  return [
    ...(ending ? [] : [`reaped while the pool says ${anchor.state ?? 'pending'}`]),
    ...(born(claim) >= since ? [] : ['reaped though it is older than the attempt']),
    ...(tied || (node === undefined && unregistered.length === 1) ? [] : ['reaped without being tied to the attempt']),
    ...(!tied && !sometimes(sight, (seen) => !waiting(seen)) ? ['reaped while other Pods wait for a node'] : []),
    ...(node !== undefined && !sometimes(sight, (seen) => !used(seen)) ? ['reaped though others run on it'] : []),
  ];
}

/** D5-06: of an anchor that nobody can read the claim's copy tells the start; else it counts as begun in this tick. */
function beganAt(anchor: Anchor, old: ClaimObject | undefined, { observedAt }: Sight): number {
  if (!anchor.malformed) return anchor.startedAt;
  const copied = readTime(note(old, key('started-at')));
  return Number.isNaN(copied) ? Math.floor(observedAt / 1000) * 1000 : copied;
}

function isMissed(pod: SeenCluster['pods'][number], claim: string): boolean {
  const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)?.kind;
  const finished = pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed';
  return !isPlaceholder(pod, claim) && owner !== 'DaemonSet' && owner !== 'Node' && !finished;
}
