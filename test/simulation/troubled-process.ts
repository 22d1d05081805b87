/**
 * One process of the controller in a troubled world: its calls are refused, lost, late or mixed with those of others;
 * it stands still, and it dies.
 *
 * Others act inside its calls, too: between two lists of one look, and between sending a write and its landing.
 */
import type { Budget, Cluster, Recorder, TickRecord } from '../../lib/controller/ports.ts';
import { runTick } from '../../lib/controller/run-tick.ts';
import type { Instant } from '../../lib/domain/time.ts';
import { add, between, hours, seconds } from '../../lib/domain/time.ts';
import { forbidden } from '../../lib/simulator/api-status.ts';
import type { Call } from '../../lib/simulator/faults.ts';
import { SimulatedCrash } from '../../lib/simulator/faults.ts';
import { findKind, kindOf } from '../../lib/simulator/kinds.ts';
import { SimulatedCluster } from '../../lib/simulator/simulated-cluster.ts';
import { rememberingDecoders as decoders } from '../support/remembering-decoders.ts';
import type { MemoryTable } from '../support/story.ts';
import { settings } from '../support/story.ts';
import type { Scene } from './moves.ts';
import type { Troubles } from './troubles.ts';

export interface ProcessSurroundings {
  readonly scene: Scene;
  readonly table: MemoryTable;
  readonly troubles: Troubles;
  /** Names the tick, the same in every run of the case. */
  readonly place: string;
  /** Waits until this process may go on; absent when it is alone. */
  readonly turn?: () => Promise<void>;
  /** Lets virtual time pass, with all that happens meanwhile. */
  readonly pass: (seconds: number) => void;
  /** Before each port call: moves that are meant to happen inside a tick. */
  readonly beforeCall: (call: number) => void;
}

export interface ProcessEnd {
  /** Absent when the process died. */
  readonly record?: TickRecord;
  readonly actions: number;
}

export async function runProcess(around: ProcessSurroundings): Promise<ProcessEnd> {
  const life = new Life(around);
  try {
    const { request } = around.scene;
    around.scene.request = undefined;
    const watch = around.scene.oracle.watch({ retired: around.scene.retired, ...(request ? { request } : {}) });
    const inner = life.cluster(watch.listed);
    const record = await runTick({
      cluster: life.outer(watch.guard(inner)),
      recorder: life.recorder(),
      budget: life.budget(),
      ...(request ? { request } : {}),
    });
    return { record, actions: life.actions };
  } catch (error) {
    if (!(error instanceof SimulatedCrash)) throw error;
    return { actions: life.actions };
  }
}

class Life {
  actions = 0;
  #calls = 0;
  #inner = 0;
  #dead = false;
  #snapshotAt: Instant;
  /** Others act at the moment, not this process. */
  #others = false;
  readonly #around: ProcessSurroundings;
  readonly #diesAt: number;
  readonly #skew: number;

  constructor(around: ProcessSurroundings) {
    const { troubles, place, scene } = around;
    this.#around = around;
    this.#snapshotAt = scene.world.now;
    this.#diesAt = troubles.strikes('crash', place)
      ? 1 + Math.floor(troubles.luck(`${place}/diesAt`) * 24)
      : Number.POSITIVE_INFINITY;
    const skew = troubles.strikes('clockSkew', place);
    this.#skew = skew ? Math.round((troubles.luck(`${place}/skew`) * 2 - 1) * (skew.seconds ?? 30)) : 0;
  }

  /** The simulated cluster as this process reaches it; faults strike at every single request. */
  cluster(listed: (kind: string) => void): Cluster {
    const { scene, troubles } = this.#around;
    const next = (call: Call) => {
      this.#inner += 1;
      const place = `${this.#around.place}/${this.#inner}`;
      const late = troubles.strikes('suspended', `${place}/inside`);
      if (late) this.#aside(() => this.#around.pass(Math.ceil(troubles.luck(`${place}/late`) * 4)));
      if (call.verb === 'list') listed(call.kind);
      return troubles.faultOf(call, place);
    };
    const { world } = scene;
    const cluster = new SimulatedCluster({ world, decoders, settings, faults: { next }, retired: scene.retired });
    return {
      observe: async () => {
        const snapshot = await cluster.observe();
        return { ...snapshot, observedAt: add(snapshot.observedAt, seconds(this.#skew)) };
      },
      inspect: (need) => cluster.inspect(need),
      reread: (pool, node) => cluster.reread(pool, node),
      apply: (action) => cluster.apply(action),
    };
  }

  /** Around the oracle's guard: what the process itself suffers. */
  outer(guarded: Cluster): Cluster {
    return {
      observe: async () => {
        await this.#before();
        this.#snapshotAt = this.#around.scene.world.now;
        const snapshot = await this.#refusing(() => guarded.observe());
        await this.#after();
        return snapshot;
      },
      inspect: async (need) => {
        await this.#before();
        const inspected = await this.#refusing(() => guarded.inspect(need));
        await this.#after();
        return inspected;
      },
      reread: async (pool, node) => {
        await this.#before();
        const reread = await guarded.reread(pool, node);
        await this.#after();
        return reread;
      },
      apply: async (action) => {
        const { troubles, scene, place } = this.#around;
        // Before others get their turn: what they let pass meanwhile is not this process's to know.
        scene.oracle.begins(action, between(this.#snapshotAt, scene.world.now));
        await this.#before();
        this.actions += 1;
        const late = troubles.strikes('lateLanding', `${place}/${this.#calls}`);
        if (late) {
          const lands = add(
            scene.world.now,
            seconds(Math.ceil(troubles.luck(`${place}/${this.#calls}/lands`) * (late.seconds ?? 10))),
          );
          scene.later.push({ at: lands, make: () => void guarded.apply(action) });
          return { outcome: 'unreachable', detail: 'no answer in time; the write is still under way' };
        }
        const result = await this.#refusing(() => guarded.apply(action));
        await this.#after();
        return result;
      },
    };
  }

  recorder(): Recorder {
    const { table, troubles, place } = this.#around;
    return {
      putSteps: async (pool, entries) => {
        this.#die();
        if (troubles.strikes('tableDown', `${place}/${pool}`)) return new Set();
        const put = await table.putSteps(pool, entries);
        return troubles.strikes('tableDeaf', `${place}/${pool}`) ? new Set() : put;
      },
      record: async () => this.#die(),
    };
  }

  budget(): Budget {
    return {
      left: () => hours(1),
      sinceSnapshot: () => between(this.#snapshotAt, this.#around.scene.world.now),
    };
  }

  async #before(): Promise<void> {
    await this.#around.turn?.();
    this.#die();
    this.#calls += 1;
    this.#aside(() => this.#around.beforeCall(this.#calls));
    const { troubles, place } = this.#around;
    if (this.#calls === this.#diesAt && troubles.luck(`${place}/diesAfter`) < 0.5) {
      this.#dead = true;
      this.#die();
    }
  }

  async #after(): Promise<void> {
    if (this.#calls >= this.#diesAt) this.#dead = true;
    this.#die();
    const { troubles, place, pass } = this.#around;
    const stands = troubles.strikes('suspended', `${place}/${this.#calls}`);
    if (stands) pass(Math.ceil(troubles.luck(`${place}/${this.#calls}/stands`) * (stands.seconds ?? 90)));
  }

  /** A dead process does nothing for its other pools either. */
  #die(): void {
    if (this.#dead) throw new SimulatedCrash(`the process of ${this.#around.place} is dead`);
  }

  #aside(act: () => void): void {
    this.#others = true;
    this.#around.scene.oracle.aside(act);
    this.#others = false;
  }

  /** Lets the server refuse what this process asks for, and nobody else. */
  #refusing<T>(ask: () => Promise<T>): Promise<T> {
    const { store } = this.#around.scene.world;
    const { troubles, place } = this.#around;
    store.admission = (verb, object) =>
      !this.#others && troubles.refuses({ verb, kind: object.kind }, `${place}/${this.#calls}`)
        ? forbidden(
            findKind(object.kind) ?? kindOf('Pod'),
            object.metadata.name,
            'a rule of the platform team forbids it',
          )
        : undefined;
    const answer = ask();
    delete store.admission;
    return answer;
  }
}
