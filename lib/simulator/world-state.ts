/**
 * What the models share: the clock, the objects, and the few facts about the world that are not in any object.
 *
 * A model is run when something it reads has changed, or when the moment that it named has come; it acts on what is
 * due. What it knows is in the store, so that order and number of runs do not matter.
 */
import type { Duration, Instant } from '../domain/time.ts';
import { instant, second } from '../domain/time.ts';
import type { Cloud } from './cloud.ts';
import type { InstanceType } from './instance-types.ts';
import type { KindName } from './kinds.ts';
import type { NodeObject } from './kube-object.ts';
import type { ObjectStore } from './object-store.ts';
import type { Random, SecondsRange } from './random.ts';

/** Whole seconds; drawn per object within the range. */
export interface Delays {
  /** From the NodeClaim's creation until the instance is launched. */
  readonly launch: SecondsRange;
  /** From the NodeClaim's creation until the Node has registered; it is Ready a few seconds later. */
  readonly registration: SecondsRange;
  readonly initialization: SecondsRange;
  /** From a Pod's binding until it is Ready. */
  readonly podStart: SecondsRange;
  /** From a Pod's eviction until it is gone, never longer than its own grace. */
  readonly podStop: SecondsRange;
  /** From the end of a drain until the instance is gone. */
  readonly instanceStop: SecondsRange;
}

export const usualDelays: Delays = {
  launch: { min: 2, max: 4 },
  registration: { min: 28, max: 52 },
  initialization: { min: 3, max: 8 },
  podStart: { min: 4, max: 15 },
  podStop: { min: 3, max: 10 },
  instanceStop: { min: 5, max: 15 },
};

/** A NodeClaim that Karpenter deleted because its time had come, outside any window and without a replacement. */
export interface ForcefulExpiration {
  readonly nodeClaim: string;
  readonly nodePool: string;
  readonly at: Instant;
}

export interface WorldState {
  readonly now: Instant;
  readonly store: ObjectStore;
  readonly random: Random;
  readonly delays: Delays;
  readonly instanceTypes: readonly InstanceType[];
  readonly cloud: Cloud;
  readonly forcefulExpirations: ForcefulExpiration[];
  /** Nodes and claims that Karpenter has planned pending Pods onto, and until when that protects them. */
  readonly nominations: Map<string, Instant>;
  /** Offerings that were asked for in vain, and until when Karpenter does not count on them. */
  readonly shortUntil: Map<string, Instant>;
  readonly shortageMemory: Duration;
  /** The Node as Karpenter has it, which may be some seconds old. */
  seen(node: NodeObject): NodeObject;
  /** When Karpenter next sees a change of a Node that it has not seen yet. */
  nextSight(): Instant | undefined;
}

/** Facts that models read beside the objects. */
export type Source = KindName | 'cloud';

export interface Model {
  /** Whatever it looks at: a change anywhere else cannot give it work. */
  readonly reads: readonly Source[];
  /** @returns when it has to run again, undefined when only a change can give it work */
  run(world: WorldState): Instant | undefined;
}

/** The earliest of the instants that are still ahead. */
export function nextOf(now: Instant, moments: Iterable<Instant | undefined>): Instant | undefined {
  let next: Instant | undefined;
  for (const moment of moments)
    if (moment !== undefined && moment > now && (next === undefined || moment < next)) next = moment;
  return next;
}

/** The first instant after `now` that is a whole multiple of `everySeconds` since the epoch. */
export const nextBeat = (now: Instant, everySeconds: number): Instant =>
  instant((Math.floor(now / (everySeconds * second)) + 1) * everySeconds * second);
