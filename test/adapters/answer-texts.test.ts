import { expect, test } from 'vitest';
import { beginText, giveBack } from '../../lib/adapters/kubernetes/answer-texts.ts';

const part = (letter: string, length: number): Buffer => Buffer.alloc(length, letter);

test('a text is what was added to it, however often its memory had to grow (D15-04)', () => {
  const collected = beginText();
  const parts = ['a', 'b', 'c', 'd'].map((letter, index) => part(letter, 50_000 * (index + 1)));
  for (const each of parts) collected.add(each);
  expect(collected.text.equals(Buffer.concat(parts))).toBe(true);
});

test('an answer of nothing is an empty text, in memory that was used before, too (D15-04)', () => {
  const before = beginText();
  before.add(part('x', 10));
  giveBack(before);
  expect(beginText().text).toEqual(Buffer.alloc(0));
});

test('memory is used again once it is given back, and by one answer at a time (D15-04)', () => {
  const first = beginText();
  first.add(part('a', 1_000_000));
  giveBack(first);
  const second = beginText();
  const third = beginText();
  expect(second.memory).toBe(first.memory);
  expect(third.memory).not.toBe(second.memory);
  second.add(part('b', 3));
  third.add(part('c', 4));
  expect([second.text.toString(), third.text.toString()]).toEqual(['bbb', 'cccc']);
});

test('memory of an answer beyond all measure is not held on to (D15-04)', () => {
  const vast = beginText();
  vast.add(part('a', 9 * 1024 * 1024));
  giveBack(vast);
  expect([beginText(), beginText(), beginText()].map(({ memory }) => memory)).not.toContain(vast.memory);
});
