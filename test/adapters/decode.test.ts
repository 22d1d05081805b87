import { expect, test } from 'vitest';
import { type Decoded, decodeNode, decodeNodeClaim, decodeNodePool } from '../../lib/adapters/kubernetes/decode.ts';
import { decodeDisruptionBudget } from '../../lib/adapters/kubernetes/decode-disruption-budget.ts';
import { decodePod } from '../../lib/adapters/kubernetes/decode-pod.ts';
import { days, formatDuration, hours, minutes, seconds } from '../../lib/domain/time.ts';
import { amounts, at } from '../support/builders.ts';

const metadata = { name: 'a', uid: 'u', resourceVersion: '7', creationTimestamp: '2026-06-01T00:00:00Z' };

function value<T>(result: Decoded<T>): T {
  if (!result.ok) throw new Error(result.problem);
  return result.value;
}

const claim = (spec: object, meta: object = {}) => value(decodeNodeClaim({ metadata: { ...metadata, ...meta }, spec }));

test('dates may be text or Date objects (PR-96)', () => {
  const fromDate = claim({}, { creationTimestamp: new Date('2026-06-01T00:00:00Z') });
  expect(fromDate.meta.created).toBe(claim({}).meta.created);
});

test.each([
  ['336h', days(14)],
  ['336h0m0s', days(14)],
  ['1h30m', minutes(90)],
  ['Never', 'Never'],
  [undefined, 'Never'],
])('a claim with expireAfter %s is read (PR-119, D2-02, D4-02)', (text, expireAfter) => {
  expect(claim({ expireAfter: text }).lifetime).toEqual({
    readable: true,
    created: at('2026-06-01T00:00:00Z'),
    expireAfter,
  });
});

test.each([
  ['30d', '30d'],
  ['1hr', '1hr'],
  [720, '720'],
])('a claim with expireAfter %s has an unreadable lifetime that names it (PR-119, D5-06)', (text, shown) => {
  expect(claim({ expireAfter: text })).toMatchObject({
    lifetime: { readable: false, unreadable: [{ path: 'spec.expireAfter', text: shown }] },
    unreadable: [],
  });
});

test.each([undefined, 'yesterday', 17])(
  'a claim created %s has an unreadable lifetime (D5-06)',
  (creationTimestamp) => {
    const { lifetime } = claim({ expireAfter: '336h' }, { creationTimestamp });
    expect(lifetime).toMatchObject({ readable: false, unreadable: [{ path: 'metadata.creationTimestamp' }] });
  },
);

test('a spec that is no object makes the lifetime unreadable (D5-06)', () => {
  expect(value(decodeNodeClaim({ metadata, spec: 'x' })).lifetime).toMatchObject({
    readable: false,
    unreadable: [{ path: 'spec' }],
  });
});

test.each(['2026-06-09T00:00:00Z', 'soon', 17])(
  'an object with deletionTimestamp %s is being deleted (D5-06)',
  (deletionTimestamp) => {
    expect(claim({}, { deletionTimestamp }).meta.deleting).toBe(true);
  },
);

test('a claim tells its pool, node, readiness and why Karpenter chose it (D6-05)', () => {
  const read = value(
    decodeNodeClaim({
      metadata: { ...metadata, labels: { 'karpenter.sh/nodepool': 'api' } },
      spec: { requirements: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] }] },
      status: {
        nodeName: 'node-1',
        providerID: 'aws:///x',
        capacity: { cpu: '4' },
        conditions: [
          { type: 'Ready', status: 'True' },
          { type: 'DisruptionReason', status: 'True', reason: 'Drifted' },
        ],
      },
    }),
  );
  expect(read).toMatchObject({
    nodePool: 'api',
    nodeName: 'node-1',
    providerId: 'aws:///x',
    ready: 'True',
    disruptionReason: 'Drifted',
  });
  expect(read.capacity).toEqual(amounts({ cpu: '4' }));
  expect(read.requirements).toEqual([{ key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] }]);
  expect(read.unreadable).toEqual([]);
});

test('odd fields are named one by one and the rest is kept (D2-03, D5-06)', () => {
  const read = value(
    decodeNodeClaim({
      metadata: { ...metadata, finalizers: ['x', 3] },
      spec: {
        expireAfter: '336h',
        requirements: [
          { key: 'a', operator: 'Is' },
          { key: 'b', operator: 'Exists' },
        ],
      },
      status: { nodeName: 5, capacity: { cpu: 'four', memory: '1Gi' } },
    }),
  );
  expect(read.lifetime.readable).toBe(true);
  expect(read.meta.finalizers).toEqual(['x']);
  expect(read.requirements.map(({ key }) => key)).toEqual(['b']);
  expect(read.capacity).toEqual(amounts({ memory: '1Gi' }));
  expect(read.unreadable.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['metadata.finalizers[1]', 'spec.requirements[0].operator', 'status.nodeName']),
  );
  expect(read.unreadable.some(({ path }) => path.startsWith('status.capacity'))).toBe(true);
});

test('a bare number in an annotation keeps its text and is named (D5-06)', () => {
  const { meta, unreadable } = claim({}, { annotations: { 'noderotation.io/retry-count': 3 } });
  expect(meta.annotations).toEqual({ 'noderotation.io/retry-count': '3' });
  expect(unreadable).toMatchObject([{ path: 'metadata.annotations["noderotation.io/retry-count"]', text: '3' }]);
});

test.each([null, 7, 'x', {}, { metadata: null }, { metadata: { name: 3 } }, { metadata: { name: '' } }, []])(
  'what has no name is refused, never thrown at (D2-03): %j',
  (raw) => {
    for (const decode of [decodeNodeClaim, decodeNodePool, decodeNode, decodePod, decodeDisruptionBudget]) {
      expect(decode(raw)).toMatchObject({ ok: false, problem: expect.stringContaining('metadata.name') });
    }
  },
);

const pool = (spec: object, status: object = {}) => value(decodeNodePool({ metadata, spec, status }));

test('the template expires after 720h when it does not say (D4-02)', () => {
  expect(pool({}).template.lifetime).toEqual({ readable: true, expireAfter: hours(720) });
});

test.each([
  [{ replicas: 0 }, 0],
  [{ replicas: 3 }, 3],
  [{ replicas: 'three' }, 0],
])('a pool with replicas, even 0 or unreadable, is static (R3.3-03): %j', (spec, replicas) => {
  expect(pool(spec).replicas).toBe(replicas);
});

test('a pool without replicas is dynamic (R3.3-03)', () => {
  expect('replicas' in pool({ replicas: null })).toBe(false);
});

test('a pool tells limits, use, template and readiness (D8-05)', () => {
  const read = pool(
    {
      limits: { cpu: 100, memory: '1Gi' },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { expireAfter: '336h', terminationGracePeriod: '1h', taints: [{ key: 'k', effect: 'NoSchedule' }] },
      },
    },
    { resources: { cpu: '8', nodes: '2' }, conditions: [{ type: 'Ready', status: 'True' }] },
  );
  expect(read).toEqual({
    meta: expect.anything(),
    template: {
      lifetime: { readable: true, expireAfter: days(14), terminationGracePeriod: hours(1) },
      labels: { a: 'b' },
      taints: [{ key: 'k', effect: 'NoSchedule' }],
      requirements: [],
    },
    ready: true,
    limits: amounts({ cpu: '100', memory: '1Gi' }),
    used: amounts({ cpu: '8', nodes: '2' }),
    unreadable: [],
  });
});

test('a Pod tells what it asks for and where it may run (D8-02, D8-03)', () => {
  const read = value(
    decodePod({
      metadata: {
        ...metadata,
        namespace: 'shop',
        ownerReferences: [{ kind: 'ReplicaSet', name: 'r', controller: true }],
      },
      spec: {
        nodeName: 'node-1',
        priority: 10,
        terminationGracePeriodSeconds: 60,
        tolerations: [{ key: 'k', effect: 'NoSchedule' }],
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['h'] }] },
              ],
            },
          },
        },
        containers: [{ name: 'main', resources: { requests: { cpu: '500m' } } }],
        initContainers: [{ name: 'proxy', restartPolicy: 'Always', resources: { requests: { cpu: '100m' } } }],
        overhead: { cpu: '10m' },
      },
      status: {
        phase: 'Running',
        startTime: '2026-06-01T00:00:00Z',
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-06-01T00:01:00Z' }],
        containerStatuses: [
          {
            name: 'main',
            allocatedResources: { cpu: '600m' },
            resources: { requests: { cpu: '700m', memory: '1Gi' } },
          },
        ],
      },
    }),
  );
  expect(read).toMatchObject({
    nodeName: 'node-1',
    phase: 'Running',
    ready: { status: true, since: at('2026-06-01T00:01:00Z') },
    controllerKind: 'ReplicaSet',
    priority: 10,
    terminationGracePeriod: seconds(60),
    tolerations: [{ key: 'k', operator: 'Equal', effect: 'NoSchedule' }],
    requiredNodeAffinity: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', values: ['h'] }], matchFields: [] }],
    unreadable: [],
  });
  expect(read.resources).toEqual({
    containers: [
      {
        name: 'main',
        requests: amounts({ cpu: '500m' }),
        allocated: amounts({ cpu: '700m', memory: '1Gi' }),
        sidecar: false,
      },
    ],
    initContainers: [{ name: 'proxy', requests: amounts({ cpu: '100m' }), sidecar: true }],
    overhead: amounts({ cpu: '10m' }),
  });
});

test('a Pod without a node says why, in the words of the scheduler (D7-02)', () => {
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }];
  const read = value(decodePod({ metadata, status: { phase: 'Pending', conditions } }));
  expect(read.unschedulable).toEqual({ reason: 'Unschedulable', message: '0/3 nodes' });
  expect(read.terminationGracePeriod).toBe(seconds(30));
});

test('a mirror Pod belongs to its node (D8-03)', () => {
  const annotations = { 'kubernetes.io/config.mirror': 'hash' };
  expect(value(decodePod({ metadata: { ...metadata, annotations } })).controllerKind).toBe('Node');
});

test('a budget keeps its numbers and percentages as written (D6-06)', () => {
  const read = value(
    decodeDisruptionBudget({
      metadata,
      spec: { selector: { matchLabels: { app: 'x' } }, minAvailable: 1, maxUnavailable: '50%' },
      status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
    }),
  );
  expect(read).toMatchObject({
    selector: { matchLabels: { app: 'x' }, matchExpressions: [] },
    minAvailable: '1',
    maxUnavailable: '50%',
    disruptionsAllowed: 0,
    expectedPods: 1,
  });
});

test.each([
  [undefined, '30s'],
  [null, '30s'],
  [0, '0s'],
  [-1, '1s'],
  [-(2 ** 63), '1s'],
  [43_200, '12h'],
  [100 * 365 * 86_400, '876000h'],
  [100 * 365 * 86_400 + 1, '876000h'],
  [2 ** 63, '876000h'],
])('a Pod that asks for %s seconds to end is given %s (D6-06, D5-06)', (terminationGracePeriodSeconds, given) => {
  const read = value(decodePod({ metadata, spec: { terminationGracePeriodSeconds } }));
  expect([formatDuration(read.terminationGracePeriod), read.unreadable]).toEqual([given, []]);
});

test('a grace of half a second is named, and the usual one is given (D5-06)', () => {
  const read = value(decodePod({ metadata, spec: { terminationGracePeriodSeconds: 0.5 } }));
  expect([read.terminationGracePeriod, read.unreadable]).toEqual([
    seconds(30),
    [{ path: 'spec.terminationGracePeriodSeconds', text: '0.5', problem: 'expected whole seconds' }],
  ]);
});

test('a bound that is no whole number stays where it allows nothing, and is named by its key (R3.7-04, D5-06)', () => {
  const requirements = [
    { key: 'size', operator: 'Gt', values: ['large'] },
    { key: 'size', operator: 'Lt', values: ['9'] },
    { key: 'cpu', operator: 'Gte', values: [] },
  ];
  const odd = (path: string) => [
    { path: `${path}[key=size].values`, text: 'large', problem: 'Gt needs exactly one whole number' },
    { path: `${path}[key=cpu].values`, text: '', problem: 'Gte needs exactly one whole number' },
  ];
  const ofClaim = value(decodeNodeClaim({ metadata, spec: { requirements } }));
  expect([ofClaim.requirements, ofClaim.unreadable]).toEqual([requirements, odd('spec.requirements')]);
  const ofPool = value(decodeNodePool({ metadata, spec: { template: { spec: { requirements } } } }));
  expect([ofPool.template.requirements, ofPool.unreadable]).toEqual([
    requirements,
    odd('spec.template.spec.requirements'),
  ]);
});

test('what cannot be read of a budget is named (D5-06, D6-06)', () => {
  const read = value(decodeDisruptionBudget({ metadata, spec: { selector: 'x', minAvailable: {} }, status: [] }));
  expect(read).not.toHaveProperty('selector');
  expect(read.unreadable.map(({ path }) => path).sort()).toEqual(['spec.minAvailable', 'spec.selector', 'status']);
});
