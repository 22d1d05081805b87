import { expect, it } from 'vitest';
import { type ItemReader, SeenItems } from '../../lib/adapters/kubernetes/seen-items.ts';

const text = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

function counting<T>(read: (raw: unknown) => T): { readonly reader: (raw: unknown) => T; readonly reads: unknown[] } {
  const reads: unknown[] = [];
  return {
    reads,
    reader: (raw) => {
      reads.push(raw);
      return read(raw);
    },
  };
}

/** Reads the whole list. */
function readAll<T>(seen: SeenItems, reader: ItemReader<T>, items: readonly unknown[], list = 'nodes'): readonly T[] {
  const reading = seen.begin(list, reader);
  const values = items.map((item) => reading.read(text(item)));
  reading.end();
  return values;
}

it('what was in the last reading of a list is not read again, and everything else is (D15-03)', () => {
  const seen = new SeenItems(1000);
  const { reader, reads } = counting((raw) => ({ raw }));
  const [first] = readAll(seen, reader, ['a', 'b']);
  const [, again] = readAll(seen, reader, ['c', 'a']);
  expect(again).toBe(first);
  expect(reads).toEqual(['a', 'b', 'c']);
  expect(readAll(seen, reader, ['b'])).toEqual([{ raw: 'b' }]);
  expect(reads).toEqual(['a', 'b', 'c', 'b']);
});

it('an item that a list has twice is read once (D15-03)', () => {
  const seen = new SeenItems(text('a').length);
  const { reader, reads } = counting((raw) => raw);
  expect(readAll(seen, reader, ['a', 'a'])).toEqual(['a', 'a']);
  readAll(seen, reader, ['a', 'a']);
  expect(reads).toEqual(['a']);
});

it('tells how long the items to come were in the last reading (D15-03)', () => {
  const seen = new SeenItems(1000);
  const { reader } = counting((raw) => raw);
  readAll(seen, reader, ['a', 'bbb', 'cc']);
  const reading = seen.begin('nodes', reader);
  expect(reading.lengthsToCome()).toEqual([3, 5, 4]);
  reading.read(text('another'));
  expect(reading.lengthsToCome()).toEqual([5, 4]);
});

it('a reading that broke off changes nothing of what is remembered (D15-03)', () => {
  const seen = new SeenItems(1000);
  const { reader, reads } = counting((raw) => raw);
  readAll(seen, reader, ['a', 'b']);
  seen.begin('nodes', reader).read(text('c'));
  readAll(seen, reader, ['a', 'b']);
  expect(reads).toEqual(['a', 'b', 'c']);
});

it('two lists, and two readers of the same list, know nothing of each other (D15-03)', () => {
  const seen = new SeenItems(1000);
  const { reader, reads } = counting((raw) => raw);
  readAll(seen, reader, ['a'], 'nodes');
  readAll(seen, reader, ['a'], 'claims');
  expect(reads).toEqual(['a', 'a']);
  expect(readAll(seen, () => 'another', ['a'], 'nodes')).toEqual(['another']);
});

it('the memory that a text came in may be written over (D15-03)', () => {
  const seen = new SeenItems(1000);
  const memory = text({ a: 1 });
  const reading = seen.begin('nodes', (raw) => raw);
  const first = reading.read(memory);
  text({ a: 2 }).copy(memory);
  expect([first, reading.read(memory)]).toEqual([{ a: 1 }, { a: 2 }]);
});

it('the list that was not read for longest goes first, and no more is kept than allowed (D15-03)', () => {
  const seen = new SeenItems(2 * text('a').length);
  const { reader, reads } = counting((raw) => raw);
  const read = (...lists: readonly string[]): void => {
    for (const list of lists) readAll(seen, reader, [list], list);
  };
  read('a', 'b', 'a', 'c');
  reads.length = 0;
  read('a', 'c', 'b');
  expect(reads).toEqual(['b']);
});

it('a list beyond what may be kept is read and not kept, whatever else was kept of it before (D15-03)', () => {
  const seen = new SeenItems(2 * text('a').length);
  const { reader, reads } = counting((raw) => raw);
  readAll(seen, reader, ['a', 'b']);
  expect(readAll(seen, reader, ['a', 'b', 'c'])).toEqual(['a', 'b', 'c']);
  readAll(seen, reader, ['a', 'b']);
  expect(reads).toEqual(['a', 'b', 'c', 'a', 'b']);
});

it('what is no JSON is told and not kept (D15-03)', () => {
  const { reader, reads } = counting((raw) => raw);
  const reading = new SeenItems(1000).begin('nodes', reader);
  for (const _ of [1, 2]) expect(() => reading.read(Buffer.from('{"a":'))).toThrow(SyntaxError);
  expect(reads).toEqual([]);
});

it('a failure of the reader is not kept either (D15-03)', () => {
  let fails = true;
  const reading = new SeenItems(1000).begin('nodes', (raw) => {
    if (fails) throw new Error('not now');
    return raw;
  });
  expect(() => reading.read(text({ a: 1 }))).toThrow('not now');
  fails = false;
  expect(reading.read(text({ a: 1 }))).toEqual({ a: 1 });
});
