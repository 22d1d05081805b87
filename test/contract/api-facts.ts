/**
 * What kubectl and other plain clients see of the API: lists and their pages, refusals, deletes, status, schemas.
 *
 * These are facts of every kube-apiserver that the product meets; the simulator's HTTPS face has to show the same.
 */
import { describe, expect, test } from 'vitest';
import { withoutVersion } from './acting.ts';
import { node, nodeClaim, nodePool, pod, policy } from './manifests.ts';
import { collectionOf, type Hand, type Manifest, pathOf, type Reply } from './operators-hand.ts';
import { fresh, type Place } from './place.ts';

const mergePatch = { 'content-type': 'application/merge-patch+json' };
const patch = (hand: Hand, path: string, body: unknown): Promise<Reply> =>
  hand.call('PATCH', path, { body, headers: mergePatch });
const metadataOf = (kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList') => ({
  accept: `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`,
});
const names = ({ body }: Reply): string[] =>
  body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
const said = ({ code, body }: Reply): unknown => ({
  code,
  kind: body.kind,
  reason: body.reason,
  details: body.details,
});
const group = { NodePool: 'karpenter.sh', NodeClaim: 'karpenter.sh', RotationPolicy: 'noderotation.io' };

const kinds: [string, string, (name: string, metadata?: object) => Manifest][] = [
  ['NodePool', 'nodepools', (name, metadata = {}) => nodePool(name, {}, { ...metadata })],
  ['NodeClaim', 'nodeclaims', (name, metadata = {}) => nodeClaim(name, 'a-pool', { ...metadata })],
  ['Node', 'nodes', (name, metadata = {}) => node(name, { ...metadata })],
  ['RotationPolicy', 'rotationpolicies', (name, metadata = {}) => policy(name, {}, { ...metadata })],
];
const detailsOf = (kind: string, plural: string, name: string) => ({
  name,
  kind: plural,
  ...(kind in group ? { group: group[kind as keyof typeof group] } : {}),
});

export function apiFacts(place: () => Place): void {
  describe.each(kinds)('%s', (kind, plural, manifestOf) => {
    test('is listed by label in pages of one moment, each with the version of the list (D15-03)', async () => {
      const { hand } = place();
      const run = fresh('run');
      const all = ['a', 'b', 'c'].map((letter) => manifestOf(`${run}-${letter}`, { labels: { run } }));
      for (const manifest of all) await hand.create(manifest);
      const path = `${collectionOf(all[0] as Manifest)}?labelSelector=run%3D${run}&limit=2`;
      const first = await hand.call('GET', path);
      await hand.create(manifestOf(`${run}-bb`, { labels: { run } }));
      const second = await hand.call('GET', `${path}&continue=${encodeURIComponent(first.body.metadata.continue)}`);
      expect([names(first), names(second)]).toEqual([[`${run}-a`, `${run}-b`], [`${run}-c`]]);
      expect([first.body.kind, first.body.metadata.resourceVersion]).toEqual([
        `${kind}List`,
        second.body.metadata.resourceVersion,
      ]);
      // How many are left is not counted under a selector.
      expect(first.body.metadata.remainingItemCount).toBeUndefined();
      expect(second.body.metadata.continue ?? '').toBe('');
    });

    test('names its kind in each item of a list only where it is a custom resource', async () => {
      const { hand } = place();
      const manifest = manifestOf(fresh('it'), { labels: { alone: 'x' } });
      await hand.create(manifest);
      const { body } = await hand.call('GET', `${collectionOf(manifest)}?labelSelector=alone%3Dx`);
      const custom = kind in group;
      expect([body.items[0].kind, body.items[0].apiVersion]).toEqual(
        custom ? [kind, manifest.apiVersion] : [undefined, undefined],
      );
      await hand.cleanUp();
    });

    test('comes as metadata only when asked so, alone and in lists (D15-03)', async () => {
      const { hand } = place();
      const manifest = manifestOf(fresh('it'), { labels: { partial: 'x' } });
      const { metadata } = await hand.create(manifest);
      const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
      const one = await hand.call('GET', pathOf(manifest), { headers: metadataOf('PartialObjectMetadata') });
      const path = `${collectionOf(manifest)}?labelSelector=partial%3Dx`;
      const list = await hand.call('GET', path, { headers: metadataOf('PartialObjectMetadataList') });
      expect([one.body, list.body]).toEqual([
        partial,
        expect.objectContaining({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', items: [partial] }),
      ]);
      await hand.cleanUp();
    });

    test('has no annotations once the last one is taken away (D5-04)', async () => {
      const { hand } = place();
      const manifest = manifestOf(fresh('it'), { annotations: { a: '1' } });
      await hand.create(manifest);
      const { metadata } = await hand.patch(manifest, { metadata: { annotations: { a: null } } });
      expect(metadata).not.toHaveProperty('annotations');
    });

    test('refuses by name what is missing, moved, already there or ill-formed (D5-05)', async () => {
      const { hand } = place();
      const manifest = manifestOf(fresh('it'));
      const { name } = manifest.metadata;
      const missing = manifestOf(fresh('missing'));
      const path = pathOf(manifest);
      await hand.create(manifest);
      const stale = { metadata: { resourceVersion: '1', annotations: { a: '1' } } };
      const details = detailsOf(kind, plural, name);
      const notFound = {
        code: 404,
        kind: 'Status',
        reason: 'NotFound',
        details: detailsOf(kind, plural, missing.metadata.name),
      };
      const conflict = { code: 409, kind: 'Status', reason: 'Conflict', details };
      expect(said(await hand.call('GET', pathOf(missing)))).toEqual(notFound);
      expect(said(await patch(hand, pathOf(missing), {}))).toEqual(notFound);
      expect(said(await hand.call('DELETE', pathOf(missing)))).toEqual(notFound);
      expect(said(await patch(hand, path, stale))).toEqual(conflict);
      // A precondition that fails is the one refusal that calls the kind by its own name.
      const unmet = { ...conflict, details: { ...details, kind } };
      for (const preconditions of [{ uid: 'x' }, { resourceVersion: '1' }]) {
        expect(said(await hand.call('DELETE', path, { body: { preconditions } }))).toEqual(unmet);
      }
      expect(said(await hand.call('POST', collectionOf(manifest), { body: manifest }))).toEqual({
        ...conflict,
        reason: 'AlreadyExists',
      });
      for (const metadata of [{ labels: { a: 'b c' } }, { labels: { 'a b': 'c' } }, { annotations: { 'a b': 'c' } }]) {
        expect(said(await patch(hand, path, { metadata })), JSON.stringify(metadata)).toMatchObject({
          code: 422,
          reason: 'Invalid',
          details: { name },
        });
      }
    });

    test('keeps status and the rest apart, whichever door a write comes through (D2-07)', async () => {
      const { hand } = place();
      const manifest = manifestOf(fresh('it'));
      const before = await hand.create({ ...manifest, status: undefined });
      const status = kind === 'RotationPolicy' ? { observedGeneration: 1, ...noStatus } : { conditions: [readyNow] };
      const doubled = { status, spec: { mode: 'Observe', providerID: 'other', weight: 7, expireAfter: '1h' } };
      const written = await hand.call('PATCH', `${pathOf(manifest)}/status`, { body: doubled, headers: mergePatch });
      expect([written.code, written.body.spec]).toEqual([200, before.spec]);
      expect(written.body.status).toMatchObject(status);
      const other = { metadata: { annotations: { a: '1' } }, status: { conditions: [] } };
      const { body } = await patch(hand, pathOf(manifest), other);
      expect([body.status, body.metadata.annotations]).toEqual([written.body.status, { a: '1' }]);
    });

    test('held by a finalizer stays on its way out until that is taken away, and takes no new one (D5-05)', async () => {
      const { hand } = place();
      const manifest = manifestOf(fresh('it'), { finalizers: ['example.com/hold'] });
      await hand.create(manifest);
      const deleted = await hand.call('DELETE', pathOf(manifest));
      expect([deleted.code, deleted.body.kind, deleted.body.metadata.deletionTimestamp]).toEqual([
        200,
        kind,
        expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      ]);
      expect(deleted.body.metadata.deletionGracePeriodSeconds).toBe(0);
      const another = { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } };
      expect(said(await patch(hand, pathOf(manifest), another))).toMatchObject({ code: 422, reason: 'Invalid' });
      expect((await patch(hand, pathOf(manifest), { metadata: { finalizers: null } })).code).toBe(200);
      expect(await hand.find(manifest)).toBeUndefined();
    });

    test('is only tried out by a dry run (D7-04)', async () => {
      const { hand } = place();
      const manifest = manifestOf(fresh('it'));
      const created = await hand.call('POST', `${collectionOf(manifest)}?dryRun=All`, { body: manifest });
      expect([created.code, await hand.find(manifest)]).toEqual([201, undefined]);
      const before = await hand.create(manifest);
      const patched = await patch(hand, `${pathOf(manifest)}?dryRun=All`, { metadata: { annotations: { a: '1' } } });
      expect(patched.body.metadata.annotations).toEqual({ a: '1' });
      expect((await hand.call('DELETE', `${pathOf(manifest)}?dryRun=All`)).code).toBe(200);
      expect((await hand.call('DELETE', pathOf(manifest), { body: { dryRun: ['All'] } })).code).toBe(200);
      expect(await hand.read(manifest)).toEqual(before);
    });
  });

  describe('the API', () => {
    test('tells its time with every answer, to the second (D1-04)', async () => {
      const { headers } = await place().hand.call('GET', '/apis/karpenter.sh/v1/nodepools');
      expect(headers.date).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
    });

    test('gives Pods their defaults, and amounts their plain form (D8-01)', async () => {
      const { hand, settings } = place();
      const { spec, status } = await hand.create(pod(fresh('web'), settings.namespace));
      expect(spec).toMatchObject({
        containers: [{ resources: { requests: { cpu: '500m', memory: '1Gi' } } }],
        terminationGracePeriodSeconds: 30,
        priority: 0,
        preemptionPolicy: 'PreemptLowerPriority',
        restartPolicy: 'Always',
        schedulerName: 'default-scheduler',
      });
      expect(status.phase).toBe('Pending');
    });

    test('gives a bound Pod its grace, and ends it at once when it has none, no node or has ended (D5-05)', async () => {
      const { hand, settings } = place();
      const bound = await hand.create(pod(fresh('web'), settings.namespace, { nodeName: 'a-node' }));
      await hand.remove(bound);
      expect((await hand.read(bound)).metadata).toMatchObject({ deletionGracePeriodSeconds: 30 });
      const others = [
        pod(fresh('web'), settings.namespace),
        pod(fresh('web'), settings.namespace, { nodeName: 'a-node', terminationGracePeriodSeconds: 0 }),
        { ...pod(fresh('web'), settings.namespace, { nodeName: 'a-node' }), status: { phase: 'Succeeded' } },
        { ...pod(fresh('web'), settings.namespace, { nodeName: 'a-node' }), status: { phase: 'Failed' } },
      ];
      for (const manifest of others) {
        await hand.create(manifest);
        await hand.remove(manifest);
        expect(await hand.find(manifest)).toBeUndefined();
      }
    });

    test('takes no change of a NodeClaim’s spec', async () => {
      const { hand } = place();
      const manifest = nodeClaim(fresh('claim'), 'a-pool');
      const before = await hand.create(manifest);
      const answer = await patch(hand, pathOf(manifest), { spec: { expireAfter: '1h' } });
      expect(said(answer)).toMatchObject({ code: 422, reason: 'Invalid', details: { name: manifest.metadata.name } });
      expect(await hand.read(manifest)).toEqual(before);
    });

    test('answers a path that it does not serve with a 404 that names no object (D5-05)', async () => {
      const { hand } = place();
      for (const path of [
        '/apis/karpenter.sh/v1/nothings',
        '/apis/nowhere.io/v1/things',
        '/apis/nowhere.io/v1/things/a',
      ]) {
        const { code, body } = await hand.call('GET', path);
        expect([code, body.details?.name]).toEqual([404, undefined]);
      }
    });

    test.each([
      ['a field that cannot be selected by', 'fieldSelector=spec.providerID%3Dx'],
      ['a label selector that is none', 'labelSelector=a%3D%3D%3Db'],
      ['a continue token that is none', 'limit=1&continue=nonsense'],
      ['a limit that is none', 'limit=many'],
    ])('refuses %s with a 400 (D6)', async (_, query) => {
      expect(said(await place().hand.call('GET', `/api/v1/nodes?${query}`))).toMatchObject({
        code: 400,
        kind: 'Status',
        reason: 'BadRequest',
      });
    });

    test('counts how many are left after a page of everything', async () => {
      const { hand } = place();
      for (const _ of [1, 2, 3]) await hand.create(node(fresh('node')));
      const { body } = await hand.call('GET', '/api/v1/nodes?limit=1');
      expect(body.metadata.remainingItemCount).toBeGreaterThanOrEqual(2);
    });

    const event = (name: string, regarding: string, over: object = {}) => ({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name, namespace: 'default' },
      eventTime: '2026-06-09T17:00:00.000000Z',
      reportingController: 'noderotation.io/controller',
      reportingInstance: 'test',
      action: 'Rotate',
      reason: 'Any',
      type: 'Normal',
      note: 'text',
      regarding: { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: regarding },
      ...over,
    });
    test.each<[string, object]>([
      ['without a time', { eventTime: undefined }],
      ['without a controller', { reportingController: undefined }],
      ['of a controller that is no name', { reportingController: 'no name' }],
      ['without an instance', { reportingInstance: undefined }],
      ['of an instance longer than 128', { reportingInstance: 'x'.repeat(129) }],
      ['without an action', { action: undefined }],
      ['of an action longer than 128', { action: 'x'.repeat(129) }],
      ['without a reason', { reason: undefined }],
      ['of a reason longer than 128', { reason: 'x'.repeat(129) }],
      ['of a type that is none', { type: 'Info' }],
      ['of a note longer than 1024', { note: 'x'.repeat(1025) }],
    ])('refuses an Event %s (D11-03)', async (_, over) => {
      const body = event(fresh('event'), 'api', over);
      expect(said(await place().hand.call('POST', collectionOf(body), { body }))).toMatchObject({
        code: 422,
        reason: 'Invalid',
      });
    });

    test('takes an Event at these limits (D11-03)', async () => {
      const most = 'x'.repeat(128);
      const body = event(fresh('event'), 'api', {
        reportingInstance: most,
        action: most,
        reason: most,
        note: 'x'.repeat(1024),
      });
      expect((await place().hand.call('POST', collectionOf(body), { body })).code).toBe(201);
    });

    test('takes an Event beside another namespace’s object, and refuses one about an object without any there (D11-03)', async () => {
      const { hand, settings } = place();
      const body = event(fresh('event'), 'api', { metadata: { name: fresh('event'), namespace: settings.namespace } });
      expect(said(await hand.call('POST', collectionOf(body), { body }))).toMatchObject({
        code: 422,
        reason: 'Invalid',
      });
    });
  });

  describe('the schema of RotationPolicy', () => {
    test('fills in every default, and drops fields that it does not know (D2-01)', async () => {
      const { hand } = place();
      const manifest = policy(fresh('policy'), { surge: { readyTimout: '3m' }, unheardOf: true });
      const raw = await hand.create(manifest);
      expect(raw.spec).toEqual({
        ...(policy('').spec as object),
        nodePoolSelector: { matchLabels: { workload: manifest.metadata.name }, matchExpressions: [] },
        mode: 'Rotate',
        ageThreshold: 'auto',
        minRotationChances: 2,
        exclusions: [],
        surge: {
          maxUnavailable: 1,
          readyTimeout: '15m',
          cooldownAfter: '10m',
          retryBackoff: '30m',
          wholeNodeReservation: false,
          matchNodeRequirements: {
            required: ['topology.kubernetes.io/zone', 'kubernetes.io/arch', 'karpenter.sh/capacity-type'],
            preferred: [],
          },
          forcefulFallback: { enabled: false },
          deferBlockedDrains: false,
        },
      });
    });

    const window = { timezone: 'Asia/Tokyo', days: ['Wed'], start: '02:00', end: '06:00' };
    const wrong: [string, object][] = [
      ['a mode that is none', { mode: 'Off' }],
      ['no windows', { maintenanceWindows: [] }],
      ['windows left out', { maintenanceWindows: null }],
      ['a day that is none', { maintenanceWindows: [{ ...window, days: ['Funday'] }] }],
      ['a day twice', { maintenanceWindows: [{ ...window, days: ['Wed', 'Wed'] }] }],
      ['a time that is none', { maintenanceWindows: [{ ...window, start: '24:00' }] }],
      ['K below 1', { minRotationChances: 0 }],
      ['K as text', { minRotationChances: '2' }],
      ['a part of a chance', { minRotationChances: 1.5 }],
      ['two nodes at once', { surge: { maxUnavailable: 2 } }],
      ['a duration in days', { surge: { readyTimeout: '1d' } }],
      ['a selector that is a list', { nodePoolSelector: [] }],
    ];
    test.each(wrong)('refuses %s, made so or changed to it (D2-01, D4-01)', async (_, spec) => {
      const { hand } = place();
      const manifest = policy(fresh('policy'), { ...spec });
      const refusedBy = {
        code: 422,
        kind: 'Status',
        reason: 'Invalid',
        details: expect.objectContaining({ name: manifest.metadata.name }),
      };
      expect(said(await hand.call('POST', collectionOf(manifest), { body: manifest }))).toEqual(refusedBy);
      const sound = policy(manifest.metadata.name);
      const before = await hand.create(sound);
      expect(said(await patch(hand, pathOf(sound), { spec }))).toEqual(refusedBy);
      expect(await hand.read(sound)).toEqual(before);
    });

    test('takes a policy again that its owner has made whole (D2-01)', async () => {
      const { hand } = place();
      const manifest = policy(fresh('policy'), { surge: { cooldownAfter: '0s' } });
      const before = await hand.create(manifest);
      const after = await hand.patch(manifest, { spec: { surge: null } });
      expect(after.spec.surge).toMatchObject({ cooldownAfter: '10m', maxUnavailable: 1 });
      expect(withoutVersion({ ...after, spec: undefined })).toEqual(
        withoutVersion({ ...before, spec: undefined, metadata: { ...before.metadata, generation: 2 } }),
      );
    });
  });
}

const readyNow = {
  type: 'Ready',
  status: 'True',
  reason: 'Ready',
  message: 'as it should be',
  lastTransitionTime: '2026-06-01T00:00:00Z',
};
const noStatus = { conditions: [], matchedNodePools: 0, rotatingNodePools: 0, nodePools: [] };
