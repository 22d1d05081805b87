import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Connection, connectToEndpoint } from '../../lib/adapters/kubernetes/connection.ts';
import { KubernetesCluster } from '../../lib/adapters/kubernetes/kubernetes-cluster.ts';
import { TickBudget } from '../../lib/adapters/kubernetes/tick-budget.ts';
import { ObservationFailed } from '../../lib/controller/ports.ts';
import type { ObjectRef } from '../../lib/domain/cluster/object-ref.ts';
import type { PodManifest } from '../../lib/domain/surge/placeholder.ts';
import type { Action, Need } from '../../lib/engine/decision.ts';
import { at } from '../support/builders.ts';
import { type Answer, type Asked, HttpsFake, statusBody } from '../support/https-fake.ts';

let server: HttpsFake;
let connection: Connection;
let cluster: KubernetesCluster;

beforeEach(async () => {
  server = await HttpsFake.start();
  connection = connectToEndpoint(
    { name: 'test', endpoint: server.url, certificateAuthority: server.certificateAuthority },
    { token: async () => 'token', renew: async () => 'token' },
  );
  cluster = new KubernetesCluster({
    connection,
    budget: new TickBudget({ toBegin: 40_000, toEnd: 47_000 }),
    instance: '123456789012/ap-northeast-1/prod',
    settings: { namespace: 'node-rotation', image: 'pause', priorityClassName: 'low' },
    retired: false,
  });
});

afterEach(async () => {
  connection.close();
  await server.stop();
});

const date = { Date: 'Tue, 09 Jun 2026 17:00:00 GMT' };
const object = (name: string, rest: object = {}): object => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: '7', creationTimestamp: '2026-06-01T00:00:00Z' },
  ...rest,
});

const emptyLists: Readonly<Record<string, Answer>> = {
  '/apis/karpenter.sh/v1/nodepools': { body: { items: [] }, headers: date },
  '/apis/noderotation.io/v1alpha1/rotationpolicies': { body: { items: [] } },
  '/apis/karpenter.sh/v1/nodeclaims': { body: { items: [] } },
  '/api/v1/nodes': { body: { items: [] } },
  '/api/v1/namespaces/node-rotation/pods': { body: { items: [] } },
};

/** Answers by path; whatever is not named is an empty list where a tick asks for one. */
function answering(answers: Readonly<Record<string, Answer | ((asked: Asked) => Answer)>>): void {
  server.script = (asked) => {
    const answer = answers[asked.path] ?? emptyLists[asked.path];
    if (answer === undefined) return { status: 404, body: '404 page not found' };
    return typeof answer === 'function' ? answer(asked) : answer;
  };
}

const failed = async (promise: Promise<unknown>): Promise<ObservationFailed> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ObservationFailed);
  return error as ObservationFailed;
};

const claims = '/apis/karpenter.sh/v1/nodeclaims';

test('a tick sees a cluster in five calls, NodePools and policies before the rest (D15-03, D15-05, D5-08)', async () => {
  answering({
    '/apis/karpenter.sh/v1/nodepools': { body: { items: [object('api')] }, headers: date },
    [claims]: { body: { items: [object('api-1')] } },
    '/api/v1/nodes': { body: { items: [object('node-1')] } },
  });
  const snapshot = await cluster.observe();
  expect(snapshot.observedAt).toBe(at('2026-06-09T17:00:00Z'));
  expect(snapshot.nodePools.map(({ meta }) => meta.name)).toEqual(['api']);
  expect(snapshot.nodeClaims.map(({ meta }) => meta.name)).toEqual(['api-1']);
  expect(snapshot.nodes.map(({ meta }) => meta.name)).toEqual(['node-1']);
  const paths = server.asked.map(({ path }) => path);
  expect(paths).toHaveLength(5);
  expect(paths.slice(0, 2).toSorted()).toEqual([
    '/apis/karpenter.sh/v1/nodepools',
    '/apis/noderotation.io/v1alpha1/rotationpolicies',
  ]);
});

test('Nodes come as metadata only, placeholders by label, everything in pages of 500 (D15-03)', async () => {
  answering({});
  await cluster.observe();
  const of = (path: string): Asked | undefined => server.asked.find((asked) => asked.path === path);
  expect(of('/api/v1/nodes')?.headers.accept).toContain('as=PartialObjectMetadataList;g=meta.k8s.io;v=v1');
  expect(of('/api/v1/namespaces/node-rotation/pods')?.query.get('labelSelector')).toBe('noderotation.io/surge-for');
  expect(server.asked.map(({ query }) => query.get('limit'))).toEqual(Array(5).fill('500'));
  expect(server.asked.some(({ query }) => query.has('resourceVersion'))).toBe(false);
});

test('pages are followed to the last one (D15-03)', async () => {
  answering({
    [claims]: ({ query }) =>
      query.get('continue') === null
        ? { body: { metadata: { continue: 'more' }, items: [object('a')] } }
        : { body: { items: [object('b')] } },
  });
  const { nodeClaims } = await cluster.observe();
  expect(nodeClaims.map(({ meta }) => meta.name)).toEqual(['a', 'b']);
});

test('a list that expires between pages is begun again, once (D6, D15-03)', async () => {
  let expired = 0;
  answering({
    [claims]: ({ query }) => {
      if (query.get('continue') === null) return { body: { metadata: { continue: 'more' }, items: [object('a')] } };
      expired += 1;
      return expired === 1
        ? { status: 410, body: statusBody(410, 'Expired', 'too old') }
        : { body: { items: [object('b')] } };
    },
  });
  const { nodeClaims } = await cluster.observe();
  expect(nodeClaims.map(({ meta }) => meta.name)).toEqual(['a', 'b']);
});

test('a list that expires twice is not used (D6, D15-03)', async () => {
  answering({
    [claims]: ({ query }) =>
      query.get('continue') === null
        ? { body: { metadata: { continue: 'more' }, items: [object('a')] } }
        : { status: 410, body: statusBody(410, 'Expired', 'too old') },
  });
  expect(await failed(cluster.observe())).toMatchObject({
    outcome: 'Unreachable',
    message: expect.stringContaining('expired twice'),
  });
});

test('a page that comes again and again ends the look (D6)', async () => {
  answering({ [claims]: { body: { metadata: { continue: 'same' }, items: [] } } });
  expect((await failed(cluster.observe())).message).toContain('repeats a page');
});

test('a group that is not served is CrdMissing (D11-07)', async () => {
  answering({ '/apis/noderotation.io/v1alpha1/rotationpolicies': { status: 404, body: '404 page not found' } });
  expect(await failed(cluster.observe())).toMatchObject({ outcome: 'CrdMissing' });
});

test('an answer without a Date tells no time, so there is no tick (D1-04)', async () => {
  answering({ '/apis/karpenter.sh/v1/nodepools': { body: { items: [] }, headers: { Date: 'yesterday' } } });
  expect((await failed(cluster.observe())).message).toContain('time is unknown');
});

test('an object without a name is left out and named, the list is kept (D2-03)', async () => {
  answering({ [claims]: { body: { items: [{ metadata: {} }, object('a')] } } });
  const { nodeClaims } = await cluster.observe();
  expect(nodeClaims.map(({ meta }) => meta.name)).toEqual(['a']);
  expect(cluster.refused).toEqual([expect.stringContaining('NodeClaim without a readable metadata.name')]);
});

const nothing: Need = {
  nodes: [],
  podsOnNodes: [],
  dryRunDeletes: [],
  disruptionBudgets: false,
  unscheduledPods: false,
};
const claimRef: ObjectRef = { kind: 'NodeClaim', name: 'api-1', uid: 'uid-1', resourceVersion: '7' };
const gone = (name: string): Answer => ({
  status: 404,
  body: statusBody(404, 'NotFound', `"${name}" not found`, name),
});

test('a look asks only for what it needs (D15-03)', async () => {
  answering({});
  expect(await cluster.inspect(nothing)).toEqual({ nodes: new Map(), podsOnNode: new Map(), dryRuns: new Map() });
  expect(server.asked).toEqual([]);
});

test('Nodes, Pods of a node, budgets, unscheduled Pods and trial deletes are asked for by name (D15-03, D7-04)', async () => {
  answering({
    '/api/v1/nodes/node-1': { body: object('node-1', { spec: { unschedulable: true } }) },
    '/api/v1/nodes/node-2': gone('node-2'),
    '/api/v1/pods': ({ query }) => ({ body: { items: [object(`pod of ${query.get('fieldSelector')}`)] } }),
    '/apis/policy/v1/poddisruptionbudgets': { body: { items: [object('pdb')] } },
    [`${claims}/api-1`]: { body: { kind: 'Status', status: 'Success' } },
  });
  const seen = await cluster.inspect({
    nodes: ['node-1', 'node-2'],
    podsOnNodes: ['node-1'],
    dryRunDeletes: [claimRef],
    disruptionBudgets: true,
    unscheduledPods: true,
  });
  expect(seen.nodes.get('node-1')).toMatchObject({ unschedulable: true });
  expect(seen.nodes.get('node-2')).toBe('gone');
  expect(seen.podsOnNode.get('node-1')?.map(({ meta }) => meta.name)).toEqual(['pod of spec.nodeName=node-1']);
  expect(seen.unscheduledPods?.map(({ meta }) => meta.name)).toEqual(['pod of spec.nodeName=,status.phase=Pending']);
  expect(seen.disruptionBudgets).toHaveLength(1);
  expect(seen.dryRuns.get('api-1')).toEqual({ outcome: 'accepted' });
  expect(server.asked.find(({ method }) => method === 'DELETE')?.body).toEqual({
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    preconditions: { uid: 'uid-1' },
    dryRun: ['All'],
  });
});

test('a 404 that does not name the Node is a failed look, not a Node that is gone (D5-05)', async () => {
  answering({});
  expect(await failed(cluster.inspect({ ...nothing, nodes: ['node-1'] }))).toMatchObject({ outcome: 'Unreachable' });
});

test.each([
  [400, 'admission webhook "w" does not support dry run', 'accepted'],
  [400, 'nonsense', 'refused'],
  [403, 'admission webhook "w" denied the request', 'refused'],
  [404, 'not found', 'accepted'],
  [409, 'the UID in the precondition does not match', 'accepted'],
  [422, 'invalid', 'refused'],
  [500, 'failed calling webhook "w"', 'refused'],
])('a trial delete answered %i %s is %s (D7-04)', async (code, message, outcome) => {
  answering({ [`${claims}/api-1`]: { status: code, body: statusBody(code, 'Any', message) } });
  const { dryRuns } = await cluster.inspect({ ...nothing, dryRunDeletes: [claimRef] });
  expect(dryRuns.get('api-1')).toMatchObject({ outcome });
});

test('a trial delete that the server could not judge fails the look (D7-04)', async () => {
  answering({ [`${claims}/api-1`]: { status: 500, body: statusBody(500, 'InternalError', 'etcd') } });
  expect(await failed(cluster.inspect({ ...nothing, dryRunDeletes: [claimRef] }))).toMatchObject({
    outcome: 'Unreachable',
  });
});

test('the second look reads the pool and the old Node (D5-08)', async () => {
  answering({
    '/apis/karpenter.sh/v1/nodepools/api': { body: object('api') },
    '/api/v1/nodes/node-1': gone('node-1'),
  });
  const nodePool: ObjectRef = { kind: 'NodePool', name: 'api', uid: 'u', resourceVersion: '1' };
  const node: ObjectRef = { kind: 'Node', name: 'node-1', uid: 'u', resourceVersion: '1' };
  expect(await cluster.reread(nodePool, node)).toMatchObject({
    nodePool: { meta: { resourceVersion: '7' } },
    node: 'gone',
  });
  expect(Object.keys(await cluster.reread(nodePool))).toEqual(['nodePool']);
});

const nodeRef: ObjectRef = { kind: 'Node', name: 'node-1', uid: 'uid-n', resourceVersion: '7' };
const podRef: ObjectRef = {
  kind: 'Pod',
  name: 'surge',
  namespace: 'node-rotation',
  uid: 'uid-p',
  resourceVersion: '7',
};
const pod: PodManifest = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'surge',
    namespace: 'node-rotation',
    labels: { 'noderotation.io/surge-for': 'api-1' },
    annotations: {},
  },
  spec: { containers: [] },
};
const marks = { 'noderotation.io/surge-for': 'api-1', 'noderotation.io/cordoned': null };

const annotate: Action = {
  kind: 'annotate',
  target: claimRef,
  annotations: { 'noderotation.io/state': 'pending' },
  whenRefused: 'stop',
};
const protect: Action = {
  kind: 'protect',
  target: nodeRef,
  annotations: marks,
  unschedulable: true,
  whenRefused: 'stop',
};
const unprotect: Action = {
  kind: 'unprotect',
  target: nodeRef,
  annotations: marks,
  unschedulable: null,
  whenRefused: 'goOn',
};
const marksOnly: Action = { kind: 'unprotect', target: nodeRef, annotations: marks, whenRefused: 'goOn' };
const createPlaceholder: Action = { kind: 'createPlaceholder', pod, whenRefused: 'stop' };
const deletePlaceholder: Action = { kind: 'deletePlaceholder', target: podRef, mustExist: false, whenRefused: 'goOn' };
const handOverPlaceholder: Action = { ...deletePlaceholder, mustExist: true };
const deleteNodeClaim: Action = { kind: 'deleteNodeClaim', target: claimRef, because: 'drain', whenRefused: 'stop' };
const emitEvent: Action = {
  kind: 'emitEvent',
  event: {
    type: 'Normal',
    reason: 'RotationStarted',
    note: 'begins',
    regarding: { kind: 'NodePool', name: 'api', uid: 'uid-pool' },
  },
  whenRefused: 'goOn',
};

/** Looks first, as every tick does, then acts; only the acts remain on record. */
async function acting(answers: Parameters<typeof answering>[0], action: Action) {
  answering(answers);
  await cluster.observe();
  server.asked.length = 0;
  return await cluster.apply(action);
}

const node = '/api/v1/nodes/node-1';
const pods = '/api/v1/namespaces/node-rotation/pods';

test.each([
  [
    'annotate',
    annotate,
    `${claims}/api-1`,
    'PATCH',
    { metadata: { resourceVersion: '7', annotations: { 'noderotation.io/state': 'pending' } } },
  ],
  [
    'protect',
    protect,
    node,
    'PATCH',
    { metadata: { resourceVersion: '7', annotations: marks }, spec: { unschedulable: true } },
  ],
  [
    'unprotect',
    unprotect,
    node,
    'PATCH',
    { metadata: { resourceVersion: '7', annotations: marks }, spec: { unschedulable: null } },
  ],
  [
    'unprotect without our cordon',
    marksOnly,
    node,
    'PATCH',
    { metadata: { resourceVersion: '7', annotations: marks } },
  ],
  ['createPlaceholder', createPlaceholder, pods, 'POST', pod],
  [
    'deletePlaceholder',
    deletePlaceholder,
    `${pods}/surge`,
    'DELETE',
    { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid: 'uid-p' } },
  ],
  [
    'deleteNodeClaim',
    deleteNodeClaim,
    `${claims}/api-1`,
    'DELETE',
    { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: 'uid-1', resourceVersion: '7' } },
  ],
])(
  '%s is one request with exactly this body (D5-04, D5-05, PR-35, PR-36, PR-97)',
  async (_, action, path, method, body) => {
    const result = await acting(
      {
        [path]: (asked) =>
          asked.method === 'GET'
            ? { body: { items: [] } }
            : { body: { kind: 'PartialObjectMetadata', metadata: { resourceVersion: '8' } } },
      },
      action,
    );
    expect(result).toEqual({ outcome: 'applied', resourceVersion: '8' });
    expect(server.asked.map((asked) => [asked.method, asked.path, asked.body])).toEqual([[method, path, body]]);
    expect(server.asked[0]?.headers['content-type']).toBe(
      method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
    );
  },
);

test('an Event is written as events.k8s.io takes it, at the time of the tick (D11-03)', async () => {
  const path = '/apis/events.k8s.io/v1/namespaces/default/events';
  expect(await acting({ [path]: {} }, emitEvent)).toEqual({ outcome: 'applied' });
  expect(server.asked[0]?.body).toEqual({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: expect.stringMatching(/^api\.[0-9a-f]{16}$/), namespace: 'default' },
    eventTime: '2026-06-09T17:00:00.000000Z',
    reportingController: 'noderotation.io/controller',
    reportingInstance: '123456789012/ap-northeast-1/prod',
    action: 'Rotate',
    type: 'Normal',
    reason: 'RotationStarted',
    note: 'begins',
    regarding: { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: 'api', uid: 'uid-pool' },
  });
});

const everyPath = (answer: Answer): Parameters<typeof answering>[0] => ({
  [`${claims}/api-1`]: answer,
  [node]: answer,
  [`${pods}/surge`]: answer,
  [pods]: ({ method }) => (method === 'GET' ? { body: { items: [] } } : answer),
  '/apis/events.k8s.io/v1/namespaces/default/events': answer,
});
const status = (code: number, reason: string, name?: string): Answer => ({
  status: code,
  body: statusBody(code, reason, 'the words', name),
});

test.each([
  ['a conflict', annotate, status(409, 'Conflict'), 'conflict'],
  ['a refusal by rights or admission', annotate, status(403, 'Forbidden'), 'rejected'],
  ['a refusal by validation', createPlaceholder, status(422, 'Invalid'), 'rejected'],
  ['a missing namespace', createPlaceholder, status(404, 'NotFound', 'node-rotation'), 'rejected'],
  ['an unknown caller', annotate, status(401, 'Unauthorized'), 'unreachable'],
  ['a server error', deleteNodeClaim, status(500, 'InternalError'), 'unreachable'],
  ['no answer', deleteNodeClaim, { instead: 'reset' } as const, 'unreachable'],
  ['a claim that is gone', annotate, status(404, 'NotFound', 'api-1'), 'conflict'],
  ['a node to protect that is gone', protect, status(404, 'NotFound', 'node-1'), 'conflict'],
  ['a node to unprotect that is gone (PR-68)', unprotect, status(404, 'NotFound', 'node-1'), 'alreadyDone'],
  ['a NodeClaim that is gone', deleteNodeClaim, status(404, 'NotFound', 'api-1'), 'alreadyDone'],
  ['a changed NodeClaim', deleteNodeClaim, status(409, 'Conflict'), 'conflict'],
  ['a placeholder that is gone', deletePlaceholder, status(404, 'NotFound', 'surge'), 'alreadyDone'],
  ['a placeholder that is gone in a hand-over', handOverPlaceholder, status(404, 'NotFound', 'surge'), 'conflict'],
  ['a 404 that names nothing', deletePlaceholder, { status: 404, body: '404 page not found' }, 'unreachable'],
  ['an Event that is there', emitEvent, status(409, 'AlreadyExists'), 'alreadyDone'],
])('%s is told apart (D5-05, PR-95)', async (_, action, answer, outcome) => {
  const result = await acting(everyPath(answer), action);
  expect(result.outcome).toBe(outcome);
  if (outcome !== 'alreadyDone' && 'body' in answer && typeof answer.body !== 'string') {
    expect(result).toHaveProperty('detail', expect.stringContaining('the words'));
  }
});

const present = (metadata: object): Parameters<typeof answering>[0] => ({
  [pods]: ({ method }) => (method === 'GET' ? { body: { items: [] } } : status(409, 'AlreadyExists', 'surge')),
  [`${pods}/surge`]: { body: { metadata } },
});

test.each([
  ['for the same claim', { labels: { 'noderotation.io/surge-for': 'api-1' } }, 'alreadyDone'],
  ['for another claim', { labels: { 'noderotation.io/surge-for': 'api-2' } }, 'rejected'],
  ['of somebody else', {}, 'rejected'],
  [
    'still being deleted',
    { labels: { 'noderotation.io/surge-for': 'api-1' }, deletionTimestamp: '2026-06-09T17:00:00Z' },
    'conflict',
  ],
])('a Pod of our name that is %s: only ours counts as created (D5-05, PR-95)', async (_, metadata, outcome) => {
  expect((await acting(present(metadata), createPlaceholder)).outcome).toBe(outcome);
});

test('a create whose answer was lost finds its own Pod: one Pod, success (PR-102)', async () => {
  let creates = 0;
  const result = await acting(
    {
      [pods]: ({ method }) => {
        if (method === 'GET') return { body: { items: [] } };
        creates += 1;
        return creates === 1 ? { instead: 'reset' } : status(409, 'AlreadyExists', 'surge');
      },
      [`${pods}/surge`]: { body: { metadata: { labels: { 'noderotation.io/surge-for': 'api-1' } } } },
    },
    createPlaceholder,
  );
  expect(result).toEqual({ outcome: 'alreadyDone' });
  expect(creates).toBe(2);
});
