/**
 * What operators, GitOps, Karpenter and the cloud do to a cluster in a case, each in one stroke.
 *
 * A move that tampers with what is ours says so to the oracle; none of them knows what the product is doing.
 */
import type { RotateRequest } from '../../lib/domain/cluster/snapshot.ts';
import { add, formatInstant, minutes } from '../../lib/domain/time.ts';
import type { ClaimObject, KubeObject, NodeObject, WorkloadObject } from '../../lib/simulator/kube-object.ts';
import { withCondition } from '../../lib/simulator/kube-object.ts';
import { disruptedTaint } from '../../lib/simulator/node-claims.ts';
import { interruptSpot, setNodeReady, takeInstance } from '../../lib/simulator/node-health.ts';
import type { World } from '../../lib/simulator/world.ts';
import { workloadNamespace } from './build-case-world.ts';
import { brokenLabel } from './policy-terms.ts';
import type { SafetyOracle } from './safety.ts';
import { anchorOf, isPlaceholder, key, lookAt, named, poolOfClaim } from './seen-cluster.ts';
import type { Move, Phase, Which } from './sim-case.ts';

export interface Scene {
  readonly world: World;
  readonly oracle: SafetyOracle;
  retired: boolean;
  /** For the next tick. */
  request: RotateRequest | undefined;
  /** Undone later: what to do, and when. */
  readonly later: { readonly at: number; readonly make: () => void }[];
}

type Deeds = { readonly [K in Move['kind']]: (scene: Scene, move: Named<K>) => void };
/** The member of the union that K is a kind of; several kinds may share one shape. */
type Named<K extends Move['kind']> = Move extends infer M
  ? M extends { kind: infer N }
    ? K extends N
      ? M
      : never
    : never
  : never;

export const make = (scene: Scene, move: Move): void =>
  (deeds[move.kind] as (scene: Scene, move: Move) => void)(scene, move);

/** Whether some pool is in the phase. */
export const isIn = (scene: Scene, phase: Phase): boolean =>
  lookAt(scene.world).pools.some((pool) => {
    const anchor = anchorOf(pool);
    if (phase === 'none') return anchor === undefined;
    if (phase === 'draining') return anchor?.state === 'draining';
    if (phase === 'hostSeen') return anchor?.surgeClaim !== undefined && anchor.state === undefined;
    return anchor !== undefined && anchor.state === undefined;
  });

const nth = <T>(list: readonly T[], index: number): T | undefined => list[index % Math.max(1, list.length)];
const poolAt = ({ world }: Scene, index: number): KubeObject | undefined => nth(world.store.all('NodePool'), index);
const policyAt = ({ world }: Scene, index: number): KubeObject | undefined =>
  nth(world.store.all('RotationPolicy'), index);

/** Of a rotation in flight, in the pool meant or else in any; else the n-th living claim of that pool. */
function claimAt(scene: Scene, pool: number, which: Which): ClaimObject | undefined {
  const seen = lookAt(scene.world);
  const meant = poolAt(scene, pool);
  if (typeof which === 'string') {
    const anchor = anchorOf(meant) ?? seen.pools.map(anchorOf).find((each) => each !== undefined);
    return named(seen.claims, which === 'candidate' ? anchor?.claim : anchor?.surgeClaim);
  }
  return nth(
    seen.claims.filter((claim) => poolOfClaim(claim) === meant?.metadata.name),
    which,
  );
}

const nodeAt = (scene: Scene, pool: number, which: Which): NodeObject | undefined =>
  named(lookAt(scene.world).nodes, claimAt(scene, pool, which)?.status.nodeName);

const annotate = (
  { world }: Scene,
  object: KubeObject | undefined,
  annotations: Record<string, string | null>,
): void => {
  if (object) world.store.patch({ kind: object.kind, name: object.metadata.name }, { metadata: { annotations } });
};

const freeze = (scene: Scene, object: KubeObject | undefined, length: number | 'malformed' | 'never'): void => {
  const until = length === 'never' ? '2099-01-01T00:00:00Z' : 'until friday';
  annotate(scene, object, {
    [key('freeze')]: typeof length === 'number' ? formatInstant(add(scene.world.now, minutes(length))) : until,
  });
};

const cordon = (scene: Scene, node: NodeObject | undefined, unschedulable: true | null): void => {
  if (node) scene.world.store.patch({ kind: 'Node', name: node.metadata.name }, { spec: { unschedulable } });
};

const spoil = (scene: Scene, move: Extract<Move, { kind: 'clearKey' | 'garbleKey' }>): void => {
  const object =
    move.on === 'NodePool'
      ? poolAt(scene, move.pool)
      : move.on === 'Node'
        ? nodeAt(scene, move.pool, move.node)
        : claimAt(scene, move.pool, move.node);
  const ours = Object.keys(object?.metadata.annotations ?? {}).filter(
    (annotation) => annotation.startsWith(key('')) && annotation !== key('freeze'),
  );
  const annotation = nth(ours.toSorted(), move.nth);
  if (annotation === undefined) return;
  tamper(scene, object);
  annotate(scene, object, { [annotation]: move.kind === 'clearKey' ? null : move.text });
};

const tamper = ({ oracle }: Scene, object: KubeObject | undefined): void => {
  if (!object) return;
  oracle.tamper(object.kind === 'NodePool' ? object.metadata.name : poolOfClaim(object));
};

const deletePlaceholders = (scene: Scene, pool: number): void => {
  const { world } = scene;
  const meant = poolAt(scene, pool)?.metadata.name;
  const anchor = anchorOf(poolAt(scene, pool))?.claim;
  for (const pod of lookAt(world).pods) {
    if (isPlaceholder(pod) && (anchor === undefined || isPlaceholder(pod, anchor) || meant === undefined))
      world.store.terminate(pod, 0);
  }
};

const deletes = ({ world }: Scene, object: KubeObject | undefined): void => {
  if (object) world.store.delete({ kind: object.kind, name: object.metadata.name });
};

const deeds: Deeds = {
  freezePool: (scene, move) => freeze(scene, poolAt(scene, move.of), move.minutes),
  freezePolicy: (scene, move) => freeze(scene, policyAt(scene, move.of), move.minutes),
  thawPool: (scene, { of }) => annotate(scene, poolAt(scene, of), { [key('freeze')]: null }),
  thawPolicy: (scene, { of }) => annotate(scene, policyAt(scene, of), { [key('freeze')]: null }),
  editPolicy(scene, { of, spec, broken }) {
    const policy = policyAt(scene, of);
    if (!policy) return;
    // A selector that cannot be read is not put right by another field.
    const labels =
      broken === undefined || policy.metadata.labels?.[brokenLabel] === 'selector'
        ? {}
        : { labels: { [brokenLabel]: broken === 'no' ? null : broken } };
    scene.world.store.patch({ kind: 'RotationPolicy', name: policy.metadata.name }, { metadata: labels, spec });
  },
  deletePolicy: (scene, { of }) => deletes(scene, policyAt(scene, of)),
  createPolicy: ({ world }, { manifest }) => void world.store.create(manifest),
  optOut(scene, { pool, node }) {
    const object = nodeAt(scene, pool, node);
    annotate(scene, object, { 'karpenter.sh/do-not-disrupt': 'true', [key('do-not-disrupt-owned')]: null });
  },
  optIn(scene, { pool, node }) {
    const object = nodeAt(scene, pool, node);
    tamper(scene, object);
    annotate(scene, object, { 'karpenter.sh/do-not-disrupt': null });
  },
  otherMark: (scene, { pool, node, value }) =>
    annotate(scene, nodeAt(scene, pool, node), { 'karpenter.sh/do-not-disrupt': value }),
  cordon: (scene, { pool, node }) => cordon(scene, nodeAt(scene, pool, node), true),
  uncordon: (scene, { pool, node }) => cordon(scene, nodeAt(scene, pool, node), null),
  revertPool(scene, { of }) {
    const pool = poolAt(scene, of);
    tamper(scene, pool);
    const gone = Object.keys(pool?.metadata.annotations ?? {}).map((annotation) => [annotation, null] as const);
    annotate(scene, pool, Object.fromEntries(gone));
  },
  clearKey: spoil,
  garbleKey: spoil,
  requestRotation(scene, { claim, ignoreWindow }) {
    const object = nth(lookAt(scene.world).claims, claim);
    if (!object) return;
    const request = {
      nodeClaim: object.metadata.name,
      ignoreWindow,
      reason: 'asked for in a case',
      requestedAt: scene.world.now,
    };
    scene.request = request;
  },
  deletePlaceholder: (scene, { pool }) => deletePlaceholders(scene, pool),
  preempt: (scene, { pool }) => deletePlaceholders(scene, pool),
  deleteClaim: (scene, { pool, node }) => deletes(scene, claimAt(scene, pool, node)),
  deleteNode: (scene, { pool, node }) => deletes(scene, nodeAt(scene, pool, node)),
  editTemplate(scene, { of, spec }) {
    const pool = poolAt(scene, of);
    if (pool) scene.world.store.patch({ kind: 'NodePool', name: pool.metadata.name }, { spec: { template: { spec } } });
  },
  setLimits(scene, { of, limits }) {
    const pool = poolAt(scene, of);
    if (pool) scene.world.store.patch({ kind: 'NodePool', name: pool.metadata.name }, { spec: { limits } });
  },
  setReplicas(scene, { of, replicas }) {
    const pool = poolAt(scene, of);
    if (pool) scene.world.store.patch({ kind: 'NodePool', name: pool.metadata.name }, { spec: { replicas } });
  },
  deletePool(scene, { of, foreground }) {
    const pool = poolAt(scene, of);
    if (!pool) return;
    scene.oracle.tamper(pool.metadata.name);
    if (foreground) scene.world.store.update(pool, { metadata: { finalizers: ['foregroundDeletion'] } });
    deletes(scene, pool);
  },
  retire(scene) {
    scene.retired = true;
  },
  scale({ world }, { app, replicas }) {
    const set = nth(
      [...world.store.all<WorkloadObject>('Deployment'), ...world.store.all<WorkloadObject>('StatefulSet')],
      app,
    );
    if (set)
      world.store.patch(
        { kind: set.kind, name: set.metadata.name, namespace: workloadNamespace },
        { spec: { replicas } },
      );
  },
  chosen(scene, { pool, node, reason }) {
    const { store, now } = scene.world;
    const claim = claimAt(scene, pool, node);
    const object = nodeAt(scene, pool, node);
    // Karpenter leaves a protected node alone, and one that it has chosen already.
    if (!claim || !object || object.metadata.annotations?.['karpenter.sh/do-not-disrupt'] === 'true') return;
    store.update(object, { spec: { ...object.spec, taints: [...(object.spec.taints ?? []), disruptedTaint] } });
    store.update(claim, {
      status: { conditions: withCondition(claim.status.conditions, now, 'DisruptionReason', 'True', reason) },
    });
  },
  dies(scene, { pool, node }) {
    const { store } = scene.world;
    const claim = claimAt(scene, pool, node);
    if (!claim) return;
    for (const pod of store.podsOn(claim.status.nodeName ?? '-')) store.remove(pod);
    const object = nodeAt(scene, pool, node);
    if (object) store.remove(object);
    store.remove(claim);
  },
  loseMachine(scene, { pool, node }) {
    const object = nodeAt(scene, pool, node);
    if (object) takeInstance(scene.world, object.metadata.name);
  },
  interruptSpot(scene, { pool, node }) {
    const object = nodeAt(scene, pool, node);
    if (object?.metadata.labels?.['karpenter.sh/capacity-type'] === 'spot')
      interruptSpot(scene.world, object.metadata.name);
  },
  newImage({ world }) {
    world.cloud.image = `ami-${String(world.now / 1000)}`;
  },
  notReady(scene, move) {
    const node = nodeAt(scene, move.pool, move.node);
    if (!node) return;
    const name = node.metadata.name;
    setNodeReady(scene.world, name, false);
    scene.later.push({
      at: add(scene.world.now, minutes(move.minutes)),
      make: () => setNodeReady(scene.world, name, true),
    });
  },
};
