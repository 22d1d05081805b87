import { describe, expect, test } from 'vitest';
import { formatResourceList } from '../../../lib/domain/cluster/resource-list.ts';
import { headroom } from '../../../lib/domain/surge/headroom.ts';
import { aClaim, amounts, aPool } from '../../support/builders.ts';

type Amounts = Readonly<Record<string, string>>;

const claim = aClaim('old', { capacity: amounts({ cpu: '4', memory: '16Gi', pods: '58' }) });
function judged(limits: Amounts, used: Amounts, requests: Amounts) {
  const found = headroom(aPool({ limits: amounts(limits), used: amounts(used) }), amounts(requests), claim);
  return { ...found, remaining: formatResourceList(found.remaining) };
}

describe('headroom', () => {
  test.each([
    { asked: '1999m', fits: true },
    { asked: '2', fits: true },
    { asked: '2001m', fits: false },
  ])('of 2 CPUs fits a footprint of $asked: $fits (R3.3-13, D8-05)', ({ asked, fits }) => {
    expect(judged({ cpu: '10' }, { cpu: '8' }, { cpu: asked })).toEqual({
      fits,
      tight: fits,
      remaining: { cpu: '2' },
      lacking: ['cpu'],
    });
  });

  test.each([
    { used: '6', tight: false, lacking: [] },
    { used: '6001m', tight: true, lacking: ['cpu'] },
  ])('with $used of 10 CPUs used is tight for an instance of 4: $tight (D8-05)', ({ used, tight, lacking }) => {
    expect(judged({ cpu: '10' }, { cpu: used }, { cpu: '1' })).toMatchObject({ fits: true, tight, lacking });
  });

  test.each([
    { used: '3', fits: false, lacking: ['nodes'] },
    { used: '2', fits: true, lacking: [] },
  ])('with $used of 3 nodes used needs one node more: $fits (PR-33, D8-05)', ({ used, fits, lacking }) => {
    expect(judged({ nodes: '3' }, { nodes: used }, {})).toMatchObject({ fits, tight: false, lacking });
  });

  test('of a pool without limits is never short (D8-05)', () => {
    expect(judged({}, { cpu: '1000' }, { cpu: '1000' })).toEqual({
      fits: true,
      tight: false,
      remaining: {},
      lacking: [],
    });
  });

  test('looks only at limited resources and names all that lack room (D8-05)', () => {
    expect(
      judged(
        { memory: '8Gi', cpu: '4', nodes: '1' },
        { memory: '8Gi', cpu: '4', nodes: '0' },
        { cpu: '1', memory: '1Gi', 'nvidia.com/gpu': '9' },
      ),
    ).toEqual({
      fits: false,
      tight: false,
      remaining: { cpu: '0', memory: '0', nodes: '1' },
      lacking: ['cpu', 'memory'],
    });
  });

  test('of a pool already above a limit is short even for nothing (D8-05)', () => {
    expect(judged({ cpu: '4' }, { cpu: '5' }, {})).toMatchObject({
      fits: false,
      remaining: { cpu: '-1' },
      lacking: ['cpu'],
    });
  });

  test('without a known capacity of the candidate is not called tight (D8-05)', () => {
    const { capacity: _, ...unknown } = claim;
    expect(headroom(aPool({ limits: amounts({ cpu: '1' }) }), amounts({ cpu: '1' }), unknown)).toMatchObject({
      fits: true,
      tight: false,
      lacking: [],
    });
  });

  test('tests the raised footprint of a whole node (R3.3-20)', () => {
    expect([
      judged({ cpu: '10' }, { cpu: '8' }, { cpu: '500m' }).fits,
      judged({ cpu: '10' }, { cpu: '8' }, { cpu: '3800m' }).fits,
    ]).toEqual([true, false]);
  });
});
