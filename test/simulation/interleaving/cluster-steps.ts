/**
 * What Karpenter and the scheduler do next, one thing at a time. Which of them comes first, and what ticks do between,
 * is the explorer's choice.
 */
import { add, seconds } from '../../../lib/domain/time.ts';
import type { ClaimObject, NodeObject, PodObject } from '../../../lib/simulator/kube-object.ts';
import { isDeleting, stamp, withCondition } from '../../../lib/simulator/kube-object.ts';
import {
  claimIn,
  claimsIn,
  cpuLeft,
  cpuOf,
  isPlaceholder,
  marksOf,
  newClaim,
  newNode,
  nodeBehind,
  nodesIn,
  podsIn,
  poolIn,
  takesPods,
} from './small-cluster.ts';
import type { Stage } from './stage.ts';

export interface ClusterStep {
  readonly name: string;
  make(stage: Stage): void;
}

/** Instances take longer to come and Pods to leave than a tick that was suspended may go on after its look. */
function aWhilePasses(stage: Stage): void {
  stage.now = add(stage.now, seconds(61));
}

/** More than the hand-over and its undoing can need; a run that wants more is not followed further. */
const mostBorn = 3;

/** The steps that can be taken now, in a fixed order. */
export const clusterSteps = (stage: Stage): readonly ClusterStep[] => [
  ...podsIn(stage).flatMap((pod) => (isUnbound(pod) ? place(stage, pod) : isComingUp(pod) ? [run(pod)] : [])),
  ...claimsIn(stage).flatMap((claim) => (isDeleting(claim) ? leave(stage, claim) : comeUp(claim))),
];

const isUnbound = (pod: PodObject): boolean => pod.spec.nodeName === undefined;
const isComingUp = (pod: PodObject): boolean => pod.status.phase !== 'Running';

/** Onto a node with room; a Pod of an app takes the placeholder's. Without one Karpenter makes a NodeClaim, once. */
function place(stage: Stage, pod: PodObject): readonly ClusterStep[] {
  const nodes = nodesIn(stage).filter((node) => takesPods(stage, node) && roomFor(stage, node, pod));
  if (nodes.length > 0)
    return nodes.map((node) => ({
      name: `the scheduler puts ${pod.metadata.name} on ${node.metadata.name}`,
      make: (on) => bind(on, pod, node.metadata.name),
    }));
  const onTheWay = claimsIn(stage).some((claim) => claim.status.nodeName === undefined && !isDeleting(claim));
  if (onTheWay || stage.born >= mostBorn) return [];
  return [{ name: `Karpenter makes a NodeClaim for ${pod.metadata.name}`, make: bear }];
}

function roomFor(stage: Stage, node: NodeObject, pod: PodObject): boolean {
  const preempted = isPlaceholder(pod)
    ? 0
    : stage.store
        .podsOn(node.metadata.name)
        .filter(isPlaceholder)
        .map(cpuOf)
        .reduce((a, b) => a + b, 0);
  return cpuLeft(stage, node) + preempted >= cpuOf(pod);
}

/** Preempts the placeholder where it must. Karpenter notes on the claim that Pods came or went. */
export function bind(stage: Stage, pod: PodObject, node: string): void {
  const { store } = stage;
  const host = store.get('Node', node) as NodeObject;
  if (cpuLeft(stage, host) < cpuOf(pod))
    for (const each of store.podsOn(node).filter(isPlaceholder)) store.remove(each);
  store.update(pod, { spec: { ...pod.spec, nodeName: node }, status: { phase: 'Pending' } });
  notePods(stage, node);
}

export function notePods(stage: Stage, node: string): void {
  const claim = claimsIn(stage).find(({ status }) => status.nodeName === node);
  const seen = (claim?.metadata.labels?.['pods-seen'] ?? '') === 'odd' ? 'even' : 'odd';
  if (claim) stage.store.update(claim, { metadata: { labels: { ...claim.metadata.labels, 'pods-seen': seen } } });
}

const run = (pod: PodObject): ClusterStep => ({
  name: `${pod.metadata.name} runs`,
  make: ({ store, now }) => {
    store.update(pod, { status: { phase: 'Running', conditions: withCondition([], now, 'Ready', 'True', 'Ready') } });
  },
});

function bear(stage: Stage): void {
  stage.born += 1;
  const name = `host-${stage.born}`;
  stage.store.adopt(newClaim(name, stamp(stage.now)));
}

function comeUp(claim: ClaimObject): readonly ClusterStep[] {
  if (claim.status.nodeName !== undefined) return [];
  const { name } = claim.metadata;
  return [
    {
      name: `${name} is ready`,
      make: (on) => {
        aWhilePasses(on);
        on.store.adopt(newNode(name));
        on.store.update(claim, {
          status: { nodeName: `node-${name}`, conditions: withCondition([], on.now, 'Ready', 'True', 'Ready') },
        });
      },
    },
  ];
}

/** A NodeClaim that is being deleted: first its Pods are evicted, then it is gone with its Node. */
function leave(stage: Stage, claim: ClaimObject): readonly ClusterStep[] {
  const { name } = claim.metadata;
  const node = nodeBehind(stage, name);
  const pods = node ? stage.store.podsOn(node.metadata.name) : [];
  const evicted = pods.filter((pod) => !isPlaceholder(pod));
  if (evicted.length > 0) return [{ name: `${name} is drained`, make: (on) => evict(on, evicted) }];
  return [
    {
      name: `${name} is gone`,
      make: (on) => {
        const { store } = on;
        forget(on, claim);
        for (const pod of pods) store.remove(pod);
        if (node) store.remove(node);
        store.remove(claimIn(stage, name) ?? claim);
      },
    },
  ];
}

/** A reverted pool can be restored from the claim only: with the claim, the last that knew of the attempt is gone. */
function forget(stage: Stage, { metadata }: ClaimObject): void {
  const copy = marksOf(claimIn(stage, metadata.name));
  const anchored = marksOf(poolIn(stage))['active-rotation'] !== undefined;
  if (!anchored && copy['started-at'] !== undefined && copy['state'] !== 'failed')
    stage.remember({ forgotten: `${metadata.uid}@${copy['started-at']}` });
}

/** Their controllers make them again at once. */
function evict(stage: Stage, pods: readonly PodObject[]): void {
  const { store } = stage;
  aWhilePasses(stage);
  for (const pod of pods) {
    store.remove(pod);
    const { nodeName: _nodeName, ...spec } = pod.spec;
    store.adopt({ ...pod, spec, status: { phase: 'Pending' } });
  }
}
