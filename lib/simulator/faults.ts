/**
 * What goes wrong between a client and the simulated API: refusals, lost messages, torn lists, a process that dies.
 *
 * A plan is seeded, so a run that failed fails again. It knows nothing of HTTP: the in-process cluster and the HTTPS
 * face both ask it, once per call.
 */
import { Random } from './random.ts';

export type Fault =
  /** 409, though nobody moved. */
  | 'conflict'
  /** 403, as for a caller without the right. */
  | 'forbidden'
  /** 429 with Retry-After. */
  | 'throttled'
  /** 500. */
  | 'serverError'
  /** Never arrives; nothing is done. */
  | 'lostRequest'
  /** Is done, but the client never hears of it. */
  | 'lostResponse'
  /** The next page of a list is refused with 410. */
  | 'tornList';

export type CallKind = 'get' | 'list' | 'create' | 'patch' | 'delete';

export interface Call {
  readonly verb: CallKind;
  /** Of the object or list. */
  readonly kind: string;
}

export interface FaultPlan {
  /** Asked once per call, in the order of the calls. */
  next(call: Call): Fault | undefined;
}

export const noFaults: FaultPlan = { next: () => undefined };

/** By verb: how likely each fault is, from 0 to 1. */
export type FaultRates = Partial<Readonly<Record<CallKind, Partial<Readonly<Record<Fault, number>>>>>>;

/** Faults by chance, the same for the same seed and the same calls. */
export function seededFaults(seed: number, rates: FaultRates): FaultPlan {
  const random = new Random(seed);
  return {
    next({ verb }) {
      let luck = random.next();
      for (const [fault, rate] of Object.entries(rates[verb] ?? {})) {
        if (luck < rate) return fault as Fault;
        luck -= rate;
      }
      return undefined;
    },
  };
}

/** Exactly these, each at the n-th call (from 1) that it matches. */
export function faultsAt(
  faults: readonly { readonly verb?: CallKind; readonly kind?: string; readonly nth: number; readonly fault: Fault }[],
): FaultPlan {
  const seen = faults.map(() => 0);
  return {
    next(call) {
      let due: Fault | undefined;
      for (const [index, entry] of faults.entries()) {
        if ((entry.verb ?? call.verb) !== call.verb || (entry.kind ?? call.kind) !== call.kind) continue;
        seen[index] = (seen[index] ?? 0) + 1;
        if (seen[index] === entry.nth) due ??= entry.fault;
      }
      return due;
    },
  };
}

/** Ends the controller's process in the simulation; nothing of ours may catch it. */
export class SimulatedCrash extends Error {
  override readonly name = 'SimulatedCrash';
}
