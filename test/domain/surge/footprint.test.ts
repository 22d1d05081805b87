import { describe, expect, test } from 'vitest';
import type { NodeClaim } from '../../../lib/domain/cluster/node-claim.ts';
import type { Pod } from '../../../lib/domain/cluster/pod.ts';
import { formatResourceList } from '../../../lib/domain/cluster/resource-list.ts';
import { footprint } from '../../../lib/domain/surge/footprint.ts';
import { census } from '../../../lib/domain/surge/reschedulable.ts';
import { aClaim, amounts, aNode, aPod } from '../../support/builders.ts';

type Amounts = Readonly<Record<string, string>>;

interface Given {
  readonly claim?: NodeClaim;
  readonly allocatable?: Amounts;
  readonly nodeAllocatable?: Amounts;
  readonly drain?: readonly Amounts[];
  readonly daemons?: Amounts;
  readonly wholeNode?: boolean;
}

/** The footprint of a candidate whose Pods ask for `drain` and whose DaemonSets ask for `daemons`, in text. */
function sized({ claim, allocatable = {}, nodeAllocatable, drain = [], daemons = {}, wholeNode = false }: Given) {
  const candidate = claim ?? aClaim('old', { allocatable: amounts(allocatable) });
  const node = aNode(candidate, { allocatable: amounts(nodeAllocatable ?? allocatable) });
  const pods: readonly Pod[] = [
    ...drain.map((requests, index) => aPod(`web-${index}`, { requests })),
    aPod('logs', { controllerKind: 'DaemonSet', requests: daemons }),
  ];
  const found = footprint({ census: census(pods, node), claim: candidate, node, wholeNode });
  return {
    ...found,
    sum: formatResourceList(found.sum),
    limit: found.limit && formatResourceList(found.limit),
    requests: formatResourceList(found.requests),
    shortfall: formatResourceList(found.shortfall),
  };
}

describe('the clamp', () => {
  const allocatable = { cpu: '4', memory: '16Gi' };
  const daemons = { cpu: '200m', memory: '2Gi' };

  test.each([
    { cpu: '3799m', requests: '3799m', clamped: false, shortfall: {} },
    { cpu: '3800m', requests: '3800m', clamped: false, shortfall: {} },
    { cpu: '3801m', requests: '3800m', clamped: true, shortfall: { cpu: '1m' } },
  ])(
    'of a drain of $cpu under a limit of 3800m asks for $requests (R3.3-11)',
    ({ cpu, requests, clamped, shortfall }) => {
      expect(sized({ allocatable, daemons, drain: [{ cpu }], nodeAllocatable: { cpu: '5', memory: '16Gi' } })).toEqual({
        sum: { cpu },
        limit: { cpu: '3800m', memory: '14Gi' },
        requests: { cpu: requests },
        clamped,
        shortfall,
        refused: null,
        bandExceeded: [],
      });
    },
  );

  test('works resource by resource (R3.3-11)', () => {
    const { requests, shortfall } = sized({ allocatable, daemons, drain: [{ cpu: '1', memory: '15Gi' }] });
    expect([requests, shortfall]).toEqual([{ cpu: '1', memory: '14Gi' }, { memory: '1Gi' }]);
  });

  test('does nothing without an allocatable of the claim (R3.3-12)', () => {
    const { allocatable: _, ...withoutAllocatable } = aClaim('old');
    const unlimited = { limit: null, requests: { cpu: '99' }, clamped: false, refused: null };
    expect(sized({ claim: withoutAllocatable, drain: [{ cpu: '99' }] })).toMatchObject(unlimited);
    expect(sized({ allocatable: {}, drain: [{ cpu: '99' }], wholeNode: true })).toMatchObject(unlimited);
  });

  test('leaves a resource alone that the claim does not list (R3.3-11)', () => {
    expect(sized({ allocatable, drain: [{ 'nvidia.com/gpu': '2' }] })).toMatchObject({
      requests: { 'nvidia.com/gpu': '2' },
      clamped: false,
      refused: null,
    });
  });

  test('takes the limit of each claim from that claim alone (PR-31, R3.3-11)', () => {
    const clampOf = (memory: string) => sized({ allocatable: { memory }, drain: [{ memory: '370000Mi' }] }).requests;
    expect([clampOf('358859Mi'), clampOf('366000Mi')]).toEqual([{ memory: '358859Mi' }, { memory: '366000Mi' }]);
  });
});

describe('a refused clamp', () => {
  test('keeps the full drain where live DaemonSets leave nothing (PR-30, R3.3-14)', () => {
    expect(sized({ allocatable: { cpu: '940m' }, daemons: { cpu: '1' }, drain: [{ cpu: '200m' }] })).toEqual({
      sum: { cpu: '200m' },
      limit: { cpu: '0' },
      requests: { cpu: '200m' },
      clamped: false,
      shortfall: {},
      refused: 'cpu',
      bandExceeded: [],
    });
  });

  test.each([
    { daemons: '999m', refused: null, requests: '1m' },
    { daemons: '1', refused: 'cpu', requests: '500m' },
    { daemons: '1001m', refused: 'cpu', requests: '500m' },
  ])('of 1 CPU with DaemonSets of $daemons is: $refused (R3.3-14)', ({ daemons, refused, requests }) => {
    expect(sized({ allocatable: { cpu: '1' }, daemons: { cpu: daemons }, drain: [{ cpu: '500m' }] })).toMatchObject({
      refused,
      requests: { cpu: requests },
    });
  });

  test('concerns only what the drain asks for (R3.3-14)', () => {
    const given = { allocatable: { cpu: '1', memory: '1Gi' }, daemons: { memory: '1Gi' } };
    expect(sized({ ...given, drain: [{ cpu: '2', memory: '0' }] })).toMatchObject({
      refused: null,
      requests: { cpu: '1', memory: '0' },
    });
  });

  test('is named once, for the first resource, and lowers no other (R3.3-14)', () => {
    const given = { allocatable: { cpu: '4', memory: '1Gi', 'ephemeral-storage': '0' }, daemons: { memory: '1Gi' } };
    expect(sized({ ...given, drain: [{ memory: '2Gi', cpu: '9', 'ephemeral-storage': '1Gi' }] })).toMatchObject({
      refused: 'ephemeral-storage',
      requests: { cpu: '9', memory: '2Gi', 'ephemeral-storage': '1Gi' },
      clamped: false,
    });
  });
});

describe('the measured band', () => {
  test.each([
    { node: '1010Mi', drain: '1009Mi', clamped: true, bandExceeded: [] },
    { node: '1010Mi', drain: '1010Mi', clamped: true, bandExceeded: [] },
    { node: '1010Mi', drain: '1011Mi', clamped: true, bandExceeded: ['memory'] },
    { node: '990Mi', drain: '1001Mi', clamped: true, bandExceeded: ['memory'] },
    { node: '990Mi', drain: '1000Mi', clamped: false, bandExceeded: [] },
  ])(
    'between 1000Mi and $node holds a drain of $drain: beyond it is $bandExceeded (R3.3-15, D8-04)',
    ({ node, drain, clamped, bandExceeded }) => {
      expect(
        sized({ allocatable: { memory: '1000Mi' }, nodeAllocatable: { memory: node }, drain: [{ memory: drain }] }),
      ).toMatchObject({ clamped, bandExceeded, requests: { memory: clamped ? '1000Mi' : drain } });
    },
  );

  test('of a resource that the Node does not list is nothing (R3.3-15, D8-04)', () => {
    expect(sized({ allocatable: { cpu: '1' }, nodeAllocatable: {}, drain: [{ cpu: '1001m' }] }).bandExceeded).toEqual([
      'cpu',
    ]);
  });
});

describe('whole-node reservation', () => {
  const allocatable = { cpu: '4', memory: '16Gi', 'ephemeral-storage': '20Gi', 'nvidia.com/gpu': '4', pods: '58' };
  const daemons = { cpu: '200m', memory: '2Gi' };
  const given = { allocatable, daemons, wholeNode: true };

  test('asks for all that the limit leaves of cpu and memory (PR-56, R3.3-16, R3.3-17)', () => {
    expect(sized({ ...given, drain: [{ cpu: '500m', memory: '1Gi' }] })).toMatchObject({
      sum: { cpu: '500m', memory: '1Gi' },
      requests: { cpu: '3800m', memory: '14Gi' },
      clamped: false,
    });
  });

  test('raises another resource only if the drain asks for it (R3.3-16, R3.3-17)', () => {
    expect(
      sized({ ...given, drain: [{ cpu: '500m', 'nvidia.com/gpu': '1', 'ephemeral-storage': '0' }] }).requests,
    ).toEqual({
      cpu: '3800m',
      memory: '14Gi',
      'nvidia.com/gpu': '4',
      'ephemeral-storage': '0',
    });
  });

  test('reserves for Pods that ask for nothing, and nothing where no Pod has to move (PR-56, R3.3-18)', () => {
    expect([sized({ ...given, drain: [{}] }).requests, sized(given).requests]).toEqual([
      { cpu: '3800m', memory: '14Gi' },
      {},
    ]);
  });

  test('is off by default (R3.3-16)', () => {
    expect(sized({ allocatable, daemons, drain: [{ cpu: '500m' }] }).requests).toEqual({ cpu: '500m' });
  });

  test('never asks for more than the limit: a larger drain is clamped and reported (R3.3-19)', () => {
    expect(sized({ ...given, drain: [{ cpu: '4', memory: '1Gi' }] })).toMatchObject({
      requests: { cpu: '3800m', memory: '14Gi' },
      clamped: true,
      shortfall: { cpu: '200m' },
      bandExceeded: ['cpu'],
    });
  });

  test('goes to the refusal where DaemonSets leave no cpu, also for Pods that ask for none (R3.3-14, R3.3-19)', () => {
    const full = { allocatable: { cpu: '1', memory: '4Gi' }, daemons: { cpu: '1' }, wholeNode: true };
    expect(sized({ ...full, drain: [{}] })).toMatchObject({ refused: 'cpu', requests: { cpu: '1', memory: '4Gi' } });
    expect(sized({ ...full, drain: [{ cpu: '300m' }] })).toMatchObject({
      refused: 'cpu',
      requests: { cpu: '300m', memory: '4Gi' },
    });
  });
});
