import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { Agent, request } from 'node:https';
import { PemConverter, X509CertificateGenerator } from '@peculiar/x509';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { ApiServer } from '../../lib/simulator/api-server.ts';
import { faultsAt, noFaults } from '../../lib/simulator/faults.ts';
import type { World } from '../../lib/simulator/world.ts';
import { addPod, create, emptyWorld, pass } from '../support/small-world.ts';

const token = 'let-me-in';
let keys: { certificate: string; privateKey: string };
let world: World;
let server: ApiServer;
let base: string;
const agent = new Agent({ keepAlive: true });

beforeAll(async () => {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const pair = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned(
    { name: 'CN=127.0.0.1', keys: pair as never, signingAlgorithm: algorithm },
    webcrypto as never,
  );
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', pair.privateKey);
  keys = { certificate: certificate.toString('pem'), privateKey: PemConverter.encode(pkcs8, 'PRIVATE KEY') };
});

beforeEach(async () => {
  world = emptyWorld();
  server = new ApiServer({ store: world.store, now: () => world.now, ...keys, token });
  base = await server.start();
});

afterEach(() => server.stop());
afterAll(() => agent.destroy());

interface Reply {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: a body of whatever was asked for
  readonly body: any;
}

function call(
  method: string,
  path: string,
  options: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Reply> {
  const text = options.body === undefined ? '' : JSON.stringify(options.body);
  const headers = { authorization: `Bearer ${token}`, 'content-length': Buffer.byteLength(text), ...options.headers };
  return new Promise((resolve, reject) => {
    const sent = request(`${base}${path}`, { method, headers, agent, rejectUnauthorized: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const answer = Buffer.concat(chunks).toString('utf8');
        const body = response.headers['content-type'] === 'application/json' ? JSON.parse(answer) : answer;
        resolve({ code: response.statusCode ?? 0, headers: response.headers, body });
      });
    });
    sent.on('error', reject);
    sent.end(text);
  });
}

const mergePatch = { 'content-type': 'application/merge-patch+json' };
const addNodes = (...names: string[]) => {
  for (const name of names)
    create(world, { kind: 'Node', metadata: { name, labels: { size: 'm' } }, spec: { providerID: name } });
};

test('the Date header is the virtual clock (D1-04)', async () => {
  pass(world, '1h2m3s');
  expect((await call('GET', '/api/v1/nodes')).headers.date).toBe('Mon, 01 Jun 2026 01:02:03 GMT');
});

test.each([
  ['no token', ''],
  ['another token', 'Bearer wrong'],
  ['another scheme', `Basic ${token}`],
])('%s is a 401', async (_, authorization) => {
  expect(await call('GET', '/api/v1/nodes', { headers: { authorization } })).toMatchObject({
    code: 401,
    body: { kind: 'Status', reason: 'Unauthorized', code: 401 },
  });
});

test('a token that is not its own is good when it is accepted (D9-01)', async () => {
  const accepting = { token, accepts: (borne: string) => borne === 'signed by another' };
  const other = new ApiServer({ store: world.store, now: () => world.now, ...keys, ...accepting });
  base = await other.start();
  const codeOf = async (authorization: string) =>
    (await call('GET', '/api/v1/nodes', { headers: { authorization } })).code;
  expect(await codeOf('Bearer signed by another')).toBe(200);
  expect(await codeOf(`Bearer ${token}`)).toBe(200);
  expect(await codeOf('Bearer signed by nobody')).toBe(401);
  expect(await codeOf('signed by another')).toBe(401);
  await other.stop();
});

test('health checks need no token', async () => {
  expect(await call('GET', '/readyz', { headers: { authorization: '' } })).toMatchObject({ code: 200, body: 'ok' });
});

test('discovery names every kind with its verbs and its status', async () => {
  const groups = (await call('GET', '/apis')).body.groups.map((group: { name: string }) => group.name);
  expect(groups).toEqual(
    expect.arrayContaining(['karpenter.sh', 'noderotation.io', 'policy', 'events.k8s.io', 'apps']),
  );
  const resources = (await call('GET', '/apis/noderotation.io/v1alpha1')).body.resources;
  expect(
    resources.map(({ name, namespaced, shortNames }: Record<string, unknown>) => ({ name, namespaced, shortNames })),
  ).toEqual([
    { name: 'rotationpolicies', namespaced: false, shortNames: ['rotpol'] },
    { name: 'rotationpolicies/status', namespaced: false, shortNames: undefined },
  ]);
  expect((await call('GET', '/api/v1')).body.resources.map(({ name }: { name: string }) => name)).toContain('pods');
  expect((await call('GET', '/version')).body.gitVersion).toBe('v1.35.0');
});

test('a list comes in pages of one moment, and an old token is a 410', async () => {
  addNodes('a', 'b', 'c');
  const first = await call('GET', '/api/v1/nodes?limit=2');
  expect(first.body).toMatchObject({ kind: 'NodeList', apiVersion: 'v1', metadata: { remainingItemCount: 1 } });
  addNodes('bb');
  const next = `/api/v1/nodes?limit=2&continue=${encodeURIComponent(first.body.metadata.continue)}`;
  expect(
    (await call('GET', next)).body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
  ).toEqual(['c']);
  pass(world, '10m');
  expect(await call('GET', next)).toMatchObject({ code: 410, body: { reason: 'Expired' } });
});

test('PartialObjectMetadata leaves out everything but metadata (D15-03)', async () => {
  addNodes('a');
  const headers = { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' };
  const { body } = await call('GET', '/api/v1/nodes?limit=500', { headers });
  expect(body.kind).toBe('PartialObjectMetadataList');
  expect(Object.keys(body.items[0])).toEqual(['kind', 'apiVersion', 'metadata']);
  expect(body.items[0].metadata).toMatchObject({ name: 'a', labels: { size: 'm' } });
});

test('Pods are selected by node and by label, in one namespace or in all', async () => {
  for (const namespace of ['shop', 'node-rotation'])
    addPod(world, 'a', { namespace, labels: { in: namespace }, spec: { nodeName: 'n' } });
  const names = async (path: string) =>
    (await call('GET', path)).body.items.map((item: { metadata: { namespace: string } }) => item.metadata.namespace);
  expect(await names('/api/v1/pods?fieldSelector=spec.nodeName%3Dn')).toEqual(['node-rotation', 'shop']);
  expect(await names('/api/v1/namespaces/shop/pods')).toEqual(['shop']);
  expect(await names('/api/v1/pods?labelSelector=in%3Dnode-rotation')).toEqual(['node-rotation']);
});

test('a merge patch with an old version is a 409, with the present one it lands (D5-05)', async () => {
  addNodes('a');
  const { resourceVersion } = world.store.get('Node', 'a')?.metadata ?? {};
  const patch = (version: unknown) =>
    call('PATCH', '/api/v1/nodes/a', {
      headers: mergePatch,
      body: { metadata: { resourceVersion: version }, spec: { unschedulable: true } },
    });
  expect(await patch('1')).toMatchObject({
    code: 409,
    body: { reason: 'Conflict', details: { name: 'a', kind: 'nodes' } },
  });
  expect(await patch(resourceVersion)).toMatchObject({
    code: 200,
    body: { spec: { unschedulable: true, providerID: 'a' } },
  });
});

test('every other kind of patch is a 415', async () => {
  addNodes('a');
  const headers = { 'content-type': 'application/json-patch+json' };
  expect(await call('PATCH', '/api/v1/nodes/a', { headers, body: [] })).toMatchObject({
    code: 415,
    body: { reason: 'UnsupportedMediaType' },
  });
});

test('status has its own path (D2-07)', async () => {
  create(world, { kind: 'RotationPolicy', metadata: { name: 'p' }, spec: { mode: 'Rotate' } });
  const path = '/apis/noderotation.io/v1alpha1/rotationpolicies/p/status';
  const body = { status: { observedGeneration: 1 }, spec: { mode: 'Observe' } };
  expect(await call('PATCH', path, { headers: mergePatch, body })).toMatchObject({
    code: 200,
    body: { spec: { mode: 'Rotate' }, status: body.status },
  });
});

test('creating answers 201, a second time 409 AlreadyExists (D5-05)', async () => {
  const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'shop' }, spec: { containers: [] } };
  expect(await call('POST', '/api/v1/namespaces/shop/pods', { body })).toMatchObject({
    code: 201,
    body: { status: { phase: 'Pending' } },
  });
  expect(await call('POST', '/api/v1/namespaces/shop/pods', { body })).toMatchObject({
    code: 409,
    body: { reason: 'AlreadyExists' },
  });
});

test('a delete honours dry run, preconditions and grace (D5-05)', async () => {
  addPod(world, 'p', { spec: { nodeName: 'n' } });
  const { uid } = world.store.get('Pod', 'p', 'shop')?.metadata ?? {};
  const path = '/api/v1/namespaces/shop/pods/p';
  expect(await call('DELETE', `${path}?dryRun=All`)).toMatchObject({ code: 200 });
  expect(await call('DELETE', path, { body: { preconditions: { uid: 'other' } } })).toMatchObject({
    code: 409,
    body: { reason: 'Conflict' },
  });
  expect(await call('DELETE', path, { body: { preconditions: { uid } } })).toMatchObject({
    code: 200,
    body: { kind: 'Pod', metadata: { deletionGracePeriodSeconds: 30 } },
  });
  expect(await call('DELETE', path, { body: { gracePeriodSeconds: 0 } })).toMatchObject({
    code: 200,
    body: { kind: 'Pod', metadata: { name: 'p' } },
  });
  expect(await call('DELETE', path)).toMatchObject({
    code: 404,
    body: { reason: 'NotFound', details: { name: 'p', kind: 'pods' } },
  });
});

test.each([
  ['GET', '/apis/karpenter.sh/v1/nothings', 404],
  ['GET', '/api/v1/nodes/a/log', 404],
  ['PUT', '/api/v1/nodes/a', 405],
  ['GET', '/api/v1/nodes?fieldSelector=spec.x%3D1', 400],
  ['GET', '/api/v1/nodes/%zz', 404],
])('%s %s is a %i', async (method, path, code) => {
  expect((await call(method, path)).code).toBe(code);
});

test('a kind whose CRD is missing is a 404 that names no object (D11-07)', async () => {
  await server.stop();
  server = new ApiServer({ store: world.store, now: () => world.now, ...keys, token, absent: ['RotationPolicy'] });
  base = await server.start();
  const { code, body } = await call('GET', '/apis/noderotation.io/v1alpha1/rotationpolicies');
  expect([code, body.details]).toEqual([404, {}]);
});

test('faults show as a real server shows them (D14-02)', async () => {
  addNodes('a');
  const patch = () =>
    call('PATCH', '/api/v1/nodes/a', { headers: mergePatch, body: { metadata: { annotations: { x: '1' } } } });
  server.setFaults(
    faultsAt([
      { verb: 'get', nth: 1, fault: 'throttled' },
      { verb: 'get', nth: 2, fault: 'serverError' },
      { verb: 'patch', nth: 1, fault: 'lostRequest' },
      { verb: 'patch', nth: 2, fault: 'lostResponse' },
    ]),
  );
  const throttled = await call('GET', '/api/v1/nodes/a');
  expect([throttled.code, throttled.headers['retry-after']]).toEqual([429, '1']);
  expect((await call('GET', '/api/v1/nodes/a')).code).toBe(500);
  await expect(patch()).rejects.toThrow();
  expect(world.store.get('Node', 'a')?.metadata.annotations).toBeUndefined();
  await expect(patch()).rejects.toThrow();
  expect(world.store.get('Node', 'a')?.metadata.annotations).toEqual({ x: '1' });
  server.setFaults(noFaults);
  expect((await patch()).code).toBe(200);
});

test('a torn list is refused at its second page (D14-02)', async () => {
  addNodes('a', 'b');
  server.setFaults(faultsAt([{ verb: 'list', nth: 2, fault: 'tornList' }]));
  const first = await call('GET', '/api/v1/nodes?limit=1');
  expect((await call('GET', `/api/v1/nodes?limit=1&continue=${first.body.metadata.continue}`)).code).toBe(410);
});

test('what was served is on the log, with the size of each answer', async () => {
  await call('GET', '/api/v1/nodes?limit=500');
  const [entry] = server.takeLog();
  expect(entry).toMatchObject({ method: 'GET', path: '/api/v1/nodes?limit=500', code: 200 });
  expect(entry?.bytes).toBeGreaterThan(50);
  expect(server.takeLog()).toEqual([]);
});

test('a port that is taken is an error of start', async () => {
  const second = new ApiServer({ store: world.store, now: () => world.now, ...keys, token });
  await expect(second.start(Number(new URL(base).port))).rejects.toThrow('EADDRINUSE');
});
