/**
 * Draws for the generator of cases, all from one seed.
 */
import { Random } from '../../lib/simulator/random.ts';

export class Dice extends Random {
  chance(likelihood: number): boolean {
    return this.next() < likelihood;
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  /** From 1 to `most`; the small ones more often. */
  small(most: number): number {
    return 1 + Math.floor(most * this.next() ** 2);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }
}
