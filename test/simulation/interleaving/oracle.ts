/**
 * What no sequence of landed writes may show, read off the objects themselves and not off what the engine says of them.
 *
 * A tick is judged by what the cluster was when it looked: what changes between its last look and its write is caught by
 * the versions, and only where they do not catch it is the cluster at the moment of the write asked.
 */
import type { Action } from '../../../lib/engine/decision.ts';
import type { KubeObject, NodeObject, Strings } from '../../../lib/simulator/kube-object.ts';
import { isDeleting } from '../../../lib/simulator/kube-object.ts';
import type { PortCall } from './port.ts';
import {
  claimBehind,
  claimIn,
  doNotDisrupt,
  hostIn,
  isChosen,
  isCordoned,
  isPlaceholder,
  marksOf,
  nodeBehind,
  nodesIn,
  oldClaim,
  placeholderIn,
  policyIn,
  poolIn,
  windowCloses,
  windowOpens,
} from './small-cluster.ts';
import type { Stage } from './stage.ts';

const isFrozen = (stage: Stage): boolean => marksOf(poolIn(stage))['freeze'] !== undefined;
const isOptedOut = (node: NodeObject | undefined): boolean =>
  doNotDisrupt(node) === 'true' && marksOf(node)['do-not-disrupt-owned'] === undefined;
const inWindow = ({ now }: Stage): boolean => now >= windowOpens && now < windowCloses;

/** A tick has seen, in the Node itself, a surge host that can take the drain. */
const fitHost = 'a fit surge host';

/**
 * What a tick sees at this look: what forbids it to drain the old claim, or to start (`to start: …`), and whether there
 * is a surge host.
 */
export function seenAt(stage: Stage, call: PortCall): readonly string[] {
  const node = nodeBehind(stage, oldClaim);
  switch (call.kind) {
    case 'observe': {
      const policy = policyIn(stage)?.spec as { readonly mode?: string } | undefined;
      return [
        ...(isFrozen(stage) ? ['the pool was frozen'] : []),
        ...(isOptedOut(node) ? ['the candidate was opted out'] : []),
        ...(policy === undefined ? ['no policy governed'] : []),
        ...(policy?.mode === 'Observe' ? ['the policy was in mode Observe'] : []),
        ...(isChosen(claimIn(stage, oldClaim)) ? ['Karpenter had chosen the candidate'] : []),
        ...(inWindow(stage) ? [] : ['to start: the window was closed']),
        ...nodesIn(stage).flatMap((each) => claimFaults(stage, each)),
      ];
    }
    case 'inspect': {
      const host = hostIn(stage);
      return host && call.need.nodes.includes(host.metadata.name) && isFit(host) ? [fitHost] : [];
    }
    case 'reread':
      return [
        ...(isFrozen(stage) ? ['the pool was frozen'] : []),
        // Before a hand-over only; elsewhere the first look counts.
        ...(call.node !== undefined && isOptedOut(node) ? ['the candidate was opted out'] : []),
      ];
    default:
      return [];
  }
}

const isFit = (host: NodeObject): boolean => !isCordoned(host) && !isDeleting(host) && doNotDisrupt(host) === 'true';

function claimFaults(stage: Stage, node: NodeObject): readonly string[] {
  const claim = claimBehind(stage, node.metadata.name);
  const host = hostIn(stage);
  if (host?.metadata.name !== node.metadata.name) return [];
  return !claim || isDeleting(claim) || isChosen(claim) ? ['its surge host was going'] : [];
}

/** What the tick that writes has seen. */
interface Witness {
  readonly saw: readonly string[];
  /** The uid of the placeholder, where there was one. */
  readonly placeholder: string | undefined;
}

/** The cluster before a write, as far as the oracle compares. */
export interface Before {
  readonly pool: Strings;
  readonly nodes: ReadonlyMap<string, NodeObject>;
}

export const beforeWrite = (stage: Stage): Before => ({
  pool: marksOf(poolIn(stage)),
  nodes: new Map(stage.store.all<NodeObject>('Node').map((node) => [node.metadata.name, node])),
});

/**
 * Judges a write that has just landed, and notes on the stage what later judgements need.
 *
 * @param tick whose write it is
 * @returns the first rule that is broken
 */
export function judge(stage: Stage, before: Before, action: Action, tick: Witness): string | undefined {
  switch (action.kind) {
    case 'annotate':
      return action.target.kind === 'NodePool' ? judgePool(stage, before.pool, tick.saw) : undefined;
    case 'protect':
    case 'unprotect':
      return judgeNode(stage, before.nodes.get(action.target.name));
    case 'deleteNodeClaim':
      return action.target.name === oldClaim
        ? judgeDrain(stage, before.pool, tick)
        : judgeReap(stage, before.pool, action.target.name);
    default:
      return undefined;
  }
}

const attemptOf = (pool: Strings): string => `${pool['rotation-claim-uid']}@${pool['started-at']}`;

/** D5-03, D7-02, D7-07, D7-10: how the anchor may change. */
function judgePool(stage: Stage, before: Strings, saw: readonly string[]): string | undefined {
  const after = marksOf(poolIn(stage));
  const [was, is] = [before['active-rotation'], after['active-rotation']];
  const ending = ['failing', 'aborting'].includes(before['active-rotation-state'] ?? '');
  if (was === undefined && is !== undefined) return judgeAnchor(stage, after, saw);
  if (was !== undefined && is === undefined) return judgeEnd(stage, before, after);
  if (was !== undefined && attemptOf(before) !== attemptOf(after)) return 'a second rotation replaced the first';
  if (ending && after['active-rotation-state'] !== before['active-rotation-state'])
    return 'an end that had begun was taken back';
  const drains = after['active-rotation-state'] === 'draining' && before['active-rotation-state'] !== 'draining';
  return drains && isFrozen(stage) ? 'a hand-over was begun in a frozen pool' : undefined;
}

function judgeAnchor(stage: Stage, after: Strings, saw: readonly string[]): string | undefined {
  stage.remember({ attempts: attemptOf(after) });
  const claim = claimIn(stage, oldClaim);
  const copy = marksOf(claim);
  const restored = ['pending', 'draining'].includes(copy['state'] ?? '') && copy['started-at'] === after['started-at'];
  if (restored) return undefined;
  if (claim && isDeleting(claim) && copy['state'] === 'draining') return 'a rotation was started beside a drain';
  const no = saw.find((each) => each !== fitHost && each !== 'its surge host was going');
  return no === undefined && !isFrozen(stage)
    ? undefined
    : `a rotation was started although ${no ?? 'the pool is frozen'}`;
}

function judgeEnd(stage: Stage, before: Strings, after: Strings): string | undefined {
  const attempt = attemptOf(before);
  const step = after['last-ended']?.split('=')[1];
  if (after['last-ended'] !== `${attempt}=${step}`) return 'an anchor was cleared without saying how its attempt ended';
  if (step === 'failed') stage.remember({ failed: attempt });
  const old = claimIn(stage, oldClaim);
  const going = old === undefined || isDeleting(old);
  if (step === 'completed' && old) return 'a rotation was completed while its old claim was there';
  if (step === 'expired' && !going) return 'a rotation expired although its old claim stays';
  const undone = step !== 'completed';
  return undone && stage.facts.drained.includes(attempt) ? `a drain of ours ended as ${step}` : undefined;
}

/** D7-04, D7-05, D5-05: when the old claim may be deleted. */
function judgeDrain(stage: Stage, pool: Strings, { saw, placeholder }: Witness): string | undefined {
  const attempt = attemptOf(pool);
  stage.remember({ drained: attempt });
  if (isReverted(stage, pool)) return undefined;
  const state = pool['active-rotation-state'];
  // A refusal that another tick met makes an end of it, but as long as the mirror stands nobody has let go.
  const stands = state === 'draining' || (state === 'failing' && pool['draining-at'] !== undefined);
  if (!stands) return `the old claim was deleted while the pool was ${state ?? 'pending'}`;
  if (isChosen(claimIn(stage, oldClaim))) return 'the old claim was deleted although Karpenter had chosen it';
  // One that a slower tick has made again meanwhile is taken away by the next tick.
  if (placeholder !== undefined && placeholderIn(stage)?.metadata.uid === placeholder)
    return 'the old claim was deleted before the placeholder had made room';
  if (stage.facts.reaped.includes(pool['surge-claim'] ?? ''))
    return 'the old claim was deleted after its host was reaped';
  if (!saw.includes(fitHost)) return 'the old claim was deleted without a fit surge host';
  const no = saw.find((each) => !each.startsWith('to start') && each !== fitHost);
  return no === undefined ? undefined : `the old claim was deleted although ${no}`;
}

/** The pool knows nothing of a rotation, because somebody took that away. */
const isReverted = (stage: Stage, pool: Strings): boolean =>
  pool['active-rotation'] === undefined && stage.facts.attempts.length > 0 && pool['last-ended'] === undefined;

/** D7-11, D5-05: what may be reaped. */
function judgeReap(stage: Stage, pool: Strings, name: string): string | undefined {
  stage.remember({ reaped: name });
  if (isReverted(stage, pool)) return undefined;
  const state = pool['active-rotation-state'] ?? 'pending';
  if (state === 'draining') return 'the surge host of a hand-over was reaped';
  const old = claimIn(stage, oldClaim);
  if (old && isDeleting(old) && stage.facts.drained.includes(attemptOf(pool)))
    return 'the surge host was reaped during the drain';
  const claim = claimIn(stage, name);
  if (claim && claim.metadata.creationTimestamp < (pool['started-at'] ?? ''))
    return 'a claim was reaped that the attempt had not induced';
  const node = claim?.status.nodeName;
  const others = node === undefined ? [] : stage.store.podsOn(node).filter((pod) => !isPlaceholder(pod));
  return others.length > 0 ? 'a claim was reaped with a Pod on it' : undefined;
}

/** R3.4-03, R3.4-05: an operator's marks are his. */
function judgeNode(stage: Stage, before: NodeObject | undefined): string | undefined {
  const after = before && (stage.store.get('Node', before.metadata.name) as NodeObject | undefined);
  if (!before || !after) return undefined;
  const marks = marksOf(before);
  if (doNotDisrupt(before) === 'true' && marks['do-not-disrupt-owned'] === undefined && doNotDisrupt(after) !== 'true')
    return 'do-not-disrupt of an operator was taken off';
  if (isCordoned(before) && marks['cordoned'] === undefined && !isCordoned(after))
    return 'a cordon of an operator was undone';
  return undefined;
}

/** R3.1-09: whatever happened before, after a quiet tick the surge host of a drain is protected. */
export function judgeDraining(stage: Stage): string | undefined {
  const pool = marksOf(poolIn(stage));
  const old = claimIn(stage, oldClaim);
  const host = claimIn(stage, pool['surge-claim'] ?? '');
  const node = nodeBehind(stage, pool['surge-claim'] ?? '');
  if (pool['active-rotation-state'] !== 'draining' || !old || !isDeleting(old) || !host || !node || isDeleting(host))
    return undefined;
  return doNotDisrupt(node) === 'true' ? undefined : 'the surge host of a drain is not protected';
}

/** Ours on any object, as far as it must not outlive the rotations: `Node node-old: cordoned`. */
export function leftOfOurs(stage: Stage): readonly string[] {
  const outlive = new Set([
    'last-rotation-at',
    'last-failure-at',
    'last-ended',
    'failed-at',
    'retry-count',
    'freeze',
    'warnings',
  ]);
  const objects: readonly KubeObject[] = (['NodePool', 'NodeClaim', 'Node'] as const).flatMap((kind) =>
    stage.store.all(kind),
  );
  const marks = objects.flatMap((object) =>
    Object.entries(marksOf(object))
      .filter(([key, value]) => !outlive.has(key) && !outlivesOn(object, key, value))
      .map(([key]) => `${object.kind} ${object.metadata.name}: ${key}`),
  );
  return placeholderIn(stage) ? [...marks, 'the placeholder'] : marks;
}

/** A failed claim keeps its state and the start of the attempt; an expired one goes with its node. */
const outlivesOn = (object: KubeObject, key: string, value: string): boolean =>
  object.kind === 'NodeClaim' &&
  ((key === 'state' && (value === 'failed' || value === 'expired')) ||
    (key === 'started-at' && ['failed', 'expired'].includes(marksOf(object)['state'] ?? '')) ||
    isDeleting(object));

/** D10-04, D7-07: once all is quiet, every attempt has its start and one end in the table, and failures are counted. */
export function judgeRecords(stage: Stage, failuresCount = true): string | undefined {
  const { attempts, forgotten, lost, failed } = stage.facts;
  const rows = [...stage.rows.values()];
  for (const attempt of attempts) {
    const has = (step: string): number =>
      Math.max(rows.filter((row) => row === `${attempt}=${step}`).length, lost.includes(`${attempt}=${step}`) ? 1 : 0);
    if (has('started') === 0) return `there is no row of the start of ${attempt}`;
    if (forgotten.includes(attempt)) continue;
    const ends = ['completed', 'failed', 'expired', 'aborted'].map(has).reduce((a, b) => a + b, 0);
    if (ends !== 1) return `there are ${ends} rows of the end of ${attempt}`;
  }
  const claim = claimIn(stage, oldClaim);
  const counted = Number(marksOf(claim)['retry-count'] ?? 0);
  if (failuresCount && claim && counted !== failed.length)
    return `the claim counts ${counted} failures of ${failed.length}`;
  return undefined;
}
