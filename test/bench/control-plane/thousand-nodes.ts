/**
 * Ticks over a thousand nodes with 30 Pods each that a real API server serves from a real etcd, beside a bare client that
 * reads the same lists.
 *
 * Nothing but etcd and the API server runs: the objects stay as they were made, and no controller's work is in the figures.
 */

import { instant } from '../../../lib/domain/time.ts';
import { type ControlPlane, startControlPlane } from '../../e2e/harness/control-plane.ts';
import type { Json } from '../eks-objects.ts';
import { FixtureCluster } from '../fixture-cluster.ts';
import { run } from '../processes.ts';
import type { Repeated } from '../repeated-ticks.ts';
import { countAt, grown, ownFlow, type ServerCount } from './api-server-metrics.ts';
import type { RealFloorTask } from './real-floor-process.ts';
import type { RealTickTask } from './real-tick-process.ts';

export const thousand = { nodes: 1_000, podsPerNode: 30, moment: 'idle' } as const;

export interface ThousandFigures {
  readonly product: Repeated;
  readonly floor: Repeated;
  /** What the server said of one tick of the product. */
  readonly server: ServerCount;
}

export async function measureThousand(ticks: number, say: (line: string) => void): Promise<ThousandFigures> {
  const plane = await startControlPlane({ karpenter: false, tell: say, fairness: true });
  try {
    await plane.api.apply(ownFlow);
    await fill(plane, say);
    const { kubeconfig: file, accesses } = plane;
    const context = 'node-rotation';
    const tick = (times: number): Promise<Repeated> =>
      run<Repeated>('control-plane/real-tick-process.ts', { file, context, ticks: times } satisfies RealTickTask);
    await tick(3);
    const before = await countAt(plane.api);
    const product = await tick(ticks);
    const all = grown(before, await countAt(plane.api));
    const floor = await run<Repeated>('control-plane/real-floor-process.ts', {
      access: accesses['node-rotation'],
      ticks,
    } satisfies RealFloorTask);
    const each = (name: keyof ServerCount): number => all[name] / ticks;
    const server = {
      requests: each('requests'),
      busy: each('busy'),
      listBytes: each('listBytes'),
      poolLists: each('poolLists'),
      cpu: each('cpu'),
    };
    return { product, floor, server };
  } finally {
    await plane.stop();
  }
}

async function fill({ api }: ControlPlane, say: (line: string) => void): Promise<void> {
  const cluster = new FixtureCluster(thousand, instant(Date.now()));
  const make = (path: string, object: Json): Promise<string> =>
    api.send('POST', path, { contentType: 'application/json', body: JSON.stringify(asNew(object)) });
  const karpenter = '/apis/karpenter.sh/v1';
  for (const pool of cluster.nodePools) {
    const made = await make(`${karpenter}/nodepools`, pool);
    await putStatus(api, `${karpenter}/nodepools`, made, pool);
  }
  for (const policy of cluster.policies) await make('/apis/noderotation.io/v1alpha1/rotationpolicies', policy);
  say(`Making ${thousand.nodes} nodes with ${thousand.podsPerNode} Pods each; that takes some minutes.`);
  await inParallel(cluster.nodeClaims(), async (claim) => {
    const made = await make(`${karpenter}/nodeclaims`, claim);
    await putStatus(api, `${karpenter}/nodeclaims`, made, claim);
  });
  await inParallel(cluster.nodeMetadata(), async (metadata) => {
    const { name } = metadata as { readonly name: string };
    await make('/api/v1/nodes', cluster.node(name) as Json);
    for (const pod of cluster.podsOn(name))
      await make('/api/v1/namespaces/default/pods', { ...pod, metadata: inDefault(pod) });
  });
}

const inDefault = (pod: Json): object => ({ ...(pod['metadata'] as object), namespace: 'default' });

async function putStatus(api: ControlPlane['api'], path: string, made: string, { status }: Json): Promise<void> {
  const object = JSON.parse(made) as { readonly metadata: { readonly name: string } };
  const body = JSON.stringify({ ...object, status });
  await api.send('PUT', `${path}/${object.metadata.name}/status`, { contentType: 'application/json', body });
}

/** Without what the server gives an object itself. */
function asNew(object: Json): Json {
  const {
    uid: _uid,
    resourceVersion: _version,
    creationTimestamp: _created,
    generation: _generation,
    managedFields: _fields,
    ownerReferences: _owners,
    ...metadata
  } = object['metadata'] as Readonly<Record<string, unknown>>;
  return { ...object, metadata };
}

async function inParallel<T>(things: Iterable<T>, work: (thing: T) => Promise<void>): Promise<void> {
  const rest = things[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = rest.next(); !next.done; next = rest.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: 24 }, worker));
}
