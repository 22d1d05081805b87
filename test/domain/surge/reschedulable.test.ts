import { describe, expect, test } from 'vitest';
import type { NodeSelectorTerm } from '../../../lib/domain/cluster/pod.ts';
import type { Operator, Requirement } from '../../../lib/domain/cluster/requirements.ts';
import { formatResourceList } from '../../../lib/domain/cluster/resource-list.ts';
import { census, hostnameOf, isPinned } from '../../../lib/domain/surge/reschedulable.ts';
import { aClaim, aNode, aPod } from '../../support/builders.ts';

const node = aNode(aClaim('old'), { meta: { name: 'node-old', labels: { 'kubernetes.io/hostname': 'host-old' } } });

describe('the census of a node', () => {
  test('counts only what has to move: no DaemonSet, static or finished Pod (PR-28, R3.3-05, R3.3-06)', () => {
    const taken = census(
      [
        aPod('logs', { controllerKind: 'DaemonSet', requests: { cpu: '500m' } }),
        aPod('kube-proxy', { controllerKind: 'Node', requests: { cpu: '100m' } }),
        aPod('report', { controllerKind: 'Job', phase: 'Succeeded', requests: { cpu: '2' } }),
        aPod('web', { requests: { cpu: '300m' } }),
      ],
      node,
    );
    expect([formatResourceList(taken.sum), formatResourceList(taken.daemonSetOverhead)]).toEqual([
      { cpu: '300m' },
      { cpu: '500m' },
    ]);
  });

  test('puts every Pod into exactly one list and our own placeholder into none (R3.3-06, D8-03)', () => {
    const { controllerKind: _, ...bare } = aPod('bare');
    const pods = [
      aPod('web'),
      bare,
      aPod('logs', { controllerKind: 'DaemonSet' }),
      aPod('logs-failed', { controllerKind: 'DaemonSet', phase: 'Failed' }),
      aPod('static', { controllerKind: 'Node' }),
      aPod('done', { phase: 'Succeeded' }),
      aPod('local', { nodeSelector: { 'kubernetes.io/hostname': 'host-old' } }),
      aPod('leaving', { meta: { deleting: true } }),
      aPod('noderotation-surge-other', { meta: { labels: { 'noderotation.io/surge-for': 'other' } } }),
    ];
    const { counted, daemonSet, mirror, completed, pinned } = census(pods, node);
    const names = [counted, daemonSet, mirror, completed, pinned].map((list) => list.map((pod) => pod.meta.name));
    expect(names).toEqual([['web', 'bare', 'leaving'], ['logs'], ['static'], ['logs-failed', 'done'], ['local']]);
  });

  test('of a node without Pods is empty (R3.3-18)', () => {
    const taken = census([], node);
    expect([taken.counted, taken.sum.size, taken.daemonSetOverhead.size, taken.unreadable]).toEqual([[], 0, 0, []]);
  });

  test('names the unreadable parts of the Pods behind its sums, and of no other (D5-06, D8-03)', () => {
    const unreadable = [{ path: 'spec.containers[0].resources.requests.cpu', text: 'much', problem: 'is no quantity' }];
    const taken = census([aPod('web', { unreadable }), aPod('done', { phase: 'Succeeded', unreadable })], node);
    expect(taken.unreadable).toEqual([
      { path: 'Pod shop/web: spec.containers[0].resources.requests.cpu', text: 'much', problem: 'is no quantity' },
    ]);
  });
});

describe('a pinned Pod', () => {
  const host = (operator: Operator, ...values: string[]): Requirement => ({
    key: 'kubernetes.io/hostname',
    operator,
    values,
  });
  const name = (...values: string[]): Requirement => ({ key: 'metadata.name', operator: 'In', values });
  const zone: Requirement = { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['a'] };
  const term = (matchExpressions: Requirement[], matchFields: Requirement[] = []): NodeSelectorTerm => ({
    matchExpressions,
    matchFields,
  });

  test.each([
    { what: 'one term with this host', terms: [term([host('In', 'host-old')])], pinned: true },
    { what: 'one term with this host and more', terms: [term([zone, host('In', 'host-old')])], pinned: true },
    {
      what: 'every term with this host',
      terms: [term([host('In', 'host-old')]), term([zone, host('In', 'host-old')])],
      pinned: true,
    },
    { what: 'a term that leaves other hosts', terms: [term([host('In', 'host-old')]), term([zone])], pinned: false },
    { what: 'two hosts', terms: [term([host('In', 'host-old', 'host-new')])], pinned: false },
    {
      what: 'expressions that together leave this host',
      terms: [term([host('In', 'host-old', 'host-new'), host('NotIn', 'host-new')])],
      pinned: true,
    },
    { what: 'another host', terms: [term([host('In', 'host-new')])], pinned: false },
    { what: 'not this host', terms: [term([host('NotIn', 'host-old')])], pinned: false },
    { what: 'any host', terms: [term([host('Exists')])], pinned: false },
    { what: "the Node's own name as a host", terms: [term([host('In', 'node-old')])], pinned: false },
    { what: "the Node's own name as a field", terms: [term([], [name('node-old')])], pinned: true },
    { what: 'the host name as a field', terms: [term([], [name('host-old')])], pinned: false },
    {
      what: 'a field in one term, a host in the other',
      terms: [term([], [name('node-old')]), term([host('In', 'host-old')])],
      pinned: true,
    },
    {
      what: 'an empty term, which matches nothing, beside a pinning one',
      terms: [term([]), term([host('In', 'host-old')])],
      pinned: true,
    },
    { what: 'only an empty term', terms: [term([])], pinned: false },
    { what: 'no term', terms: [], pinned: false },
  ])('with $what in its required affinity: $pinned (R3.3-06, D8-03)', ({ terms, pinned }) => {
    expect(isPinned(aPod('p', { requiredNodeAffinity: terms }), node)).toBe(pinned);
  });

  test.each([
    { selector: { 'kubernetes.io/hostname': 'host-old' }, pinned: true },
    { selector: { 'kubernetes.io/hostname': 'node-old' }, pinned: false },
    { selector: { 'topology.kubernetes.io/zone': 'a' }, pinned: false },
  ])(
    'by the node selector $selector: $pinned, whatever its affinity allows (R3.3-06, D8-03)',
    ({ selector, pinned }) => {
      expect(isPinned(aPod('p', { nodeSelector: selector as Record<string, string> }), node)).toBe(pinned);
      expect(
        isPinned(
          aPod('p', { nodeSelector: selector as Record<string, string>, requiredNodeAffinity: [term([zone])] }),
          node,
        ),
      ).toBe(pinned);
    },
  );

  test('on a node without the hostname label is compared with the Node name (D8-03)', () => {
    const unlabelled = aNode(aClaim('old'), { meta: { name: 'node-old', labels: {} } });
    expect([
      hostnameOf(unlabelled),
      isPinned(aPod('p', { nodeSelector: { 'kubernetes.io/hostname': 'node-old' } }), unlabelled),
    ]).toEqual(['node-old', true]);
  });
});
