import fc from 'fast-check';
import { expect, it } from 'vitest';
import { withoutManagedFields } from '../../lib/adapters/kubernetes/without-managed-fields.ts';
import { runs } from '../support/properties.ts';

const emptied = (text: string): unknown => JSON.parse(withoutManagedFields(Buffer.from(text)));

/** Texts that look like what is searched, or like where it ends. */
const hostile = fc.constantFrom(
  '"managedFields":[',
  '\\"managedFields\\":[',
  'managedFields',
  ']',
  '[{',
  '\\',
  '"',
  '\\"',
  'ü\u2028\ud83d\ude00',
);
const anything = fc.oneof(hostile, fc.jsonValue());
const notes = fc.dictionary(
  fc.oneof(hostile, fc.string()).filter((key) => !key.endsWith('managedFields')),
  anything.filter((value) => !JSON.stringify(value).includes('managedFields":[')),
);

it('nothing but the list of managed fields is left out, whatever stands before, in and after it (D15-03)', () => {
  fc.assert(
    fc.property(notes, fc.array(anything), notes, fc.constantFrom(undefined, 0), (before, list, after, space) => {
      const object = { metadata: { annotations: before, managedFields: list, name: 'a' }, spec: after };
      const text = JSON.stringify(object, undefined, space);
      const wanted = { ...object, metadata: { ...object.metadata, managedFields: [] } };
      expect(emptied(text)).toEqual(JSON.parse(JSON.stringify(wanted)));
    }),
    runs(3000),
  );
});

it('a text without such a list stays as it is (D15-03)', () => {
  fc.assert(
    fc.property(notes, (object) => {
      const text = JSON.stringify({ metadata: { ...object, note: '"managedFields":[' } });
      expect(withoutManagedFields(Buffer.from(text))).toBe(text);
    }),
    runs(500),
  );
});

it('a text that breaks off is left to the parser to refuse (D15-03)', () => {
  const whole = JSON.stringify({ metadata: { managedFields: [{ 'f:a': ['\\"]'] }], name: 'a' } });
  for (let length = 1; length < whole.length; length += 1)
    expect(() => emptied(whole.slice(0, length))).toThrow(SyntaxError);
});
