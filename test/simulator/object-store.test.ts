import { describe, expect, test } from 'vitest';
import { add, minutes } from '../../lib/domain/time.ts';
import type { Answer } from '../../lib/simulator/api-status.ts';
import type { NodeObject, PodObject } from '../../lib/simulator/kube-object.ts';
import { ObjectStore } from '../../lib/simulator/object-store.ts';
import { Random } from '../../lib/simulator/random.ts';
import { at } from '../support/builders.ts';

function aStore() {
  const clock = { now: at('2026-06-01T00:00:00.900Z') };
  const store = new ObjectStore(() => clock.now, new Random(7));
  store.create({ kind: 'Namespace', metadata: { name: 'shop' } });
  return { store, clock };
}

const node = (name: string, over: object = {}) => ({ kind: 'Node', metadata: { name, ...over }, spec: {} });
const pod = (name: string, spec: object = {}) => ({ kind: 'Pod', metadata: { name, namespace: 'shop' }, spec });

function taken<T>(answer: Answer<T>): T {
  if (!answer.ok) throw new Error(answer.status.message);
  return answer.value;
}

const refusal = (answer: Answer<unknown>) =>
  answer.ok ? undefined : { code: answer.status.code, reason: answer.status.reason, details: answer.status.details };

describe('creating', () => {
  test('stamps whole seconds of the virtual clock, a uid, a version and generation 1 (D14-02)', () => {
    const { metadata } = taken(aStore().store.create(node('a')));
    expect(metadata).toMatchObject({
      name: 'a',
      creationTimestamp: '2026-06-01T00:00:00Z',
      generation: 1,
      resourceVersion: '2',
    });
    expect(metadata.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test('the same seed gives the same uids (D14-02)', () => {
    const uid = () => taken(aStore().store.create(node('a'))).metadata.uid;
    expect(uid()).toBe(uid());
  });

  test('a name that is taken is AlreadyExists', () => {
    const { store } = aStore();
    store.create(node('a'));
    expect(refusal(store.create(node('a')))).toEqual({
      code: 409,
      reason: 'AlreadyExists',
      details: { name: 'a', kind: 'nodes' },
    });
  });

  test('a missing namespace is NotFound and names the namespace', () => {
    const answer = aStore().store.create({ kind: 'Pod', metadata: { name: 'p', namespace: 'nowhere' } });
    expect(refusal(answer)).toEqual({
      code: 404,
      reason: 'NotFound',
      details: { name: 'nowhere', kind: 'namespaces' },
    });
  });

  test('an unknown priority class is Forbidden', () => {
    expect(refusal(aStore().store.create(pod('p', { priorityClassName: 'none' })))).toMatchObject({
      code: 403,
      reason: 'Forbidden',
    });
  });

  test('an extended resource without an equal limit is Invalid (D8-06)', () => {
    const containers = [{ name: 'c', resources: { requests: { 'nvidia.com/gpu': '1' } } }];
    expect(refusal(aStore().store.create(pod('p', { containers })))).toMatchObject({ code: 422, reason: 'Invalid' });
  });

  test('a dry run answers and leaves nothing', () => {
    const { store } = aStore();
    expect(store.create(node('a'), { dryRun: true }).ok).toBe(true);
    expect(store.get('Node', 'a')).toBeUndefined();
  });
});

describe('patching', () => {
  test('null removes, objects merge, anything else replaces', () => {
    const { store } = aStore();
    const before = taken(store.create(node('a', { annotations: { keep: '1', drop: '2' }, labels: { a: '1' } })));
    const patch = { metadata: { annotations: { drop: null, more: '3' } }, spec: { unschedulable: true } };
    const object = taken(store.patch({ kind: 'Node', name: 'a' }, patch)) as NodeObject;
    expect(object.metadata).toMatchObject({ annotations: { keep: '1', more: '3' }, labels: { a: '1' }, generation: 2 });
    expect(object.metadata.annotations).not.toHaveProperty('drop');
    expect(object.spec).toEqual({ ...before.spec, unschedulable: true });
  });

  test.each([
    ['resourceVersion', { resourceVersion: '1' }],
    ['uid', { uid: 'somebody else' }],
  ])('another %s in the patch is a Conflict (D5-05)', (_, metadata) => {
    const { store } = aStore();
    store.create(node('a'));
    const answer = store.patch({ kind: 'Node', name: 'a' }, { metadata });
    expect(refusal(answer)).toEqual({ code: 409, reason: 'Conflict', details: { name: 'a', kind: 'nodes' } });
  });

  test('a patch that changes nothing keeps the version', () => {
    const { store } = aStore();
    const before = taken(store.create(node('a', { annotations: { x: '1' } })));
    const after = taken(store.patch({ kind: 'Node', name: 'a' }, { metadata: { annotations: { x: '1' } } }));
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  test('a missing object is NotFound with kind, group and name', () => {
    const answer = aStore().store.patch({ kind: 'NodeClaim', name: 'gone' }, {});
    const details = { name: 'gone', group: 'karpenter.sh', kind: 'nodeclaims' };
    expect(refusal(answer)).toEqual({ code: 404, reason: 'NotFound', details });
  });

  test("a NodeClaim's spec cannot be changed", () => {
    const { store } = aStore();
    store.create({ kind: 'NodeClaim', metadata: { name: 'c' }, spec: { expireAfter: '336h' } });
    const answer = store.patch({ kind: 'NodeClaim', name: 'c' }, { spec: { expireAfter: '1h' } });
    expect(refusal(answer)).toMatchObject({ code: 422, reason: 'Invalid' });
  });

  test('an annotation that is no string is Invalid', () => {
    const { store } = aStore();
    store.create(node('a'));
    expect(refusal(store.patch({ kind: 'Node', name: 'a' }, { metadata: { annotations: { x: 1 } } }))).toMatchObject({
      code: 422,
    });
  });

  test('status changes through its subresource only, and nothing else does there', () => {
    const { store } = aStore();
    store.create({
      kind: 'RotationPolicy',
      metadata: { name: 'p' },
      spec: { mode: 'Rotate' },
      status: { early: true },
    });
    const name = { kind: 'RotationPolicy', name: 'p' } as const;
    const both = { spec: { mode: 'Observe' }, status: { seen: 1 } };
    expect(taken(store.patch(name, both, { subresource: 'status' }))).toMatchObject({
      spec: { mode: 'Rotate' },
      status: { seen: 1 },
    });
    expect(taken(store.patch(name, { status: { seen: 2 } }))).toMatchObject({ status: { seen: 1 } });
  });

  test('an admission refusal is passed on', () => {
    const { store } = aStore();
    store.create(node('a'));
    store.admission = (verb) =>
      verb === 'patch'
        ? {
            kind: 'Status',
            apiVersion: 'v1',
            metadata: {},
            status: 'Failure',
            code: 403,
            reason: 'Forbidden',
            message: 'no',
          }
        : undefined;
    expect(refusal(store.patch({ kind: 'Node', name: 'a' }, { spec: { unschedulable: true } }))).toMatchObject({
      code: 403,
    });
  });
});

describe('deleting', () => {
  test('another uid or version in the preconditions is a Conflict (D5-05)', () => {
    const { store } = aStore();
    const object = taken(store.create(node('a')));
    const name = { kind: 'Node', name: 'a' } as const;
    expect(refusal(store.delete(name, { preconditions: { uid: 'x' } }))).toMatchObject({
      code: 409,
      reason: 'Conflict',
    });
    expect(refusal(store.delete(name, { preconditions: { resourceVersion: '1' } }))).toMatchObject({ code: 409 });
    const { uid, resourceVersion } = object.metadata;
    expect(taken(store.delete(name, { preconditions: { uid, resourceVersion } }))).toMatchObject({ status: 'Success' });
    expect(store.get('Node', 'a')).toBeUndefined();
  });

  test('a finalizer holds the object, and the last one let go removes it', () => {
    const { store } = aStore();
    store.create(node('a', { finalizers: ['karpenter.sh/termination'] }));
    const name = { kind: 'Node', name: 'a' } as const;
    expect(taken(store.delete(name))).toMatchObject({ metadata: { deletionTimestamp: '2026-06-01T00:00:00Z' } });
    expect(store.patch(name, { metadata: { finalizers: null } }).ok).toBe(true);
    expect(store.get('Node', 'a')).toBeUndefined();
  });

  test('a bound Pod is given its grace, an unbound one and grace 0 go at once (D5-05)', () => {
    const { store } = aStore();
    for (const name of ['bound', 'forced'])
      store.create(pod(name, { nodeName: 'n', terminationGracePeriodSeconds: 20 }));
    store.create(pod('unbound'));
    const name = (of: string) => ({ kind: 'Pod', name: of, namespace: 'shop' }) as const;
    const metadata = { deletionTimestamp: '2026-06-01T00:00:20Z', deletionGracePeriodSeconds: 20 };
    expect(taken(store.delete(name('bound')))).toMatchObject({ metadata });
    store.delete(name('forced'), { gracePeriodSeconds: 0 });
    store.delete(name('unbound'));
    expect(store.all('Pod').map((object) => object.metadata.name)).toEqual(['bound']);
  });

  test('a dry run checks the preconditions and leaves the object (D7-04)', () => {
    const { store } = aStore();
    store.create(node('a'));
    expect(store.delete({ kind: 'Node', name: 'a' }, { dryRun: true }).ok).toBe(true);
    expect(
      refusal(store.delete({ kind: 'Node', name: 'a' }, { dryRun: true, preconditions: { uid: 'x' } })),
    ).toMatchObject({ code: 409 });
    expect(store.get('Node', 'a')).toBeDefined();
  });
});

describe('listing', () => {
  test.each([
    ['app=web', ['a']],
    ['app!=web', ['b', 'c']],
    ['app in (web, db)', ['a', 'b']],
    ['app notin (web,db)', ['c']],
    ['app', ['a', 'b']],
    ['!app', ['c']],
    ['app,tier==front', ['a']],
    ['', ['a', 'b', 'c']],
  ])('the label selector %j selects %j', (labelSelector, names) => {
    const { store } = aStore();
    store.create(node('c'));
    store.create(node('b', { labels: { app: 'db' } }));
    store.create(node('a', { labels: { app: 'web', tier: 'front' } }));
    expect(taken(store.list('Node', { labelSelector })).items.map((object) => object.metadata.name)).toEqual(names);
  });

  test.each([
    ['spec.nodeName=n', ['on']],
    ['spec.nodeName=', ['off']],
    ['spec.nodeName!=n,status.phase=Pending', ['off']],
    ['metadata.name=on', ['on']],
  ])('the field selector %j selects %j', (fieldSelector, names) => {
    const { store } = aStore();
    store.create(pod('on', { nodeName: 'n' }));
    store.create(pod('off'));
    expect(taken(store.list('Pod', { fieldSelector })).items.map((object) => object.metadata.name)).toEqual(names);
  });

  test('a field that cannot be selected by is a BadRequest', () => {
    expect(refusal(aStore().store.list('Node', { fieldSelector: 'spec.nodeName=n' }))).toMatchObject({ code: 400 });
  });

  test('all pages of a list are of one moment', () => {
    const { store } = aStore();
    for (const name of ['a', 'b', 'c']) store.create(node(name));
    const first = taken(store.list('Node', { limit: 2 }));
    expect(first).toMatchObject({ remainingItemCount: 1, resourceVersion: '4' });
    store.create(node('bb'));
    store.delete({ kind: 'Node', name: 'c' });
    const second = taken(store.list('Node', { limit: 2, continue: first.continue ?? '' }));
    expect(second.items.map((object) => object.metadata.name)).toEqual(['c']);
    expect(second).toEqual({ items: second.items, resourceVersion: '4' });
  });

  test.each([
    ['time', (_: ObjectStore, wait: () => void) => wait()],
    ['a compaction', (store: ObjectStore) => store.compact()],
  ])('a token made too old by %s is Expired', (_, age) => {
    const { store, clock } = aStore();
    for (const name of ['a', 'b']) store.create(node(name));
    const token = taken(store.list('Node', { limit: 1 })).continue ?? '';
    age(store, () => {
      clock.now = add(clock.now, minutes(5));
    });
    expect(refusal(store.list('Node', { limit: 1, continue: token }))).toMatchObject({ code: 410, reason: 'Expired' });
  });
});

test('Pods by node are found without reading all Pods', () => {
  const { store } = aStore();
  store.create(pod('a', { nodeName: 'n' }));
  const before = store.podsOn('n');
  store.create(pod('b', { nodeName: 'n' }));
  const names = (pods: readonly PodObject[]) => pods.map((object) => object.metadata.name);
  expect([names(before), names(store.podsOn('n'))]).toEqual([['a'], ['a', 'b']]);
});
