/**
 * The cloud under the cluster: how it answers launches, what it sells just now, which machines are gone, which image is current.
 *
 * None of this is in any object of the cluster, so it carries a version of its own: models see a change as they see one
 * of an object.
 */
import type { Instant } from '../domain/time.ts';
import type { Offering } from './instance-types.ts';

/**
 * How the cloud answers a launch; `neverRegisters` leaves an instance whose Node does not appear, `neverLaunches` gives
 * no answer at all.
 */
export type LaunchOutcome = 'registers' | 'insufficientCapacity' | 'neverRegisters' | 'neverLaunches';

/** What cannot be had; a field that is absent stands for all of them. */
export interface Shortage {
  readonly zone?: string;
  readonly instanceType?: string;
  readonly capacityType?: 'on-demand' | 'spot' | 'reserved';
}

/** Capacity that is paid for: `count` instances of the type in the zone, as offerings of capacity type `reserved`. */
export interface Reservation {
  readonly zone: string;
  readonly instanceType: string;
  readonly count: number;
}

type LaunchAnswer = (offering: Offering, nodeClaim: string) => LaunchOutcome;

export class Cloud {
  #version = 0;
  #answer: LaunchAnswer = () => 'registers';
  #shortages: readonly Shortage[] = [];
  #reservations: readonly Reservation[] = [];
  #image = 'ami-0a1b2c3d4e5f67890';
  readonly #gone = new Map<string, Instant>();

  /** Grows with every change. */
  get version(): number {
    return this.#version;
  }

  /** Asked for every offering that is tried, until one is not short of capacity. */
  get launchAnswer(): LaunchAnswer {
    return this.#answer;
  }

  set launchAnswer(answer: LaunchAnswer) {
    this.#answer = answer;
    this.#version += 1;
  }

  get shortages(): readonly Shortage[] {
    return this.#shortages;
  }

  set shortages(shortages: readonly Shortage[]) {
    this.#shortages = shortages;
    this.#version += 1;
  }

  get reservations(): readonly Reservation[] {
    return this.#reservations;
  }

  set reservations(reservations: readonly Reservation[]) {
    this.#reservations = reservations;
    this.#version += 1;
  }

  /** What new instances are launched from; instances of another image have drifted. */
  get image(): string {
    return this.#image;
  }

  set image(image: string) {
    this.#image = image;
    this.#version += 1;
  }

  /** The instance stops to exist at that moment, without anybody in the cluster being asked. */
  takeAway(providerID: string, at: Instant): void {
    this.#gone.set(providerID, at);
    this.#version += 1;
  }

  /** When the instance is, or will be, gone; undefined while nothing threatens it. */
  goneAt(providerID: string | undefined): Instant | undefined {
    return providerID === undefined ? undefined : this.#gone.get(providerID);
  }

  /** What a launch as this offering comes to. */
  outcomeOf(offering: Offering, nodeClaim: string): LaunchOutcome {
    const { labels } = offering;
    const short = this.#shortages.some(
      ({ zone, instanceType, capacityType }) =>
        (zone ?? labels['topology.kubernetes.io/zone']) === labels['topology.kubernetes.io/zone'] &&
        (instanceType ?? offering.type.name) === offering.type.name &&
        (capacityType ?? labels['karpenter.sh/capacity-type']) === labels['karpenter.sh/capacity-type'],
    );
    return short ? 'insufficientCapacity' : this.#answer(offering, nodeClaim);
  }
}
