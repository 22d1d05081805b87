/**
 * PodDisruptionBudgets and the eviction API, which is the one door through which a drain removes Pods.
 *
 * What a budget allows is counted from the Pods at the moment of asking, so that two evictions in a row both count.
 */
import type { BudgetObject, PodObject, WorkloadObject } from './kube-object.ts';
import { controllerOf, isDeleting, isTrue } from './kube-object.ts';
import type { ObjectStore } from './object-store.ts';
import { isTerminal } from './pod-needs.ts';
import { selectorMatches } from './selectors.ts';
import type { Model, WorldState } from './world-state.ts';

export interface BudgetCount {
  readonly expectedPods: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly disruptionsAllowed: number;
}

const covers = (budget: BudgetObject, pod: PodObject): boolean =>
  budget.metadata.namespace === pod.metadata.namespace && selectorMatches(budget.spec.selector, pod.metadata.labels);

export const budgetsOf = (store: ObjectStore, pod: PodObject): readonly BudgetObject[] =>
  store.all<BudgetObject>('PodDisruptionBudget').filter((budget) => covers(budget, pod));

/** Percentages round up, as in Kubernetes. */
function scaled(value: number | string, of: number): number {
  const percent = /^(\d+)%$/.exec(String(value));
  return percent ? Math.ceil((Number(percent[1]) * of) / 100) : Number(value);
}

const counted = new WeakMap<BudgetObject, { readonly version: number; readonly count: BudgetCount }>();

/** Counted anew only when a Pod, or what wants Pods, has changed. */
export function countBudget(store: ObjectStore, budget: BudgetObject): BudgetCount {
  const version = store.versionOf('Pod') + store.versionOf('ReplicaSet') + store.versionOf('StatefulSet');
  const before = counted.get(budget);
  if (before?.version === version) return before.count;
  const count = countNow(store, budget);
  counted.set(budget, { version, count });
  return count;
}

function countNow(store: ObjectStore, budget: BudgetObject): BudgetCount {
  const pods = store.all<PodObject>('Pod').filter((pod) => covers(budget, pod) && !isTerminal(pod));
  const { minAvailable, maxUnavailable } = budget.spec;
  const expectedPods = expected(store, pods);
  const currentHealthy = pods.filter((pod) => !isDeleting(pod) && isTrue(pod, 'Ready')).length;
  const desiredHealthy =
    minAvailable !== undefined
      ? scaled(minAvailable, expectedPods)
      : Math.max(0, expectedPods - scaled(maxUnavailable ?? 1, expectedPods));
  return {
    expectedPods,
    currentHealthy,
    desiredHealthy,
    disruptionsAllowed: Math.max(0, currentHealthy - desiredHealthy),
  };
}

/** What the Pods' controllers want, whether or not it is there; a Pod without one expects itself. */
function expected(store: ObjectStore, pods: readonly PodObject[]): number {
  const bare = pods.filter((pod) => controllerOf(pod) === undefined && !isDeleting(pod)).length;
  const controllers = new Map(pods.map((pod) => [controllerOf(pod)?.uid, { pod, owner: controllerOf(pod) }]));
  return [...controllers.values()].reduce((sum, { pod, owner }) => {
    if (owner === undefined) return sum;
    const replicas = hasScale(owner.kind)
      ? replicasOf(store, owner.kind, owner.name, pod.metadata.namespace)
      : undefined;
    return (
      sum + (replicas ?? pods.filter((other) => controllerOf(other)?.uid === owner.uid && !isDeleting(other)).length)
    );
  }, bare);
}

const hasScale = (kind: string): kind is 'ReplicaSet' | 'StatefulSet' =>
  kind === 'ReplicaSet' || kind === 'StatefulSet';

const replicasOf = (
  store: ObjectStore,
  kind: 'ReplicaSet' | 'StatefulSet',
  name: string,
  namespace: string | undefined,
): number | undefined => (store.get(kind, name, namespace) as WorkloadObject | undefined)?.spec.replicas;

/** Never lets anything go, whatever the health of its Pods. */
export const blocksFully = (budget: BudgetObject): boolean =>
  ['0', '0%'].includes(String(budget.spec.maxUnavailable)) || String(budget.spec.minAvailable) === '100%';

/**
 * Asks the eviction API to remove the Pod.
 *
 * @returns whether it was let go; a Pod under two budgets never is
 */
export function evict(world: WorldState, pod: PodObject): boolean {
  const budgets = budgetsOf(world.store, pod);
  if (budgets.length > 1) return false;
  const [budget] = budgets;
  if (budget) {
    const { disruptionsAllowed, currentHealthy, desiredHealthy } = countBudget(world.store, budget);
    // IfHealthyBudget: a Pod that is not Ready anyway costs nothing as long as the healthy ones suffice.
    const costsNothing = !isTrue(pod, 'Ready') && currentHealthy >= desiredHealthy && desiredHealthy > 0;
    if (disruptionsAllowed <= 0 && !costsNothing) return false;
  }
  world.store.terminate(pod);
  return true;
}

/** Keeps the budgets' status in step with their Pods. */
export const disruptionController: Model = {
  reads: ['PodDisruptionBudget', 'Pod', 'ReplicaSet', 'StatefulSet'],
  run({ store }) {
    for (const budget of store.all<BudgetObject>('PodDisruptionBudget')) {
      store.update(budget, {
        status: { ...countBudget(store, budget), observedGeneration: budget.metadata.generation },
      });
    }
    return undefined;
  },
};
