/**
 * A pool of twelve nodes on a real control plane, rotated node by node by `node-rotation run`, as the API server and a
 * watcher see it.
 */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { surgeForLabel } from '../../../lib/domain/rotation/annotation-keys.ts';
import { type ControlPlane, startControlPlane } from '../../e2e/harness/control-plane.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { nodeClass, nodePool, policy, workload } from '../../e2e/support/fleet.ts';
import { startProgram } from '../../support/program.ts';
import { countAt, grown, ownFlow, type ServerCount } from './api-server-metrics.ts';
import { watch } from './watch.ts';

export const nodes = 12;
const pool = 'measured';
const window = 40_000;
const minutes = 60_000;

/** Due two minutes after its creation: A = 8m − (2 · 1m + 1m + 1m + 2m). */
const lifetime = { expireAfter: '8m', terminationGracePeriod: '1m' };
const rotating = { surge: { readyTimeout: '1m', cooldownAfter: '0s' } };

export interface RotationTimes {
  /** Milliseconds from a ready surge node with its placeholder running to the delete of the old NodeClaim. */
  readonly readyToDelete: number;
  /** Milliseconds from the surge Node's appearance to our mark on it. */
  readonly unprotected: number;
}

export interface RotationFigures {
  /** While nothing is to do; by tick. */
  readonly idle: ServerCount & { readonly ticks: number };
  /** Processor time of the server over as long a time, nobody ticking: seconds. */
  readonly quietCpu: number;
  /** From the first start to the last end. */
  readonly busy: ServerCount & { readonly ticks: number };
  readonly rotations: readonly RotationTimes[];
}

/** @throws Error when the rotations do not come to their end in time */
export async function measureRotations(say: (line: string) => void): Promise<RotationFigures> {
  const plane = await startControlPlane({ tell: say, fairness: true });
  try {
    await plane.api.apply(ownFlow);
    await plane.api.apply(nodeClass);
    await plane.api.apply(nodePool({ name: pool, ...lifetime }));
    await plane.api.apply(workload({ name: 'app', pool, replicas: 2 * nodes, cpu: '1500m' }));
    await plane.api.apply(policy(pool, { ...rotating, mode: 'Observe' }));
    const old = await eventually(`${nodes} ready nodes`, 2 * minutes, async () => {
      const claims = await plane.api.list<Claim>('/apis/karpenter.sh/v1/nodeclaims');
      return claims.length === nodes && claims.every(isReady) ? claims : undefined;
    });
    const quietCpu = (await overWindow(plane)).cpu;
    return { quietCpu, ...(await ticked(plane, new Set(old.map(({ metadata: { name } }) => name)), say)) };
  } finally {
    await plane.stop();
  }
}

async function ticked(
  plane: ControlPlane,
  old: ReadonlySet<string>,
  say: (line: string) => void,
): Promise<Omit<RotationFigures, 'quietCpu'>> {
  const access = ['--kubeconfig', plane.kubeconfig, '--context', 'node-rotation'];
  const data = join(plane.folder, 'audit');
  const program = startProgram(['run', ...access, '--interval', '2s', '--data', data], { limit: 15 * minutes });
  const watcher = new RotationWatcher(plane, old);
  try {
    await program.says(new RegExp(` {2}${pool}: `));
    await wait(10_000);
    const idle = await overWindow(plane);
    say(`${nodes} nodes are there, an idle tick is measured; now they are rotated.`);
    await plane.api.apply(policy(pool, rotating));
    await eventually('the first rotation to begin', 3 * minutes, async () => (watcher.begun > 0 ? true : undefined));
    const before = await countAt(plane.api);
    await eventually(`${nodes} rotations`, 8 * minutes, async () => (watcher.ended >= nodes ? true : undefined));
    const busy = grown(before, await countAt(plane.api));
    return {
      idle: { ...idle, ticks: idle.poolLists },
      busy: { ...busy, ticks: busy.poolLists },
      rotations: watcher.times(),
    };
  } finally {
    watcher.stop();
    program.interrupt();
    await program.ended;
  }
}

async function overWindow({ api }: ControlPlane): Promise<ServerCount> {
  const before = await countAt(api);
  await wait(window);
  return grown(before, await countAt(api));
}

interface Seen {
  readonly metadata: {
    readonly name: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly nodeName?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}
type Claim = Seen;

const isReady = ({ status }: Seen): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;

interface Noted {
  appeared?: number;
  ready?: number;
  marked?: number;
}

/** Hears of everything at the time at which it happens, whatever the program that ticks believes. */
class RotationWatcher {
  readonly #nodes = new Map<string, Noted>();
  /** By old NodeClaim: where its placeholder runs, and since when. */
  readonly #placed = new Map<string, { readonly node: string; readonly at: number }>();
  readonly #deleted = new Map<string, number>();
  readonly #gone = new Set<string>();
  readonly #began = performance.now();
  readonly #stops: readonly (() => void)[];

  constructor(plane: ControlPlane, old: ReadonlySet<string>) {
    const access = plane.accesses.admin;
    this.#stops = [
      watch<Seen>(access, '/api/v1/nodes', ({ object }, at) => this.#seeNode(object, at)),
      watch<Seen>(access, '/api/v1/namespaces/node-rotation/pods', ({ object }, at) => {
        const claim = object.metadata.labels?.[surgeForLabel];
        const { nodeName } = object.spec;
        if (claim === undefined || nodeName === undefined || object.status?.phase !== 'Running') return;
        if (!this.#placed.has(claim)) this.#placed.set(claim, { node: nodeName, at });
      }),
      watch<Seen>(access, '/apis/karpenter.sh/v1/nodeclaims', ({ type, object: { metadata } }, at) => {
        if (!old.has(metadata.name)) return;
        if (metadata.deletionTimestamp !== undefined && !this.#deleted.has(metadata.name))
          this.#deleted.set(metadata.name, at);
        if (type === 'DELETED') this.#gone.add(metadata.name);
      }),
    ];
  }

  get begun(): number {
    return this.#placed.size + this.#deleted.size;
  }

  get ended(): number {
    return this.#gone.size;
  }

  times(): readonly RotationTimes[] {
    return [...this.#placed].flatMap(([claim, { node, at }]) => {
      const { appeared, ready, marked } = this.#nodes.get(node) ?? {};
      const deleted = this.#deleted.get(claim);
      if (appeared === undefined || ready === undefined || marked === undefined || deleted === undefined) return [];
      return [{ readyToDelete: deleted - Math.max(at, ready), unprotected: marked - appeared }];
    });
  }

  stop(): void {
    for (const end of this.#stops) end();
  }

  #seeNode(node: Seen, at: number): void {
    // What is told at once was there before: of such a node nobody knows here when it appeared.
    const wasThere = at - this.#began < 2_000;
    const known = this.#nodes.get(node.metadata.name) ?? (wasThere ? {} : { appeared: at });
    if (isReady(node)) known.ready ??= at;
    if (node.metadata.annotations?.['karpenter.sh/do-not-disrupt'] === 'true') known.marked ??= at;
    this.#nodes.set(node.metadata.name, known);
  }
}
