import { describe, expect, test } from 'vitest';
import type { ContainerResources, Pod } from '../../../lib/domain/cluster/pod.ts';
import {
  hasActiveDoNotDisrupt,
  isCompleted,
  isDaemonSetPod,
  isMirror,
  isPlaceholder,
  podName,
  requestsOf,
  tolerates,
} from '../../../lib/domain/cluster/pod.ts';
import { formatResourceList } from '../../../lib/domain/cluster/resource-list.ts';
import { amounts, aPod, at } from '../../support/builders.ts';

type Amounts = Readonly<Record<string, string>>;

const container = (requests: Amounts, allocated?: Amounts): ContainerResources => ({
  name: 'main',
  requests: amounts(requests),
  ...(allocated === undefined ? {} : { allocated: amounts(allocated) }),
  sidecar: false,
});
const sidecar = (requests: Amounts, allocated?: Amounts): ContainerResources => ({
  ...container(requests, allocated),
  sidecar: true,
});
const askedBy = (resources: Partial<Pod['resources']>) =>
  formatResourceList(
    requestsOf(aPod('p', { resources: { containers: [], initContainers: [], overhead: new Map(), ...resources } })),
  );

describe('the request of a Pod', () => {
  test('is the sum of its containers (D8-02)', () => {
    expect(askedBy({ containers: [container({ cpu: '100m', memory: '1Gi' }), container({ cpu: '200m' })] })).toEqual({
      cpu: '300m',
      memory: '1Gi',
    });
  });

  test('adds sidecars to the containers that they run beside (D8-02)', () => {
    expect(
      askedBy({
        containers: [container({ cpu: '500m' })],
        initContainers: [sidecar({ cpu: '100m' }), sidecar({ cpu: '50m' })],
      }),
    ).toEqual({ cpu: '650m' });
  });

  test('is an init container where that peaks above the rest, per resource (D8-02)', () => {
    expect(
      askedBy({
        containers: [container({ cpu: '500m', memory: '2Gi' })],
        initContainers: [container({ cpu: '2', memory: '1Gi' }), container({ cpu: '1' })],
      }),
    ).toEqual({ cpu: '2', memory: '2Gi' });
  });

  test('counts with an init container only the sidecars declared before it (D8-02)', () => {
    const [before, init, after] = [sidecar({ cpu: '300m' }), container({ cpu: '1' }), sidecar({ cpu: '500m' })];
    expect(askedBy({ containers: [container({ cpu: '100m' })], initContainers: [before, init, after] })).toEqual({
      cpu: '1300m',
    });
    expect(askedBy({ containers: [container({ cpu: '100m' })], initContainers: [init, before, after] })).toEqual({
      cpu: '1',
    });
  });

  test('takes the Pod-level request for the resources that it names, and adds overhead to it (PR-27, D8-02)', () => {
    expect(
      askedBy({
        containers: [container({ cpu: '400m', memory: '1Gi' }), container({ cpu: '200m' })],
        podLevel: amounts({ cpu: '2' }),
        overhead: amounts({ cpu: '100m' }),
      }),
    ).toEqual({ cpu: '2100m', memory: '1Gi' });
  });

  test('takes a Pod-level request even below the sum of the containers (D8-02)', () => {
    expect(askedBy({ containers: [container({ cpu: '3' })], podLevel: amounts({ cpu: '2' }) })).toEqual({ cpu: '2' });
  });

  test.each([
    { spec: '500m', status: '1', asked: '1' },
    { spec: '1', status: '500m', asked: '1' },
    { spec: '1', status: '1', asked: '1' },
  ])(
    'is the larger of spec $spec and status $status during an in-place resize (PR-27, D8-02)',
    ({ spec, status, asked }) => {
      const resized = [{ cpu: spec }, { cpu: status }] as const;
      expect(askedBy({ containers: [container(...resized)] })).toEqual({ cpu: asked });
      expect(askedBy({ initContainers: [sidecar(...resized)] })).toEqual({ cpu: asked });
      expect(askedBy({ podLevel: amounts(resized[0]), podLevelAllocated: amounts(resized[1]) })).toEqual({
        cpu: asked,
      });
    },
  );

  test('ignores what a finished init container and a Pod without requests of its own were allocated (D8-02)', () => {
    expect(askedBy({ initContainers: [container({ cpu: '1' }, { cpu: '3' })] })).toEqual({ cpu: '1' });
    expect(askedBy({ containers: [container({ cpu: '1' })], podLevelAllocated: amounts({ cpu: '9' }) })).toEqual({
      cpu: '1',
    });
  });

  test('of a Pod that asks for nothing is empty (D8-02)', () => {
    expect(askedBy({ containers: [container({})] })).toEqual({});
  });
});

describe('do-not-disrupt on a Pod', () => {
  const started = at('2026-06-09T12:00:00Z');
  const pod = (value: string, startedAt = true): Pod => {
    const built = aPod('job', { meta: { annotations: { 'karpenter.sh/do-not-disrupt': value } }, startedAt: started });
    if (startedAt) return built;
    const { startedAt: _, ...rest } = built;
    return rest;
  };

  test.each([
    { value: 'true', when: '2026-12-31T00:00:00Z', active: true },
    { value: '30m', when: '2026-06-09T12:29:59.999Z', active: true },
    { value: '30m', when: '2026-06-09T12:30:00Z', active: false },
    { value: '30m', when: '2026-06-09T12:30:00.001Z', active: false },
    { value: '1h30m', when: '2026-06-09T13:29:59Z', active: true },
    { value: '1.5h', when: '2026-06-09T13:29:59Z', active: true },
    { value: '1.5h', when: '2026-06-09T13:30:00Z', active: false },
    { value: '+.5h', when: '2026-06-09T12:29:59Z', active: true },
    { value: '1000000us', when: '2026-06-09T12:00:00.999Z', active: true },
    { value: '1000000µs', when: '2026-06-09T12:00:01Z', active: false },
    { value: '2562047h', when: '2026-06-09T12:00:00Z', active: true },
    { value: '2562048h', when: '2026-06-09T12:00:00Z', active: false },
    { value: '9223372036854775000ns', when: '2026-06-09T12:00:00Z', active: true },
    { value: '9999999999999999999ns', when: '2026-06-09T12:00:00Z', active: false },
    { value: '0', when: '2026-06-09T12:00:00Z', active: false },
    { value: '-1h', when: '2026-06-09T12:00:00Z', active: false },
    { value: 'false', when: '2026-06-09T12:00:00Z', active: false },
    { value: 'True', when: '2026-06-09T12:00:00Z', active: false },
    { value: '', when: '2026-06-09T12:00:00Z', active: false },
    { value: '1d', when: '2026-06-09T12:00:00Z', active: false },
    { value: '30', when: '2026-06-09T12:00:00Z', active: false },
    { value: '.h', when: '2026-06-09T12:00:00Z', active: false },
  ])('"$value" at $when protects: $active (PR-50, D6-06)', ({ value, when, active }) => {
    expect(hasActiveDoNotDisrupt(pod(value), at(when))).toBe(active);
  });

  test('with a duration protects a Pod that has not started yet, with nonsense it does not (PR-50, D6-06)', () => {
    expect([
      hasActiveDoNotDisrupt(pod('1s', false), started),
      hasActiveDoNotDisrupt(pod('soon', false), started),
    ]).toEqual([true, false]);
  });

  test('absent protects nothing (D6-06)', () => {
    expect(hasActiveDoNotDisrupt(aPod('web'), started)).toBe(false);
  });
});

describe('tolerations', () => {
  const taint = { key: 'dedicated', value: 'api', effect: 'NoSchedule' };

  test.each([
    { toleration: { key: 'dedicated', operator: 'Equal', value: 'api', effect: 'NoSchedule' }, tolerated: true },
    { toleration: { key: 'dedicated', operator: 'Equal', value: 'api' }, tolerated: true },
    { toleration: { key: 'dedicated', operator: 'Equal', value: 'batch' }, tolerated: false },
    { toleration: { key: 'dedicated', operator: 'Equal' }, tolerated: false },
    { toleration: { key: 'dedicated', operator: 'Exists' }, tolerated: true },
    { toleration: { key: 'dedicated', operator: 'Exists', effect: 'NoExecute' }, tolerated: false },
    { toleration: { key: 'other', operator: 'Exists' }, tolerated: false },
    { toleration: { operator: 'Exists' }, tolerated: true },
    { toleration: { key: '', operator: 'Exists', effect: '' }, tolerated: true },
  ] as const)('$toleration accepts dedicated=api:NoSchedule: $tolerated (D8-07)', ({ toleration, tolerated }) => {
    expect(tolerates([toleration], taint)).toBe(tolerated);
  });

  test('a taint without a value equals one with an empty value (D8-07)', () => {
    expect(tolerates([{ key: 'gpu', operator: 'Equal', value: '' }], { key: 'gpu', effect: 'NoSchedule' })).toBe(true);
  });

  test('no toleration accepts nothing (D8-07)', () => {
    expect(tolerates([], taint)).toBe(false);
  });
});

test('kinds of Pods are told apart by phase, owner and our label (R3.3-06)', () => {
  const kinds = [
    aPod('a', { phase: 'Succeeded' }),
    aPod('b', { phase: 'Failed' }),
    aPod('c', { controllerKind: 'DaemonSet' }),
    aPod('d', { controllerKind: 'Node' }),
    aPod('e', { meta: { annotations: { 'kubernetes.io/config.mirror': 'hash' } } }),
    aPod('f', { meta: { labels: { 'noderotation.io/surge-for': 'claim' } } }),
    aPod('g'),
  ].map((pod) => [podName(pod), isCompleted(pod), isDaemonSetPod(pod), isMirror(pod), isPlaceholder(pod)]);
  expect(kinds).toEqual([
    ['shop/a', true, false, false, false],
    ['shop/b', true, false, false, false],
    ['shop/c', false, true, false, false],
    ['shop/d', false, false, true, false],
    ['shop/e', false, false, true, false],
    ['shop/f', false, false, false, true],
    ['shop/g', false, false, false, false],
  ]);
});
