/**
 * Lists over HTTPS, of items that are told apart by what is made of them: the same object again was remembered.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ApiClient } from '../../lib/adapters/kubernetes/api-client.ts';
import { type Connection, connectToEndpoint } from '../../lib/adapters/kubernetes/connection.ts';
import { resources } from '../../lib/adapters/kubernetes/resources.ts';
import { readWholeList } from '../../lib/adapters/kubernetes/whole-list.ts';
import { ObservationFailed } from '../../lib/controller/ports.ts';
import { seconds } from '../../lib/domain/time.ts';
import { HttpsFake, statusBody } from '../support/https-fake.ts';

let server: HttpsFake;
let connection: Connection;
let api: ApiClient;

beforeEach(async () => {
  server = await HttpsFake.start();
  connection = connectToEndpoint(
    { name: 'test', endpoint: server.url, certificateAuthority: server.certificateAuthority },
    { token: async () => 'token', renew: async () => 'token' },
  );
  api = new ApiClient({ connection, left: () => seconds(20), sleep: async () => undefined });
});

afterEach(async () => {
  connection.close();
  await server.stop();
});

const item = (name: string, version = '1') => ({ metadata: { name, resourceVersion: version } });
const listOf = (items: unknown, token?: string) => ({
  kind: 'PodList',
  apiVersion: 'v1',
  metadata: { resourceVersion: '9', ...(token === undefined ? {} : { continue: token }) },
  items,
});

const project = (raw: unknown): { readonly of: unknown } => ({ of: raw });
const made = (...items: unknown[]) => items.map((of) => ({ of }));

const read = async () => (await readWholeList(api, resources.pods, {}, project)).items;

test('an item that is as it was is not read anew, one that changed is (D15-03)', async () => {
  server.script = (_, nth) => ({ body: listOf([item('a'), item('b', nth === 0 ? '1' : '2'), item('c')]) });
  const before = await read();
  const after = await read();
  expect(before).toEqual(made(item('a'), item('b', '1'), item('c')));
  expect(after).toEqual(made(item('a'), item('b', '2'), item('c')));
  expect(after.map((each, index) => each === before[index])).toEqual([true, false, true]);
});

test.each([
  ['no items', listOf([]), []],
  ['Go’s empty list', listOf(null), []],
  ['one item', listOf([item('a')]), [item('a')]],
  [
    'items with kind and version first, as metadata alone',
    listOf(['a', 'b'].map((name) => ({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', ...item(name) }))),
    ['a', 'b'].map((name) => ({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', ...item(name) })),
  ],
  [
    'items of two forms',
    listOf([{ kind: 'Pod', ...item('a') }, item('b')]),
    [{ kind: 'Pod', ...item('a') }, item('b')],
  ],
  [
    'an item that holds objects like items',
    listOf([item('a'), { ...item('b'), spec: { kept: [item('x'), item('y')] } }]),
    [item('a'), { ...item('b'), spec: { kept: [item('x'), item('y')] } }],
  ],
  ['spaces', JSON.stringify(listOf([item('a'), item('b')]), null, 2), [item('a'), item('b')]],
])('a list with %s is read whole and in order (D15-03)', async (_, body, items) => {
  server.script = () => ({ body });
  expect(await read()).toEqual(made(...items));
});

test.each([
  ['before the items', (token: string) => listOf([item(token)], token)],
  ['after them', (token: string) => ({ items: [item(token)], metadata: { continue: token } })],
])('the token of the next page is found %s (D15-03)', async (_, page) => {
  server.script = ({ query }) =>
    query.get('continue') === null ? { body: page('next') } : { body: listOf([item('last')]) };
  expect(await read()).toEqual(made(item('next'), item('last')));
  expect(server.asked.map(({ query }) => query.get('continue'))).toEqual([null, 'next']);
});

test('lists read side by side, of several lengths and after refusals, do not write over each other (D15-03, D1-06)', async () => {
  const names = (first: string, length: number) =>
    Array.from({ length }, (_, n) => item(`${first}-${n}-${'x'.repeat(200)}`));
  server.script = ({ query }, nth) => {
    if (nth % 3 === 0) return { status: 429, body: statusBody(429, 'TooManyRequests', 'later '.repeat(5_000)) };
    const which = query.get('labelSelector') ?? '';
    return { body: listOf(names(which, 100 * which.charCodeAt(0))) };
  };
  const wanted = ['a', 'p', 'k', 'b', 'z', 'c'];
  const lists = await Promise.all(
    wanted.map((labelSelector) => readWholeList(api, resources.pods, { labelSelector }, project)),
  );
  expect(lists.map(({ items }) => items.length)).toEqual(wanted.map((which) => 100 * which.charCodeAt(0)));
  for (const [index, { items }] of lists.entries()) {
    const which = wanted[index] as string;
    expect(items).toEqual(made(...names(which, 100 * which.charCodeAt(0))));
  }
});

test('half an answer and no JSON are failures, and the next look is as good as ever (D15-03, D6)', async () => {
  const whole = listOf([item('a'), item('b')]);
  server.script = (_, nth) =>
    nth === 0 ? { body: whole, instead: 'cut' } : { body: nth === 1 ? JSON.stringify(whole).slice(0, -9) : whole };
  await expect(read()).rejects.toThrow();
  await expect(read()).rejects.toThrow('is not JSON');
  expect(await read()).toEqual(made(item('a'), item('b')));
});

test('an answer that is no list is a failure (D6)', async () => {
  server.script = () => ({ body: { kind: 'Pod', ...item('a') } });
  await expect(read()).rejects.toThrow(ObservationFailed);
});

test('what a reader throws is handed on, and not taken for a text that cannot be cut (D15-03)', async () => {
  server.script = () => ({ body: listOf([item('a'), item('b')]) });
  let asked = 0;
  const failing = (): never => {
    asked += 1;
    throw new TypeError('a mistake of ours');
  };
  await expect(readWholeList(api, resources.pods, {}, failing)).rejects.toThrow('a mistake of ours');
  expect(asked).toBe(1);
});

test('of two long lists one page at a time is under way after the first, and both are whole (D15-03)', async () => {
  server.script = ({ path, query }) => {
    const nth = Number(query.get('continue') ?? '0');
    return { body: listOf([item(`${path}-${nth}`)], nth < 3 ? String(nth + 1) : undefined) };
  };
  let [underWay, most] = [0, 0];
  const requestText = api.requestText.bind(api);
  api.requestText = async (request, use) => {
    const later = request.query?.continue !== undefined;
    if (later) underWay += 1;
    most = Math.max(most, underWay);
    try {
      return await requestText(request, use);
    } finally {
      if (later) underWay -= 1;
    }
  };
  const lists = await Promise.all(
    [resources.pods, resources.nodes].map((each) => readWholeList(api, each, {}, project)),
  );
  expect(lists.map(({ items }) => items.length)).toEqual([4, 4]);
  expect(most).toBe(1);
});
