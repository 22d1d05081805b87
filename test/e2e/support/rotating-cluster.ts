/**
 * A control plane with Karpenter, and the program ticking on it: one of both for all tests of a file, which run side by
 * side, each on pools of its own.
 *
 * The audit table lies in the program's process; other processes reach it there as they would reach DynamoDB.
 */
import { join } from 'node:path';
import { anchorKeys, claimKeys, poolKeys } from '../../../lib/domain/rotation/annotation-keys.ts';
import { type ProgramOptions, type Running, runProgram, startProgram } from '../../support/program.ts';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../harness/control-plane.ts';
import type { KubeDocument } from '../harness/kube-api.ts';
import type { KarpenterOptions } from '../harness/parts.ts';
import { eventually } from './eventually.ts';
import { nodeClass, nodePool, type PoolOptions } from './fleet.ts';
import { kubernetesUnderTest } from './kubernetes-under-test.ts';
import { Observer, type Seen } from './observer.ts';

/** A step of a rotation as the audit table tells it. */
export interface Row {
  readonly step: string;
  readonly at: string;
  readonly claim: string;
  readonly surgePath?: string;
  readonly surgeWait?: string;
  readonly drain?: string;
  readonly reason?: string;
}

export interface RotatingClusterOptions extends Omit<ControlPlaneOptions, 'kubernetes' | 'delayedPodDelete'> {
  /** From tick to tick; 2 s unless given. */
  readonly interval?: string;
  /** Whether the program runs from the beginning, as it does unless said otherwise. */
  readonly ticking?: boolean;
}

/** Nodes that live long enough for any test. */
export const longLived = { expireAfter: '2h', terminationGracePeriod: '1m' };

/** A policy under which every node is due a second after its creation. A pool's second one waits for the cooldown. */
export const dueAtOnce = { ageThreshold: '1s', surge: { readyTimeout: '1m' } };

/** What a claim keeps of an attempt that failed. */
export const memoryOfFailure = ({ metadata: { name } }: Seen): readonly string[] =>
  [claimKeys.failedAt, claimKeys.retryCount, claimKeys.startedAt, claimKeys.state].map((key) => `${name} has ${key}`);

/** The outcome of a pool whose only node went the usual way. */
export const provisionedStory = {
  steps: ['started', 'draining, provisioned', 'completed, provisioned'],
  events: ['RotationStarted', 'RotationCompleted'],
  created: 1,
  claims: 1,
  oldIsThere: false,
  marks: [],
} as const;

const programLimit = 1_500_000;

/**
 * Events that are not part of a story: one depends on whether a tick falls between the placeholder's creation and its
 * node's, and policies that are in the hurry of these tests are warned about.
 */
const besides = new Set(['SurgeUnschedulable', 'AVeryAggressive', 'ReadyTimeoutShort']);

export class RotatingCluster {
  readonly plane: ControlPlane;
  readonly see: Observer;
  readonly #interval: string;
  #program: Running | undefined;
  #table = '';
  readonly #createdBefore = new Map<string, number>();
  readonly #programs: Running[] = [];

  private constructor(plane: ControlPlane, interval: string) {
    this.plane = plane;
    this.see = new Observer(plane);
    this.#interval = interval;
  }

  static async start({
    interval = '2s',
    ticking = true,
    ...options
  }: RotatingClusterOptions = {}): Promise<RotatingCluster> {
    const plane = await startControlPlane({ kubernetes: kubernetesUnderTest(), delayedPodDelete: true, ...options });
    const cluster = new RotatingCluster(plane, interval);
    try {
      await plane.api.apply(nodeClass);
      if (ticking) await cluster.startProgram();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  get access(): readonly string[] {
    return ['--kubeconfig', this.plane.kubeconfig, '--context', 'node-rotation'];
  }

  async startProgram(): Promise<void> {
    const args = ['run', ...this.access, '--interval', this.#interval, '--data', join(this.plane.folder, 'audit')];
    this.#program = this.run(args, { limit: programLimit });
    const [, table = ''] = await this.#program.says(/audit rows in DynamoDB in \S+ at (http:\S+)\. Ctrl-C/);
    this.#table = table;
  }

  /** Any program on this cluster: what it has printed is evidence. */
  run(args: readonly string[], options: ProgramOptions): Running {
    const program = startProgram(args, options);
    this.#programs.push(program);
    return program;
  }

  said = (): Readonly<Record<string, string>> =>
    Object.fromEntries(this.#programs.map((program, place) => [String(place + 1), program.printed()]));

  /** Resolves once the program has printed it. */
  async says(pattern: RegExp): Promise<void> {
    if (!this.#program) throw new Error('the program does not run');
    await this.#program.says(pattern);
  }

  /** @throws when the program did not end as it should */
  async stopProgram(): Promise<void> {
    const program = this.#program;
    this.#program = undefined;
    if (!program) return;
    program.interrupt();
    const { code, err } = await program.ended;
    if (code !== 0) throw new Error(`the program ended with code ${code}:\n${err}`);
  }

  async stop(): Promise<void> {
    try {
      await this.stopProgram();
    } finally {
      await this.plane.stop();
    }
  }

  /** How another process reaches the table. */
  get tableAccess(): { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> } {
    return {
      args: ['--table', 'node-rotation'],
      env: {
        AWS_ENDPOINT_URL_DYNAMODB: this.#table,
        AWS_REGION: 'local',
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
      },
    };
  }

  /** The rows of a pool's rotations. */
  rowsOf(pool: string): Promise<readonly Row[]> {
    const { args, env } = this.tableAccess;
    return readRows([...this.access, ...args, '--pool', pool], env);
  }

  /** The pool, once it is ready, with its workloads. */
  async apply(pool: PoolOptions, ...documents: readonly KubeDocument[]): Promise<void> {
    await this.plane.api.apply(nodePool(pool));
    await this.see.poolReady(pool.name);
    for (const document of documents) await this.plane.api.apply(document);
  }

  /** An annotation of the NodePool: a value to wait for, or undefined until it is gone. */
  async annotated(pool: string, key: string, wanted: (value: string | undefined) => boolean, limit = 60_000) {
    await eventually(`NodePool ${pool} to have another ${key}`, limit, async () => {
      const { metadata } = await this.see.pool(pool);
      return wanted(metadata.annotations?.[key]) ? true : undefined;
    });
  }

  /** Null takes an annotation off. */
  async annotate(pool: string, annotations: Readonly<Record<string, string | null>>): Promise<void> {
    await this.plane.api.merge(`/apis/karpenter.sh/v1/nodepools/${pool}`, { metadata: { annotations } });
  }

  /** A rotation of the pool has begun, and its old claim is not yet being deleted by it. */
  started = (pool: string, limit?: number): Promise<void> =>
    this.annotated(pool, anchorKeys.claim, (value) => value !== undefined, limit);

  draining = (pool: string, limit?: number): Promise<void> =>
    this.annotated(pool, anchorKeys.state, (value) => value === 'draining', limit);

  surgeSeen = (pool: string, limit?: number): Promise<void> =>
    this.annotated(pool, anchorKeys.surgeClaim, (value) => value !== undefined, limit);

  /** The pool's rotation has ended, its row is in the table, and the next ticks have swept what a step left over. */
  async ended(pool: string, limit = 120_000): Promise<void> {
    await eventually(`the rotation of ${pool} to end`, limit, async () => {
      const annotations = (await this.see.pool(pool)).metadata.annotations ?? {};
      const over = annotations[poolKeys.lastEnded] !== undefined && annotations[anchorKeys.claim] === undefined;
      return over && annotations[poolKeys.unrecorded] === undefined ? true : undefined;
    });
  }

  /** The pool's rotation has ended well, whatever was before it. */
  async completed(pool: string, limit = 120_000): Promise<void> {
    await this.annotated(pool, poolKeys.lastRotationAt, (value) => value !== undefined, limit);
    await this.ended(pool, limit);
  }

  /** An attempt of the pool has failed. */
  async failed(pool: string, limit = 120_000): Promise<void> {
    await this.annotated(pool, poolKeys.lastFailureAt, (value) => value !== undefined, limit);
    await this.ended(pool, limit);
  }

  /** An Event of ours about the pool. */
  async told(pool: string, reason: string): Promise<void> {
    await eventually(`the Event ${reason} about ${pool}`, 60_000, async () =>
      (await this.see.eventsOf(pool)).includes(reason) ? true : undefined,
    );
  }

  /** Claims that somebody deletes are gone. */
  async claimsBecome(pool: string, count: number): Promise<void> {
    await eventually(`NodePool ${pool} to have ${count} NodeClaims`, 60_000, async () =>
      (await this.see.claimsOf(pool)).length === count ? true : undefined,
    );
  }

  /** The only NodeClaim of a pool, as `settled` leaves it. */
  async onlyClaimOf(pool: string): Promise<Seen> {
    const [claim, ...others] = await this.settled(pool);
    if (!claim || others.length > 0)
      throw new Error(`NodePool ${pool} has ${others.length + (claim ? 1 : 0)} NodeClaims`);
    return claim;
  }

  /**
   * The NodeClaims of a pool whose Pods run, once nothing has changed for three seconds. What Karpenter makes counts from
   * here.
   */
  async settled(pool: string): Promise<readonly Seen[]> {
    let names = '';
    let since = performance.now();
    const claims = await eventually(`NodePool ${pool} to settle`, 90_000, async () => {
      const found = await this.see.claimsOf(pool);
      const now = found.map(({ metadata }) => metadata.name).join();
      if (now !== names) {
        names = now;
        since = performance.now();
      }
      return performance.now() - since < 3_000 ? undefined : found;
    });
    this.#createdBefore.set(pool, await this.see.claimsCreated(pool));
    return claims;
  }

  /** Karpenter counts anew after each of its starts. */
  async restartKarpenter(options: KarpenterOptions): Promise<void> {
    this.#createdBefore.clear();
    await this.plane.restartKarpenter(options);
  }

  /** NodeClaims that Karpenter has made for the pool since it was settled. */
  async created(pool: string): Promise<number> {
    return (await this.see.claimsCreated(pool)) - (this.#createdBefore.get(pool) ?? 0);
  }

  /** Everything that a rotation leaves behind: what it told, what Karpenter made for it, and what is still marked. */
  async outcomeOf(pool: string, old: Seen | undefined) {
    const [rows, events, found] = await Promise.all([
      this.rowsOf(pool),
      this.see.eventsOf(pool),
      this.foundAfter(pool, old),
    ]);
    return { steps: stepsOf(rows), events: events.filter((reason) => !besides.has(reason)), ...found };
  }

  /** The part of the outcome that is in the cluster. */
  async foundAfter(pool: string, old: Seen | undefined) {
    const [claims, created, marks] = await Promise.all([
      this.see.claimsOf(pool),
      this.created(pool),
      this.see.marksOf(pool),
    ]);
    const oldIsThere = claims.some(({ metadata: { name } }) => name === old?.metadata.name);
    return { created, claims: claims.length, oldIsThere, marks };
  }
}

/** By `node-rotation history`, with whatever says which table. */
export async function readRows(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly Row[]> {
  const asked = ['history', ...args, '--kind', 'step', '--output', 'json'];
  const { code, out, err } = await runProgram(asked, { env, limit: 60_000 });
  if (code !== 0) throw new Error(`history ended with code ${code}: ${err}`);
  return JSON.parse(out);
}

export const stepsOf = (rows: readonly Row[]): readonly string[] =>
  rows.map(({ step, surgePath }) => (surgePath === undefined ? step : `${step}, ${surgePath}`));
