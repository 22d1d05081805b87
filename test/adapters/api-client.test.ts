import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ApiClient } from '../../lib/adapters/kubernetes/api-client.ts';
import { ApiStatusError, outcomeOf, TransportError } from '../../lib/adapters/kubernetes/api-error.ts';
import {
  type BearerTokens,
  type Connection,
  connectToEndpoint,
  UnusableConnection,
} from '../../lib/adapters/kubernetes/connection.ts';
import { connectToContext } from '../../lib/adapters/kubernetes/kubeconfig-connection.ts';
import type { Duration } from '../../lib/domain/time.ts';
import { seconds } from '../../lib/domain/time.ts';
import { HttpsFake, makeCertificate, statusBody } from '../support/https-fake.ts';

const fixedToken: BearerTokens = { token: async () => 'first', renew: async () => 'second' };
const listNodes = { verb: 'list', resource: 'nodes', path: '/api/v1/nodes' } as const;
const getNode = { verb: 'get', resource: 'nodes', path: '/api/v1/nodes/n1' } as const;

let server: HttpsFake;
let connection: Connection;

beforeEach(async () => {
  server = await HttpsFake.start();
  connection = connectTo(server);
});

afterEach(async () => {
  connection.close();
  await server.stop();
});

const connectTo = (fake: HttpsFake, tokens: BearerTokens = fixedToken): Connection =>
  connectToEndpoint({ name: 'test', endpoint: fake.url, certificateAuthority: fake.certificateAuthority }, tokens);

function client(over: { left?: Duration; connection?: Connection } = {}): { api: ApiClient; slept: number[] } {
  const slept: number[] = [];
  const api = new ApiClient({
    connection: over.connection ?? connection,
    left: () => over.left ?? seconds(20),
    sleep: async (length) => void slept.push(length),
  });
  return { api, slept };
}

const failureOf = async (promise: Promise<unknown>): Promise<ApiStatusError | TransportError> => {
  const error = await promise.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  if (error instanceof ApiStatusError || error instanceof TransportError) return error;
  throw error;
};

test('an answer is plain JSON with the time of its Date header (D1-04, D15-04)', async () => {
  server.script = () => ({ body: { metadata: { name: 'n1' } }, headers: { Date: 'Tue, 09 Jun 2026 17:00:00 GMT' } });
  const answer = await client().api.request(getNode);
  expect(answer).toEqual({ body: { metadata: { name: 'n1' } }, date: Date.parse('2026-06-09T17:00:00Z') });
  expect(server.asked[0]?.headers).toMatchObject({ authorization: 'Bearer first', accept: 'application/json' });
});

test('requests are named and their bytes counted (D15-04)', async () => {
  server.script = (_, nth) =>
    nth === 0 ? { body: { a: 1 } } : { status: 404, body: statusBody(404, 'NotFound', 'no', 'n1') };
  const { api } = client();
  await api.request({ verb: 'patch', resource: 'nodes', path: '/api/v1/nodes/n1', body: { b: 2 } });
  await failureOf(api.request(getNode));
  expect(api.exchanges).toEqual([
    { verb: 'patch', resource: 'nodes', path: '/api/v1/nodes/n1', status: 200, bytesSent: 7, bytesReceived: 7 },
    {
      verb: 'get',
      resource: 'nodes',
      path: '/api/v1/nodes/n1',
      status: 404,
      bytesSent: 0,
      bytesReceived: expect.any(Number),
    },
  ]);
});

test.each([
  [401, 'AuthFailed'],
  [403, 'Forbidden'],
  [404, 'CrdMissing'],
  [410, 'Unreachable'],
  [429, 'Throttled'],
  [500, 'Unreachable'],
  [503, 'Unreachable'],
  [504, 'Timeout'],
])('a list answered %i is %s, with the words of the server (PR-95, D11-07)', async (code, outcome) => {
  server.script = () => ({ status: code, body: statusBody(code, 'Whatever', 'the words of the server') });
  const error = await failureOf(client({ left: seconds(0.9) }).api.request(listNodes));
  expect(outcomeOf(error)).toBe(outcome);
  expect(error).toMatchObject({
    code,
    reason: 'Whatever',
    message: expect.stringContaining('the words of the server'),
  });
});

test('an answer that is not JSON is no answer (D6)', async () => {
  server.script = () => ({ body: '<html>' });
  expect(outcomeOf(await failureOf(client().api.request(getNode)))).toBe('Unreachable');
});

test('a body that breaks off is no answer (D6)', async () => {
  server.script = () => ({ body: { items: ['x'.repeat(5_000)] }, instead: 'cut' });
  expect(outcomeOf(await failureOf(client().api.request(listNodes)))).toBe('Unreachable');
});

test('a call is aborted when what is left of the budget is over (D1-06, PR-42)', async () => {
  server.script = () => ({ instead: 'hang' });
  const begun = performance.now();
  const error = await failureOf(client({ left: seconds(0.2) }).api.request(listNodes));
  expect(outcomeOf(error)).toBe('Timeout');
  expect(performance.now() - begun).toBeLessThan(2_000);
});

test('a call is aborted after five seconds however much is left (D1-06)', async () => {
  server.script = () => ({ instead: 'hang' });
  const begun = performance.now();
  expect(outcomeOf(await failureOf(client({ left: seconds(60) }).api.request(listNodes)))).toBe('Timeout');
  expect(performance.now() - begun).toBeGreaterThan(4_900);
  expect(performance.now() - begun).toBeLessThan(7_000);
});

test('with no time left nothing is sent (D1-06)', async () => {
  expect(outcomeOf(await failureOf(client({ left: seconds(0) }).api.request(listNodes)))).toBe('Timeout');
  expect(server.asked).toEqual([]);
});

test('429 with Retry-After 1 twice and then 200 is a success (PR-94)', async () => {
  server.script = (_, nth) => (nth < 2 ? { status: 429, headers: { 'Retry-After': '1' } } : { body: { ok: true } });
  const { api, slept } = client();
  expect((await api.request(listNodes)).body).toEqual({ ok: true });
  expect(slept).toEqual([1_000, 1_000]);
});

test('a Retry-After beyond the budget is not waited for (PR-94)', async () => {
  server.script = () => ({ status: 429, headers: { 'Retry-After': '120' } });
  const { api, slept } = client({ left: seconds(20) });
  const error = await failureOf(api.request(listNodes));
  expect(outcomeOf(error)).toBe('Throttled');
  expect(error).toMatchObject({ retryAfter: seconds(120) });
  expect(slept).toEqual([]);
});

test('a Retry-After as HTTP date is held against the clock of the server (PR-94)', async () => {
  const headers = { Date: 'Tue, 09 Jun 2026 17:00:00 GMT', 'Retry-After': 'Tue, 09 Jun 2026 17:00:03 GMT' };
  server.script = (_, nth) => (nth === 0 ? { status: 503, headers } : {});
  const { api, slept } = client();
  await api.request(listNodes);
  expect(slept).toEqual([3_000]);
});

test('a write is throttled like a read, because it names its version (PR-94, D5-05)', async () => {
  server.script = (_, nth) => (nth === 0 ? { status: 429, headers: { 'Retry-After': '2' } } : {});
  const { api, slept } = client();
  await api.request({ verb: 'patch', resource: 'nodes', path: '/api/v1/nodes/n1', body: {} });
  expect(slept).toEqual([2_000]);
});

test('a 503 without Retry-After is an outage and not waited out (PR-94)', async () => {
  server.script = () => ({ status: 503 });
  expect(outcomeOf(await failureOf(client().api.request(listNodes)))).toBe('Unreachable');
  expect(server.asked).toHaveLength(1);
});

test('throttling without end is given up (PR-94)', async () => {
  server.script = () => ({ status: 429, headers: { 'Retry-After': '0' } });
  expect(outcomeOf(await failureOf(client().api.request(listNodes)))).toBe('Throttled');
  expect(server.asked).toHaveLength(11);
});

test.each([getNode, { verb: 'create', resource: 'pods', path: '/api/v1/namespaces/n/pods', body: {} } as const])(
  'a reset of a kept socket is retried once on a new one (PR-102): $verb',
  async (request) => {
    server.script = (_, nth) => (nth === 1 ? { instead: 'reset' } : { body: { nth } });
    const { api } = client();
    await api.request(getNode);
    expect((await api.request(request)).body).toEqual({ nth: 2 });
  },
);

test('a reset of a new socket is not retried (PR-102)', async () => {
  server.script = () => ({ instead: 'reset' });
  expect(outcomeOf(await failureOf(client().api.request(getNode)))).toBe('Unreachable');
  expect(server.asked).toHaveLength(1);
});

test('a server that is not there is Unreachable (D11-07)', async () => {
  await server.stop();
  expect(outcomeOf(await failureOf(client().api.request(getNode)))).toBe('Unreachable');
  server = await HttpsFake.start();
});

test('a certificate of another authority is refused before anything is sent (PR-113)', async () => {
  const { cert } = await makeCertificate();
  const address = { name: 'test', endpoint: server.url, certificateAuthority: Buffer.from(cert).toString('base64') };
  const other = connectToEndpoint(address, fixedToken);
  const error = await failureOf(
    client({ connection: other }).api.request({ ...getNode, verb: 'patch', body: { a: 1 } }),
  );
  expect(outcomeOf(error)).toBe('TlsFailed');
  expect(server.asked).toEqual([]);
  other.close();
});

test('verification stays on where the environment switches it off (PR-113)', async () => {
  const { cert } = await makeCertificate();
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  try {
    const address = { name: 'test', endpoint: server.url, certificateAuthority: Buffer.from(cert).toString('base64') };
    const other = connectToEndpoint(address, fixedToken);
    expect(outcomeOf(await failureOf(client({ connection: other }).api.request(getNode)))).toBe('TlsFailed');
    other.close();
  } finally {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  }
});

test('a refused token is renewed once, and the request made again (PR-99, D9-01)', async () => {
  server.script = ({ headers }) =>
    headers.authorization === 'Bearer second' ? { body: { ok: true } } : { status: 401 };
  expect((await client().api.request(getNode)).body).toEqual({ ok: true });
});

test('a second refusal is AuthFailed (PR-99, D9-01)', async () => {
  server.script = () => ({ status: 401 });
  const error = await failureOf(client().api.request(getNode));
  expect(outcomeOf(error)).toBe('AuthFailed');
  expect(server.asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer first', 'Bearer second']);
});

test('a token that cannot be made is AuthFailed, naming the reason (PR-90)', async () => {
  const tokens: BearerTokens = { token: () => Promise.reject(new Error('AccessDenied')), renew: async () => '' };
  const error = await failureOf(client({ connection: connectTo(server, tokens) }).api.request(getNode));
  expect(outcomeOf(error)).toBe('AuthFailed');
  expect(error.message).toContain('AccessDenied');
});

test('at most six sockets are opened, and they are kept (PR-98)', async () => {
  server.script = () => ({});
  for (let run = 0; run < 20; run += 1) {
    const { api } = client();
    await Promise.all(Array.from({ length: 12 }, () => api.request(getNode)));
  }
  expect(server.openSockets).toBeLessThanOrEqual(6);
  expect(server.asked.some(({ query }) => query.has('watch'))).toBe(false);
});

const kubeconfig = (cluster: object, user: object = { token: 'from-file' }): string => {
  const file = join(mkdtempSync(join(tmpdir(), 'kubeconfig-')), 'config');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
};

test('a kubeconfig gives address, trust and token (D13)', async () => {
  server.script = () => ({});
  const file = kubeconfig({ server: server.url, 'certificate-authority-data': server.certificateAuthority });
  const other = connectToContext({ file });
  await client({ connection: other }).api.request(getNode);
  expect(server.asked[0]?.headers.authorization).toBe('Bearer from-file');
  other.close();
});

test.each([
  ['a missing file', () => ({ file: '/nowhere/config' }), 'cannot read the kubeconfig /nowhere/config'],
  ['an unknown context', () => ({ file: kubeconfig({ server: 'https://x' }), context: 'there' }), 'it has here'],
  [
    'an unverified connection',
    () => ({ file: kubeconfig({ server: 'https://x', 'insecure-skip-tls-verify': true }) }),
    'never done',
  ],
  ['plain HTTP', () => ({ file: kubeconfig({ server: 'http://x' }) }), 'must be an https address'],
])('a kubeconfig with %s is refused in one sentence (PR-113, D13-01)', (_, from, words) => {
  expect(() => connectToContext(from())).toThrow(UnusableConnection);
  expect(() => connectToContext(from())).toThrow(words);
});

test('an address of EKS that is none of HTTPS is refused in one sentence (D13-01)', () => {
  const tokens = { token: async () => 'a', renew: async () => 'b' };
  const address = { name: 'one', endpoint: 'http://x', certificateAuthority: server.certificateAuthority };
  expect(() => connectToEndpoint(address, tokens)).toThrow(UnusableConnection);
  expect(() => connectToEndpoint(address, tokens)).toThrow('cluster "one" must be an https address, not http://x');
});
