import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutList } from '../../lib/adapters/kubernetes/cut-list.ts';
import { runs } from '../support/properties.ts';

const items = (cut: ReturnType<typeof cutList>): readonly unknown[] | undefined => {
  try {
    return cut?.items.map((text) => JSON.parse(text.toString('utf8')) as unknown);
  } catch {
    return undefined;
  }
};
const cutOf = (list: unknown, space?: number) => cutList(Buffer.from(JSON.stringify(list, undefined, space)));

/** Texts that look like what lists are cut at. */
const hostile = fc.constantFrom(
  ',{"metadata":{',
  '"items":[',
  '"items":[{"metadata":{',
  '}],"items":[{"metadata":{',
  ',{"apiVersion":"v1","kind":"Node","metadata":{',
  ']',
  '\\"',
  'ü\u2028\ud83d\ude00',
);
const anything = fc.oneof(hostile, fc.jsonValue());
/** Objects of one list begin alike, and hold anything further on, lists and objects like themselves included. */
const objects = fc
  .record({
    kind: fc.boolean(),
    rest: fc.array(fc.dictionary(fc.oneof(hostile, fc.string()), anything), { maxLength: 5 }),
  })
  .map(({ kind, rest }) =>
    rest.map((spec, index) => ({
      ...(kind ? { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim' } : {}),
      metadata: { name: `n${index}`, annotations: spec },
      spec: { list: [{ metadata: spec }, { metadata: {} }], deep: { items: [spec] } },
    })),
  );
const lists = fc.record({ objects, before: anything, after: anything }).map((drawn) => ({
  kind: 'List',
  apiVersion: 'v1',
  metadata: { continue: drawn.before, items: drawn.before },
  items: drawn.objects,
  after: drawn.after,
}));

describe('a list is cut into its items, or not at all', () => {
  it('whatever stands in it (D15-03)', () => {
    let cuts = 0;
    fc.assert(
      fc.property(lists, fc.constantFrom(undefined, 0, 2), (list, space) => {
        const cut = cutOf(list, space);
        const read = items(cut);
        if (cut === undefined || read === undefined) return;
        cuts += 1;
        expect(read).toEqual(JSON.parse(JSON.stringify(list.items)));
        expect({ ...(cut.rest as object), items: [] }).toEqual({ ...JSON.parse(JSON.stringify(list)), items: [] });
      }),
      runs(3000),
    );
    expect(cuts).toBeGreaterThan(100);
  });

  it('the same way, whatever lengths are expected of them (D15-03)', () => {
    let guessed = 0;
    fc.assert(
      fc.property(lists, fc.array(fc.nat(400)), fc.boolean(), (list, drawn, right) => {
        const text = Buffer.from(JSON.stringify(list));
        const cut = cutList(text);
        const lengths = right ? (cut?.items ?? []).map((item) => item.length) : drawn;
        const read = items(cutList(text, lengths));
        if (right) expect(read).toEqual(items(cut));
        else if (read !== undefined) expect(read).toEqual(JSON.parse(JSON.stringify(list.items)));
        if (read !== undefined) guessed += 1;
      }),
      runs(2000),
    );
    expect(guessed).toBeGreaterThan(100);
  });

  it('an expected length that swallows a second item leaves the text to be parsed as a whole (D15-03)', () => {
    const list = { items: ['a', 'b', 'c'].map((name) => ({ metadata: { name } })) };
    const one = JSON.stringify(list.items[0]).length;
    expect(items(cutList(Buffer.from(JSON.stringify(list)), [2 * one + 1]))).toBeUndefined();
    expect(items(cutList(Buffer.from(JSON.stringify(list)), [one, one, one]))).toEqual(list.items);
  });

  it('any other text is left to be parsed as a whole (D15-03)', () => {
    fc.assert(
      fc.property(fc.oneof(anything, fc.record({ items: fc.array(anything) })), (value) => {
        const read = items(cutOf(value));
        if (read !== undefined) expect(read).toEqual((JSON.parse(JSON.stringify(value)) as { items: unknown }).items);
      }),
      runs(2000),
    );
  });

  it.each([
    [
      'the form of a server',
      { metadata: { resourceVersion: '7' }, items: [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }] },
      2,
    ],
    ['one item', { items: [{ metadata: { name: 'a' } }] }, 1],
    ['no item', { items: [] }, undefined],
    ['an empty list of Go', { items: null }, undefined],
    ['items that are texts', { items: ['a', 'b'] }, undefined],
    ['items of which one begins otherwise', { items: [{ metadata: {} }, { kind: 'Node', metadata: {} }] }, undefined],
    ['no list', { kind: 'Status' }, undefined],
    ['a list further in', { a: { items: [{ metadata: {} }] } }, undefined],
  ])('%s (D15-03)', (_, list, count) => {
    expect(items(cutOf(list))?.length).toBe(count);
  });

  it.each([
    ['stand beside a list further in', '{"items" :[0],"of":{"items":[{"metadata":{}}]}}'],
    ['are something else later', '{"items":[{"metadata":{}}],"items":7}'],
    ['are told twice', '{"items":[{"metadata":{}}],"items":[{"metadata":{}}]}'],
    ['say much before their metadata', `{"items":[{"spec":"${'x'.repeat(200)}","metadata":{}}]}`],
  ])('items that %s are not cut (D15-03)', (_, list) => {
    expect(items(cutList(Buffer.from(list)))).toBeUndefined();
  });

  it('broken JSON is never cut into whole items (D15-03)', () => {
    const whole = JSON.stringify({ items: [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }] });
    for (let length = 0; length < whole.length; length += 1)
      expect(items(cutList(Buffer.from(whole.slice(0, length))))).toBeUndefined();
  });
});
