/**
 * What was made of the items of a list is kept until the list has been read again, under the digests of their texts: most
 * objects of a cluster are, minute after minute, the same to the byte, and reading them anew is most of what a tick costs.
 *
 * Nothing depends on what is remembered. Readers are pure, so the same text gives the same value from wherever it came,
 * and a process that remembers nothing only works longer.
 */
import { hash } from 'node:crypto';
import { withSharedTexts } from './shared-texts.ts';
import { withoutManagedFields } from './without-managed-fields.ts';

/** Makes a value of one parsed item, and always the same value of the same item. */
export type ItemReader<T> = (raw: unknown) => T;

/** One reading of a list. */
export interface ListReading<T> {
  /**
   * @param text of one item
   * @throws SyntaxError when the text is no JSON
   */
  read(text: Buffer): T;
  /** Of the texts that come next if the list is as long as it was, in bytes. */
  lengthsToCome(): readonly number[];
  /** The list has been read to its end: what was not in it any more is forgotten. */
  end(): void;
}

interface KeptItem {
  readonly value: unknown;
  /** Of its text. */
  readonly bytes: number;
}

interface KeptList {
  readonly items: ReadonlyMap<string, KeptItem>;
  readonly bytes: number;
}

export class SeenItems {
  readonly #mostBytes: number;
  /** The longest unread first. */
  readonly #lists = new Map<string, KeptList>();
  readonly #numbers = new WeakMap<ItemReader<unknown>, number>();
  #bytes = 0;
  #readers = 0;

  /** @param mostBytes of all texts whose values are kept; of a list that is longer nothing is kept */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /**
   * @param list what tells it from every other list
   * @design D15-03
   */
  begin<T>(list: string, reader: ItemReader<T>): ListReading<T> {
    const name = `${this.#numberOf(reader)} ${list}`;
    const before = this.#lists.get(name)?.items;
    const items = new Map<string, KeptItem>();
    const lengths = [...(before?.values() ?? [])].map((item) => item.bytes);
    let bytes = 0;
    let read = 0;
    return {
      read: (text) => {
        read += 1;
        const key = hash('sha256', text, 'base64');
        const known = items.get(key) ?? before?.get(key);
        const kept = known ?? {
          value: reader(withSharedTexts(JSON.parse(withoutManagedFields(text)))),
          bytes: text.length,
        };
        if (!items.has(key) && bytes <= this.#mostBytes) {
          items.set(key, kept);
          bytes += kept.bytes;
        }
        return kept.value as T;
      },
      lengthsToCome: () => lengths.slice(read),
      end: () => this.#keep(name, { items, bytes }),
    };
  }

  #numberOf(reader: ItemReader<unknown>): number {
    const known = this.#numbers.get(reader);
    if (known !== undefined) return known;
    this.#readers += 1;
    this.#numbers.set(reader, this.#readers);
    return this.#readers;
  }

  #keep(name: string, list: KeptList): void {
    this.#forget(name);
    if (list.bytes > this.#mostBytes) return;
    this.#lists.set(name, list);
    this.#bytes += list.bytes;
    for (const longestUnread of this.#lists.keys()) {
      if (this.#bytes <= this.#mostBytes) return;
      this.#forget(longestUnread);
    }
  }

  #forget(name: string): void {
    this.#bytes -= this.#lists.get(name)?.bytes ?? 0;
    this.#lists.delete(name);
  }
}
