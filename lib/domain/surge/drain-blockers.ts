/**
 * What keeps a drain from ever ending by itself, or makes it end badly: named before a start and at a stuck drain.
 *
 * A PDB that allows nothing just now is none of these; only one that can never allow anything is.
 */
import type { DisruptionBudget } from '../cluster/disruption-budget.ts';
import { selects } from '../cluster/label-selector.ts';
import type { Unreadable } from '../cluster/object-ref.ts';
import type { Pod } from '../cluster/pod.ts';
import { hasActiveDoNotDisrupt, isCompleted, isMirror, isPlaceholder, podName, tolerates } from '../cluster/pod.ts';
import type { Duration, Instant } from '../time.ts';
import { formatDuration } from '../time.ts';

export interface DrainBlocker {
  readonly kind: 'pdb' | 'twoBudgets' | 'doNotDisrupt' | 'podGrace';
  /** `namespace/name` of the PDB or of the Pod. */
  readonly object: string;
  /** A whole sentence: what blocks, and what the reader can do. */
  readonly message: string;
}

/**
 * The blockers among the Pods of one node, sorted by kind and object.
 *
 * @param grace the NodeClaim's terminationGracePeriod; undefined means that a drain has no bound
 * @design D6-06
 */
export function drainBlockers(
  pods: readonly Pod[],
  budgets: readonly DisruptionBudget[],
  grace: Duration | undefined,
  at: Instant,
): readonly DrainBlocker[] {
  const waitedFor = pods.filter(isWaitedFor);
  return [
    ...blockingBudgets(waitedFor, budgets),
    ...waitedFor.flatMap((pod) => underTwoBudgets(pod, budgets)),
    ...waitedFor.filter((pod) => hasActiveDoNotDisrupt(pod, at)).map((pod) => doNotDisrupt(pod, grace)),
    ...waitedFor.flatMap((pod) => longGrace(pod, grace)),
  ].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || (a.object < b.object ? -1 : 1));
}

const order: readonly DrainBlocker['kind'][] = ['pdb', 'twoBudgets', 'doNotDisrupt', 'podGrace'];

const drainTaint = { key: 'karpenter.sh/disrupted', effect: 'NoSchedule' };

/** Karpenter waits for everything but finished and static Pods and those that tolerate its drain taint. */
const isWaitedFor = (pod: Pod): boolean =>
  !isCompleted(pod) &&
  !isMirror(pod) &&
  !isPlaceholder(pod) &&
  !pod.meta.deleting &&
  !tolerates(pod.tolerations, drainTaint);

/** The eviction API asks no PDB about a Pod that has not begun to run. */
const budgetsOf = (pod: Pod, budgets: readonly DisruptionBudget[]): readonly DisruptionBudget[] =>
  pod.phase === 'Pending'
    ? []
    : budgets.filter(
        ({ meta, selector }) =>
          meta.namespace === pod.meta.namespace && selector !== undefined && selects(selector, pod.meta.labels),
      );

/**
 * Parts of PDBs that could not be read, of all PDBs in the namespaces of these Pods: what is odd may be the very selector.
 *
 * @design D5-06, D6-06
 */
export function unreadableBudgets(pods: readonly Pod[], budgets: readonly DisruptionBudget[]): readonly Unreadable[] {
  const namespaces = new Set(pods.filter(isWaitedFor).map((pod) => pod.meta.namespace));
  return budgets
    .filter(({ meta }) => namespaces.has(meta.namespace))
    .flatMap((budget) =>
      budget.unreadable.map((part) => ({ ...part, path: `PodDisruptionBudget ${budgetName(budget)}: ${part.path}` })),
    );
}

const budgetName = ({ meta }: DisruptionBudget): string => `${meta.namespace ?? ''}/${meta.name}`;

function blockingBudgets(pods: readonly Pod[], budgets: readonly DisruptionBudget[]): readonly DrainBlocker[] {
  return budgets.filter(canNeverAllow).flatMap((budget) => {
    const held = pods
      .filter((pod) => budgetsOf(pod, [budget]).length > 0)
      .map(podName)
      .sort();
    if (held.length === 0) return [];
    const object = budgetName(budget);
    const message = `PodDisruptionBudget ${object} (${rule(budget)}) can never allow an eviction of ${named(held)}. Allow one disruption, or run one replica more.`;
    return [{ kind: 'pdb', object, message }];
  });
}

/** The first few names, and how many more there are. */
const named = (names: readonly string[]): string =>
  names.length <= 3 ? names.join(', ') : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`;

function rule({ minAvailable, maxUnavailable, expectedPods }: DisruptionBudget): string {
  if (maxUnavailable !== undefined) return `maxUnavailable ${maxUnavailable}`;
  return `minAvailable ${minAvailable ?? 'unset'} of ${expectedPods}`;
}

/**
 * Whether the budget forbids every eviction however healthy its Pods are.
 *
 * The forms that say so themselves count at once. Otherwise the budget's own status decides: it has been computed, it
 * allows nothing, and it wants at least as many healthy Pods as there are.
 *
 * @design D6-06
 */
export function canNeverAllow(budget: DisruptionBudget): boolean {
  const { minAvailable, maxUnavailable, disruptionsAllowed, desiredHealthy, expectedPods } = budget;
  if (maxUnavailable !== undefined && /^0+%?$/.test(maxUnavailable)) return true;
  if (minAvailable !== undefined && /^\d+%$/.test(minAvailable) && Number.parseInt(minAvailable, 10) >= 100)
    return true;
  return expectedPods > 0 && disruptionsAllowed === 0 && desiredHealthy >= expectedPods;
}

function underTwoBudgets(pod: Pod, budgets: readonly DisruptionBudget[]): readonly DrainBlocker[] {
  const names = budgetsOf(pod, budgets).map(budgetName).sort();
  if (names.length < 2) return [];
  const object = podName(pod);
  const message = `Pod ${object} is under ${names.length} PodDisruptionBudgets (${names.join(', ')}), and Kubernetes never evicts such a Pod. Leave it under one.`;
  return [{ kind: 'twoBudgets', object, message }];
}

function doNotDisrupt(pod: Pod, grace: Duration | undefined): DrainBlocker {
  const object = podName(pod);
  const end =
    grace === undefined
      ? 'the drain waits for it without end'
      : `the drain waits for it and kills it when the grace of ${formatDuration(grace)} runs out`;
  const message = `Pod ${object} carries karpenter.sh/do-not-disrupt: ${end}. Let it finish, or take the annotation off.`;
  return { kind: 'doNotDisrupt', object, message };
}

/** Such a Pod is deleted by force as soon as the drain starts. */
function longGrace(pod: Pod, grace: Duration | undefined): readonly DrainBlocker[] {
  if (grace === undefined || pod.terminationGracePeriod < grace) return [];
  const object = podName(pod);
  const message = `Pod ${object} asks for ${formatDuration(pod.terminationGracePeriod)} to end, its NodeClaim grants ${formatDuration(grace)}: it is deleted at once, past its PodDisruptionBudget, and cut off. Raise terminationGracePeriod in the NodePool.`;
  return [{ kind: 'podGrace', object, message }];
}
