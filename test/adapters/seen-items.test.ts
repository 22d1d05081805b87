import { expect, it } from 'vitest';
import { SeenItems } from '../../lib/adapters/kubernetes/seen-items.ts';

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

it('what was read of a text once is not read again, and of another text it is (D15-03)', () => {
  const seen = new SeenItems(1000);
  const { reader, reads } = counting((raw) => ({ raw }));
  const first = seen.read(text({ a: 1 }), reader);
  expect(seen.read(text({ a: 1 }), reader)).toBe(first);
  expect(seen.read(text({ a: 2 }), reader)).toEqual({ raw: { a: 2 } });
  expect(reads).toEqual([{ a: 1 }, { a: 2 }]);
});

it('two readers of the same text know nothing of each other (D15-03)', () => {
  const seen = new SeenItems(1000);
  expect([seen.read(text({ a: 1 }), () => 'one'), seen.read(text({ a: 1 }), () => 'two')]).toEqual(['one', 'two']);
});

it('the memory that a text came in may be written over (D15-03)', () => {
  const seen = new SeenItems(1000);
  const memory = text({ a: 1 });
  const reader = (raw: unknown): unknown => raw;
  const first = seen.read(memory, reader);
  text({ a: 2 }).copy(memory);
  expect([first, seen.read(memory, reader)]).toEqual([{ a: 1 }, { a: 2 }]);
});

it('what has not been seen for longest goes first, and no more is kept than allowed (D15-03)', () => {
  const each = text({ name: 'a' }).length;
  const seen = new SeenItems(2 * each);
  const { reader, reads } = counting((raw) => (raw as { name: string }).name);
  const read = (...names: readonly string[]): void => {
    for (const name of names) seen.read(text({ name }), reader);
  };
  read('a', 'b', 'a', 'c');
  reads.length = 0;
  read('a', 'c', 'b');
  expect(reads).toEqual([{ name: 'b' }]);
});

it('what is no JSON is told and not kept (D15-03)', () => {
  const seen = new SeenItems(1000);
  const { reader, reads } = counting((raw) => raw);
  for (const _ of [1, 2]) expect(() => seen.read(Buffer.from('{"a":'), reader)).toThrow(SyntaxError);
  expect(reads).toEqual([]);
});

it('a failure of the reader is not kept either (D15-03)', () => {
  const seen = new SeenItems(1000);
  let fails = true;
  const reader = (raw: unknown): unknown => {
    if (fails) throw new Error('not now');
    return raw;
  };
  expect(() => seen.read(text({ a: 1 }), reader)).toThrow('not now');
  fails = false;
  expect(seen.read(text({ a: 1 }), reader)).toEqual({ a: 1 });
});

it('an item larger than what may be kept is read and not kept (D15-03)', () => {
  const seen = new SeenItems(4);
  const { reader, reads } = counting((raw) => raw);
  for (const _ of [1, 2]) expect(seen.read(text('a long text'), reader)).toBe('a long text');
  expect(reads).toEqual(['a long text', 'a long text']);
});
