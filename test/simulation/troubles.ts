/**
 * Chance in a case: whether a trouble strikes at a certain call of a certain tick.
 *
 * It is a function of the case's seed and of the place, not of a sequence, so leaving out one trouble or move does not
 * change when the others strike.
 */
import type { Call, Fault } from '../../lib/simulator/faults.ts';
import { luckOf } from '../../lib/simulator/random.ts';
import type { SimCase, Trouble } from './sim-case.ts';
import { callFaults } from './sim-case.ts';

export class Troubles {
  /** How often each has struck. */
  readonly struck = new Map<string, number>();
  readonly #case: SimCase;
  readonly #second: () => number;

  constructor(simCase: SimCase, second: () => number) {
    this.#case = simCase;
    this.#second = second;
  }

  get count(): number {
    return [...this.struck.values()].reduce((a, b) => a + b, 0);
  }

  /** The trouble, when it strikes at this place. */
  strikes(kind: Trouble['kind'], place: string): Trouble | undefined {
    const now = this.#second();
    const active = this.#case.troubles.find((each) => each.kind === kind && each.from <= now && now < each.until);
    if (!active || this.luck(`${place}/${kind}`) >= active.chance) return undefined;
    this.struck.set(kind, (this.struck.get(kind) ?? 0) + 1);
    return active;
  }

  luck(place: string): number {
    return luckOf(`${this.#case.seed}/${place}`);
  }

  /** What becomes of one call on its way. */
  faultOf(call: Call, place: string): Fault | undefined {
    if (call.verb === 'delete' && call.kind === 'NodeClaim') {
      if (this.strikes('lostDelete', place)) return 'lostRequest';
      if (this.strikes('unheardDelete', place)) return 'lostResponse';
    }
    return callFaults.find((kind) => fits(kind, call) && this.strikes(kind, place) !== undefined);
  }

  /** Whether the server refuses the write for good (403). */
  refuses({ verb, kind }: Call, place: string): boolean {
    const trouble = refusals[`${verb} ${kind}`];
    return trouble !== undefined && this.strikes(trouble, place) !== undefined;
  }
}

const refusals: Readonly<Record<string, Trouble['kind']>> = {
  'patch Node': 'refusedNodePatch',
  'patch NodeClaim': 'refusedClaimPatch',
  'delete NodeClaim': 'refusedClaimDelete',
  'create Pod': 'refusedPod',
};

function fits(kind: (typeof callFaults)[number], { verb }: Call): boolean {
  if (kind === 'tornList') return verb === 'list';
  return kind === 'conflict' || kind === 'lostResponse'
    ? verb === 'patch' || verb === 'delete' || verb === 'create'
    : true;
}
