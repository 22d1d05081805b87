import { describe, expect, it } from 'vitest';
import type { LabelSelector } from '../../../lib/domain/cluster/label-selector.ts';
import { govern } from '../../../lib/domain/policy/governance.ts';
import type { PolicyReading } from '../../../lib/domain/policy/rotation-policy.ts';
import { aPolicy, meta } from '../../support/builders.ts';

const selector = (over: Partial<LabelSelector>): LabelSelector => ({ matchLabels: {}, matchExpressions: [], ...over });
const everything = selector({});
const byWorkload = selector({ matchLabels: { workload: 'api' } });
const byTwo = selector({
  matchLabels: { workload: 'api' },
  matchExpressions: [{ key: 'tier', operator: 'Exists', values: [] }],
});
const valid = (name: string, nodePoolSelector: LabelSelector): PolicyReading => ({
  valid: true,
  policy: aPolicy({ name, nodePoolSelector }),
});
const invalid = (name: string, nodePoolSelector?: LabelSelector): PolicyReading => ({
  valid: false,
  meta: meta(name),
  generation: 1,
  ...(nodePoolSelector ? { nodePoolSelector } : {}),
  problems: [{ path: 'spec.mode', problem: 'must be Rotate or Observe, not "Go"' }],
});
const labels = { workload: 'api', tier: 'front' };

describe('which policy governs a pool (D2-06)', () => {
  it('none, when none matches (D2-06)', () => {
    expect(govern({ workload: 'batch' }, [valid('a', byWorkload)])).toEqual({ kind: 'none' });
    expect(govern(labels, [])).toEqual({ kind: 'none' });
  });

  it('an empty selector matches every pool, also one without labels (D2-06)', () => {
    expect(govern({}, [valid('all', everything)])).toMatchObject({
      kind: 'governed',
      policy: { meta: { name: 'all' } },
    });
  });

  it('the one with most constraints, labels and expressions counted alike, in whatever order (D2-06)', () => {
    const readings = [valid('all', everything), valid('two', byTwo), valid('one', byWorkload)];
    for (const order of [readings, readings.toReversed()]) {
      expect(govern(labels, order)).toMatchObject({ kind: 'governed', policy: { meta: { name: 'two' } } });
    }
  });

  it('a tie at the top governs nothing and names all that are tied (D2-06)', () => {
    const tied = [
      valid('z', byWorkload),
      valid('all', everything),
      invalid('m', byWorkload),
      valid('a', selector({ matchLabels: { tier: 'front' } })),
    ];
    expect(govern(labels, tied)).toEqual({ kind: 'conflict', names: ['a', 'm', 'z'] });
  });

  it('a tie below the top does not matter (D2-06)', () => {
    expect(govern(labels, [valid('a', byWorkload), valid('b', byWorkload), valid('two', byTwo)])).toMatchObject({
      kind: 'governed',
    });
  });

  it('an invalid winner blocks its pool; a valid policy does not take its place (D2-06, D2-03)', () => {
    expect(govern(labels, [invalid('broken', byTwo), valid('one', byWorkload)])).toEqual({
      kind: 'invalid',
      name: 'broken',
      problems: [{ path: 'spec.mode', problem: 'must be Rotate or Observe, not "Go"' }],
    });
  });

  it('an invalid policy with fewer constraints changes nothing for others (D2-03)', () => {
    expect(govern(labels, [invalid('broken', everything), valid('one', byWorkload)])).toMatchObject({
      kind: 'governed',
    });
  });

  it('a policy whose selector cannot be read governs nothing (D2-09)', () => {
    expect(govern(labels, [invalid('broken')])).toEqual({ kind: 'none' });
    expect(govern(labels, [invalid('broken'), valid('all', everything)])).toMatchObject({ kind: 'governed' });
  });
});
