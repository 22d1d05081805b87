/**
 * What was made of an item is kept under a digest of its text: most objects of a cluster are, minute after minute, the
 * same to the byte, and reading them anew is most of what a tick costs.
 *
 * Nothing depends on what is remembered. Readers are pure, so the same text gives the same value from wherever it came,
 * and a process that remembers nothing only works longer.
 */
import { hash } from 'node:crypto';

/** Makes a value of one parsed item, and always the same value of the same item. */
export type ItemReader<T> = (raw: unknown) => T;

export class SeenItems {
  readonly #mostBytes: number;
  readonly #seen = new Map<string, { readonly value: unknown; readonly bytes: number }>();
  readonly #numbers = new WeakMap<ItemReader<unknown>, number>();
  #bytes = 0;
  #readers = 0;

  /** @param mostBytes of all texts whose values are kept; the longest unseen go first */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /**
   * @param text of one item
   * @throws SyntaxError when the text is no JSON
   * @design D15-03
   */
  read<T>(text: Buffer, reader: ItemReader<T>): T {
    const key = `${this.#numberOf(reader)} ${hash('sha256', text, 'base64')}`;
    const known = this.#seen.get(key);
    if (known !== undefined) {
      this.#seen.delete(key);
      this.#seen.set(key, known);
      return known.value as T;
    }
    const value = reader(JSON.parse(text.toString('utf8')));
    this.#seen.set(key, { value, bytes: text.length });
    this.#bytes += text.length;
    this.#forget();
    return value;
  }

  #numberOf(reader: ItemReader<unknown>): number {
    const known = this.#numbers.get(reader);
    if (known !== undefined) return known;
    this.#readers += 1;
    this.#numbers.set(reader, this.#readers);
    return this.#readers;
  }

  #forget(): void {
    for (const [key, { bytes }] of this.#seen) {
      if (this.#bytes <= this.#mostBytes) return;
      this.#seen.delete(key);
      this.#bytes -= bytes;
    }
  }
}
