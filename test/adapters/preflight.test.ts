import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { eksPreflight } from '../../lib/adapters/aws/eks-preflight.ts';
import { ApiClient } from '../../lib/adapters/kubernetes/api-client.ts';
import { type Connection, connectToEndpoint } from '../../lib/adapters/kubernetes/connection.ts';
import { policyCrd } from '../../lib/adapters/kubernetes/policy-crd.ts';
import { permissions, preflight } from '../../lib/adapters/kubernetes/preflight.ts';
import { seconds } from '../../lib/domain/time.ts';
import { AwsFake, awsError } from '../support/aws-fake.ts';
import { type Answer, type Asked, HttpsFake, statusBody } from '../support/https-fake.ts';

let server: HttpsFake;
let aws: AwsFake;
let connection: Connection;

beforeAll(async () => {
  server = await HttpsFake.start();
  aws = await AwsFake.start();
});

beforeEach(() => {
  aws.reset();
  server.asked.length = 0;
  const tokens = { token: async () => 'token', renew: async () => 'token' };
  const { url: endpoint, certificateAuthority } = server;
  connection = connectToEndpoint({ name: 'prod', endpoint, certificateAuthority }, tokens);
});

afterEach(() => connection.close());

afterAll(async () => {
  await server.stop();
  await aws.stop();
});

type Instead = (asked: Asked) => Answer | undefined;

/** A cluster that has everything, but for what answers instead. */
function cluster(instead: Instead = () => undefined): void {
  const crd = policyCrd();
  const bodies: Readonly<Record<string, unknown>> = {
    '/version': { gitVersion: 'v1.33.1-eks' },
    '/apis/karpenter.sh/v1': { resources: [{ name: 'nodepools' }, { name: 'nodeclaims' }] },
    [`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`]: {
      ...crd,
      spec: { ...crd.spec, conversion: { strategy: 'None' } },
    },
    '/api/v1/namespaces/node-rotation': { kind: 'Namespace' },
    '/apis/scheduling.k8s.io/v1/priorityclasses/node-rotation-placeholder': { value: -10, preemptionPolicy: 'Never' },
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews': { status: { allowed: true } },
  };
  server.script = (asked) => {
    const body = bodies[asked.path];
    const absent = { status: 404, body: statusBody(404, 'NotFound', 'not found') };
    return instead(asked) ?? (body === undefined ? absent : { body });
  };
}

async function checks(): Promise<Readonly<Record<string, string>>> {
  const client = new ApiClient({ connection, left: () => seconds(5) });
  const priorityClassName = 'node-rotation-placeholder';
  const found = await preflight({ client, group: 'node-rotation', namespace: 'node-rotation', priorityClassName });
  return Object.fromEntries(found.map(({ check, verdict, message }) => [check, `${verdict}: ${message}`]));
}

const reviewed = ({ body }: Asked) =>
  (body as { spec: { resourceAttributes: Record<string, string> } }).spec.resourceAttributes;

test('a cluster that has everything passes every check (D9-06)', async () => {
  cluster();
  expect(await checks()).toEqual({
    endpoint: 'ok: Kubernetes v1.33.1-eks',
    'karpenter.sh/v1': 'ok: NodePools and NodeClaims are served',
    crd: 'ok: rotationpolicies.noderotation.io is there',
    namespace: 'ok: node-rotation is there',
    priorityclass: 'ok: node-rotation-placeholder is there',
    rbac: 'ok: group node-rotation may do all that a tick does',
  });
});

test('rights are asked as the group, not as whoever asks (D9-06)', async () => {
  cluster();
  await checks();
  const reviews = server.asked.filter(({ path }) => path.endsWith('selfsubjectaccessreviews'));
  expect(reviews.length).toBe(permissions.flatMap(({ verbs }) => verbs).length);
  for (const { headers } of reviews) {
    expect(headers).toMatchObject({
      'impersonate-user': 'node-rotation-preflight',
      'impersonate-group': 'node-rotation, system:authenticated',
    });
  }
  const namespaced = reviews.map(reviewed).filter(({ namespace }) => namespace === 'node-rotation');
  expect(namespaced.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual(['create pods', 'delete pods']);
});

const missing =
  (path: string): Instead =>
  (asked) =>
    asked.path.startsWith(path) ? { status: 404, body: statusBody(404, 'NotFound', 'not found') } : undefined;
const instead =
  (path: string, body: unknown): Instead =>
  (asked) =>
    asked.path.includes(path) ? { body } : undefined;
const crd = policyCrd();
const olderSchema = { ...crd, spec: { versions: [{ name: 'v1alpha1', schema: { openAPIV3Schema: {} } }] } };

test.each([
  ['karpenter.sh/v1', 'no Karpenter', missing('/apis/karpenter.sh'), /^missing: nodepools and nodeclaims are not/],
  [
    'karpenter.sh/v1',
    'half of it',
    instead('/karpenter.sh/v1', { resources: [{ name: 'nodepools' }] }),
    /nodeclaims are not/,
  ],
  ['crd', 'no CRD', missing('/apis/apiextensions'), /^missing: there is no rotationpolicies.*manifests/],
  [
    'crd',
    'another version',
    instead('/customresource', { spec: { versions: [{ name: 'v1' }] } }),
    /no version v1alpha1/,
  ],
  ['crd', 'an older schema', instead('/customresource', olderSchema), /^missing: .*another release/],
  ['namespace', 'no namespace', missing('/api/v1/namespaces'), /^missing: there is no node-rotation/],
  ['priorityclass', 'no PriorityClass', missing('/apis/scheduling'), /^missing: /],
  [
    'priorityclass',
    'a value of 0',
    instead('/priorityclasses', { value: 0, preemptionPolicy: 'Never' }),
    /^missing: .*value is 0/,
  ],
  ['priorityclass', 'a preempting one', instead('/priorityclasses', { value: -10 }), /preemptionPolicy is not Never/],
])('%s: %s is told with what to do (D9-06)', async (check, _, answer, says) => {
  cluster(answer);
  expect((await checks())[check]).toMatch(says);
});

test('what the group may not do is named, verb by verb (D9-06)', async () => {
  cluster((asked) => {
    if (!asked.path.endsWith('selfsubjectaccessreviews')) return undefined;
    const { verb, resource, subresource } = reviewed(asked);
    const allowed = !(verb === 'delete' && resource === 'nodeclaims') && subresource !== 'status';
    return { body: { status: { allowed } } };
  });
  expect((await checks()).rbac).toMatch(
    /may not delete nodeclaims\.karpenter\.sh, patch rotationpolicies\/status\.noderotation\.io: apply/,
  );
});

test('whoever may not impersonate is told that it is unknown (D9-06)', async () => {
  cluster((asked) =>
    asked.path.endsWith('selfsubjectaccessreviews')
      ? { status: 403, body: statusBody(403, 'Forbidden', 'cannot impersonate') }
      : undefined,
  );
  expect((await checks()).rbac).toMatch(/^unknown: .*cannot impersonate.*right to impersonate/);
});

test('an endpoint that does not answer is all that is told, with the reason it may have (D9-06, PR-112)', async () => {
  cluster(() => ({ instead: 'reset' }));
  const found = await checks();
  expect(Object.keys(found)).toEqual(['endpoint']);
  expect(found.endpoint).toMatch(/^missing: .*restricted CIDRs/);
});

test('the manifest grants what preflight asks for, and nothing else (D9-04, D9-06)', () => {
  const file = join(import.meta.dirname, '..', '..', 'infra', 'kubernetes', 'rbac.yaml');
  type Rule = { apiGroups: string[]; resources: string[]; verbs: string[] };
  const granted = parseAllDocuments(readFileSync(file, 'utf8'))
    .map((document) => document.toJS() as { kind: string; rules?: Rule[] })
    .flatMap(({ kind, rules = [] }) =>
      rules.flatMap(({ apiGroups: [group], resources: [resource], verbs }) =>
        verbs.map((verb) => `${kind} ${group}/${resource} ${verb}`),
      ),
    );
  const asked = permissions.flatMap(({ group, resource, subresource, verbs, namespaced }) =>
    verbs.map(
      (verb) =>
        `${namespaced ? 'Role' : 'ClusterRole'} ${group}/${resource}${subresource ? `/${subresource}` : ''} ${verb}`,
    ),
  );
  expect(asked.toSorted()).toEqual(granted.toSorted());
});

const roleArn = 'arn:aws:iam::123456789012:role/node-rotation-reconcile-ap-northeast-1';
const ofEks = async (name = 'prod', role?: string) =>
  (await eksPreflight({ name, roleArn: role, group: 'node-rotation', client: aws.config })).map(
    ({ check, verdict, message }) => `${check} ${verdict}: ${message}`,
  );

test.each([
  ['API', /^authentication mode ok: API$/],
  ['API_AND_CONFIG_MAP', /^authentication mode ok: API_AND_CONFIG_MAP$/],
  ['CONFIG_MAP', /^authentication mode missing: CONFIG_MAP knows no access entries/],
])('a cluster of authentication mode %s (D9-06, PR-110)', async (authenticationMode, says) => {
  aws.clusters.set('prod', { authenticationMode });
  expect((await ofEks())[0]).toMatch(says);
});

test('an endpoint that is not open to all needs a network (D9-06, PR-112)', async () => {
  aws.clusters.set('prod', { publicAccessCidrs: ['203.0.113.0/24'] });
  expect((await ofEks())[1]).toMatch(
    /^endpoint access unknown: public for 203\.0\.113\.0\/24 only: configure a network/,
  );
  aws.clusters.set('prod', {});
  expect((await ofEks())[1]).toBe('endpoint access ok: public');
});

test('the access entry of the role is looked at where it is named (D9-05, D9-06, PR-111)', async () => {
  aws.clusters.set('prod', {});
  const entryOf = (kubernetesGroups: readonly string[]) => ({
    body: JSON.stringify({ accessEntry: { clusterName: 'prod', principalArn: roleArn, kubernetesGroups } }),
  });
  aws.instead = ({ operation }) => (operation === 'DescribeAccessEntry' ? entryOf(['node-rotation']) : undefined);
  expect((await ofEks('prod', roleArn))[2]).toBe(`access entry ok: ${roleArn} is in group node-rotation`);
  aws.instead = ({ operation }) => (operation === 'DescribeAccessEntry' ? entryOf(['viewers']) : undefined);
  expect((await ofEks('prod', roleArn))[2]).toMatch(/^access entry missing: .* is in \[viewers\]: make it one of type/);
  aws.instead = ({ operation }) =>
    operation === 'DescribeAccessEntry' ? awsError('ResourceNotFoundException', 404) : undefined;
  expect((await ofEks('prod', roleArn))[2]).toMatch(/^access entry missing: there is none for/);
});

test('EKS that says nothing is unknown, not missing (D9-06)', async () => {
  expect(await ofEks('elsewhere')).toEqual([
    expect.stringMatching(/^eks unknown: EKS says nothing of cluster elsewhere/),
  ]);
});
