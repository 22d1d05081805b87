/**
 * The contract of acting, continued: placeholder Pods, Events, and a caller who may do nothing.
 */
import { describe, expect, test } from 'vitest';
import type { PodManifest } from '../../lib/domain/surge/placeholder.ts';
import { placeholderPod } from '../../lib/domain/surge/placeholder.ts';
import type { Action, EventDraft } from '../../lib/engine/decision.ts';
import { aClaim, amounts, aNode, aPolicy, aPool, lasting } from '../support/builders.ts';
import { annotate, applied, deleteNodeClaim, looked, saying } from './acting.ts';
import { refOf } from './expected.ts';
import { node, nodeClaim, nodePool, pod, policy } from './manifests.ts';
import { fresh, type Place } from './place.ts';

const surgeFor = 'noderotation.io/surge-for';

/** The Pod that the product makes for a claim: every kind of resource, a tainted pool, keys to repeat. */
function placeholderFor(claimName: string, { settings }: Place): PodManifest {
  const claim = aClaim(claimName);
  const pool = aPool();
  return placeholderPod({
    claim,
    node: aNode(claim),
    pool: {
      ...pool,
      template: { ...pool.template, taints: [{ key: 'dedicated', value: 'api', effect: 'NoSchedule' }] },
    },
    policy: aPolicy({
      surge: {
        matchNodeRequirements: {
          required: ['topology.kubernetes.io/zone', 'kubernetes.io/arch'],
          preferred: ['karpenter.sh/capacity-type', 'node.kubernetes.io/instance-type'],
        },
      },
    }),
    requests: amounts({
      cpu: '1500m',
      memory: '3Gi',
      'ephemeral-storage': '1Gi',
      'hugepages-2Mi': '64Mi',
      'nvidia.com/gpu': '1',
    }),
    avoid: [aNode(aClaim('another'))],
    settings,
  }).pod;
}

const create = (made: PodManifest): Action => ({ kind: 'createPlaceholder', pod: made, whenRefused: 'stop' });
const remove = (target: ReturnType<typeof refOf>, mustExist = false): Action => ({
  kind: 'deletePlaceholder',
  target,
  mustExist,
  whenRefused: 'stop',
});
const gone = { outcome: 'alreadyDone' };

export function placeholderContract(place: () => Place): void {
  describe('createPlaceholder', () => {
    test('makes the Pod, and the next look sees it as it was meant (D8-06, D8-07)', async () => {
      const { hand } = place();
      const made = placeholderFor(fresh('claim'), place());
      const cluster = await looked(place());
      const result = await cluster.apply(create(made));
      const raw = await hand.read(made);
      expect(result).toEqual(applied(raw));
      const seen = (await cluster.observe()).placeholders.find(({ meta }) => meta.name === made.metadata.name);
      const requests = amounts({
        cpu: '1500m',
        memory: '3Gi',
        'ephemeral-storage': '1Gi',
        'hugepages-2Mi': '64Mi',
        'nvidia.com/gpu': '1',
      });
      expect(seen).toMatchObject({
        meta: { labels: made.metadata.labels, annotations: { 'karpenter.sh/do-not-disrupt': 'true' } },
        phase: 'Pending',
        priority: -10,
        terminationGracePeriod: lasting('0s'),
        nodeSelector: { 'karpenter.sh/nodepool': 'api' },
        resources: { containers: [{ name: 'pause', requests, sidecar: false }] },
        unreadable: [],
      });
      expect(seen?.tolerations[0]).toEqual({ key: 'dedicated', operator: 'Equal', value: 'api', effect: 'NoSchedule' });
      expect(seen?.requiredNodeAffinity.map((term) => term.matchExpressions.map(({ key }) => key))).toEqual([
        ['topology.kubernetes.io/zone', 'kubernetes.io/arch'],
      ]);
      await cluster.apply(remove(refOf(raw)));
    });

    test('that finds its own Pod is done; a Pod of that name of somebody else is a refusal (D5-05)', async () => {
      const { hand, settings } = place();
      const made = placeholderFor(fresh('claim'), place());
      const cluster = await looked(place());
      await cluster.apply(create(made));
      const raw = await hand.read(made);
      expect(await cluster.apply(create(made))).toEqual(gone);
      const another = { ...made, metadata: { ...made.metadata, labels: { [surgeFor]: 'another' } } };
      expect(await cluster.apply(create(another))).toEqual(saying('rejected', made.metadata.name));
      expect(await hand.read(made)).toEqual(raw);
      const foreign = await hand.create(pod(fresh('foreign'), settings.namespace));
      const onForeign = { ...made, metadata: { ...made.metadata, name: foreign.metadata.name } };
      expect(await cluster.apply(create(onForeign))).toEqual(saying('rejected', foreign.metadata.name));
      await cluster.apply(remove(refOf(raw)));
    });

    test('that finds its own Pod on its way out is a conflict: the next tick makes it anew (D5-05)', async () => {
      const { hand } = place();
      const made = placeholderFor(fresh('claim'), place());
      await hand.create({ ...made, metadata: { ...made.metadata, finalizers: ['example.com/hold'] } });
      await hand.remove(made);
      expect(await (await looked(place())).apply(create(made))).toEqual(saying('conflict', made.metadata.name));
    });

    const over = (made: PodManifest, resources: object): PodManifest => ({
      ...made,
      spec: { ...made.spec, containers: [{ name: 'pause', image: 'pause', resources }] },
    });
    test.each<[string, (made: PodManifest) => PodManifest]>([
      [
        'a label value that is none',
        (made) => ({ ...made, metadata: { ...made.metadata, labels: { [surgeFor]: 'a b' } } }),
      ],
      ['a label key that is none', (made) => ({ ...made, metadata: { ...made.metadata, labels: { 'a b': 'x' } } })],
      ['a name that is none', (made) => ({ ...made, metadata: { ...made.metadata, name: `${made.metadata.name}_` } })],
      ['a device without a limit', (made) => over(made, { requests: { 'nvidia.com/gpu': '1' } })],
      [
        'more of a device than its limit',
        (made) => over(made, { requests: { 'nvidia.com/gpu': '2' }, limits: { 'nvidia.com/gpu': '1' } }),
      ],
      ['huge pages without a limit', (made) => over(made, { requests: { cpu: '1', 'hugepages-2Mi': '2Mi' } })],
      ['more CPU than its limit', (made) => over(made, { requests: { cpu: '2' }, limits: { cpu: '1' } })],
      ['an amount that is none', (made) => over(made, { requests: { cpu: '1 core' } })],
      [
        'a priority class that is not there',
        (made) => ({ ...made, spec: { ...made.spec, priorityClassName: 'none' } }),
      ],
    ])('of %s is refused in the server’s words, and nothing is made (D8-09)', async (_, spoilt) => {
      const made = spoilt(placeholderFor(fresh('claim'), place()));
      const result = await (await looked(place())).apply(create(made));
      expect(result).toEqual({ outcome: 'rejected', detail: expect.stringMatching(/\w+/) });
      expect(await place().hand.find(made)).toBeUndefined();
    });

    test('in a namespace that is not there is a refusal that names it (D8-09)', async () => {
      const made = placeholderFor(fresh('claim'), place());
      const namespace = fresh('nowhere');
      const result = await (await looked(place())).apply(
        create({ ...made, metadata: { ...made.metadata, namespace } }),
      );
      expect(result).toEqual(saying('rejected', namespace));
    });
  });

  describe('deletePlaceholder', () => {
    test('ends a running Pod at once, whatever grace it asks for or is already being given (D5-05, D8-06)', async () => {
      const { hand, settings } = place();
      const cluster = await looked(place());
      for (const stopping of [false, true]) {
        const running = await hand.create({
          ...pod(fresh('surge'), settings.namespace, { nodeName: 'a-node' }),
          status: { phase: 'Running' },
        });
        if (stopping) await hand.remove(running);
        const raw = await hand.read(running);
        expect(raw.metadata.deletionTimestamp !== undefined).toBe(stopping);
        expect(await cluster.apply(remove(refOf(raw), true))).toMatchObject({ outcome: 'applied' });
        expect(await hand.find(running)).toBeUndefined();
      }
    });

    test('of a Pod that is gone is done, except inside a hand-over (D5-05)', async () => {
      const { hand, settings } = place();
      const seen = await hand.create(pod(fresh('surge'), settings.namespace));
      await hand.remove(seen);
      const cluster = await looked(place());
      expect(await cluster.apply(remove(refOf(seen)))).toEqual(gone);
      expect(await cluster.apply(remove(refOf(seen), true))).toEqual(saying('conflict', seen.metadata.name));
    });

    test('of another Pod of that name is a conflict, at another version it is none (D5-05)', async () => {
      const { hand, settings } = place();
      const seen = await hand.create(pod(fresh('surge'), settings.namespace));
      const cluster = await looked(place());
      const another = { ...refOf(seen), uid: '00000000-0000-4000-8000-000000000000' };
      expect(await cluster.apply(remove(another))).toEqual(saying('conflict', seen.metadata.name));
      expect(await hand.read(seen)).toEqual(seen);
      await hand.patch(seen, { metadata: { annotations: { a: '1' } } });
      expect(await cluster.apply(remove(refOf(seen)))).toMatchObject({ outcome: 'applied' });
      expect(await hand.find(seen)).toBeUndefined();
    });

    test('leaves a Pod that a finalizer holds on its way out (D5-05)', async () => {
      const { hand, settings } = place();
      const seen = await hand.create(pod(fresh('surge'), settings.namespace, {}, { finalizers: ['example.com/hold'] }));
      const cluster = await looked(place());
      const result = await cluster.apply(remove(refOf(seen)));
      const left = await hand.read(seen);
      expect(result).toEqual(applied(left));
      expect(left.metadata).toMatchObject({
        deletionTimestamp: expect.stringMatching(/Z$/),
        deletionGracePeriodSeconds: 0,
      });
    });
  });

  describe('emitEvent', () => {
    const emit = (regarding: EventDraft['regarding'], over: Partial<EventDraft> = {}): Action => ({
      kind: 'emitEvent',
      event: { type: 'Warning', reason: 'DrainBlocked', note: 'shop/web blocks', regarding, ...over },
      whenRefused: 'goOn',
    });
    const eventsOn = async (name: string, namespace: string) => {
      const { body } = await place().hand.call('GET', `/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
      return body.items.filter((event: { regarding?: { name?: string } }) => event.regarding?.name === name);
    };

    test('puts an Event beside the cluster’s other Events, once, however often it is sent (D11-03)', async () => {
      const { hand } = place();
      const { kind, name, uid } = refOf(await hand.create(nodePool(fresh('pool'))));
      const cluster = place().cluster();
      const { observedAt } = await cluster.observe();
      const related = { kind: 'NodeClaim', name: 'api-1', uid: '1' } as const;
      const first = await cluster.apply(emit({ kind, name, uid }, { related }));
      expect(await cluster.apply(emit({ kind, name, uid }, { related }))).toEqual(gone);
      const events = await eventsOn(name, 'default');
      expect(first).toEqual({ outcome: 'applied', resourceVersion: events[0].metadata.resourceVersion });
      const { metadata, reportingInstance, ...rest } = events[0];
      expect([events.length, reportingInstance, metadata.namespace]).toEqual([
        1,
        expect.stringMatching(/./),
        'default',
      ]);
      expect(withoutLegacyFields(rest)).toEqual({
        eventTime: `${new Date(observedAt).toISOString().slice(0, 19)}.000000Z`,
        reportingController: 'noderotation.io/controller',
        action: 'Rotate',
        type: 'Warning',
        reason: 'DrainBlocked',
        note: 'shop/web blocks',
        regarding: { apiVersion: 'karpenter.sh/v1', kind, name, uid },
        related: { apiVersion: 'karpenter.sh/v1', ...related },
      });
    });

    test('is taken beside a Pod in its namespace, and with a text longer than the API allows (D11-03)', async () => {
      const { hand, settings } = place();
      const { kind, name, namespace = '', uid } = refOf(await hand.create(pod(fresh('web'), settings.namespace)));
      const cluster = await looked(place());
      const result = await cluster.apply(emit({ kind, name, namespace, uid }, { note: 'ä'.repeat(2000) }));
      const [event] = await eventsOn(name, namespace);
      expect(result).toMatchObject({ outcome: 'applied' });
      expect(Buffer.byteLength(event.note)).toBeLessThanOrEqual(1024);
    });
  });

  test('a caller who may only look is refused every action, in words that say so (D7-04, D6-08)', async () => {
    const { hand, settings, reader } = place();
    const pool = refOf(await hand.create(nodePool(fresh('pool'))));
    const claim = refOf(await hand.create(nodeClaim(fresh('claim'), 'a-pool')));
    const host = refOf(await hand.create(node(fresh('node'))));
    const surge = refOf(await hand.create(pod(fresh('surge'), settings.namespace)));
    const rules = refOf(await hand.create(policy(fresh('policy'))));
    const actions: readonly Action[] = [
      annotate(pool, { a: '1' }),
      annotate(claim, { a: '1' }),
      { kind: 'protect', target: host, annotations: {}, unschedulable: true, whenRefused: 'stop' },
      { kind: 'unprotect', target: host, annotations: {}, whenRefused: 'goOn' },
      create(placeholderFor(fresh('claim'), place())),
      remove(surge),
      deleteNodeClaim(claim),
      { kind: 'writeStatus', target: rules, status: {} as never, whenRefused: 'goOn' },
      { kind: 'emitEvent', event: { type: 'Normal', reason: 'A', note: 'b', regarding: pool }, whenRefused: 'goOn' },
    ];
    const before = await Promise.all(
      [pool, claim, host, surge, rules].map((ref) => hand.read({ kind: ref.kind, metadata: ref })),
    );
    const cluster = reader();
    await cluster.observe();
    for (const action of actions) {
      expect(await cluster.apply(action), action.kind).toEqual(saying('rejected', 'forbidden'));
    }
    const after = await Promise.all(
      [pool, claim, host, surge, rules].map((ref) => hand.read({ kind: ref.kind, metadata: ref })),
    );
    expect(after).toEqual(before);
  });
}

/** What the server derives for readers of the old Event API. */
const withoutLegacyFields = (event: Record<string, unknown>): unknown =>
  Object.fromEntries(
    Object.entries(event).filter(([key]) => !key.startsWith('deprecated') && key !== 'apiVersion' && key !== 'kind'),
  );
