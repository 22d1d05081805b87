/**
 * How long not to ask again after AWS has said "too many requests": a minute, then twice as long each time.
 */
import { add, duration, type Instant, minute } from '../../domain/time.ts';

const mostMinutes = 16;

export class Patience {
  readonly #refusals = new Map<string, { readonly count: number; readonly until: Instant }>();

  waits(of: string, now: Instant): boolean {
    const refused = this.#refusals.get(of);
    return refused !== undefined && now < refused.until;
  }

  /** Requests that were under way together are one refusal. */
  refused(of: string, now: Instant): void {
    if (this.waits(of, now)) return;
    const count = (this.#refusals.get(of)?.count ?? 0) + 1;
    const wait = Math.min(mostMinutes, 2 ** (count - 1)) * minute;
    this.#refusals.set(of, { count, until: add(now, duration(wait)) });
  }

  answered(of: string): void {
    this.#refusals.delete(of);
  }
}
