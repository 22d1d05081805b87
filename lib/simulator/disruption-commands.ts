/**
 * Karpenter's own disruption of a node, once it is decided: mark, wait for replacements, delete.
 *
 * From the mark on nothing is asked again: a do-not-disrupt that comes later is too late. A command whose replacements
 * do not come up is given up and the node unmarked.
 */
import type { Instant } from '../domain/time.ts';
import { add, minutes, seconds } from '../domain/time.ts';
import type { Candidate } from './disruption-candidates.ts';
import type { ClaimObject, NodeObject } from './kube-object.ts';
import { conditionSince, isDeleting, isTrue, withCondition } from './kube-object.ts';
import { disruptedTaint, hasTaint, nodeOf } from './node-claims.ts';
import type { NewClaim } from './planning.ts';
import type { DisruptionReason } from './pool-budgets.ts';
import { createClaim } from './provisioner.ts';
import type { WorldState } from './world-state.ts';
import { nextOf } from './world-state.ts';

/** From the mark until the delete when nothing has to be waited for. */
const commandTakes = seconds(2);
const givesUpAfter = minutes(10);

/** Names of the replacements, by the uid of the claim that goes. */
export type Commands = Map<string, readonly string[]>;

export function begin(
  world: WorldState,
  commands: Commands,
  { claim, node }: Candidate,
  reason: DisruptionReason,
  replacements: readonly NewClaim[] = [],
): void {
  const { store, now } = world;
  if (!hasTaint(node, disruptedTaint.key))
    store.update(node, { spec: { taints: [...(node.spec.taints ?? []), disruptedTaint] } });
  store.update(claim, {
    status: { conditions: withCondition(claim.status.conditions, now, 'DisruptionReason', 'True', reason) },
  });
  commands.set(
    claim.metadata.uid,
    replacements.map((replacement) => createClaim(world, replacement)),
  );
}

/** A marked claim that no command knows was marked by somebody else's hand; it goes like one without replacements. */
export function carryOn(world: WorldState, commands: Commands): Instant | undefined {
  const { store, now } = world;
  const marked = store
    .all<ClaimObject>('NodeClaim')
    .filter((claim) => !isDeleting(claim) && isTrue(claim, 'DisruptionReason'));
  const known = new Set(marked.map((claim) => claim.metadata.uid));
  for (const uid of commands.keys()) if (!known.has(uid)) commands.delete(uid);
  const moments = marked.map((claim) => {
    const since = conditionSince(claim, 'DisruptionReason') ?? now;
    const replacements = (commands.get(claim.metadata.uid) ?? []).map((name) => store.get('NodeClaim', name));
    const lost = replacements.some((replacement) => replacement === undefined || isDeleting(replacement));
    if (lost || (replacements.length > 0 && add(since, givesUpAfter) <= now)) {
      commands.delete(claim.metadata.uid);
      unmark(world, claim);
      return undefined;
    }
    const ready = replacements.every((replacement) => isTrue(replacement as ClaimObject, 'Initialized'));
    if (!ready) return add(since, givesUpAfter);
    if (add(since, commandTakes) > now) return add(since, commandTakes);
    store.terminate(claim);
    return undefined;
  });
  return nextOf(now, moments);
}

function unmark({ store }: WorldState, claim: ClaimObject): void {
  const conditions = (claim.status.conditions ?? []).filter(({ type }) => type !== 'DisruptionReason');
  store.update(claim, { status: { conditions } });
  const node = nodeOf(store, claim);
  if (node) untaint(store, node);
}

const untaint = (store: WorldState['store'], node: NodeObject): void =>
  void store.update(node, {
    spec: { taints: (node.spec.taints ?? []).filter(({ key }) => key !== disruptedTaint.key) },
  });

/** On every pass Karpenter takes its taint off nodes that it has no command for, whoever put it there. */
export function removeStrayTaints({ store }: WorldState): void {
  for (const claim of store.all<ClaimObject>('NodeClaim')) {
    const node = nodeOf(store, claim);
    if (!node || isDeleting(claim) || isDeleting(node) || isTrue(claim, 'DisruptionReason')) continue;
    if (hasTaint(node, disruptedTaint.key)) untaint(store, node);
  }
}
