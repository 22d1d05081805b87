/**
 * The placeholder of the product under the simulated scheduler: whatever the candidate is like, a node like it takes the
 * placeholder, and the cordoned candidate does not.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Taint } from '../../lib/domain/cluster/node-pool.ts';
import type { Quantity } from '../../lib/domain/cluster/quantity.ts';
import { units } from '../../lib/domain/cluster/quantity.ts';
import type { Requirement } from '../../lib/domain/cluster/requirements.ts';
import type { ResourceList } from '../../lib/domain/cluster/resource-list.ts';
import { formatResourceList, maximum, noResources, plus, total } from '../../lib/domain/cluster/resource-list.ts';
import { footprint } from '../../lib/domain/surge/footprint.ts';
import { placeholderPod } from '../../lib/domain/surge/placeholder.ts';
import { census } from '../../lib/domain/surge/reschedulable.ts';
import type { PodObject } from '../../lib/simulator/kube-object.ts';
import { aClaim, aNode, aPod, aPolicy, aPool, meta } from '../support/builders.ts';
import { runs } from '../support/properties.ts';
import { create, emptyWorld, pass } from '../support/small-world.ts';
import { settings } from '../support/story.ts';

/** Amounts as Pods ask for them: CPU in thousandths, memory in Mi, devices in whole numbers. */
const grains: Readonly<Record<string, bigint>> = {
  cpu: 10n ** 6n,
  memory: 2n ** 20n * 10n ** 9n,
  'vendor.example/gpu': 10n ** 9n,
  'hugepages-2Mi': 2n ** 21n * 10n ** 9n,
};
const list = (most: number): fc.Arbitrary<ResourceList> =>
  fc
    .dictionary(fc.constantFrom(...Object.keys(grains)), fc.nat(most), { maxKeys: 4 })
    .map(
      (record) =>
        new Map(Object.entries(record).map(([name, n]) => [name, (BigInt(n) * (grains[name] as bigint)) as Quantity])),
    );

const keys = ['topology.kubernetes.io/zone', 'kubernetes.io/arch', 'vendor.example/generation'];
const labelValues = ['1', '2', '3', 'a', 'b'];
const labels = fc.dictionary(fc.constantFrom(...keys), fc.constantFrom(...labelValues), { maxKeys: 3 });
const requirement: fc.Arbitrary<Requirement> = fc.oneof(
  fc.record({
    key: fc.constantFrom(...keys),
    operator: fc.constantFrom('In' as const, 'NotIn' as const),
    values: fc.uniqueArray(fc.constantFrom(...labelValues), { maxLength: 3 }),
  }),
  fc.record({
    key: fc.constantFrom(...keys),
    operator: fc.constantFrom('Gt' as const, 'Lt' as const, 'Gte' as const, 'Lte' as const),
    values: fc.tuple(fc.constantFrom('1', '2', '3', 'x')),
  }),
  fc.record({ key: fc.constantFrom(...keys), operator: fc.constantFrom('Exists' as const), values: fc.constant([]) }),
);
const taint: fc.Arbitrary<Taint> = fc
  .tuple(
    fc.constantFrom('team', 'dedicated'),
    fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
    fc.constantFrom('NoSchedule', 'NoExecute', 'PreferNoSchedule'),
  )
  .map(([key, value, effect]) => (value === undefined ? { key, effect } : { key, value, effect }));

const candidates = fc.record({
  pods: fc.array(list(400), { maxLength: 4 }),
  daemons: fc.array(list(100), { maxLength: 2 }),
  /** status.allocatable of the claim; without one there is no limit. */
  stated: fc.option(list(2000), { nil: undefined }),
  /** What the kubelet offers beyond it. */
  bonus: list(200),
  labels,
  requirements: fc.array(requirement, { maxLength: 3 }),
  taints: fc.uniqueArray(taint, { maxLength: 2, selector: ({ key, effect }) => key + effect }),
  required: fc.subarray(keys),
  preferred: fc.subarray(keys),
  wholeNode: fc.boolean(),
});
type Candidate = typeof candidates extends fc.Arbitrary<infer T> ? T : never;

const withRequests = (name: string, requests: ResourceList, controllerKind: string) =>
  aPod(name, {
    controllerKind,
    resources: { containers: [{ name: 'main', requests, sidecar: false }], initContainers: [], overhead: noResources },
  });

/** Where the placeholder of this candidate goes when one node like it is there; undefined when the clamp is refused. */
function landsOn(given: Candidate): string | undefined {
  const overhead = total(given.daemons);
  // The Pods run there, so the kubelet offers at least what they take.
  const offered = maximum(plus(given.stated ?? noResources, given.bonus), plus(total(given.pods), overhead));
  const { allocatable: _, ...bare } = aClaim('old');
  const claim = given.stated === undefined ? bare : { ...bare, allocatable: given.stated };
  const ofNode = (name: string) => ({
    ...given.labels,
    'karpenter.sh/nodepool': 'api',
    'kubernetes.io/hostname': name,
  });
  const node = aNode(claim, { allocatable: offered, meta: { labels: ofNode('node-old') } });
  const counted = census(
    [
      ...given.pods.map((requests, index) => withRequests(`web-${index}`, requests, 'ReplicaSet')),
      ...given.daemons.map((requests, index) => withRequests(`daemon-${index}`, requests, 'DaemonSet')),
    ],
    node,
  );
  const size = footprint({ census: counted, claim, node, wholeNode: given.wholeNode });
  if (size.refused !== null) return undefined;
  const pool = aPool();
  const { pod } = placeholderPod({
    claim,
    node,
    pool: { ...pool, template: { ...pool.template, taints: given.taints, requirements: given.requirements } },
    policy: aPolicy({
      surge: {
        wholeNodeReservation: given.wholeNode,
        matchNodeRequirements: { required: given.required, preferred: given.preferred },
      },
    }),
    requests: size.requests,
    avoid: [{ meta: meta('elsewhere') }],
    settings,
  });

  const world = emptyWorld();
  const allocatable = formatResourceList(new Map([...offered, ['pods', units(20)]]));
  for (const [name, unschedulable] of [
    ['node-old', true],
    ['node-twin', false],
  ] as const) {
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-06-01T00:00:00Z' }];
    const spec = { unschedulable, taints: given.taints };
    world.store.adopt({
      kind: 'Node',
      metadata: { name, labels: ofNode(name) },
      spec,
      status: { allocatable, conditions },
    });
  }
  for (const [index, requests] of given.daemons.entries()) {
    const containers = [{ name: 'main', resources: { requests: formatResourceList(requests) } }];
    const metadata = { name: `daemon-${index}`, namespace: 'shop' };
    world.store.adopt({
      kind: 'Pod',
      metadata,
      spec: { nodeName: 'node-twin', containers },
      status: { phase: 'Running' },
    });
  }
  create(world, { ...pod });
  pass(world, '1s');
  const placed = world.store.get('Pod', pod.metadata.name, pod.metadata.namespace) as PodObject;
  return placed.spec.nodeName ?? JSON.stringify(placed.status.conditions);
}

test('a placeholder within its limit schedules on a node like its candidate, and never on the candidate (R3.3-11, R3.3-19, R3.7-02, D8-06, D8-07, D8-08)', () => {
  let placed = 0;
  fc.assert(
    fc.property(candidates, (given) => {
      const node = landsOn(given);
      if (node === undefined) return;
      placed += 1;
      expect(node).toBe('node-twin');
    }),
    runs(800),
  );
  expect(placed).toBeGreaterThan(100);
});
