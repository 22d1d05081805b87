/**
 * What the group of the deployment may do on a real API server, as our manifests were applied: everything that is served
 * is asked for, and each right is shown to be needed.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { eventManifest } from '../../lib/adapters/kubernetes/events.ts';
import { permissions } from '../../lib/adapters/kubernetes/preflight.ts';
import { pathOf as productPath, resources } from '../../lib/adapters/kubernetes/resources.ts';
import { node, nodeClaim, nodePool, pod, policy } from '../contract/manifests.ts';
import { Hand, type Manifest, pathOf, type Reply } from '../contract/operators-hand.ts';
import { at } from '../support/builders.ts';
import { type ControlPlane, startControlPlane } from './harness/control-plane.ts';
import type { KubeDocument } from './harness/kube-api.ts';
import { eventually } from './support/eventually.ts';
import { fullStatus } from './support/full-status.ts';
import { kubernetesUnderTest } from './support/kubernetes-under-test.ts';
import { rightsOf } from './support/rights.ts';

const home = 'node-rotation';
interface Rule {
  readonly apiGroups: readonly [string];
  readonly resources: readonly [string];
  readonly verbs: readonly string[];
}
type Role = KubeDocument & { readonly rules: readonly Rule[] };
const roles = parseAllDocuments(readFileSync(join(import.meta.dirname, '../../infra/kubernetes/rbac.yaml'), 'utf8'))
  .map((document) => document.toJS() as Role)
  .filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');

/** As `rights` names them. */
const grantsOf = ({ rules, metadata: { namespace } }: Role): string[] =>
  rules.flatMap(({ apiGroups: [group], resources: [resource], verbs }) =>
    verbs.map((verb) => `${group}/${resource} ${verb}${namespace === undefined ? '' : ` in ${namespace}`}`),
  );
const granted = roles.flatMap(grantsOf).sort();

/** What Kubernetes lets everybody do who is known to it. */
const everybodys = [
  'authentication.k8s.io/selfsubjectreviews create',
  'authorization.k8s.io/selfsubjectaccessreviews create',
  'authorization.k8s.io/selfsubjectrulesreviews create',
];

let plane: ControlPlane;
let admin: Hand;
let rotation: Hand;
let stranger: Hand;

const objects = {
  pool: nodePool('pool'),
  claim: nodeClaim('claim', 'pool', { labels: { 'karpenter.sh/nodepool': 'pool' } }),
  node: node('node'),
  pod: pod('workload', 'default'),
  placeholder: placeholder('placeholder', home),
  policy: policy('policy'),
} satisfies Record<string, Manifest>;

function placeholder(name: string, namespace: string): Manifest {
  const container = {
    name: 'pause',
    image: 'pause',
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
  const securityContext = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
  return pod(name, namespace, { containers: [container], securityContext });
}

beforeAll(async () => {
  plane = await startControlPlane({ kubernetes: kubernetesUnderTest(), karpenter: false });
  admin = new Hand(plane.accesses.admin);
  rotation = new Hand(plane.accesses['node-rotation']);
  stranger = new Hand(plane.accesses.stranger);
  for (const object of Object.values(objects)) await admin.create(object);
});

afterAll(async () => {
  for (const hand of [admin, rotation, stranger]) hand?.close();
  await plane?.stop();
});

/** One call that nothing comes of. */
interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}
const get = (path: string): Call => ({ method: 'GET', path });
const patch = (path: string, body: unknown): Call => ({ method: 'PATCH', path: `${path}?dryRun=All`, body });
const create = (path: string, body: unknown): Call => ({ method: 'POST', path: `${path}?dryRun=All`, body });
const remove = (path: string): Call => ({ method: 'DELETE', path: `${path}?dryRun=All` });
const marked = { metadata: { annotations: { 'noderotation.io/x': 'y' } } };
const podsOf = (namespace: string): string => productPath(resources.pods, { namespace });
const regarding = { kind: 'NodePool', name: 'pool', uid: 'u' } as const;
const event = eventManifest(
  { type: 'Normal', reason: 'Tried', note: 'n', regarding },
  at('2026-06-09T17:00:00Z'),
  'e2e',
);

/** For each right of the manifest the call that a tick makes by it. */
const calls: Readonly<Record<string, Call>> = {
  'karpenter.sh/nodeclaims get': get(pathOf(objects.claim)),
  'karpenter.sh/nodeclaims list': get(productPath(resources.nodeClaims)),
  'karpenter.sh/nodeclaims patch': patch(pathOf(objects.claim), marked),
  'karpenter.sh/nodeclaims delete': remove(pathOf(objects.claim)),
  'karpenter.sh/nodepools get': get(pathOf(objects.pool)),
  'karpenter.sh/nodepools list': get(productPath(resources.nodePools)),
  'karpenter.sh/nodepools patch': patch(pathOf(objects.pool), marked),
  '/nodes get': get(pathOf(objects.node)),
  '/nodes list': get(productPath(resources.nodes)),
  '/nodes patch': patch(pathOf(objects.node), { ...marked, spec: { unschedulable: true } }),
  '/pods get': get(pathOf(objects.pod)),
  '/pods list': get(productPath(resources.pods)),
  '/pods create in node-rotation': create(podsOf(home), placeholder('another', home)),
  '/pods delete in node-rotation': remove(pathOf(objects.placeholder)),
  'policy/poddisruptionbudgets list': get(productPath(resources.disruptionBudgets)),
  'events.k8s.io/events create': create(productPath(resources.events, { namespace: 'default' }), event),
  'noderotation.io/rotationpolicies get': get(pathOf(objects.policy)),
  'noderotation.io/rotationpolicies list': get(productPath(resources.rotationPolicies)),
  'noderotation.io/rotationpolicies/status patch': patch(`${pathOf(objects.policy)}/status`, { status: fullStatus }),
};

async function answer(hand: Hand, { method, path, body }: Call): Promise<string> {
  const headers: Record<string, string> = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {};
  return verdictOf(await hand.call(method, path, { body, headers }));
}
/** Admission says 403 too, in other words. */
const verdictOf = ({ code, body }: Reply): string =>
  code < 300
    ? 'done'
    : /cannot \w+ resource/.exec(String(body.message)) && code === 403
      ? 'refused'
      : `${code} ${body.message}`;

const answers = async (hand: Hand): Promise<Record<string, string>> =>
  Object.fromEntries(
    await Promise.all(Object.entries(calls).map(async ([right, call]) => [right, await answer(hand, call)] as const)),
  );
const allDone = Object.fromEntries(granted.map((right) => [right, 'done']));

describe('of everything that is served, the group may', () => {
  test('do what the manifest says and a tick asks for, and nothing else, in no namespace (D9-04)', async () => {
    const asked = permissions.flatMap(({ group, resource, subresource, verbs, namespaced }) =>
      verbs.map(
        (verb) =>
          `${group}/${resource}${subresource ? `/${subresource}` : ''} ${verb}${namespaced ? ` in ${home}` : ''}`,
      ),
    );
    expect(granted).toEqual(asked.sort());
    const { rights, tried } = await rightsOf(rotation, [home, 'default']);
    expect(rights.toSorted()).toEqual([...granted, ...everybodys].sort());
    // Every kind that Kubernetes, Karpenter and we have, with every verb and more.
    expect(tried).toBeGreaterThan(1_500);
  });

  test('not even look at what everybody may not: a stranger has the rest, and no other URLs are open (D9-04)', async () => {
    const { rights } = await rightsOf(stranger, []);
    expect(rights.toSorted()).toEqual(everybodys);
    const urls = ['/version', '/healthz', '/apis', '/metrics', '/logs', '/debug/pprof/', '/configz'];
    const codes = async (hand: Hand): Promise<unknown> =>
      Object.fromEntries(await Promise.all(urls.map(async (url) => [url, (await hand.call('GET', url)).code === 403])));
    expect(await codes(rotation)).toEqual(await codes(stranger));
    expect(await codes(rotation)).toEqual({
      '/version': false,
      '/healthz': false,
      '/apis': false,
      '/metrics': true,
      '/logs': true,
      '/debug/pprof/': true,
      '/configz': true,
    });
  });
});

describe('by real calls', () => {
  test('each right lets the call through that a tick makes by it (D9-04)', async () => {
    expect(await answers(rotation)).toEqual(allDone);
  });

  test('a stranger may make none of them (D9-04)', async () => {
    expect(await answers(stranger)).toEqual(Object.fromEntries(granted.map((right) => [right, 'refused'])));
  });

  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'workload', namespace: 'default' } };
  const claim = pathOf(objects.claim);
  test.each<[string, Call]>([
    ['make a placeholder in another namespace', create(podsOf('default'), placeholder('x', 'default'))],
    ['make one among the system', create(podsOf('kube-system'), placeholder('x', 'kube-system'))],
    ['delete a Pod of somebody', remove(pathOf(objects.pod))],
    ['delete all placeholders at once', remove(podsOf(home))],
    ['change a placeholder', patch(pathOf(objects.placeholder), marked)],
    ['evict a Pod', create(`${pathOf(objects.pod)}/eviction`, eviction)],
    ['look into a container', create(`${pathOf(objects.pod)}/exec`, undefined)],
    ['change a policy', patch(pathOf(objects.policy), { spec: { mode: 'Observe' } })],
    [
      'put a status in whole',
      { method: 'PUT', path: `${pathOf(objects.policy)}/status?dryRun=All`, body: objects.policy },
    ],
    ['delete a policy', remove(pathOf(objects.policy))],
    ['make a NodeClaim', create(productPath(resources.nodeClaims), nodeClaim('x', 'pool'))],
    ['delete all NodeClaims at once', remove(productPath(resources.nodeClaims))],
    ['change the status of a NodeClaim', patch(`${claim}/status`, { status: {} })],
    ['delete a Node', remove(pathOf(objects.node))],
    ['change the status of a Node', patch(`${pathOf(objects.node)}/status`, { status: {} })],
    ['delete a NodePool', remove(pathOf(objects.pool))],
    ['watch Pods', get(`${productPath(resources.pods)}?watch=1&timeoutSeconds=1`)],
    ['read a secret', get('/api/v1/secrets')],
    ['read Events', get(productPath(resources.events))],
    ['give itself more', patch('/apis/rbac.authorization.k8s.io/v1/clusterroles/node-rotation', { rules: [] })],
  ])(
    'it may not %s (D9-04)',
    async (_, call) => {
      expect(await answer(rotation, call)).toBe('refused');
      // A watch that is let in does not end.
    },
    15_000,
  );
});

test('without any one of its rights exactly the call by it is refused (D9-04)', async () => {
  const found: Record<string, Record<string, string>> = {};
  for (const role of roles) {
    for (const [right, rules] of withoutOne(role)) {
      await plane.api.apply({ ...role, rules });
      // The authorizer hears of a change by a watch, after a moment.
      await eventually(`${right} to be refused`, 10_000, async () =>
        (await answer(rotation, calls[right] as Call)) === 'refused' ? true : undefined,
      );
      found[right] = await answers(rotation);
    }
    await plane.api.apply(role);
    await eventually('all rights to be back', 10_000, async () =>
      Object.values(await answers(rotation)).includes('refused') ? undefined : true,
    );
  }
  expect(found).toEqual(Object.fromEntries(granted.map((right) => [right, { ...allDone, [right]: 'refused' }])));
});

/** The role's rules less one verb, for each right in it. */
function withoutOne(role: Role): [string, Rule[]][] {
  return role.rules.flatMap((rule, place) =>
    rule.verbs.map((verb): [string, Rule[]] => {
      const others = rule.verbs.filter((other) => other !== verb);
      const rules = role.rules.with(place, { ...rule, verbs: others }).filter(({ verbs }) => verbs.length > 0);
      return [grantsOf({ ...role, rules: [{ ...rule, verbs: [verb] }] })[0] as string, rules];
    }),
  );
}
