/**
 * Which Pods of a candidate have to find a new home, and what they and the node's DaemonSets ask for.
 *
 * A Pod that can run on this node only is not among them: no replacement could take it.
 */
import type { NodeMetadata } from '../cluster/node.ts';
import { hostnameLabel } from '../cluster/node.ts';
import type { Unreadable } from '../cluster/object-ref.ts';
import { label } from '../cluster/object-ref.ts';
import type { NodeSelectorTerm, Pod } from '../cluster/pod.ts';
import { isCompleted, isDaemonSetPod, isMirror, isPlaceholder, podName, requestsOf } from '../cluster/pod.ts';
import type { Requirement } from '../cluster/requirements.ts';
import { listedValues, valuesAllowed } from '../cluster/requirements.ts';
import type { ResourceList } from '../cluster/resource-list.ts';
import { total } from '../cluster/resource-list.ts';

/** The Pods of one node, each in exactly one list. Our own placeholders are in none. @design R3.3-06, D8-03 */
export interface Census {
  /** The Pods to move. */
  readonly counted: readonly Pod[];
  readonly daemonSet: readonly Pod[];
  readonly mirror: readonly Pod[];
  readonly completed: readonly Pod[];
  readonly pinned: readonly Pod[];
  /** What `counted` asks for. */
  readonly sum: ResourceList;
  /** What the node's own DaemonSet Pods ask for, as admitted, not as their template says. */
  readonly daemonSetOverhead: ResourceList;
  /** Parts of the Pods behind both sums that could not be read; each path names its Pod. */
  readonly unreadable: readonly Unreadable[];
}

/**
 * Sorts the Pods that are bound to `node`.
 *
 * @param pods all Pods of that node, of whatever phase
 * @design R3.3-05, R3.3-06, D8-03
 */
export function census(pods: readonly Pod[], node: NodeMetadata): Census {
  const lists: Record<PodClass, Pod[]> = {
    counted: [],
    daemonSet: [],
    mirror: [],
    completed: [],
    pinned: [],
    placeholder: [],
  };
  for (const pod of pods) lists[classOf(pod, node)].push(pod);
  const { counted, daemonSet, mirror, completed, pinned } = lists;
  return {
    counted,
    daemonSet,
    mirror,
    completed,
    pinned,
    sum: total(counted.map(requestsOf)),
    daemonSetOverhead: total(daemonSet.map(requestsOf)),
    unreadable: [...counted, ...daemonSet].flatMap((pod) =>
      pod.unreadable.map((part) => ({ ...part, path: `Pod ${podName(pod)}: ${part.path}` })),
    ),
  };
}

type PodClass = 'counted' | 'daemonSet' | 'mirror' | 'completed' | 'pinned' | 'placeholder';

/** A finished Pod takes no room, whoever owns it, so this is asked first. */
function classOf(pod: Pod, node: NodeMetadata): PodClass {
  if (isPlaceholder(pod)) return 'placeholder';
  if (isCompleted(pod)) return 'completed';
  if (isMirror(pod)) return 'mirror';
  if (isDaemonSetPod(pod)) return 'daemonSet';
  return isPinned(pod, node) ? 'pinned' : 'counted';
}

/** The name under which selectors know the host; it may differ from the Node's own name. */
export const hostnameOf = (node: NodeMetadata): string => label(node.meta, hostnameLabel) ?? node.meta.name;

/**
 * Whether the Pod's required placement leaves this node and no other.
 *
 * The selector and one of the affinity terms have to hold, so every term is looked at together with the selector. A
 * term without any expression matches no node and is no alternative.
 *
 * @design D8-03
 */
export function isPinned(pod: Pod, node: NodeMetadata): boolean {
  const selector = Object.entries(pod.nodeSelector).map(
    ([key, value]): Requirement => ({ key, operator: 'In', values: [value] }),
  );
  const terms = pod.requiredNodeAffinity.filter((term) => term.matchExpressions.length + term.matchFields.length > 0);
  const alternatives: readonly NodeSelectorTerm[] =
    terms.length > 0 ? terms : [{ matchExpressions: [], matchFields: [] }];
  return alternatives.every(
    (term) =>
      leavesOnly([...selector, ...term.matchExpressions], hostnameLabel, hostnameOf(node)) ||
      leavesOnly(term.matchFields, 'metadata.name', node.meta.name),
  );
}

function leavesOnly(requirements: readonly Requirement[], key: string, value: string): boolean {
  const { allowed } = valuesAllowed(requirements, key);
  const values = listedValues(allowed);
  return !allowed.orMissing && values?.length === 1 && values[0] === value;
}
