/**
 * The manifests for a cluster: what the group may do against what the code can ask for, both ways, and the rest against
 * the rules.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { defaultPlaceholder } from '../../functions/reconcile/environment.ts';
import type { ApiAnswer, ApiClient, ReadAnswer } from '../../lib/adapters/kubernetes/api-client.ts';
import { ApiStatusError } from '../../lib/adapters/kubernetes/api-error.ts';
import { apply } from '../../lib/adapters/kubernetes/apply.ts';
import type { ApiRequest } from '../../lib/adapters/kubernetes/exchange.ts';
import { inspect } from '../../lib/adapters/kubernetes/inspect.ts';
import { observe, reread } from '../../lib/adapters/kubernetes/observe.ts';
import { resources } from '../../lib/adapters/kubernetes/resources.ts';
import type { Kind, ObjectRef } from '../../lib/domain/cluster/object-ref.ts';
import type { Action } from '../../lib/engine/decision.ts';
import { at } from '../support/builders.ts';

const folder = join(import.meta.dirname, '..', '..', 'infra', 'kubernetes');

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [key: string]: unknown;
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const manifestsIn = (file: string): readonly Manifest[] =>
  parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Manifest;
  });

const rbac = manifestsIn('rbac.yaml');
const rulesOf = (kind: string): readonly Rule[] => {
  const [role, ...others] = rbac.filter((manifest) => manifest.kind === kind);
  expect(others).toEqual([]);
  return role?.rules as readonly Rule[];
};

/** `group/resource verb`, sorted; in the placeholder namespace only where it says so. */
const grants = (rules: readonly Rule[], scope = ''): readonly string[] =>
  rules.flatMap(({ apiGroups, resources: of, verbs }) =>
    apiGroups.flatMap((group) => of.flatMap((resource) => verbs.map((verb) => `${group}/${resource} ${verb}${scope}`))),
  );

const inNamespace = ' in the placeholder namespace';
const granted = [...grants(rulesOf('ClusterRole')), ...grants(rulesOf('Role'), inNamespace)].sort();

test('the group may do this and nothing more (D9-04)', () => {
  expect(granted).toEqual(
    [
      'karpenter.sh/nodeclaims get',
      'karpenter.sh/nodeclaims list',
      'karpenter.sh/nodeclaims patch',
      'karpenter.sh/nodeclaims delete',
      'karpenter.sh/nodepools get',
      'karpenter.sh/nodepools list',
      'karpenter.sh/nodepools patch',
      '/nodes get',
      '/nodes list',
      '/nodes patch',
      '/pods get',
      '/pods list',
      '/pods create in the placeholder namespace',
      '/pods delete in the placeholder namespace',
      'policy/poddisruptionbudgets list',
      'events.k8s.io/events create',
      'noderotation.io/rotationpolicies get',
      'noderotation.io/rotationpolicies list',
      'noderotation.io/rotationpolicies/status patch',
    ].sort(),
  );
});

const groupOf = Object.fromEntries(
  Object.values(resources).map(({ plural, apiVersion }) => [
    plural,
    apiVersion.includes('/') ? apiVersion.split('/')[0] : '',
  ]),
);

/** What a request needs to be granted. */
function needed({ verb, path }: ApiRequest): string {
  const parts = path.replace(/^\/(api\/v1|apis\/[^/]+\/[^/]+)\//, '').split('/');
  const [namespace, resource = '', , subresource] = parts[0] === 'namespaces' ? parts.slice(1) : [undefined, ...parts];
  const scope =
    namespace === defaultPlaceholder.namespace && ['create', 'delete'].includes(verb) && resource === 'pods';
  return `${groupOf[resource]}/${resource}${subresource === undefined ? '' : `/${subresource}`} ${verb}${scope ? inNamespace : ''}`;
}

/** Stands where the client does, in each of the ways that the adapter asks it. */
class Recording implements Pick<ApiClient, 'request' | 'requestText'> {
  readonly asked = new Set<string>();
  readonly #answer: (request: ApiRequest) => unknown;

  constructor(answer: (request: ApiRequest) => unknown) {
    this.#answer = answer;
  }

  async request(request: ApiRequest): Promise<ApiAnswer> {
    const { read: body, ...answer } = await this.requestText(request, (text) => JSON.parse(text.toString()) as unknown);
    return { body, ...answer };
  }

  async requestText<T>(request: ApiRequest, read: (text: Buffer) => T): Promise<ReadAnswer<T>> {
    this.asked.add(needed(request));
    const body = this.#answer(request);
    if (body instanceof Error) throw body;
    return { read: read(Buffer.from(JSON.stringify(body))), date: at('2026-06-09T17:20:00Z') };
  }
}

const ref = (kind: Kind, namespace?: string): ObjectRef => ({
  kind,
  name: 'x',
  uid: 'u',
  resourceVersion: '1',
  ...(namespace === undefined ? {} : { namespace }),
});
const placeholder = ref('Pod', defaultPlaceholder.namespace);
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'x', namespace: defaultPlaceholder.namespace, labels: {}, annotations: {} },
  spec: {},
} as const;
const event = { type: 'Normal', reason: 'r', note: 'n', regarding: { kind: 'NodePool', name: 'x', uid: 'u' } } as const;
const annotations = {};
const whenRefused = 'stop' as const;

/** Every kind of write, on every kind of object that the engine writes to. */
const actions: readonly Action[] = [
  ...(['NodePool', 'NodeClaim'] as const).map((kind) => ({
    kind: 'annotate' as const,
    target: ref(kind),
    annotations,
    whenRefused,
  })),
  ...(['protect', 'unprotect'] as const).map((kind) => ({ kind, target: ref('Node'), annotations, whenRefused })),
  { kind: 'createPlaceholder', pod, whenRefused },
  { kind: 'deletePlaceholder', target: placeholder, mustExist: true, whenRefused },
  { kind: 'deleteNodeClaim', target: ref('NodeClaim'), because: 'drain', whenRefused },
  { kind: 'writeStatus', target: ref('RotationPolicy'), status: { conditions: [] } as never, whenRefused },
  { kind: 'emitEvent', event, whenRefused },
];

async function asked(): Promise<ReadonlySet<string>> {
  const exists = new ApiStatusError('it is there', { code: 409, reason: 'AlreadyExists', details: {}, ofList: false });
  const recording = new Recording(({ verb }) => (verb === 'create' ? exists : { metadata: {}, items: [] }));
  const client = recording as unknown as ApiClient;
  const looking = { client, refused: () => undefined };
  await observe(looking, { settings: defaultPlaceholder, retired: false });
  const quiet = async (work: Promise<unknown>): Promise<unknown> => await work.catch(() => undefined);
  await quiet(reread(looking, ref('NodePool'), ref('Node')));
  await quiet(
    inspect(looking, {
      nodes: ['n'],
      podsOnNodes: ['n'],
      dryRunDeletes: [ref('NodeClaim')],
      disruptionBudgets: true,
      unscheduledPods: true,
    }),
  );
  for (const action of actions) await apply({ client, observedAt: at('2026-06-09T17:20:00Z'), instance: 'i' }, action);
  return recording.asked;
}

describe('rights and requests', async () => {
  const requests = await asked();

  test('whatever the code asks for is granted (D9-04)', () => {
    expect(requests.size).toBeGreaterThan(10);
    expect([...requests].filter((request) => !granted.includes(request))).toEqual([]);
  });

  test('what is granted is asked for, but for what people look up by name (D9-04)', () => {
    expect(granted.filter((grant) => !requests.has(grant))).toEqual([
      'karpenter.sh/nodeclaims get',
      'noderotation.io/rotationpolicies get',
    ]);
  });
});

test('both roles are bound to the group of the access entry (D9-04, D9-05)', () => {
  const bindings = rbac.filter(({ kind }) => kind.endsWith('Binding'));
  expect(bindings).toMatchObject([
    { kind: 'ClusterRoleBinding', roleRef: { kind: 'ClusterRole', name: 'node-rotation' } },
    {
      kind: 'RoleBinding',
      metadata: { namespace: defaultPlaceholder.namespace },
      roleRef: { kind: 'Role', name: 'node-rotation-placeholder' },
    },
  ]);
  for (const { subjects } of bindings) {
    expect(subjects).toEqual([{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'node-rotation' }]);
  }
  const role = rbac.find(({ kind }) => kind === 'Role');
  expect(role?.metadata.namespace).toBe(defaultPlaceholder.namespace);
});

test('the placeholder’s priority is at the lowest that brings up nodes, and pushes nobody aside (D8-06, PR-122)', () => {
  expect(manifestsIn('priorityclass.yaml')).toMatchObject([
    {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: defaultPlaceholder.priorityClassName },
      value: -10,
      globalDefault: false,
      preemptionPolicy: 'Never',
    },
  ]);
});

test('the namespace is the one that placeholders are made in (D8-06)', () => {
  expect(manifestsIn('namespace.yaml')).toMatchObject([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: defaultPlaceholder.namespace } },
  ]);
});

test('kustomize is given every manifest, and each is an object with a name (D9-04)', () => {
  const [kustomization] = manifestsIn('kustomization.yaml');
  const files = readdirSync(folder).filter((file) => file !== 'kustomization.yaml');
  expect(kustomization?.resources).toEqual(files.sort());
  for (const manifest of files.flatMap(manifestsIn)) {
    expect(manifest).toMatchObject({
      apiVersion: expect.any(String),
      kind: expect.any(String),
      metadata: { name: expect.any(String) },
    });
  }
});
