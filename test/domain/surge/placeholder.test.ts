import { describe, expect, test } from 'vitest';
import type { NodePool } from '../../../lib/domain/cluster/node-pool.ts';
import type { Requirement } from '../../../lib/domain/cluster/requirements.ts';
import type { PlaceholderInput } from '../../../lib/domain/surge/placeholder.ts';
import { placeholderName, placeholderPod, surgeForValue } from '../../../lib/domain/surge/placeholder.ts';
import { aClaim, amounts, aNode, aNodeOf, aPolicy, aPool, lasting } from '../../support/builders.ts';

const zone = 'topology.kubernetes.io/zone';
const arch = 'kubernetes.io/arch';
const capacityType = 'karpenter.sh/capacity-type';
const isIn = (key: string, ...values: string[]): Requirement => ({ key, operator: 'In', values });

const claim = aClaim('api-x7k2p');
const input = (over: Partial<PlaceholderInput> = {}): PlaceholderInput => ({
  claim,
  node: aNode(claim),
  pool: aPool(),
  policy: aPolicy(),
  requests: amounts({ cpu: '1500m', memory: '3Gi' }),
  avoid: [],
  settings: {
    namespace: 'node-rotation',
    image: 'registry.k8s.io/pause:3.10',
    priorityClassName: 'node-rotation-placeholder',
  },
  ...over,
});
const matching = (required: readonly string[], preferred: readonly string[] = []) =>
  aPolicy({ surge: { matchNodeRequirements: { required, preferred } } });
const allowing = (...requirements: Requirement[]): NodePool =>
  aPool({ template: { ...aPool().template, requirements } });

interface NodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: {
    readonly nodeSelectorTerms: readonly { readonly matchExpressions: readonly Requirement[] }[];
  };
  readonly preferredDuringSchedulingIgnoredDuringExecution: readonly {
    readonly weight: number;
    readonly preference: { readonly matchExpressions: readonly Requirement[] };
  }[];
}
const affinityOf = (over: Partial<PlaceholderInput>): NodeAffinity => {
  const { affinity } = placeholderPod(input(over)).pod.spec as { affinity: { nodeAffinity: NodeAffinity } };
  return affinity.nodeAffinity;
};
const requiredOf = (over: Partial<PlaceholderInput>) =>
  affinityOf(over).requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms.map(
    (term) => term.matchExpressions,
  );
const preferredOf = (over: Partial<PlaceholderInput>) =>
  affinityOf(over).preferredDuringSchedulingIgnoredDuringExecution.map(({ weight, preference }) => [
    weight,
    preference.matchExpressions,
  ]);

test('the whole placeholder of a plain candidate (R3.3-02, R3.3-04, R3.7-01, D8-06, D8-07)', () => {
  expect(placeholderPod(input())).toEqual({
    dropped: [],
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'noderotation-surge-api-x7k2p',
        namespace: 'node-rotation',
        labels: {
          'noderotation.io/surge-for': 'api-x7k2p',
          'karpenter.sh/nodepool': 'api',
          'app.kubernetes.io/name': 'node-rotation',
          'app.kubernetes.io/component': 'placeholder',
          'app.kubernetes.io/managed-by': 'node-rotation',
        },
        annotations: { 'karpenter.sh/do-not-disrupt': 'true' },
      },
      spec: {
        priorityClassName: 'node-rotation-placeholder',
        preemptionPolicy: 'Never',
        terminationGracePeriodSeconds: 0,
        activeDeadlineSeconds: 25 * 60,
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, runAsUser: 65535, seccompProfile: { type: 'RuntimeDefault' } },
        nodeSelector: { 'karpenter.sh/nodepool': 'api' },
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                {
                  matchExpressions: [
                    isIn(zone, 'ap-northeast-1a'),
                    isIn(arch, 'arm64'),
                    isIn(capacityType, 'on-demand'),
                  ],
                },
              ],
            },
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 100,
                preference: {
                  matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'NotIn', values: ['node-api-x7k2p'] }],
                },
              },
            ],
          },
        },
        tolerations: [],
        containers: [
          {
            name: 'pause',
            image: 'registry.k8s.io/pause:3.10',
            imagePullPolicy: 'IfNotPresent',
            resources: { requests: { cpu: '1500m', memory: '3Gi' } },
            securityContext: {
              allowPrivilegeEscalation: false,
              capabilities: { drop: ['ALL'] },
              readOnlyRootFilesystem: true,
            },
          },
        ],
      },
    },
  });
});

describe('names', () => {
  const long = 'n'.repeat(240);

  test.each([
    { length: 63, value: 'n'.repeat(63) },
    { length: 64, value: `${'n'.repeat(46)}-ce068a195ab380a8` },
  ])('a claim name of $length characters is a label value of at most 63 (D8-06)', ({ length, value }) => {
    expect(surgeForValue('n'.repeat(length))).toBe(value);
  });

  test.each([
    { length: 234, name: /^noderotation-surge-n{234}$/ },
    { length: 235, name: /^noderotation-surge-n{217}-[0-9a-f]{16}$/ },
  ])('the placeholder of a claim name of $length characters has at most 253 (D8-06)', ({ length, name }) => {
    expect(placeholderName('n'.repeat(length))).toMatch(name);
    expect(placeholderName('n'.repeat(length)).length).toBe(253);
  });

  test('long names that differ only at the end stay apart, and the digest is that of the claim name (D8-06)', () => {
    expect(placeholderName(`${long}a`)).not.toBe(placeholderName(`${long}b`));
    expect(surgeForValue(`${long}a`)).not.toBe(surgeForValue(`${long}b`));
    expect(placeholderName(long).slice(-16)).toBe(surgeForValue(long).slice(-16));
  });

  test('a name is never cut behind a dot or a dash (D8-06)', () => {
    expect(surgeForValue(`${'a'.repeat(44)}.-${'b'.repeat(40)}`)).toMatch(/^a{44}-[0-9a-f]{16}$/);
  });
});

describe('the container', () => {
  const resourcesOf = (requests: Readonly<Record<string, string>>) => {
    const [container] = placeholderPod(input({ requests: amounts(requests) })).pod.spec.containers as readonly {
      readonly resources: unknown;
    }[];
    return container?.resources;
  };

  test('limits extended resources and huge pages to what it requests, and nothing else (D8-06)', () => {
    expect(
      resourcesOf({
        memory: '1Gi',
        cpu: '1',
        'nvidia.com/gpu': '2',
        'hugepages-2Mi': '64Mi',
        'ephemeral-storage': '1Gi',
      }),
    ).toEqual({
      requests: { cpu: '1', 'ephemeral-storage': '1Gi', 'hugepages-2Mi': '64Mi', memory: '1Gi', 'nvidia.com/gpu': '2' },
      limits: { 'hugepages-2Mi': '64Mi', 'nvidia.com/gpu': '2' },
    });
  });

  test('of an empty footprint asks for nothing (R3.3-18)', () => {
    expect(resourcesOf({})).toEqual({ requests: {} });
  });

  test.each([
    { readyTimeout: '1ms', seconds: 601 },
    { readyTimeout: '15m', seconds: 1_500 },
    { readyTimeout: '900000h', seconds: 2_147_483_647 },
  ])(
    'with a readyTimeout of $readyTimeout ends after $seconds s at the latest (D8-06)',
    ({ readyTimeout, seconds }) => {
      const { pod } = placeholderPod(input({ policy: aPolicy({ surge: { readyTimeout: lasting(readyTimeout) } }) }));
      expect(pod.spec.activeDeadlineSeconds).toBe(seconds);
    },
  );
});

test('each template taint is tolerated exactly, never by a bare Exists (R3.3-04, D8-07)', () => {
  const taints = [
    { key: 'dedicated', value: 'api', effect: 'NoSchedule' },
    { key: 'gpu', effect: 'NoExecute' },
  ];
  const { pod } = placeholderPod(input({ pool: aPool({ template: { ...aPool().template, taints } }) }));
  expect(pod.spec.tolerations).toEqual([
    { key: 'dedicated', operator: 'Equal', value: 'api', effect: 'NoSchedule' },
    { key: 'gpu', operator: 'Equal', effect: 'NoExecute' },
  ]);
});

describe('hosts to avoid', () => {
  const other = (name: string, hostname?: string) =>
    aNodeOf(aClaim(name), { labels: hostname === undefined ? {} : { 'kubernetes.io/hostname': hostname } });

  test('are the candidate first, then the others by host name, each once (R3.3-07, D8-07)', () => {
    const avoid = [other('c'), other('b', 'ip-10-0-0-9'), other('b', 'ip-10-0-0-9'), aNodeOf(claim)];
    expect(preferredOf({ avoid })).toEqual([
      [
        100,
        [{ key: 'kubernetes.io/hostname', operator: 'NotIn', values: ['node-api-x7k2p', 'ip-10-0-0-9', 'node-c'] }],
      ],
    ]);
  });

  test('are only ever a preference (PR-55, R3.3-07)', () => {
    const { pod } = placeholderPod(input({ avoid: [other('c')] }));
    const { affinity: _, ...rest } = pod.spec;
    expect(JSON.stringify([rest, requiredOf({ avoid: [other('c')] })])).not.toContain('kubernetes.io/hostname');
  });

  test('come with all preferred keys in the heaviest term, with each alone below, and bare at last (D8-07)', () => {
    const elsewhere = { key: 'kubernetes.io/hostname', operator: 'NotIn', values: ['node-api-x7k2p'] };
    const [inZone, ofArch] = [isIn(zone, 'ap-northeast-1a'), isIn(arch, 'arm64')];
    expect(preferredOf({ policy: matching([], [zone, arch]) })).toEqual([
      [100, [elsewhere, inZone, ofArch]],
      [10, [elsewhere, inZone]],
      [10, [elsewhere, ofArch]],
      [1, [elsewhere]],
    ]);
    expect(preferredOf({ policy: matching([], [zone]) })).toEqual([
      [100, [elsewhere, inZone]],
      [1, [elsewhere]],
    ]);
  });
});

describe('replicated keys', () => {
  test('pin the replacement to the zone of the candidate (PR-58, R3.7-01)', () => {
    expect(requiredOf({ policy: matching([zone]) })).toEqual([[isIn(zone, 'ap-northeast-1a')]]);
  });

  test('of an empty list leave no required term at all (R3.7-01)', () => {
    expect(requiredOf({ policy: matching([]) })).toBeUndefined();
  });

  test('moved to preferred require nothing: reserved capacity does not pin the surge (PR-61, R3.7-01)', () => {
    const node = aNode(claim, { meta: { labels: { ...aNode(claim).meta.labels, [capacityType]: 'reserved' } } });
    expect(requiredOf({ node, policy: matching([zone, arch], [capacityType]) })).toEqual([
      [isIn(zone, 'ap-northeast-1a'), isIn(arch, 'arm64')],
    ]);
    expect(requiredOf({ node, policy: matching([capacityType]) })).toEqual([[isIn(capacityType, 'reserved')]]);
  });

  test('take the label of the node, and the In values of the claim only without one (R3.7-02)', () => {
    const conflicting = aClaim('api-x7k2p', {
      requirements: [isIn(zone, 'elsewhere'), isIn('example.com/family', 'm', 'c')],
    });
    expect(requiredOf({ claim: conflicting, policy: matching([zone, 'example.com/family']) })).toEqual([
      [isIn(zone, 'ap-northeast-1a'), isIn('example.com/family', 'c', 'm')],
    ]);
  });

  test('narrow the In values of the claim by its other requirements and by the pool (R3.7-02, R3.7-04)', () => {
    const cpus = 'example.com/cpus';
    const sized = aClaim('api-x7k2p', {
      requirements: [isIn(cpus, '2', '4', '8', '16'), { key: cpus, operator: 'Gte', values: ['4'] }],
    });
    const pool = allowing({ key: cpus, operator: 'Lt', values: ['16'] });
    expect(requiredOf({ claim: sized, pool, policy: matching([cpus]) })).toEqual([[isIn(cpus, '4', '8')]]);
  });

  test.each([
    { requirements: [] },
    { requirements: [{ key: 'example.com/cpus', operator: 'Gte' as const, values: ['4'] }] },
    { requirements: [{ key: 'example.com/cpus', operator: 'Exists' as const, values: [] }] },
  ])('found neither on the node nor as In of the claim are skipped: $requirements (R3.7-03)', ({ requirements }) => {
    const bounded = aClaim('api-x7k2p', { requirements });
    expect(requiredOf({ claim: bounded, policy: matching(['example.com/cpus']) })).toBeUndefined();
    expect(placeholderPod(input({ claim: bounded, policy: matching(['example.com/cpus']) })).dropped).toEqual([]);
  });
});

describe('a key whose value the pool no longer allows', () => {
  const droppedBy = (pool: NodePool, keys: readonly string[] = [zone, arch], node = aNode(claim)) => {
    const over = { pool, node, policy: matching(keys) };
    return { required: requiredOf(over), dropped: placeholderPod(input(over)).dropped };
  };

  test('is dropped and named with both sides, the rest stays required (PR-59, R3.7-02, D8-08)', () => {
    expect(droppedBy(allowing(isIn(zone, 'ap-northeast-1d', 'ap-northeast-1c')))).toEqual({
      required: [[isIn(arch, 'arm64')]],
      dropped: [{ key: zone, value: 'ap-northeast-1a', allowed: ['ap-northeast-1c', 'ap-northeast-1d'], zonal: true }],
    });
  });

  test.each([
    { pool: [{ key: arch, operator: 'NotIn' as const, values: ['arm64'] }], allowed: ['any but arm64'] },
    { pool: [{ key: arch, operator: 'DoesNotExist' as const, values: [] }], allowed: [] },
    { pool: [isIn(arch, 'amd64'), isIn(arch, 'riscv')], allowed: [] },
    { pool: [{ key: arch, operator: 'Gt' as const, values: ['4'] }], allowed: ['whole numbers from 5'] },
    {
      pool: [{ key: arch, operator: 'Gt' as const, values: ['x'] }],
      allowed: [`${arch} Gt needs exactly one whole number, not "x"`],
    },
  ])('never becomes an impossible term: $pool (R3.7-04, D8-08)', ({ pool, allowed }) => {
    expect(droppedBy(allowing(...pool), [arch])).toEqual({
      required: undefined,
      dropped: [{ key: arch, value: 'arm64', allowed, zonal: false }],
    });
  });

  test.each([
    { bound: { key: 'example.com/gen', operator: 'Gt' as const, values: ['6'] }, kept: true },
    { bound: { key: 'example.com/gen', operator: 'Gt' as const, values: ['7'] }, kept: false },
    { bound: { key: 'example.com/gen', operator: 'Gte' as const, values: ['7'] }, kept: true },
    { bound: { key: 'example.com/gen', operator: 'Lt' as const, values: ['7'] }, kept: false },
    { bound: { key: 'example.com/gen', operator: 'Lte' as const, values: ['7'] }, kept: true },
  ])('is judged exactly by $bound.operator $bound.values: 7 is kept: $kept (R3.7-04)', ({ bound, kept }) => {
    const node = aNode(claim, { meta: { labels: { 'example.com/gen': '7' } } });
    expect(droppedBy(allowing(bound), ['example.com/gen'], node).required).toEqual(
      kept ? [[isIn('example.com/gen', '7')]] : undefined,
    );
  });

  test('is also one that the labels of the template contradict (D8-08)', () => {
    const pool = aPool({ template: { ...aPool().template, labels: { 'example.com/team': 'b' } } });
    const node = aNode(claim, { meta: { labels: { 'example.com/team': 'a' } } });
    expect(droppedBy(pool, ['example.com/team'], node).dropped).toEqual([
      { key: 'example.com/team', value: 'a', allowed: ['b'], zonal: false },
    ]);
  });

  test('among the preferred ones is left out in silence (D8-08)', () => {
    const over = { pool: allowing(isIn(zone, 'ap-northeast-1c')), policy: matching([], [zone]) };
    expect(placeholderPod(input(over)).dropped).toEqual([]);
    expect(preferredOf(over)).toHaveLength(1);
  });
});
