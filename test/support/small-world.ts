/**
 * A small simulated cluster for tests: one pool, whole-second delays without chance, and Pods by name.
 */

import type { Instant } from '../../lib/domain/time.ts';
import { add } from '../../lib/domain/time.ts';
import type {
  ClaimObject,
  KubeObject,
  Manifest,
  NodeObject,
  PodObject,
  PodSpec,
  Strings,
} from '../../lib/simulator/kube-object.ts';
import { stopAnnotation } from '../../lib/simulator/workloads.ts';
import type { WorldOptions } from '../../lib/simulator/world.ts';
import { World } from '../../lib/simulator/world.ts';
import type { Delays } from '../../lib/simulator/world-state.ts';
import { at, lasting } from './builders.ts';

const exactly = (seconds: number) => ({ min: seconds, max: seconds });

/** Launched after 2 s, registered after 30 s, Ready 5 s later; Pods start and stop in 5 s. */
export const plainDelays: Delays = {
  launch: exactly(2),
  registration: exactly(30),
  initialization: exactly(5),
  podStart: exactly(5),
  podStop: exactly(5),
  instanceStop: exactly(5),
};

export const start: Instant = at('2026-06-01T00:00:00Z');

/** Namespaces `shop` and `node-rotation`, the placeholder's priority class, and nothing else. */
export function emptyWorld(options: Partial<WorldOptions> = {}): World {
  const world = new World({ startsAt: start, delays: plainDelays, ...options });
  for (const name of ['default', 'shop', 'node-rotation']) create(world, { kind: 'Namespace', metadata: { name } });
  const policy = { preemptionPolicy: 'Never' };
  create(world, { kind: 'PriorityClass', metadata: { name: 'node-rotation-placeholder' }, value: -10, ...policy });
  return world;
}

export function create(world: World, manifest: Manifest): KubeObject {
  const answer = world.store.create(manifest);
  if (!answer.ok) throw new Error(answer.status.message);
  return answer.value;
}

export interface PoolShape {
  readonly name?: string;
  readonly limits?: Strings;
  readonly expireAfter?: string;
  readonly terminationGracePeriod?: string;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  readonly consolidateAfter?: string;
  readonly consolidationPolicy?: string;
  readonly budgets?: readonly object[];
  readonly replicas?: number;
  readonly capacityTypes?: readonly string[];
  readonly instanceTypes?: readonly string[];
}

/** A ready pool of m7g.xlarge (4 CPU, 3920m allocatable). */
export function addPool(world: World, shape: PoolShape = {}): void {
  const { name = 'api', expireAfter = '336h', terminationGracePeriod = '1h', instanceTypes = ['m7g.xlarge'] } = shape;
  create(world, {
    kind: 'NodePool',
    metadata: { name },
    spec: {
      template: {
        metadata: { labels: { workload: name } },
        spec: {
          expireAfter,
          terminationGracePeriod,
          ...(shape.taints ? { taints: shape.taints } : {}),
          requirements: [
            { key: 'node.kubernetes.io/instance-type', operator: 'In', values: instanceTypes },
            { key: 'karpenter.sh/capacity-type', operator: 'In', values: shape.capacityTypes ?? ['on-demand'] },
          ],
        },
      },
      disruption: {
        consolidateAfter: shape.consolidateAfter ?? 'Never',
        consolidationPolicy: shape.consolidationPolicy ?? 'WhenEmpty',
        ...(shape.budgets ? { budgets: shape.budgets } : {}),
      },
      ...(shape.replicas === undefined ? {} : { replicas: shape.replicas }),
      ...(shape.limits ? { limits: shape.limits } : {}),
    },
  });
}

/** Lets time pass. */
export const pass = (world: World, text: string): void => world.advance(add(world.now, lasting(text)));

export interface PodShape {
  readonly cpu?: string;
  readonly spec?: PodSpec;
  readonly labels?: Strings;
  readonly annotations?: Strings;
  readonly namespace?: string;
}

export function addPod(world: World, name: string, shape: PodShape = {}): PodObject {
  const { cpu = '1', spec = {}, labels = {}, annotations = {}, namespace = 'shop' } = shape;
  return create(world, {
    kind: 'Pod',
    metadata: { name, namespace, labels, annotations },
    spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }], ...spec },
  }) as PodObject;
}

export function addDeployment(world: World, name: string, replicas: number, cpu = '1', spec: PodSpec = {}): void {
  const labels = { app: name };
  const containers = [{ name: 'main', resources: { requests: { cpu } } }];
  create(world, {
    kind: 'Deployment',
    metadata: { name, namespace: 'shop' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers, ...spec } },
    },
  });
}

export interface StatefulShape {
  readonly cpu?: string;
  /** Whole seconds that each Pod takes to stop; its own grace is longer. */
  readonly stopSeconds?: number;
  readonly grace?: number;
}

export function addStatefulSet(world: World, name: string, replicas: number, shape: StatefulShape = {}): void {
  const { cpu = '1', stopSeconds = 5, grace = 300 } = shape;
  const labels = { app: name };
  create(world, {
    kind: 'StatefulSet',
    metadata: { name, namespace: 'shop' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations: { [stopAnnotation]: String(stopSeconds) } },
        spec: {
          containers: [{ name: 'main', resources: { requests: { cpu } } }],
          terminationGracePeriodSeconds: grace,
        },
      },
    },
  });
}

export function addBudget(world: World, app: string, spec: Readonly<Record<string, number | string>>): void {
  create(world, {
    kind: 'PodDisruptionBudget',
    metadata: { name: app, namespace: 'shop' },
    spec: { selector: { matchLabels: { app } }, ...spec },
  });
}

/** A placeholder as the product makes it, as far as scheduling is concerned. */
export const placeholderOf = (world: World, pool: string, cpu: string): PodObject =>
  addPod(world, 'noderotation-surge', {
    cpu,
    namespace: 'node-rotation',
    annotations: { 'karpenter.sh/do-not-disrupt': 'true' },
    spec: {
      priorityClassName: 'node-rotation-placeholder',
      terminationGracePeriodSeconds: 0,
      nodeSelector: { 'karpenter.sh/nodepool': pool },
    },
  });

export const pod = (world: World, name: string, namespace = 'shop'): PodObject | undefined =>
  world.store.get('Pod', name, namespace) as PodObject | undefined;
export const claims = (world: World): readonly ClaimObject[] => world.store.all<ClaimObject>('NodeClaim');
export const nodes = (world: World): readonly NodeObject[] => world.store.all<NodeObject>('Node');
export const podNames = (world: World, node: string): readonly string[] =>
  world.store.podsOn(node).map((object) => object.metadata.name);

/** The value, which the test has made sure is there. */
export function only<T>(values: readonly T[]): T {
  if (values.length !== 1) throw new Error(`expected one, found ${values.length}`);
  return values[0] as T;
}
