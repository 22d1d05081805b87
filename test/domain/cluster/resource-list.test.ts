import { describe, expect, test } from 'vitest';
import type { ResourceList } from '../../../lib/domain/cluster/resource-list.ts';
import {
  amountOf,
  exceeding,
  fits,
  formatResourceList,
  isExtended,
  isHugePages,
  maximum,
  minimum,
  minus,
  minusFloored,
  noResources,
  parseResourceList,
  plus,
  sameAmounts,
  scale,
  total,
} from '../../../lib/domain/cluster/resource-list.ts';
import { amounts } from '../../support/builders.ts';

const shown = (list: ResourceList): Readonly<Record<string, string>> => formatResourceList(list);

describe('arithmetic', () => {
  const a = amounts({ cpu: '1', memory: '1Gi' });
  const b = amounts({ cpu: '1500m', pods: '3' });

  test('is made resource by resource, an absent one counting as nothing (D8-01)', () => {
    expect({
      plus: shown(plus(a, b)),
      minus: shown(minus(a, b)),
      minusFloored: shown(minusFloored(a, b)),
      maximum: shown(maximum(a, b)),
      minimum: shown(minimum(a, b)),
      scale: shown(scale(a, 3)),
      total: shown(total([a, b, a])),
      empty: shown(total([])),
    }).toEqual({
      plus: { cpu: '2500m', memory: '1Gi', pods: '3' },
      minus: { cpu: '-500m', memory: '1Gi', pods: '-3' },
      minusFloored: { cpu: '0', memory: '1Gi' },
      maximum: { cpu: '1500m', memory: '1Gi', pods: '3' },
      minimum: { cpu: '1', memory: '0', pods: '0' },
      scale: { cpu: '3', memory: '3Gi' },
      total: { cpu: '3500m', memory: '2Gi', pods: '3' },
      empty: {},
    });
  });

  test.each([
    { asked: { cpu: '1' }, room: { cpu: '1' }, lacking: [] },
    { asked: { cpu: '1001m' }, room: { cpu: '1' }, lacking: ['cpu'] },
    { asked: { memory: '2Gi', cpu: '2' }, room: { cpu: '1' }, lacking: ['cpu', 'memory'] },
    { asked: { gpu: '0' }, room: {}, lacking: [] },
    { asked: { gpu: '1' }, room: {}, lacking: ['gpu'] },
    { asked: {}, room: { cpu: '-1' }, lacking: [] },
    { asked: { cpu: '0' }, room: { cpu: '-1' }, lacking: ['cpu'] },
  ])('of $asked in $room there is too much $lacking; at the bound it fits (D8-01)', ({ asked, room, lacking }) => {
    const [want, have] = [amounts(asked as Record<string, string>), amounts(room as Record<string, string>)];
    expect([exceeding(want, have), fits(want, have)]).toEqual([lacking, lacking.length === 0]);
  });

  test('an explicit zero means the same amount as an absent resource (D8-01)', () => {
    expect(sameAmounts(amounts({ cpu: '1', memory: '0' }), amounts({ cpu: '1' }))).toBe(true);
    expect(sameAmounts(amounts({ cpu: '1' }), noResources)).toBe(false);
    expect(amountOf(noResources, 'cpu')).toBe(0n);
  });
});

describe('reading', () => {
  test('every form of a quantity is read, numbers of a hand-written dump included (D8-01)', () => {
    const { list, unreadable } = parseResourceList(
      { cpu: '0.5', memory: '1.5Gi', pods: 58, 'nvidia.com/gpu': '1' },
      'status.allocatable',
    );
    expect(unreadable).toEqual([]);
    expect(shown(list)).toEqual({ cpu: '500m', memory: '1536Mi', 'nvidia.com/gpu': '1', pods: '58' });
  });

  test('what cannot be an amount is left out and named with its path and text (D8-01, D5-06)', () => {
    const { list, unreadable } = parseResourceList(
      { cpu: '-1', memory: 'lots', pods: null, storage: '8Ei', 'ephemeral-storage': '9223372036854775807', gpu: ['1'] },
      'spec.limits',
    );
    expect(shown(list)).toEqual({ 'ephemeral-storage': '9223372036854775807' });
    const quantity = 'is not a Kubernetes quantity such as 500m or 1Gi';
    expect(unreadable).toEqual([
      { path: 'spec.limits.cpu', text: '-1', problem: 'is negative; an amount of a resource is zero or more' },
      { path: 'spec.limits.memory', text: 'lots', problem: quantity },
      { path: 'spec.limits.pods', text: 'null', problem: quantity },
      { path: 'spec.limits.storage', text: '8Ei', problem: 'is larger than Kubernetes can count (2^63 - 1)' },
      { path: 'spec.limits.gpu', text: '["1"]', problem: quantity },
    ]);
  });

  test('a name that is special to JavaScript is a name like any other (D5-06)', () => {
    const { list } = parseResourceList(JSON.parse('{"__proto__":"1","constructor":"2"}'), 'requests');
    expect([...list.keys()]).toEqual(['__proto__', 'constructor']);
  });
});

test.each([
  ['cpu', false, false],
  ['memory', false, false],
  ['nvidia.com/gpu', true, false],
  ['example.com/fpga', true, false],
  ['hugepages-2Mi', false, true],
  ['kubernetes.io/batteries', false, false],
])('%s is an extended resource: %s, of huge pages: %s (D8-06)', (resource, extended, hugePages) => {
  expect([isExtended(resource), isHugePages(resource)]).toEqual([extended, hugePages]);
});
