/**
 * When Karpenter plans, for whom, and what it creates.
 *
 * Beside the Pods that nobody could schedule, it plans again those still bound to nodes that are being deleted. A
 * placeholder that is still bound therefore makes its own room look used, and a further node is created. A Pod that is
 * already stopping is left out, unless it belongs to a StatefulSet.
 */
import { formatResourceList, plus } from '../domain/cluster/resource-list.ts';
import type { Instant } from '../domain/time.ts';
import { add, earliest, seconds } from '../domain/time.ts';
import { blocksFully, budgetsOf } from './disruption-budgets.ts';
import { hashAnnotations } from './drift.ts';
import type { NodeObject, PodObject } from './kube-object.ts';
import { conditionOf, isDeleting } from './kube-object.ts';
import { daemonOverhead, disruptedTaint, hasTaint, nodeLabels, terminationFinalizer } from './node-claims.ts';
import type { NewClaim } from './planning.ts';
import { isPlannable, plan, requirementsOf } from './planning.ts';
import { isDaemon, isStateful, isTerminal, mayNotBeDisrupted } from './pod-needs.ts';
import type { Model, WorldState } from './world-state.ts';
import { nextBeat } from './world-state.ts';

const batchIdle = seconds(1);
const replanSeconds = 10;
const nominationWindow = seconds(20);

/** A batch closes a second after a new Pod is seen; what stays pending is planned again every ten seconds. */
export function createProvisioner(): Model {
  let due: Instant | undefined;
  let seen: ReadonlySet<string> = new Set();
  const run: Model['run'] = (world) => {
    const pods = waitingPods(world);
    if (pods.length === 0) {
      due = undefined;
      seen = new Set();
      return undefined;
    }
    const uids = new Set(pods.map((pod) => pod.metadata.uid));
    if ([...uids].some((uid) => !seen.has(uid))) {
      const closes = add(world.now, batchIdle);
      due = due === undefined || due <= world.now ? closes : earliest(due, closes);
    }
    seen = uids;
    if (due !== undefined && due > world.now) return due;
    provision(world, pods);
    due = nextBeat(world.now, replanSeconds);
    return due;
  };
  return { reads: ['Pod', 'Node', 'NodeClaim', 'NodePool', 'DaemonSet', 'PodDisruptionBudget', 'cloud'], run };
}

/** Pods that the scheduler failed, and Pods that a deleting node will give up. */
function waitingPods({ store, now }: WorldState): readonly PodObject[] {
  const unscheduled = store
    .podsOn('')
    .filter(
      (pod) =>
        conditionOf(pod, 'PodScheduled')?.reason === 'Unschedulable' &&
        pod.status.nominatedNodeName === undefined &&
        !isDeleting(pod) &&
        !isDaemon(pod) &&
        !isTerminal(pod),
    );
  const deleting = store
    .all<NodeObject>('Node')
    .filter((node) => isDeleting(node) && hasTaint(node, disruptedTaint.key));
  const displaced = deleting.flatMap((node) => store.podsOn(node.metadata.name)).filter((pod) => isReschedulable(pod));
  function isReschedulable(pod: PodObject): boolean {
    // The successor of a StatefulSet's Pod is not there before the Pod is gone, so it counts while it stops.
    if (isDeleting(pod) && !isStateful(pod)) return false;
    if (isDaemon(pod) || isTerminal(pod) || mayNotBeDisrupted(pod, now)) return false;
    return !budgetsOf(store, pod).some(blocksFully);
  }
  return [...unscheduled, ...displaced].filter(isPlannable);
}

function provision(world: WorldState, pods: readonly PodObject[]): void {
  const { newClaims, nominated } = plan(world, pods);
  for (const name of nominated) world.nominations.set(name, add(world.now, nominationWindow));
  for (const claim of newClaims) createClaim(world, claim);
}

/** @returns the name of the new NodeClaim, which is nominated for the Pods that it was planned for */
export function createClaim(world: WorldState, claim: NewClaim): string {
  const { pool, template } = claim;
  const { metadata, spec } = pool.spec.template;
  const name = `${pool.metadata.name}-${world.random.suffix()}`;
  const labels = nodeLabels(claim.offerings[0] as NonNullable<(typeof claim.offerings)[0]>, template);
  const overhead = daemonOverhead(world.store, labels, spec.taints ?? []);
  world.store.adopt({
    kind: 'NodeClaim',
    metadata: {
      name,
      labels: template,
      annotations: { ...metadata?.annotations, ...hashAnnotations(pool) },
      finalizers: [terminationFinalizer],
      ownerReferences: [
        { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: pool.metadata.name, uid: pool.metadata.uid },
      ],
    },
    spec: {
      ...spec,
      expireAfter: spec.expireAfter ?? '720h',
      // Auto Mode gives every claim a grace, also where the pool names none.
      terminationGracePeriod: spec.terminationGracePeriod ?? '24h0m0s',
      requirements: requirementsOf(claim),
      resources: { requests: formatResourceList(plus(claim.requests, overhead)) },
    },
    status: {},
  });
  world.nominations.set(name, add(world.now, nominationWindow));
  return name;
}
