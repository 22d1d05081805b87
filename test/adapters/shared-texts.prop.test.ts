import fc from 'fast-check';
import { expect, it } from 'vitest';
import { withSharedTexts } from '../../lib/adapters/kubernetes/shared-texts.ts';

it('whatever an object is, it reads as it did before (D15-03)', () => {
  const texts = fc.dictionary(
    fc.string(),
    fc.oneof(fc.string(), fc.string({ minLength: 30, maxLength: 40 }), fc.jsonValue()),
  );
  const metadata = fc.record(
    { labels: texts, annotations: fc.option(texts), finalizers: fc.array(fc.string()), name: fc.string() },
    { requiredKeys: [] },
  );
  const object = fc.oneof(fc.jsonValue(), fc.record({ metadata: fc.oneof(metadata, fc.jsonValue()) }));
  fc.assert(
    fc.property(object, (value) => {
      const text = JSON.stringify(value);
      const raw: unknown = JSON.parse(text);
      const read = withSharedTexts(raw);
      expect(read).toBe(raw);
      expect(JSON.stringify(read)).toBe(text);
    }),
  );
});

it('more different texts than are kept change nothing (D15-03)', () => {
  const labels = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`key-${index}`, `value-${index}`]));
  expect(withSharedTexts({ metadata: { labels: { ...labels } } })).toEqual({ metadata: { labels } });
});
