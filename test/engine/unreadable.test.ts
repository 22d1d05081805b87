/**
 * Odd objects on their whole way, from the wire to what people are told: never a crash, never NaN, never weaker in silence.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../lib/domain/cluster/snapshot.ts';
import type { PodManifest } from '../../lib/domain/surge/placeholder.ts';
import { decide } from '../../lib/engine/decide.ts';
import { outlookOf } from '../../lib/engine/outlook.ts';
import { survey } from '../../lib/engine/survey.ts';
import { aSnapshot } from '../support/builders.ts';
import { decoders } from '../support/decoders.ts';
import { runs } from '../support/properties.ts';
import { rawBudget, rawClaim, rawNode, rawPod, rawPool } from '../support/raw-objects.ts';
import { decisionOn, firstOf, windowOpens } from '../support/rotations.ts';

interface Objects {
  readonly pool: object;
  readonly claim: object;
  readonly node: object;
  readonly pods: readonly object[];
  readonly budgets: readonly object[];
}

const due = { created: '2026-05-30T17:00:00Z' };
const sound: Objects = {
  pool: rawPool(),
  claim: rawClaim('old', due),
  node: rawNode('old'),
  pods: [rawPod('web', 'old')],
  budgets: [],
};

/** Everything as read off the wire, and looked at closely. */
function seen(over: Partial<Objects>): ClusterSnapshot {
  const { pool, claim, node, pods, budgets } = { ...sound, ...over };
  const whole = decoders.node(node);
  return aSnapshot({
    observedAt: windowOpens,
    nodePools: [decoders.nodePool(pool)],
    nodeClaims: [decoders.nodeClaim(claim)],
    nodes: [decoders.nodeMetadata(node)],
    inspected: {
      nodes: new Map([[whole.meta.name, whole]]),
      podsOnNode: new Map([[whole.meta.name, pods.map((pod) => decoders.pod(pod))]]),
      dryRuns: new Map(),
      disruptionBudgets: budgets.map((budget) => decoders.disruptionBudget(budget)),
      unscheduledPods: [],
    },
  });
}

const told = (over: Partial<Objects>): readonly string[] =>
  decisionOn(seen(over)).actions.flatMap((action) =>
    action.kind === 'emitEvent' && action.event.reason === 'Unreadable'
      ? [`${action.event.regarding.kind} ${action.event.note}`]
      : [],
  );

const requestsIn = (pod: PodManifest | undefined): unknown =>
  (pod?.spec['containers'] as { resources: unknown }[] | undefined)?.[0]?.resources;

describe('what cannot be read is told with object, field and value', () => {
  it('and nothing is told when all is well (D5-06)', () => {
    expect(told({})).toEqual([]);
    expect(decisionOn(seen({})).step).toBe('start');
  });

  it.each<[string, Partial<Objects>, string]>([
    [
      'a negative limit of a pool',
      { pool: rawPool({ spec: { limits: { cpu: '-4' } } }) },
      'NodePool NodePool api: spec.limits.cpu "-4": is negative; an amount of a resource is zero or more',
    ],
    [
      'a used amount of a pool that is no quantity',
      { pool: rawPool({ status: { resources: { memory: 'much' } } }) },
      'NodePool NodePool api: status.resources.memory "much": is not a Kubernetes quantity such as 500m or 1Gi',
    ],
    [
      'a bound of a pool that is no whole number',
      {
        pool: rawPool({
          lifetime: {
            requirements: [{ key: 'eks.amazonaws.com/instance-generation', operator: 'Gt', values: ['four'] }],
          },
        }),
      },
      'NodePool NodePool api: spec.template.spec.requirements[key=eks.amazonaws.com/instance-generation].values "four": Gt needs exactly one whole number',
    ],
    [
      'a bound of a claim that names two numbers',
      {
        claim: rawClaim('old', {
          ...due,
          spec: { requirements: [{ key: 'vendor.example/size', operator: 'Lte', values: ['4', '5'] }] },
        }),
      },
      'NodeClaim NodeClaim old: spec.requirements[key=vendor.example/size].values "4, 5": Lte needs exactly one whole number',
    ],
    [
      'an allocatable of a claim larger than Kubernetes can count',
      { claim: rawClaim('old', { ...due, status: { allocatable: { cpu: '1e30', memory: '15Gi' } } }) },
      'NodeClaim NodeClaim old: status.allocatable.cpu "1e30": is larger than Kubernetes can count (2^63 - 1)',
    ],
    [
      'an allocatable of the Node',
      { node: rawNode('old', { status: { allocatable: { cpu: 'all' } } }) },
      'NodePool Node node-old: status.allocatable.cpu "all": is not a Kubernetes quantity such as 500m or 1Gi',
    ],
    [
      'a request of a Pod to move',
      { pods: [rawPod('web', 'old', { requests: { cpu: '-1' } })] },
      'NodePool On node node-old: Pod shop/web: spec.containers[0].resources.requests.cpu "-1": is negative; an amount of a resource is zero or more',
    ],
    [
      'a request of a DaemonSet Pod',
      { pods: [rawPod('agent', 'old', { owner: 'DaemonSet', requests: { memory: {} } })] },
      'NodePool On node node-old: Pod shop/agent: spec.containers[0].resources.requests.memory "{}": is not a Kubernetes quantity such as 500m or 1Gi',
    ],
    [
      'a PDB whose selector cannot be read',
      { budgets: [rawBudget('web', { selector: 'app=web', maxUnavailable: 0 })] },
      'NodePool PodDisruptionBudget shop/web: spec.selector "app=web": Invalid input: expected object, received string',
    ],
  ])('%s (D5-06, D8-01, R3.7-04)', (_, over, message) => {
    expect(told(over)).toEqual([message]);
    expect(decisionOn(seen(over)).step).toBe('start');
  });

  it('all that is odd around one candidate at once, since of one code only one Event is made (D5-06)', () => {
    const over = {
      node: rawNode('old', { status: { allocatable: { cpu: 'all' } } }),
      pods: ['web', 'api'].map((name) => rawPod(name, 'old', { requests: { cpu: 'two' } })),
      budgets: [rawBudget('web', { selector: 7 })],
    };
    const [message, ...others] = told(over);
    expect(others).toEqual([]);
    for (const part of ['Node node-old: ', 'Pod shop/web: ', 'Pod shop/api: ', 'PodDisruptionBudget shop/web: '])
      expect(message).toContain(part);
  });

  it('once: not again while the warning stands on the object (D5-06, D11-03)', () => {
    const warned = { annotations: { 'noderotation.io/warnings': 'Unreadable' } };
    expect(told({ pool: rawPool({ metadata: warned, spec: { limits: { cpu: 'x' } } }) })).toEqual([]);
  });

  it('only where it matters: not on a claim that goes, nor a PDB elsewhere, nor a Pod that stays (D5-06)', () => {
    const odd = { spec: { requirements: [{ key: 'a', operator: 'Gt', values: ['x'] }] } };
    const goes = { ...due, ...odd, metadata: { deletionTimestamp: '2026-06-09T16:59:00Z' } };
    expect(told({ claim: rawClaim('old', goes) })).toEqual([]);
    const elsewhere = { ...rawBudget('web', { selector: 7 }), metadata: { name: 'web', namespace: 'other' } };
    expect(told({ budgets: [elsewhere] })).toEqual([]);
    const finished = rawPod('job', 'old', { requests: { cpu: 'x' }, status: { phase: 'Succeeded' } });
    expect(told({ pods: [finished] })).toEqual([]);
  });

  it('in the plan as in the tick, each once (D13-02, D5-06)', () => {
    const over = {
      pool: rawPool({ spec: { limits: { cpu: 'x' } } }),
      claim: rawClaim('old', { ...due, status: { allocatable: { cpu: 'y' } } }),
      pods: [rawPod('web', 'old', { requests: { cpu: 'z' } })],
    };
    const [pool] = outlookOf(seen(over)).pools;
    const found = (pool?.findings ?? []).filter(({ code }) => code === 'Unreadable').map(({ message }) => message);
    expect(found.map((message) => message.replace(/: is not .*/, ''))).toEqual([
      'On node node-old: Pod shop/web: spec.containers[0].resources.requests.cpu "z"',
      'NodePool api: spec.limits.cpu "x"',
      'NodeClaim old: status.allocatable.cpu "y"',
    ]);
  });
});

describe('a candidate', () => {
  const placeholder = (over: Partial<Objects>) => firstOf(decisionOn(seen(over)).actions, 'createPlaceholder')?.pod;

  it('whose Pods ask for nothing gets a placeholder that asks for nothing (R3.3-05, R3.3-18)', () => {
    const bare = rawPod('bare', 'old', { spec: { containers: [{ name: 'main' }] } });
    expect(requestsIn(placeholder({ pods: [bare] }))).toEqual({ requests: {} });
    const none = rawPod('none', 'old', { spec: { containers: [] } });
    expect(requestsIn(placeholder({ pods: [none] }))).toEqual({ requests: {} });
  });

  it('whose Pods ask for resources that nobody here knows has them asked for, devices limited (D8-06, D8-01)', () => {
    const requests = { 'vendor.example/fpga': '2', 'vendor.kubernetes.io/batch-cpu': '500', 'hugepages-2Mi': '4Mi' };
    const status = { allocatable: { cpu: '3900m', 'vendor.example/fpga': '2', 'hugepages-2Mi': '8Mi' } };
    const pod = placeholder({
      claim: rawClaim('old', { ...due, status }),
      pods: [rawPod('odd', 'old', { requests })],
    });
    expect(requestsIn(pod)).toEqual({
      requests,
      limits: { 'vendor.example/fpga': '2', 'hugepages-2Mi': '4Mi' },
    });
  });

  it('whose Node has no labels is known by its name and held to what its claim names (R3.7-02, R3.7-03, R3.3-07)', () => {
    const requirements = [{ key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] }];
    const pod = placeholder({
      claim: rawClaim('old', { ...due, spec: { requirements } }),
      node: rawNode('old', { metadata: { labels: {} } }),
    });
    expect(pod?.spec['affinity']).toEqual({
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: requirements }] },
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 100,
            preference: {
              matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'NotIn', values: ['node-old'] }],
            },
          },
        ],
      },
    });
  });

  it.each([
    ['no status', { status: undefined }],
    ['an empty status', { status: {} }],
    ['a status that is no object', { status: 'Ready' }],
  ])('a claim with %s is none (D6-05)', (_, over) => {
    const decision = decisionOn(seen({ claim: { ...rawClaim('old', due), ...over } }));
    expect(decision).toMatchObject({ step: 'nothing', blocked: { reason: 'NoCandidate' } });
  });

  it('with a Pod whose grace no clock can hold is blocked by it, not broken by it (D6-06, D5-06)', () => {
    const graceful = (terminationGracePeriodSeconds: number) =>
      decisionOn(seen({ pods: [rawPod('web', 'old', { spec: { terminationGracePeriodSeconds } })] }));
    for (const absurd of [2 ** 63, Number.MAX_SAFE_INTEGER, 1e300]) {
      const [blocker] = graceful(absurd).notices;
      expect(blocker).toMatchObject({
        code: 'DrainBlocked',
        message: expect.stringContaining('shop/web asks for 876000h'),
      });
    }
    expect(graceful(-1).notices).toEqual([]);
    expect(graceful(0.5).notices).toMatchObject([{ code: 'Unreadable' }]);
  });
});

describe('whatever stands in one field', () => {
  type Path = readonly (string | number)[];

  /** Every place in an object, inner ones and leaves. */
  const placesIn = (value: unknown, path: Path = []): Path[] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, inner]) => {
          const at = [...path, Array.isArray(value) ? Number(key) : key];
          return [at, ...placesIn(inner, at)];
        })
      : [];

  function put(value: unknown, [key, ...rest]: Path, odd: unknown): unknown {
    if (key === undefined) return odd;
    const inner = put((value as Record<string, unknown>)[key], rest, odd);
    if (Array.isArray(value)) return value.with(key as number, inner);
    return { ...(value as object), [key]: inner };
  }

  const whole: Objects = {
    pool: rawPool({
      spec: { limits: { cpu: '64', nodes: '5' }, weight: 3 },
      lifetime: {
        taints: [{ key: 'team', value: 'a', effect: 'NoSchedule' }],
        requirements: [{ key: 'vendor.example/generation', operator: 'Gt', values: ['3'] }],
      },
      status: { resources: { cpu: '8', nodes: '2' } },
    }),
    claim: rawClaim('old', {
      ...due,
      spec: { requirements: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] }] },
    }),
    node: rawNode('old', { spec: { taints: [{ key: 'team', value: 'a', effect: 'NoSchedule' }] } }),
    pods: [
      rawPod('web', 'old', {
        metadata: { annotations: { 'karpenter.sh/do-not-disrupt': '1h' } },
        spec: {
          terminationGracePeriodSeconds: 30,
          priority: 5,
          overhead: { cpu: '10m' },
          resources: { requests: { cpu: '1' } },
          initContainers: [{ name: 'init', restartPolicy: 'Always', resources: { requests: { cpu: '1' } } }],
          nodeSelector: { 'kubernetes.io/hostname': 'node-old' },
        },
        status: {
          phase: 'Running',
          startTime: '2026-06-01T00:00:00Z',
          containerStatuses: [{ name: 'main', allocatedResources: { cpu: '2' } }],
        },
      }),
      rawPod('agent', 'old', { owner: 'DaemonSet' }),
    ],
    budgets: [
      {
        ...rawBudget('web', { selector: { matchLabels: { app: 'web' } }, minAvailable: '100%' }),
        status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
      },
    ],
  };
  const parts = ['pool', 'claim', 'node', 'pods', 'budgets'] as const;
  // A name is what an object is told by: without one it is refused as a whole.
  const places = parts.flatMap((part) =>
    placesIn(whole[part])
      .map((path) => ({ part, path }))
      .filter(({ path }) => !(path.at(-1) === 'metadata' || (path.includes('metadata') && path.at(-1) === 'name')))
      .filter(({ part: of, path }) => !((of === 'pods' || of === 'budgets') && path.length === 1)),
  );
  const odd = fc.oneof(
    fc.constantFrom<unknown>(
      '',
      ' ',
      'x',
      '-1',
      '1e400',
      'NaN',
      'Infinity',
      '9'.repeat(40),
      '0x10',
      '30d',
      '9999999999h',
    ),
    fc.constantFrom<unknown>(Number.NaN, -1, 2 ** 63, 1e300, 0.1, null, true, [], {}, [[]], { a: 1 }, [null]),
    fc.string(),
    fc.double({ noNaN: true }),
  );

  it('a tick neither fails nor counts with what is no number (D5-06, D2-03)', () => {
    fc.assert(
      fc.property(fc.constantFrom(...places), odd, ({ part, path }, value) => {
        const snapshot = seen({ ...whole, [part]: put(whole[part], path, value) });
        survey(snapshot);
        const decisions = decide(snapshot);
        const numbers: number[] = [];
        JSON.stringify([decisions, outlookOf(snapshot)], (_, each) => {
          if (typeof each === 'number') numbers.push(each);
          return typeof each === 'bigint' ? String(each) : each;
        });
        expect(numbers.filter(Number.isNaN)).toEqual([]);
        const written = decisions.flatMap(({ actions }) => actions.filter(({ kind }) => kind !== 'emitEvent'));
        if (typeof value !== 'string') expect(JSON.stringify(written)).not.toMatch(/NaN|Infinity|undefined|\[object/);
      }),
      runs(2000),
    );
  }, 60_000);
});
