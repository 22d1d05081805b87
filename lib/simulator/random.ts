/**
 * The simulator's only source of chance: a seeded generator, and luck that is a function of a name.
 *
 * Delays are drawn from an object's uid (`luckOf`), not from the generator, so that they do not depend on the order in
 * which the models happen to run.
 */

const lowerCase = 'bcdfghjklmnpqrstvwxz2456789';
const hexadecimal = '0123456789abcdef';

/** Mulberry32: small, fast, and the same sequence everywhere for the same seed. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** At least 0 and below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number, at least 0 and below `bound`. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  /** Like the tail that Kubernetes appends to a generateName. */
  suffix(length = 5): string {
    return this.#text(length, lowerCase);
  }

  /** In the form of a UUID. */
  uid(): string {
    const hex = this.#text(32, hexadecimal);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
  }

  #text(length: number, alphabet: string): string {
    return Array.from({ length }, () => alphabet.charAt(this.below(alphabet.length))).join('');
  }
}

/** At least 0 and below 1: the same text has the same luck in every run. */
export function luckOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return new Random(hash).next();
}

/** A range from which a delay is drawn. Whole seconds, both ends possible. */
export interface SecondsRange {
  readonly min: number;
  readonly max: number;
}

/** A whole number of seconds within the range, decided by the text. */
export const drawnSeconds = (range: SecondsRange, text: string): number =>
  range.min + Math.floor(luckOf(text) * (range.max - range.min + 1));
