/**
 * Requests of random Pods, read off the wire, against arithmetic with fractions that shares nothing with the product.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodePod } from '../../../lib/adapters/kubernetes/decode-pod.ts';
import { requestsOf } from '../../../lib/domain/cluster/pod.ts';
import type { Quantity } from '../../../lib/domain/cluster/quantity.ts';
import { runs } from '../../support/properties.ts';

/** A fraction; the denominator is above zero. */
interface Rational {
  readonly over: bigint;
  readonly under: bigint;
}

const nothing: Rational = { over: 0n, under: 1n };
const plus = (a: Rational, b: Rational): Rational => ({
  over: a.over * b.under + b.over * a.under,
  under: a.under * b.under,
});
const larger = (a: Rational, b: Rational): Rational => (a.over * b.under >= b.over * a.under ? a : b);

/** What a unit of each suffix is worth, and how many digits after the point stay above the finest amount there is. */
const suffixes: Readonly<Record<string, { worth: Rational; digits: number }>> = {
  n: { worth: { over: 1n, under: 10n ** 9n }, digits: 0 },
  u: { worth: { over: 1n, under: 10n ** 6n }, digits: 3 },
  m: { worth: { over: 1n, under: 1000n }, digits: 6 },
  '': { worth: { over: 1n, under: 1n }, digits: 9 },
  k: { worth: { over: 1000n, under: 1n }, digits: 9 },
  G: { worth: { over: 10n ** 9n, under: 1n }, digits: 9 },
  e3: { worth: { over: 1000n, under: 1n }, digits: 9 },
  Ki: { worth: { over: 1024n, under: 1n }, digits: 9 },
  Gi: { worth: { over: 1024n ** 3n, under: 1n }, digits: 9 },
};

interface Amount {
  readonly text: string;
  readonly value: Rational;
}

const amount: fc.Arbitrary<Amount> = fc.constantFrom(...Object.keys(suffixes)).chain((suffix) => {
  const { worth, digits } = suffixes[suffix] as (typeof suffixes)[string];
  const fraction = digits === 0 ? fc.constant('') : fc.stringMatching(new RegExp(`^\\d{0,${digits}}$`));
  return fc.tuple(fc.nat(5000), fraction).map(([whole, after]) => ({
    text: `${whole}${after === '' ? '' : `.${after}`}${suffix}`,
    value: { over: BigInt(`${whole}${after}`) * worth.over, under: 10n ** BigInt(after.length) * worth.under },
  }));
});

const resources = ['cpu', 'memory', 'vendor.example/gpu'] as const;
type Amounts = Readonly<Partial<Record<(typeof resources)[number], Amount>>>;
const amountsOf = fc.dictionary(fc.constantFrom(...resources), amount, { maxKeys: 3 }) as fc.Arbitrary<Amounts>;
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });

const container = fc.record({
  spec: amountsOf,
  allocated: maybe(amountsOf),
  /** What the kubelet has put into effect. */
  actual: maybe(amountsOf),
  sidecar: fc.boolean(),
});
type Container = typeof container extends fc.Arbitrary<infer T> ? T : never;

const pods = fc.record({
  containers: fc.array(container, { maxLength: 3 }),
  initContainers: fc.array(container, { maxLength: 4 }),
  podLevel: maybe(amountsOf),
  podLevelAllocated: maybe(amountsOf),
  overhead: maybe(amountsOf),
});
type RandomPod = typeof pods extends fc.Arbitrary<infer T> ? T : never;

const texts = (list: Amounts | undefined): Readonly<Record<string, string>> | undefined =>
  list && Object.fromEntries(Object.entries(list).map(([name, each]) => [name, each?.text ?? '']));

function onTheWire({ containers, initContainers, podLevel, podLevelAllocated, overhead }: RandomPod): unknown {
  const named = (kind: string, list: readonly Container[]) => ({
    spec: list.map(({ spec, sidecar }, index) => ({
      name: `${kind}${index}`,
      resources: { requests: texts(spec) },
      ...(sidecar ? { restartPolicy: 'Always' } : {}),
    })),
    status: list.map(({ allocated, actual }, index) => ({
      name: `${kind}${index}`,
      ...(allocated ? { allocatedResources: texts(allocated) } : {}),
      ...(actual ? { resources: { requests: texts(actual) } } : {}),
    })),
  });
  const [main, init] = [named('main', containers), named('init', initContainers)];
  return {
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      containers: main.spec,
      initContainers: init.spec,
      ...(podLevel ? { resources: { requests: texts(podLevel) } } : {}),
      ...(overhead ? { overhead: texts(overhead) } : {}),
    },
    status: {
      phase: 'Running',
      containerStatuses: main.status,
      initContainerStatuses: init.status,
      ...(podLevelAllocated ? { allocatedResources: texts(podLevelAllocated) } : {}),
    },
  };
}

/** Every moment of the Pod's life with what runs in it; the largest counts, resource by resource. */
function expected(pod: RandomPod, resource: (typeof resources)[number]): Rational {
  const of = (list: Amounts | undefined): Rational => list?.[resource]?.value ?? nothing;
  const held = (each: Container): Rational => [each.allocated, each.actual].map(of).reduce(larger, of(each.spec));
  const moments: Rational[] = [nothing];
  for (const [index, each] of pod.initContainers.entries()) {
    const before = pod.initContainers.slice(0, index).filter(({ sidecar }) => sidecar);
    moments.push([...before.map(held), each.sidecar ? held(each) : of(each.spec)].reduce(plus, nothing));
  }
  const beside = pod.initContainers.filter(({ sidecar }) => sidecar);
  moments.push([...beside, ...pod.containers].map(held).reduce(plus, nothing));
  const ofContainers = moments.reduce(larger);
  const asked = pod.podLevel?.[resource] === undefined ? undefined : of(pod.podLevel);
  return plus(asked === undefined ? ofContainers : larger(asked, of(pod.podLevelAllocated)), of(pod.overhead));
}

test('what a Pod requests is, to the last fraction, what the scheduler reserves for it (D8-01, D8-02)', () => {
  fc.assert(
    fc.property(pods, (pod) => {
      const read = decodePod(onTheWire(pod));
      if (!read.ok) throw new Error(read.problem);
      expect(read.value.unreadable).toEqual([]);
      const requests = requestsOf(read.value);
      for (const resource of resources) {
        const { over, under } = expected(pod, resource);
        expect((requests.get(resource) ?? (0n as Quantity)) * under).toBe(over * 10n ** 9n);
      }
    }),
    runs(1500),
  );
});
