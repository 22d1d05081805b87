/**
 * What people and the cloud do in a story, in one line each, and what is read off objects afterwards.
 */
import type { Duration } from '../../lib/domain/time.ts';
import { days, minutes, subtract } from '../../lib/domain/time.ts';
import { forbidden } from '../../lib/simulator/api-status.ts';
import type { Fleet, FleetApp } from '../../lib/simulator/fleet.ts';
import { kindOf } from '../../lib/simulator/kinds.ts';
import type { ClaimObject, KubeObject, NodeObject, PodObject, Strings } from '../../lib/simulator/kube-object.ts';
import { createdAt, stamp, withCondition } from '../../lib/simulator/kube-object.ts';
import { disruptedTaint } from '../../lib/simulator/node-claims.ts';
import type { World } from '../../lib/simulator/world.ts';
import type { Stage } from './scenario.ts';
import { annotates, inFlight, withSurge } from './scenario.ts';
import { oneDueNode, settings, stateOf } from './story.ts';

type Scene = Pick<Stage, 'world'>;

/** The fleet of one due node with other ages, Pods or surge settings. */
export const fleetWith = (over: {
  ages?: readonly Duration[];
  apps?: readonly FleetApp[];
  surge?: Readonly<Record<string, unknown>>;
}): Fleet => ({
  ...oneDueNode,
  pools: oneDueNode.pools.map((pool) => {
    const ages = over.ages ?? [days(10), days(2)];
    return { ...pool, ages, nodes: ages.length };
  }),
  ...(over.apps ? { apps: over.apps } : {}),
  ...(over.surge ? { policy: withSurge(oneDueNode.policy, over.surge) } : {}),
});

/** An app of the pool with one budget, its Pods of one CPU request each. */
export const app = (
  name: string,
  replicas: number,
  cpu: string,
  budget: FleetApp['budget'] = { maxUnavailable: 1 },
): FleetApp => ({
  name,
  pool: 'api',
  replicas,
  requests: { cpu, memory: '1Gi' },
  budget,
});

export const freezes = (stage: Stage, kind: 'NodePool' | 'RotationPolicy', name: string, until: string | null): void =>
  annotates(stage, kind, name, { 'noderotation.io/freeze': until });

/** An operator keeps the pool's youngest node to himself; the rotation of another must leave that as it is. */
export function optsOutYoungest(stage: Stage): void {
  const [youngest] = stage.world.store.all<NodeObject>('Node').toSorted((a, b) => createdAt(b) - createdAt(a));
  annotates(stage, 'Node', youngest?.metadata.name ?? '', { 'karpenter.sh/do-not-disrupt': 'true' });
}

/** Gives the pool's oldest claim another terminationGracePeriod; undefined leaves its drain without a bound. */
export function graceOfOldest({ world }: Scene, grace: string | undefined): void {
  const [oldest] = world.store.all<ClaimObject>('NodeClaim').toSorted((a, b) => createdAt(a) - createdAt(b));
  if (!oldest) throw new Error('there is no NodeClaim');
  world.store.update(oldest, { spec: { ...oldest.spec, terminationGracePeriod: grace } });
}

/** The drain of the rotation in flight becomes an hour older: for stories that are told too often to wait it out. */
export function drainsForAnHour(stage: Stage): void {
  const claim = claimObject(stage, inFlight(stage).claim);
  if (!claim) throw new Error('there is no drain');
  stage.world.store.update(claim, { metadata: { deletionTimestamp: stamp(subtract(stage.world.now, minutes(62))) } });
}

/** Karpenter's own disruption takes a node: first the taint and the condition, the delete two seconds later. */
export function karpenterChooses({ world }: Scene, claimName: string, reason: string): void {
  const claim = world.store.get('NodeClaim', claimName) as ClaimObject;
  const node = world.store.get('Node', claim.status.nodeName ?? '') as NodeObject;
  world.store.update(node, { spec: { ...node.spec, taints: [...(node.spec.taints ?? []), disruptedTaint] } });
  world.store.update(claim, {
    status: { conditions: withCondition(claim.status.conditions, world.now, 'DisruptionReason', 'True', reason) },
  });
}

/** A webhook that refuses every delete of a NodeClaim while it holds. */
export function guardsDeletes({ world }: Scene, words: string, holds: () => boolean): void {
  world.store.admission = (verb, object) =>
    verb === 'delete' && object.kind === 'NodeClaim' && holds()
      ? forbidden(kindOf('NodeClaim'), object.metadata.name, words)
      : undefined;
}

/** An operator's `kubectl cordon` or `uncordon`. */
export function cordons({ world }: Scene, node: string, unschedulable: boolean): void {
  const patched = world.store.patch({ kind: 'Node', name: node }, { spec: { unschedulable: unschedulable || null } });
  if (!patched.ok) throw new Error(patched.status.message);
}

export function scales({ world }: Scene, name: string, replicas: number): void {
  const patched = world.store.patch({ kind: 'Deployment', name, namespace: 'shop' }, { spec: { replicas } });
  if (!patched.ok) throw new Error(patched.status.message);
}

/** The machine is gone from one moment to the next: Pods, Node and NodeClaim with it. */
export function machineDies({ world }: Scene, claimName: string): void {
  const claim = world.store.get('NodeClaim', claimName) as ClaimObject;
  const node = claim.status.nodeName ?? '';
  for (const pod of world.store.podsOn(node)) world.store.remove(pod);
  const object = world.store.get('Node', node);
  if (object) world.store.remove(object);
  world.store.remove(claim);
}

export const claimObject = ({ world }: Scene, name: string | undefined): ClaimObject | undefined =>
  world.store.get('NodeClaim', name ?? '') as ClaimObject | undefined;

export const nodeObject = ({ world }: Scene, name: string | undefined): NodeObject | undefined =>
  world.store.get('Node', name ?? '') as NodeObject | undefined;

/** Without the hash of the pool's template that Karpenter puts on all that it makes. */
export const annotationsOf = (object: KubeObject | undefined): Strings =>
  Object.fromEntries(
    Object.entries(object?.metadata.annotations ?? {}).filter(([key]) => !key.startsWith('karpenter.sh/nodepool-hash')),
  );

export const isCordoned = (node: NodeObject | undefined): boolean => node?.spec.unschedulable === true;

/** The placeholder of the rotation in flight. */
export const placeholderIn = (stage: Scene, pool = 'api'): PodObject | undefined =>
  stage.world.store.get(
    'Pod',
    `noderotation-surge-${stateOf(stage.world, pool)['active-rotation']}`,
    settings.namespace,
  ) as PodObject | undefined;

/** The node that the rotation in flight has seen its placeholder on. */
export const hostOf = (stage: Stage, pool = 'api'): string =>
  claimObject(stage, inFlight(stage, pool).surgeClaim)?.status.nodeName ?? '';

/** The apps whose Pods are on the node, sorted. */
export const appPodsOn = (world: World, node: string): readonly string[] =>
  world.store
    .podsOn(node)
    .filter((pod) => pod.metadata.namespace === 'shop')
    .map((pod) => pod.metadata.labels?.['app'] ?? '')
    .sort();
