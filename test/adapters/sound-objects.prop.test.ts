import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeNodeClaim, nodeClaimSchema, nodeMetadataSchema } from '../../lib/adapters/kubernetes/decode.ts';
import { soundNodeClaim, soundNodeMetadata } from '../../lib/adapters/kubernetes/sound-objects.ts';
import { nodeClaimOf, nodeMetadataOf } from '../bench/eks-objects.ts';
import { rawClaim } from '../support/raw-objects.ts';

const shape = { claim: 'api-x7k2p', pool: 'api', index: 7, created: '2026-06-01T00:00:00Z' };
const claim = () => structuredClone(nodeClaimOf(shape)) as Record<string, unknown>;
const node = () => structuredClone({ metadata: nodeMetadataOf(shape) }) as Record<string, unknown>;

/** Every place of a value, as the keys that lead there. */
function placesOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [path, ...inner.flatMap(([key, each]) => placesOf(each, [...path, key]))];
}

function withOdd(value: Record<string, unknown>, path: readonly string[], odd: unknown): unknown {
  if (path.length === 0) return odd;
  let at: Record<string, unknown> = value;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string, unknown>;
  const last = path.at(-1) as string;
  // JSON has no holes in its lists.
  if (odd === undefined && Array.isArray(at)) at.splice(Number(last), 1);
  else if (odd === undefined) delete at[last];
  else at[last] = odd;
  return value;
}

const odd = fc.oneof(
  fc.constant(undefined),
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom('', 'In', 'Near', true, [null], {}),
);

test.each([
  ['NodeClaims', claim, nodeClaimSchema, soundNodeClaim],
  ['Nodes', node, nodeMetadataSchema, soundNodeMetadata],
])(
  'what the quick look at %s takes for sound, the schema reads without complaint and reads the same (D5-06, D15-03)',
  (_, whole, schema, sound) => {
    fc.assert(
      fc.property(fc.constantFrom(...placesOf(whole())), odd, (path, value) => {
        const raw = withOdd(whole(), path, value);
        const quick = sound(raw);
        if (quick !== undefined) expect(schema.parse(quick)).toEqual(schema.parse(raw));
      }),
      { numRuns: 3_000 },
    );
  },
);

test('NodeClaims and Nodes as EKS serves them need no schema (D15-03)', () => {
  expect(soundNodeClaim(claim())).toBeDefined();
  expect(soundNodeMetadata(node())).toBeDefined();
});

test('what else stands in a requirement is not taken over, with or without the schema (D5-06)', () => {
  const requirement = { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'], minValues: 1 };
  const requirementsOf = (metadata: object) =>
    decodeNodeClaim(rawClaim('a', { spec: { requirements: [requirement] }, metadata: { ...metadata } }));
  const read = { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] };
  for (const metadata of [{}, { finalizers: [1] }]) {
    expect(requirementsOf(metadata)).toMatchObject({ ok: true, value: { requirements: [read] } });
    const decoded = requirementsOf(metadata);
    expect(decoded.ok && decoded.value.requirements).toEqual([read]);
  }
});
