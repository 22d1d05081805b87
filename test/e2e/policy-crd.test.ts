/**
 * Our CustomResourceDefinition on a real API server: what it fills in, refuses, drops, prints and still reads of an older
 * one, held against the decoder.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectToContext } from '../../lib/adapters/kubernetes/kubeconfig-connection.ts';
import { policyCrd, type SchemaNode } from '../../lib/adapters/kubernetes/policy-crd.ts';
import { readPolicy } from '../../lib/adapters/kubernetes/policy-document.ts';
import type { PolicyStatus } from '../../lib/domain/policy/policy-status.ts';
import { Hand, type Manifest, type Raw, type Reply } from '../contract/operators-hand.ts';
import { fresh, placeholderSettings } from '../contract/place.ts';
import { adapterOn } from '../contract/simulated-places.ts';
import { minimalSpec, type Spec, validSpecs, valuesForFindings, wrongSpecs } from '../support/policy-specs.ts';
import { nodesOf, withDefaults } from '../support/structural-schema.ts';
import { type ControlPlane, startControlPlane } from './harness/control-plane.ts';
import { eventually } from './support/eventually.ts';
import { fullStatus } from './support/full-status.ts';
import { kubernetesUnderTest } from './support/kubernetes-under-test.ts';
import { withoutWhatIsNew } from './support/older-crd.ts';

const crd = policyCrd();
const crdPath = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`;
const root = crd.spec.versions[0]?.schema.openAPIV3Schema as SchemaNode;
const spec = root.properties?.spec as SchemaNode;
const policies = '/apis/noderotation.io/v1alpha1/rotationpolicies';
const dryRun = `${policies}?dryRun=All`;

let plane: ControlPlane;
let hand: Hand;

beforeAll(async () => {
  plane = await startControlPlane({ kubernetes: kubernetesUnderTest(), karpenter: false });
  hand = new Hand(plane.accesses.admin);
});

afterAll(async () => {
  hand?.close();
  await plane?.stop();
});

const document = (of: unknown, name = 'api'): Manifest => ({
  apiVersion: 'noderotation.io/v1alpha1',
  kind: 'RotationPolicy',
  metadata: { name },
  spec: of,
});
/** What the API server would store, or why not. */
const tried = (of: unknown): Promise<Reply> => hand.call('POST', dryRun, { body: document(of) });

interface Cause {
  readonly field: string;
  readonly message: string;
}
/** `<nil>` is the remark that rules were left out because of the other causes. */
const causesOf = ({ body }: Reply): readonly Cause[] =>
  ((body.details?.causes ?? []) as Cause[]).filter(({ field }) => field !== '<nil>');
const verdictOf = (reply: Reply): string =>
  reply.code === 201 ? 'taken' : `${reply.code} ${[...new Set(causesOf(reply).map(({ field }) => field))].join(' ')}`;
const problemsOf = (json: unknown): readonly string[] => {
  const reading = readPolicy(json);
  return reading.valid ? [] : reading.problems.map(({ path }) => path);
};

describe('the definition', () => {
  test('is taken as it is: structural, with every keyword of ours, under its names (D2-01)', async () => {
    const stored = await plane.api.get<{ spec: unknown; status: { conditions: { type: string; status: string }[] } }>(
      crdPath,
    );
    expect(stored.spec).toMatchObject(crd.spec);
    expect(Object.fromEntries(stored.status.conditions.map(({ type, status }) => [type, status]))).toEqual({
      NamesAccepted: 'True',
      Established: 'True',
    });
    const { resources } = await plane.api.get<{ resources: { name: string }[] }>('/apis/noderotation.io/v1alpha1');
    expect(resources.map(({ storageVersionHash: _, ...served }: Record<string, unknown>) => served)).toEqual([
      {
        name: 'rotationpolicies',
        singularName: 'rotationpolicy',
        namespaced: false,
        kind: 'RotationPolicy',
        verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
        shortNames: ['rotpol'],
      },
      {
        name: 'rotationpolicies/status',
        singularName: '',
        namespaced: false,
        kind: 'RotationPolicy',
        verbs: ['get', 'patch', 'update'],
      },
    ]);
  });

  test('prints the columns that say how a policy stands (D2-01)', async () => {
    const [known, unknown] = [fresh('known'), fresh('unknown')];
    await hand.create({ ...document({ ...minimalSpec, mode: 'Observe' }, known), status: fullStatus });
    await hand.create(document(minimalSpec, unknown));
    const { body } = await hand.call('GET', policies, {
      headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' },
    });
    await hand.cleanUp();
    const columns = body.columnDefinitions as { name: string; type: string; priority: number }[];
    expect(columns.map(({ name, type, priority }) => [name, type, priority])).toEqual([
      ['Name', 'string', 0],
      ['Mode', 'string', 0],
      ['Ready', 'string', 0],
      ['Feasible', 'string', 0],
      ['Pools', 'integer', 0],
      ['Rotating', 'integer', 0],
      ['Age', 'date', 0],
    ]);
    const rows = body.rows as { cells: unknown[] }[];
    expect(rows.map(({ cells }) => cells.slice(0, -1))).toEqual([
      [known, 'Observe', 'True', 'False', 2, 1],
      [unknown, 'Rotate', null, null, null, null],
    ]);
    expect(rows.map(({ cells }) => /^\d+s$/.test(String(cells.at(-1))))).toEqual([true, true]);
  });
});

describe('what a person writes', () => {
  test('is stored with the defaults of the schema, and reads as it was written (D2-01)', async () => {
    const stored = await Promise.all(validSpecs.map(([, written]) => tried(written)));
    expect(stored.map(verdictOf)).toEqual(validSpecs.map(() => 'taken'));
    expect(stored.map(({ body }) => body.spec)).toEqual(validSpecs.map(([, written]) => withDefaults(spec, written)));
    const policyOf = (json: unknown): unknown => {
      const reading = readPolicy(json);
      return reading.valid ? { ...reading.policy, meta: undefined, generation: undefined } : reading.problems;
    };
    expect(stored.map(({ body }) => policyOf(body))).toEqual(validSpecs.map(([, of]) => policyOf(document(of))));
  });

  test('and is wrong is refused with the place, or taken and Invalid for the decoder at the same place (D2-03, D2-04)', async () => {
    const replies = await Promise.all(wrongSpecs.map(({ spec: of }) => tried(of)));
    const verdicts = wrongSpecs.map(({ what }, place) => [what, verdictOf(replies[place] as Reply)]);
    expect(verdicts).toEqual(
      wrongSpecs.map(({ what, stoppedBy, paths, serverPaths = paths }) => [
        what,
        stoppedBy === 'reader' ? 'taken' : `422 ${serverPaths.join(' ')}`,
      ]),
    );
    const taken = wrongSpecs.flatMap((row, place) => {
      const { code, body } = replies[place] as Reply;
      return code === 201 ? [[row.what, problemsOf(body)]] : [];
    });
    expect(taken).toEqual([
      ['a window with an unknown zone', ['spec.maintenanceWindows[1].timezone']],
      ['a window with an offset', ['spec.maintenanceWindows[1].timezone']],
      ['an exclusion with a day that does not exist', ['spec.exclusions[0].from']],
      ['an exclusion with an unknown zone', ['spec.exclusions[0].timezone']],
      ['surge.cooldownAfter "9999999999999999h"', ['spec.surge.cooldownAfter']],
      ['a selector: a key of JavaScript itself', ['spec.nodePoolSelector.matchLabels.__proto__']],
    ]);
  });

  test('and the decoder takes for a finding is refused: K below 1 and no windows, nothing else (D4-01)', async () => {
    const replies = await Promise.all(valuesForFindings.map(({ spec: of }) => tried(of)));
    expect(replies.map(verdictOf)).toEqual(valuesForFindings.map(({ path }) => `422 ${path}`));
  });

  test('and no policy has is dropped, with a warning for each path that the decoder names (D2-03)', async () => {
    const of = { ...minimalSpec, future: {}, surge: { readyTimout: '15m', forcefulFallback: { enable: true } } };
    const written = { ...document(of), spek: 1 };
    const { body, headers } = await hand.call('POST', `${dryRun}&fieldValidation=Warn`, { body: written });
    const warned = [...String(headers.warning).matchAll(/unknown field \\"([^"\\]+)\\"/g)].map(([, path]) => path);
    expect(warned.sort()).toEqual(readPolicy(written).unknownFields?.toSorted());
    expect(body.spec).toEqual(withDefaults(spec, { ...minimalSpec, surge: { forcefulFallback: {} } }));
    expect(readPolicy(body).unknownFields).toBeUndefined();
  });

  test('as a label without a value is lost: only the file shows it, and there the decoder refuses it (D2-09)', async () => {
    const of = { ...minimalSpec, nodePoolSelector: { matchLabels: { workload: null } } };
    const { body } = await tried(of);
    expect(body.spec.nodePoolSelector).toEqual({ matchLabels: {}, matchExpressions: [] });
    expect(problemsOf(document(of))).toEqual(['spec.nodePoolSelector.matchLabels.workload']);
  });
});

test('every rule in CEL refuses something, with its own words (D2-01)', async () => {
  const rulesOf = ({ node }: { node: SchemaNode }): readonly { message: string }[] =>
    (node['x-kubernetes-validations'] ?? []) as { message: string }[];
  const stated = nodesOf(root).flatMap((at) => rulesOf(at).map(({ message }) => `${at.path.slice(1)}: ${message}`));
  const rows = wrongSpecs.filter(({ stoppedBy }) => stoppedBy === 'rule');
  const replies = await Promise.all(rows.map(({ spec: of }) => tried(of)));
  const enforced = replies
    .flatMap(causesOf)
    .map(
      ({ field, message }) =>
        `${field.replaceAll(/\[\d+\]/g, '[]')}: ${message.replace(/^Invalid value(: "[^"]*")?: /, '')}`,
    );
  expect([...new Set(enforced)].sort()).toEqual(stated.sort());
});

/** As the group of the deployment, over the product's adapter. */
async function writeStatus({ kind: _, metadata: { name, uid, resourceVersion } }: Raw, status: PolicyStatus) {
  const connection = connectToContext({ file: plane.kubeconfig, context: 'node-rotation' });
  try {
    const settings = { ...placeholderSettings(), namespace: 'node-rotation' };
    const cluster = adapterOn(connection, settings);
    const { policies: seen } = await cluster.observe();
    const target = { kind: 'RotationPolicy', name, uid, resourceVersion } as const;
    const { outcome } = await cluster.apply({ kind: 'writeStatus', target, status, whenRefused: 'stop' });
    return { outcome, seen };
  } finally {
    connection.close();
  }
}

test('the status that the adapter writes is kept whole, apart from the spec, whoever writes the other (D2-07)', async () => {
  const policy = document(minimalSpec, fresh('status'));
  const made = await hand.create(policy);
  expect((await writeStatus(made, fullStatus)).outcome).toBe('applied');
  const written = await hand.read(policy);
  expect([written.spec, written.status, written.metadata.generation]).toEqual([made.spec, fullStatus, 1]);
  expect(readPolicy(written).status).toEqual(fullStatus);

  const edited = await hand.patch(policy, { spec: { mode: 'Observe' }, status: { matchedNodePools: 7 } });
  expect([edited.spec, edited.status, edited.metadata.generation]).toEqual([
    { ...made.spec, mode: 'Observe' },
    fullStatus,
    2,
  ]);
  const status = { ...fullStatus, observedGeneration: 2 };
  await hand.call('PATCH', `${policies}/${made.metadata.name}/status`, {
    body: { spec: { mode: 'Rotate' }, status },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  const after = await hand.read(policy);
  expect([after.spec, after.status, after.metadata.generation]).toEqual([edited.spec, status, 2]);
  await hand.cleanUp();
});

describe('a policy of an older definition', () => {
  const rules = wrongSpecs.filter(({ stoppedBy }) => stoppedBy === 'rule');
  /** Stored under the older definition, by name. */
  const stored = new Map<string, Raw>();
  const older: readonly { readonly name: string; readonly spec: Spec; readonly status?: object }[] = [
    { name: 'older-minimal', spec: minimalSpec },
    { name: 'older-status', spec: minimalSpec, status: { observedGeneration: 1, matchedNodePools: 4 } },
    ...rules.map(({ spec: of }, place) => ({ name: `older-rule-${place}`, spec: of })),
    ...valuesForFindings.map(({ spec: of }, place) => ({ name: `older-value-${place}`, spec: of })),
  ];

  /** Replaces the definition, and waits until the server goes by it. */
  async function define(definition: typeof crd, takes: Spec, verdict: string): Promise<void> {
    const { metadata } = await plane.api.get(crdPath);
    const body = { ...definition, metadata: { ...definition.metadata, resourceVersion: metadata.resourceVersion } };
    expect((await hand.call('PUT', crdPath, { body })).code).toBe(200);
    await eventually('the other definition to be served', 20_000, async () =>
      verdictOf(await tried(takes)) === verdict ? true : undefined,
    );
  }

  beforeAll(async () => {
    const noWindows = { ...minimalSpec, maintenanceWindows: [] };
    await define(withoutWhatIsNew(crd), noWindows, 'taken');
    for (const { name, spec: of, status } of older) {
      stored.set(name, await hand.create({ ...document(of, name), ...(status === undefined ? {} : { status }) }));
    }
    await define(crd, noWindows, '422 spec.maintenanceWindows');
  });

  afterAll(() => hand.cleanUp());

  test('lacks what is new, and holds what the rules refuse by now (D2-01)', () => {
    expect(stored.get('older-minimal')?.spec).toEqual({
      nodePoolSelector: { matchLabels: { workload: 'api' } },
      maintenanceWindows: minimalSpec.maintenanceWindows,
    });
    expect(stored.size).toBe(2 + rules.length + valuesForFindings.length);
  });

  test('reads with the defaults of the new one (D2-01)', async () => {
    const now = await hand.read(document(undefined, 'older-minimal'));
    expect(now.spec).toEqual(withDefaults(spec, minimalSpec));
    expect(now.metadata.resourceVersion).toBe(stored.get('older-minimal')?.metadata.resourceVersion);
  });

  test('is read by the adapter with all others, Invalid at the place or with a value for a finding (D2-03, D4-01)', async () => {
    const { seen, outcome } = await writeStatus(stored.get('older-status') as Raw, fullStatus);
    const readings = seen.map((reading) =>
      reading.valid
        ? [reading.policy.meta.name, 'valid', reading.status]
        : [reading.meta.name, reading.problems.map(({ path }) => path), reading.status],
    );
    expect(readings.toSorted(byName)).toEqual(
      [
        ['older-minimal', 'valid', undefined],
        // A status of another form counts as none.
        ['older-status', 'valid', undefined],
        ...rules.map(({ paths }, place) => [`older-rule-${place}`, paths, undefined]),
        ...valuesForFindings.map((_, place) => [`older-value-${place}`, 'valid', undefined]),
      ].toSorted(byName),
    );
    expect(outcome).toBe('applied');
    expect((await hand.read(document(undefined, 'older-status'))).status).toEqual(fullStatus);
  });

  test('gets its status although the spec would be refused (D2-03, D2-07)', async () => {
    const wrong = rules.map((_, place) => `older-rule-${place}`);
    const names = [...wrong, ...valuesForFindings.map((_, place) => `older-value-${place}`)];
    const outcomes: unknown[] = [];
    for (const name of names) outcomes.push((await writeStatus(stored.get(name) as Raw, fullStatus)).outcome);
    expect(outcomes).toEqual(names.map(() => 'applied'));
  });
});

const byName = ([a]: readonly unknown[], [b]: readonly unknown[]): number => (String(a) < String(b) ? -1 : 1);
