/**
 * How a test looks at the cluster: by what the API server and Karpenter's own counters say.
 */
import { anchorKeys, claimKeys, keyPrefix, nodeKeys } from '../../../lib/domain/rotation/annotation-keys.ts';
import type { ControlPlane } from '../harness/control-plane.ts';
import { eventually } from './eventually.ts';

interface Metadata {
  readonly name: string;
  readonly uid?: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
}

interface Condition {
  readonly type: string;
  readonly status: string;
}

export interface SeenNode {
  readonly metadata: Metadata;
  readonly spec: { readonly unschedulable?: boolean };
  readonly status: { readonly conditions?: readonly Condition[] };
}

export interface SeenPod {
  readonly metadata: Metadata;
  readonly spec: { readonly nodeName?: string };
  readonly status: { readonly phase?: string };
}

interface SeenEvent {
  readonly eventTime: string;
  readonly reportingController: string;
  readonly reason: string;
  readonly regarding: { readonly name: string };
}

export interface Seen {
  readonly metadata: Metadata;
  readonly status?: {
    readonly conditions?: readonly Condition[];
    /** Of a NodeClaim. */
    readonly nodeName?: string;
    /** Of a NodePool: what its nodes have together. */
    readonly resources?: Readonly<Record<string, string>>;
  };
}

const inPool = (pool: string): string => `labelSelector=${encodeURIComponent(`karpenter.sh/nodepool=${pool}`)}`;

export class Observer {
  readonly #plane: ControlPlane;

  constructor(plane: ControlPlane) {
    this.#plane = plane;
  }

  nodesOf = (pool: string): Promise<readonly SeenNode[]> => this.#plane.api.list(`/api/v1/nodes?${inPool(pool)}`);

  claimsOf = (pool: string): Promise<readonly Seen[]> =>
    this.#plane.api.list(`/apis/karpenter.sh/v1/nodeclaims?${inPool(pool)}`);

  pool = (name: string): Promise<Seen> => this.#plane.api.get(`/apis/karpenter.sh/v1/nodepools/${name}`);

  podsOf = (app: string): Promise<readonly SeenPod[]> =>
    this.#plane.api.list(`/api/v1/namespaces/default/pods?labelSelector=${encodeURIComponent(`app=${app}`)}`);

  placeholdersOf = (pool: string): Promise<readonly SeenPod[]> =>
    this.#plane.api.list(`/api/v1/namespaces/node-rotation/pods?${inPool(pool)}`);

  /** Reasons of our Events about the pool, its NodeClaims and Nodes, in the order in which they came. */
  async eventsOf(pool: string): Promise<readonly string[]> {
    const events = await this.#plane.api.list<SeenEvent>('/apis/events.k8s.io/v1/namespaces/default/events');
    return events
      .filter(({ reportingController }) => reportingController === 'noderotation.io/controller')
      .filter(({ regarding: { name } }) => name === pool || name.startsWith(`${pool}-`))
      .sort((a, b) => (a.eventTime < b.eventTime ? -1 : 1))
      .map(({ reason }) => reason);
  }

  poolReady(name: string): Promise<Seen> {
    return eventually(`NodePool ${name} to be ready`, 30_000, async () => {
      const pool = await this.pool(name);
      return holds(pool.status?.conditions, 'Ready') ? pool : undefined;
    });
  }

  /** All Pods of the app run, in that number. */
  runs(app: string, count: number, limit = 60_000): Promise<readonly SeenPod[]> {
    return eventually(`${count} Pods of ${app} to run`, limit, async () => {
      const pods = await this.podsOf(app);
      return pods.length === count && pods.every(({ status }) => status.phase === 'Running') ? pods : undefined;
    });
  }

  /** NodeClaims that Karpenter made for the pool since it started, by its own count. */
  async claimsCreated(pool: string): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.#plane.ports.karpenterMetrics}/metrics`);
    const lines = (await response.text()).split('\n');
    return lines
      .filter((line) => line.startsWith('karpenter_nodeclaims_created_total{') && line.includes(`nodepool="${pool}"`))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  /** What is still marked by us: every object but the memory that a NodePool keeps, and every placeholder. */
  async marksOf(pool: string): Promise<string[]> {
    const [claims, nodes, placeholders, { metadata }] = await Promise.all([
      this.claimsOf(pool),
      this.nodesOf(pool),
      this.placeholdersOf(pool),
      this.pool(pool),
    ]);
    return [
      ...claims.flatMap((claim) => keysOf(claim.metadata, Object.values(claimKeys))),
      ...nodes.flatMap((node) => keysOf(node.metadata, Object.values(nodeKeys))),
      ...nodes.filter(({ spec }) => spec.unschedulable).map((node) => `${node.metadata.name} is cordoned`),
      ...placeholders.map((pod) => `placeholder ${pod.metadata.name}`),
      ...keysOf(metadata, Object.values(anchorKeys)),
    ];
  }

  /** Keys of ours on the NodePool, whatever they are. */
  async memoryOf(pool: string): Promise<string[]> {
    const { metadata } = await this.pool(pool);
    return Object.keys(metadata.annotations ?? {})
      .filter((key) => key.startsWith(keyPrefix))
      .sort();
  }
}

const keysOf = ({ name, annotations = {} }: Metadata, keys: readonly string[]): string[] =>
  Object.keys(annotations)
    .filter((key) => keys.includes(key))
    .map((key) => `${name} has ${key}`);

const holds = (conditions: readonly Condition[] | undefined, type: string): boolean =>
  conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
