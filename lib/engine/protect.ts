/**
 * Marks and cordon on Nodes: what protects both nodes of a rotation, and what takes exactly that away again.
 *
 * An operator's `do-not-disrupt: "true"` and an operator's cordon carry no marker of ours and are never changed.
 */

import type { Node, NodeMetadata } from '../domain/cluster/node.ts';
import type { NodeClaim } from '../domain/cluster/node-claim.ts';
import { refOf } from '../domain/cluster/object-ref.ts';
import type { ClusterSnapshot } from '../domain/cluster/snapshot.ts';
import { nodeKeys } from '../domain/rotation/annotation-keys.ts';
import type { Action, WhenRefused } from './decision.ts';
import { nodeAnnotation } from './pool-view.ts';

/** Protected by an operator: "true" without our marker. Any other value is no protection. @design R3.2-06, R3.4-04 */
export const isOptedOut = (node: NodeMetadata): boolean =>
  nodeAnnotation(node, nodeKeys.doNotDisrupt) === 'true' && !isOwned(node);

const isOwned = (node: NodeMetadata): boolean => nodeAnnotation(node, nodeKeys.owned) === 'true';

export const carriesMarker = (node: NodeMetadata): boolean =>
  [nodeKeys.owned, nodeKeys.surgeFor, nodeKeys.cordoned].some((key) => nodeAnnotation(node, key) !== undefined);

/** do-not-disrupt is in force, ours or an operator's, and the node is attributed to this rotation. @design D7-03 */
export const isProtectedFor = (node: NodeMetadata, claimName: string): boolean =>
  nodeAnnotation(node, nodeKeys.surgeFor) === claimName && nodeAnnotation(node, nodeKeys.doNotDisrupt) === 'true';

/**
 * The patch that protects a node for a rotation; undefined when nothing is missing.
 *
 * @param cordon for the candidate only: the whole Node, since the cordon is not in its metadata
 * @design R3.4-01, R3.4-02, R3.4-03, R3.4-04, R3.4-06, R3.4-07, R3.4-08
 */
export function protect(
  node: NodeMetadata,
  claimName: string,
  cordon?: Node,
  whenRefused: WhenRefused = 'stop',
): Action | undefined {
  const annotations: Record<string, string> = {};
  const set = (key: string, value: string): void => {
    if (nodeAnnotation(node, key) !== value) annotations[key] = value;
  };
  set(nodeKeys.surgeFor, claimName);
  if (!isOptedOut(node)) {
    set(nodeKeys.doNotDisrupt, 'true');
    set(nodeKeys.owned, 'true');
  }
  const ours = nodeAnnotation(node, nodeKeys.cordoned) === 'true';
  const cordoning = cordon !== undefined && !cordon.unschedulable;
  if (cordoning && !ours) annotations[nodeKeys.cordoned] = 'true';
  if (Object.keys(annotations).length === 0 && !cordoning) return undefined;
  return {
    kind: 'protect',
    target: refOf('Node', node.meta),
    annotations,
    ...(cordoning ? { unschedulable: true as const } : {}),
    whenRefused,
  };
}

/** The patch that undoes our marks and our cordon and nothing else; undefined when there is none. @design R3.4-05 */
export function unprotect(node: NodeMetadata): Action | undefined {
  if (!carriesMarker(node)) return undefined;
  const annotations: Record<string, null> = {};
  for (const key of [nodeKeys.owned, nodeKeys.surgeFor, nodeKeys.cordoned]) {
    if (nodeAnnotation(node, key) !== undefined) annotations[key] = null;
  }
  if (isOwned(node)) annotations[nodeKeys.doNotDisrupt] = null;
  const cordoned = nodeAnnotation(node, nodeKeys.cordoned) === 'true';
  return {
    kind: 'unprotect',
    target: refOf('Node', node.meta),
    annotations,
    ...(cordoned ? { unschedulable: null } : {}),
    whenRefused: 'goOn',
  };
}

/** Unprotects every node of a rotation: those marked for it, and the old node whatever its marks say. */
export function unprotectAll(
  snapshot: ClusterSnapshot,
  claimName: string,
  oldClaim: NodeClaim | undefined,
): readonly Action[] {
  return snapshot.nodes
    .filter((node) => {
      const markedFor = nodeAnnotation(node, nodeKeys.surgeFor);
      return markedFor === claimName || (markedFor === undefined && node.meta.name === oldClaim?.nodeName);
    })
    .flatMap((node) => unprotect(node) ?? []);
}
