/**
 * The plan for people: the first line of a pool says what happens to it.
 */
import { describe, expect, test } from 'vitest';
import { run } from '../support/command.ts';
import { rawClaim, rawList, rawNode, rawPod, rawPolicy, rawPool } from '../support/raw-objects.ts';

const nodes = [rawClaim('a'), rawNode('a'), rawPod('web', 'a')];
const textOf = async (objects: Record<string, unknown>[], when?: string): Promise<string> =>
  (await run('plan', JSON.stringify(rawList(...objects)), { output: 'text', ...(when === undefined ? {} : { when }) }))
    .out;

describe('the verdict', () => {
  test.each([
    ['starts a now', [rawPolicy(), rawPool(), ...nodes], undefined],
    [
      'starts nothing (OutOfWindow until 2026-06-09T17:00:00Z)',
      [rawPolicy(), rawPool(), ...nodes],
      '2026-06-09T12:00:00Z',
    ],
    [
      'would start a now, but the policy only observes',
      [rawPolicy({ mode: 'Observe' }), rawPool(), ...nodes],
      undefined,
    ],
    ['nothing is due before 2026-06-06T22:43:00Z', [rawPolicy(), rawPool(), ...nodes], '2026-06-05T18:00:00Z'],
    [
      'left alone, no RotationPolicy matches it',
      [rawPolicy(), rawPool({ metadata: { labels: {} } }), ...nodes],
      undefined,
    ],
    [
      'a is next in turn, but too little is known to say whether it can start',
      [rawPolicy(), rawPool(), rawClaim('a')],
      undefined,
    ],
    ['starts nothing (NotGoverned)', [rawPolicy(), rawPolicy({}, 'b'), rawPool(), ...nodes], undefined],
  ])('is "%s" (D13-02)', async (verdict, objects, when) => {
    expect(await textOf(objects, when)).toContain(`NodePool api: ${verdict}\n`);
  });
});

test('every claim has a line with its deadline, the time it is due and its reason (D13-02)', async () => {
  const lines = (
    await textOf([rawPolicy(), rawPool(), ...nodes, rawClaim('b', { created: '2026-06-08T00:00:00Z' }), rawNode('b')])
  ).split('\n');
  expect(lines.find((line) => line.startsWith('  a '))).toMatch(
    /2026-06-15T00:00:00Z +2026-06-06T22:43:00Z +candidate 1$/,
  );
  expect(lines.find((line) => line.startsWith('  b '))).toMatch(/2026-06-22T00:00:00Z +2026-06-13T22:43:00Z +NotDue: /);
});

test('problems of a policy are listed with their paths (D2-03)', async () => {
  expect(await textOf([rawPolicy({ mode: 'Off' }), rawPool(), ...nodes])).toMatch(
    /RotationPolicy api is invalid and blocks api\n {2}spec\.mode must be Rotate or Observe/,
  );
});
