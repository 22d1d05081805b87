/**
 * What no list may ever do, checked on every decision before its first write. A violation is our own bug: the list is
 * dropped and the alarm raised; the cluster stays as it is.
 */
import { own } from '../domain/cluster/object-ref.ts';
import { anchorKeys, keyPrefix, nodeKeys, surgeForLabel } from '../domain/rotation/annotation-keys.ts';
import type { AnchoredRotation } from '../domain/rotation/rotation.ts';
import type { Action, Decision } from './decision.ts';
import type { PoolView } from './pool-view.ts';
import { findClaim, nodeAnnotation, placeholderOf, wholeNode } from './pool-view.ts';
import { waivesWindow } from './request.ts';
import { repaired } from './restore.ts';
import { bornDuring, surgeReady } from './surge-host.ts';
import { isDeclared, phaseAfter } from './transitions.ts';

/** @returns one sentence per violation; empty for a sound list. @design D7-10 */
export function violations(view: PoolView | undefined, decision: Decision): readonly string[] {
  return [
    ...undeclared(view, decision),
    ...decision.actions.flatMap((action, index) => violationsOf(view, decision, action, index)),
  ];
}

function undeclared(view: PoolView | undefined, decision: Decision): readonly string[] {
  if (!view) return [];
  const transition = { from: view.rotation.phase, step: decision.step, to: phaseAfter(view, decision) };
  return isDeclared(transition)
    ? []
    : [`step ${transition.step} may not lead from ${transition.from} to ${transition.to}`];
}

function violationsOf(
  view: PoolView | undefined,
  decision: Decision,
  action: Action,
  index: number,
): readonly string[] {
  switch (action.kind) {
    case 'annotate':
      return [
        ...foreignKeys(action),
        ...(view && action.target.kind === 'NodePool' ? anchorViolations(view, decision, action) : []),
      ];
    case 'protect':
      return foreignKeys(action);
    case 'unprotect':
      return [...foreignKeys(action), ...unprotectViolations(view, action)];
    case 'deleteNodeClaim':
      return view ? deleteViolations(view, decision, action, index) : ['a NodeClaim delete belongs to a pool'];
    case 'createPlaceholder':
      return own(action.pod.metadata.labels, surgeForLabel) ? [] : ['a placeholder carries our label'];
    case 'writeStatus':
      return view === undefined && action.target.kind === 'RotationPolicy'
        ? []
        : ['a status is that of a policy, and of no pool'];
    case 'deletePlaceholder':
    case 'emitEvent':
      return [];
  }
}

/** The rotation as the steps see it: one that cannot be read stands for what is known of it. */
const known = ({ rotation, ...view }: PoolView): AnchoredRotation | { readonly phase: 'none' } =>
  rotation.phase === 'malformed' ? repaired({ ...view, rotation }, rotation) : rotation;

const ours = (key: string): boolean => key.startsWith(keyPrefix) || key === nodeKeys.doNotDisrupt;

const foreignKeys = (action: Extract<Action, { annotations: unknown }>): readonly string[] =>
  Object.keys(action.annotations)
    .filter((key) => !ours(key))
    .map((key) => `annotation ${key} is not ours`);

/** One rotation per pool; a new anchor only inside an open window, unfrozen, in a dynamic pool. */
function anchorViolations(
  view: PoolView,
  decision: Decision,
  action: Extract<Action, { kind: 'annotate' }>,
): readonly string[] {
  const anchor = own(action.annotations, anchorKeys.claim);
  if (typeof anchor !== 'string') return [];
  if (view.rotation.phase !== 'none')
    return view.rotation.claim === anchor ? [] : [`the pool already rotates ${view.rotation.claim}`];
  if (decision.step === 'restore') return [];
  return [
    ...(view.occurrence || waivesWindow(view.snapshot, anchor) ? [] : ['an anchor is written outside the window']),
    ...(view.freeze.frozen ? ['an anchor is written while frozen'] : []),
    ...(view.pool.replicas !== undefined ? ['an anchor is written in a static pool'] : []),
    ...(view.policy?.mode === 'Rotate' && !view.snapshot.retired && !view.pool.meta.deleting
      ? []
      : ['an anchor is written in a pool that is not governed']),
  ];
}

/** A mark is taken away only where ours is. @design R3.4-03, R3.4-05, R3.4-08 */
function unprotectViolations(
  view: PoolView | undefined,
  action: Extract<Action, { kind: 'protect' | 'unprotect' }>,
): readonly string[] {
  const node = view?.snapshot.nodes.find((each) => each.meta.name === action.target.name);
  if (!node) return [];
  const found: string[] = [];
  if (own(action.annotations, nodeKeys.doNotDisrupt) === null && nodeAnnotation(node, nodeKeys.owned) !== 'true') {
    found.push(`do-not-disrupt of node ${node.meta.name} is not ours to remove`);
  }
  if (action.unschedulable === null && nodeAnnotation(node, nodeKeys.cordoned) !== 'true') {
    found.push(`the cordon of node ${node.meta.name} is not ours to undo`);
  }
  return found;
}

function deleteViolations(
  view: PoolView,
  decision: Decision,
  action: Extract<Action, { kind: 'deleteNodeClaim' }>,
  index: number,
): readonly string[] {
  const name = action.target.name;
  const before = decision.actions.slice(0, index);
  if (action.because === 'reapSurge') return reapViolations(view, decision, name, before);
  const markedBefore = before.some(
    (each) =>
      each.kind === 'annotate' &&
      each.target.kind === 'NodePool' &&
      own(each.annotations, anchorKeys.state) === 'draining',
  );
  const unmarked = markedBefore ? [] : [`NodeClaim ${name} would be deleted before the pool says that it drains`];
  if (action.because === 'fallback') {
    const enabled = view.policy?.surge.forcefulFallback === true && decision.grounds.fallback === true;
    return [
      ...unmarked,
      ...(enabled && view.occurrence && !view.freeze.frozen ? [] : [`a fallback of ${name} is not allowed now`]),
    ];
  }
  const rotation = known(view);
  if (rotation.phase !== 'pending' && rotation.phase !== 'draining')
    return [`NodeClaim ${name} is not in a rotation that may drain it`];
  const old = findClaim(view, rotation.claim, rotation.claimUid);
  if (!old || old.meta.name !== name || old.meta.uid !== action.target.uid)
    return [`NodeClaim ${name} is not the one on the anchor`];
  if (view.freeze.frozen) return [`NodeClaim ${name} would be drained while frozen`];
  if (decision.step === 'repeatDelete')
    return decision.grounds.surgeReady ? unmarked : [`the delete of ${name} is repeated without its conditions`];
  const placeholder = placeholderOf(view.snapshot, rotation.claim);
  const host = placeholder?.nodeName === undefined ? 'gone' : wholeNode(view.snapshot, placeholder.nodeName);
  return [
    ...unmarked,
    ...(surgeReady(view, old, placeholder, host)
      ? []
      : [`NodeClaim ${name} would be drained before its surge is ready`]),
  ];
}

function reapViolations(
  view: PoolView,
  decision: Decision,
  name: string,
  before: readonly Action[],
): readonly string[] {
  const rotation = known(view);
  if (rotation.phase === 'none') return [`NodeClaim ${name} would be reaped without a rotation`];
  const claim = view.claims.find((each) => each.meta.name === name);
  const ending = rotation.phase === 'failing' || rotation.phase === 'aborting';
  const begun =
    ending ||
    before.some(
      (each) =>
        each.kind === 'annotate' && ['failing', 'aborting'].includes(String(own(each.annotations, anchorKeys.state))),
    );
  const guarded =
    decision.grounds.reapGuarded === name &&
    claim !== undefined &&
    name !== rotation.claim &&
    bornDuring(rotation, claim);
  return [
    ...(guarded ? [] : [`NodeClaim ${name} would be reaped without its guards`]),
    ...(begun ? [] : [`NodeClaim ${name} would be reaped before the end has begun`]),
  ];
}
