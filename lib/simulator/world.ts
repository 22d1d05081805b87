/**
 * The simulated cluster: a virtual clock, the objects, and the models that move them.
 *
 * Time passes only in `advance`, which stops at every moment at which a model has something due. Two worlds with the
 * same seed and the same calls are the same to the last uid.
 */
import { assert } from '../domain/assert.ts';
import type { Instant } from '../domain/time.ts';
import { disruptionController } from './disruption-budgets.ts';
import type { InstanceType, Offering } from './instance-types.ts';
import { instanceTypes } from './instance-types.ts';
import { createKarpenter } from './karpenter.ts';
import type { PodObject } from './kube-object.ts';
import { isDeleting } from './kube-object.ts';
import type { StoreEvent } from './object-store.ts';
import { ObjectStore } from './object-store.ts';
import { isDaemon } from './pod-needs.ts';
import { Random } from './random.ts';
import { scheduler } from './scheduler.ts';
import { statefulSets } from './stateful-sets.ts';
import { daemonSets, kubelets, nodeTaints, replicaSets } from './workloads.ts';
import type { Delays, ForcefulExpiration, LaunchOutcome, Model, WorldState } from './world-state.ts';
import { nextOf, usualDelays } from './world-state.ts';

export interface WorldOptions {
  readonly startsAt: Instant;
  readonly seed?: number;
  readonly delays?: Partial<Delays>;
  readonly instanceTypes?: readonly InstanceType[];
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
  /** Set to make launches fail or hang. */
  launchOutcome: (offering: Offering, nodeClaim: string) => LaunchOutcome = () => 'registers';

  #now: Instant;
  readonly #models: readonly Model[];
  readonly #podsMoved = new Map<string, Instant>();
  /** The store's version after the last complete round, and when a model is due if nothing changes. */
  #settled: { readonly version: number; readonly next: Instant | undefined } | undefined;

  constructor(options: WorldOptions) {
    this.#now = options.startsAt;
    this.random = new Random(options.seed ?? 1);
    this.store = new ObjectStore(() => this.#now, this.random);
    this.delays = { ...usualDelays, ...options.delays };
    this.instanceTypes = options.instanceTypes ?? instanceTypes;
    this.#models = [
      nodeTaints,
      replicaSets,
      statefulSets,
      daemonSets,
      kubelets,
      scheduler,
      ...createKarpenter(this.#podsMoved),
      disruptionController,
    ];
    this.store.onChange((event) => this.#notePodMove(event));
  }

  get now(): Instant {
    return this.#now;
  }

  /** Lets time pass up to `to`, everything that falls due on the way included. Going back is a bug. */
  advance(to: Instant): void {
    assert(to >= this.#now, `the virtual clock never goes back: from ${this.#now} to ${to}`);
    for (;;) {
      const next = this.#settle();
      if (next === undefined || next > to) break;
      this.#now = next;
      this.#settled = undefined;
    }
    this.#now = to;
  }

  /** Runs the models until none of them changes anything. @returns when the next of them is due */
  #settle(): Instant | undefined {
    if (this.#settled?.version === this.store.version) return this.#settled.next;
    for (let round = 0; round < mostRounds; round += 1) {
      const before = this.store.version;
      const moments = this.#models.map((model) => model(this));
      if (this.store.version !== before) continue;
      this.#settled = { version: before, next: nextOf(this.#now, moments) };
      return this.#settled.next;
    }
    assert(false, 'the models of the world never come to rest');
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
