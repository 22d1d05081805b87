/**
 * The simulated cluster: a virtual clock, the objects, and the models that move them.
 *
 * Time passes only in `advance`, which stops at every moment at which a model has something due. Two worlds with the
 * same seed and the same calls are the same to the last uid.
 */
import { assert } from '../domain/assert.ts';
import type { Duration, Instant } from '../domain/time.ts';
import { zero } from '../domain/time.ts';
import { Cloud } from './cloud.ts';
import type { InstanceType } from './instance-types.ts';
import { instanceTypes } from './instance-types.ts';
import type { NodeObject, PodObject } from './kube-object.ts';
import { isDeleting } from './kube-object.ts';
import { NodeViews } from './node-views.ts';
import type { StoreEvent } from './object-store.ts';
import { ObjectStore } from './object-store.ts';
import { isDaemon } from './pod-needs.ts';
import { Random } from './random.ts';
import { createModels } from './world-models.ts';
import type { Delays, ForcefulExpiration, Model, WorldState } from './world-state.ts';
import { nextOf, usualDelays } from './world-state.ts';

export interface WorldOptions {
  readonly startsAt: Instant;
  readonly seed?: number;
  readonly delays?: Partial<Delays>;
  readonly instanceTypes?: readonly InstanceType[];
  /** How long it takes until Karpenter sees a cordon, a taint or an annotation of a Node; nothing when absent. */
  readonly nodeLag?: Duration;
  /** How long Karpenter does not ask again for an offering that was short; AWS: three minutes. Nothing when absent. */
  readonly shortageMemory?: Duration;
  /** Whether Karpenter replaces nodes that have not been Ready for half an hour. */
  readonly repairsNodes?: boolean;
}

/** A model, the versions of what it read when it last ran, and when it wants to run again. */
interface Watch {
  readonly model: Model;
  seen: number;
  due: Instant | undefined;
}

/** More rounds than any honest chain of reactions takes at one instant. */
const mostRounds = 500;

export class World implements WorldState {
  readonly store: ObjectStore;
  readonly random: Random;
  readonly delays: Delays;
  readonly instanceTypes: readonly InstanceType[];
  readonly forcefulExpirations: ForcefulExpiration[] = [];
  readonly nominations = new Map<string, Instant>();
  readonly shortUntil = new Map<string, Instant>();
  readonly shortageMemory: Duration;
  readonly cloud = new Cloud();

  #now: Instant;
  readonly #models: readonly Watch[];
  readonly #views: NodeViews;
  readonly #podsMoved = new Map<string, Instant>();

  constructor(options: WorldOptions) {
    this.#now = options.startsAt;
    this.random = new Random(options.seed ?? 1);
    this.store = new ObjectStore(() => this.#now, this.random);
    this.delays = { ...usualDelays, ...options.delays };
    this.instanceTypes = options.instanceTypes ?? instanceTypes;
    this.shortageMemory = options.shortageMemory ?? zero;
    this.#views = new NodeViews(options.nodeLag ?? zero);
    const models = createModels(this.#podsMoved, options.repairsNodes ?? false);
    this.#models = models.map((model) => ({ model, seen: -1, due: undefined }));
    this.store.onChange((event) => this.#notePodMove(event));
    this.store.onChange((event, at) => this.#views.note(event, at));
  }

  get now(): Instant {
    return this.#now;
  }

  seen(node: NodeObject): NodeObject {
    return this.#views.seen(node, this.#now);
  }

  nextSight(): Instant | undefined {
    return this.#views.next(this.#now);
  }

  /** Set to make launches fail or hang. */
  get launchOutcome(): Cloud['launchAnswer'] {
    return this.cloud.launchAnswer;
  }

  set launchOutcome(answer: Cloud['launchAnswer']) {
    this.cloud.launchAnswer = answer;
  }

  /** Lets time pass up to `to`, everything that falls due on the way included. Going back is a bug. */
  advance(to: Instant): void {
    assert(to >= this.#now, `the virtual clock never goes back: from ${this.#now} to ${to}`);
    for (;;) {
      const next = this.#settle();
      if (next === undefined || next > to) break;
      this.#now = next;
    }
    this.#now = to;
  }

  /** Runs the models that have work until none is left that has. @returns when the next of them is due */
  #settle(): Instant | undefined {
    for (let round = 0; round < mostRounds; round += 1) {
      const working = this.#models.filter((watch) => this.#runIfNeeded(watch));
      if (working.length === 0)
        return nextOf(
          this.#now,
          this.#models.map(({ due }) => due),
        );
    }
    assert(false, 'the models of the world never come to rest');
  }

  #runIfNeeded(watch: Watch): boolean {
    const seen = this.#versionOf(watch.model);
    if (watch.seen === seen && !(watch.due !== undefined && watch.due <= this.#now)) return false;
    // Noted before the run: what the model itself changes is a reason to run it again.
    watch.seen = seen;
    watch.due = nextOf(this.#now, [watch.model.run(this)]);
    return true;
  }

  /** Versions only grow, so that equal sums mean that nothing changed. */
  #versionOf({ reads }: Model): number {
    let sum = 0;
    for (const source of reads) sum += source === 'cloud' ? this.cloud.version : this.store.versionOf(source);
    return sum;
  }

  #notePodMove(event: StoreEvent): void {
    if (event.object.kind !== 'Pod' || isDaemon(event.object as PodObject)) return;
    const pod = event.object as PodObject;
    const node = pod.spec.nodeName;
    if (node === undefined) return;
    const moved =
      event.type !== 'modified' ||
      (event.before as PodObject).spec.nodeName === undefined ||
      isDeleting(pod) !== isDeleting(event.before);
    if (moved) this.#podsMoved.set(node, this.#now);
  }
}
