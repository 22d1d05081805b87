import { describe, expect, test } from 'vitest';
import type { DisruptionBudget } from '../../../lib/domain/cluster/disruption-budget.ts';
import type { Pod } from '../../../lib/domain/cluster/pod.ts';
import { canNeverAllow, drainBlockers } from '../../../lib/domain/surge/drain-blockers.ts';
import { minutes } from '../../../lib/domain/time.ts';
import { aBudget, aPod, at, lasting } from '../../support/builders.ts';

const now = at('2026-06-09T17:00:00Z');
const selecting = (labels: Readonly<Record<string, string>>) => ({ matchLabels: labels, matchExpressions: [] });
const database = aPod('db-0', { meta: { labels: { app: 'db' } } });
const single = aBudget('db', {
  selector: selecting({ app: 'db' }),
  minAvailable: '1',
  disruptionsAllowed: 0,
  currentHealthy: 1,
  desiredHealthy: 1,
  expectedPods: 1,
});

const found = (pods: readonly Pod[], budgets: readonly DisruptionBudget[] = [], grace = '1h') =>
  drainBlockers(pods, budgets, grace === '' ? undefined : lasting(grace), now);
const brief = (...args: Parameters<typeof found>) => found(...args).map(({ kind, object }) => `${kind} ${object}`);

describe('a PDB', () => {
  test('that wants as many healthy Pods as there are is named with its Pods (PR-23, D6-06)', () => {
    expect(found([database], [single])).toEqual([
      {
        kind: 'pdb',
        object: 'shop/db',
        message:
          'PodDisruptionBudget shop/db (minAvailable 1 of 1) can never allow an eviction of shop/db-0. Allow one disruption, or run one replica more.',
      },
    ]);
  });

  test.each([
    { budget: { maxUnavailable: '0' }, never: true },
    { budget: { maxUnavailable: '0%' }, never: true },
    { budget: { maxUnavailable: '1' }, never: false },
    { budget: { maxUnavailable: '10%' }, never: false },
    { budget: { minAvailable: '100%' }, never: true },
    { budget: { minAvailable: '99%' }, never: false },
    { budget: { minAvailable: '0' }, never: false },
    {
      budget: { minAvailable: '2', disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2, expectedPods: 2 },
      never: true,
    },
    {
      budget: { minAvailable: '3', disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 3, expectedPods: 2 },
      never: true,
    },
    {
      budget: { minAvailable: '90%', disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2, expectedPods: 2 },
      never: true,
    },
    {
      budget: { minAvailable: '1', disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 2 },
      never: false,
    },
    {
      budget: { minAvailable: '2', disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3 },
      never: false,
    },
    {
      budget: { minAvailable: '1', disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
      never: false,
    },
    { budget: {}, never: false },
  ])('$budget can never allow an eviction: $never (PR-23, D6-06)', ({ budget, never }) => {
    expect(canNeverAllow(aBudget('b', budget))).toBe(never);
  });

  test('blocks only Pods that it selects, in its own namespace (D6-06)', () => {
    const blocking = { maxUnavailable: '0' };
    const unset = aBudget('unset', blocking);
    const { selector: _, ...withoutSelector } = unset;
    expect(brief([database], [aBudget('all', blocking)])).toEqual(['pdb shop/all']);
    expect(brief([database], [aBudget('web', { ...blocking, selector: selecting({ app: 'web' }) })])).toEqual([]);
    expect(brief([aPod('x', { meta: { namespace: 'other' } })], [aBudget('all', blocking)])).toEqual([]);
    expect(brief([database], [withoutSelector])).toEqual([]);
  });

  test('is named once, with the first of many Pods (D6-06)', () => {
    const pods = ['c', 'a', 'e', 'b', 'd'].map((name) => aPod(name));
    const [only, ...more] = found(pods, [aBudget('all', { maxUnavailable: '0' })]);
    expect([only?.message.includes('shop/a, shop/b, shop/c and 2 more'), more]).toEqual([true, []]);
  });
});

test('a Pod under two PDBs is named, though each of them would allow its eviction (D6-06)', () => {
  const budgets = [aBudget('b'), aBudget('a')];
  expect(found([database], budgets)).toEqual([
    {
      kind: 'twoBudgets',
      object: 'shop/db-0',
      message:
        'Pod shop/db-0 is under 2 PodDisruptionBudgets (shop/a, shop/b), and Kubernetes never evicts such a Pod. Leave it under one.',
    },
  ]);
});

describe('do-not-disrupt', () => {
  const job = (over: Partial<Pod> = {}) =>
    aPod('job', {
      meta: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } },
      controllerKind: 'Job',
      ...over,
    } as Parameters<typeof aPod>[1]);

  test('on a running Pod is named, with what the drain will do to it (PR-50, D6-06)', () => {
    expect(found([job()])).toEqual([
      {
        kind: 'doNotDisrupt',
        object: 'shop/job',
        message:
          'Pod shop/job carries karpenter.sh/do-not-disrupt: the drain waits for it and kills it when the grace of 1h runs out. Let it finish, or take the annotation off.',
      },
    ]);
    expect(found([job()], [], '')[0]?.message).toContain('the drain waits for it without end');
  });

  test('on a completed Pod is ignored (PR-50, D6-06)', () => {
    expect([brief([job({ phase: 'Succeeded' })]), brief([job({ phase: 'Failed' })])]).toEqual([[], []]);
  });
});

describe('the own grace of a Pod', () => {
  test.each([
    { own: '59m', grace: '1h', named: [] },
    { own: '1h', grace: '1h', named: ['podGrace shop/slow'] },
    { own: '12h', grace: '1h', named: ['podGrace shop/slow'] },
    { own: '12h', grace: '', named: [] },
  ])('of $own under a NodeClaim grace of "$grace" is named: $named (PR-71, D6-06)', ({ own, grace, named }) => {
    expect(brief([aPod('slow', { terminationGracePeriod: lasting(own) })], [], grace)).toEqual(named);
  });

  test('is compared in words that say what to change (PR-71, D6-06)', () => {
    expect(found([aPod('slow', { terminationGracePeriod: lasting('12h') })])[0]?.message).toBe(
      'Pod shop/slow asks for 12h to end, its NodeClaim grants 1h: it is deleted at once, past its PodDisruptionBudget, and cut off. Raise terminationGracePeriod in the NodePool.',
    );
  });
});

describe('Pods that a drain does not wait for', () => {
  const everything = {
    meta: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } },
    terminationGracePeriod: minutes(120),
  };
  const budgets = [aBudget('a', { maxUnavailable: '0' }), aBudget('b')];

  test.each([
    { what: 'completed', over: { phase: 'Succeeded' as const } },
    { what: 'static', over: { controllerKind: 'Node' } },
    { what: 'tolerating the drain taint', over: { tolerations: [{ operator: 'Exists' as const }] } },
    { what: 'already ending', over: { meta: { ...everything.meta, deleting: true } } },
    { what: 'our placeholder', over: { meta: { ...everything.meta, labels: { 'noderotation.io/surge-for': 'x' } } } },
  ])('block nothing: $what (D6-06)', ({ over }) => {
    expect(brief([aPod('p', { ...everything, ...over })], budgets)).toEqual([]);
  });

  test('a DaemonSet Pod without that toleration is waited for like any other (D6-06)', () => {
    expect(brief([aPod('p', { ...everything, controllerKind: 'DaemonSet' })], budgets)).toEqual([
      'pdb shop/a',
      'twoBudgets shop/p',
      'doNotDisrupt shop/p',
      'podGrace shop/p',
    ]);
  });

  test('no PDB is asked about a Pod that has not begun to run (D6-06)', () => {
    expect(brief([aPod('p', { phase: 'Pending' })], budgets)).toEqual([]);
  });
});

test('blockers come in the same order whatever the order of Pods and PDBs (D6-06)', () => {
  const pods = [
    aPod('b', { terminationGracePeriod: minutes(90) }),
    database,
    aPod('a', { terminationGracePeriod: minutes(90) }),
  ];
  const budgets = [single, aBudget('aa', { maxUnavailable: '0' })];
  const there = found(pods, budgets);
  expect(found([...pods].reverse(), [...budgets].reverse())).toEqual(there);
  expect(there.map(({ kind, object }) => `${kind} ${object}`)).toEqual([
    'pdb shop/aa',
    'pdb shop/db',
    'twoBudgets shop/db-0',
    'podGrace shop/a',
    'podGrace shop/b',
  ]);
});
