/**
 * The contract of looking: what `observe`, `inspect` and `reread` make of objects that the test has just put there.
 *
 * Expected values are whole; what the server alone can know (uid, version, creation time) is taken from its own answer.
 */
import { describe, expect, test } from 'vitest';
import type { Inspected } from '../../lib/domain/cluster/snapshot.ts';
import type { Need } from '../../lib/engine/decision.ts';
import { amounts, at, lasting } from '../support/builders.ts';
import { metaOf, refOf } from './expected.ts';
import { budget, node, nodeClaim, nodePool, pod, policy } from './manifests.ts';
import { fresh, type Place } from './place.ts';

const nothing: Need = {
  nodes: [],
  podsOnNodes: [],
  dryRunDeletes: [],
  disruptionBudgets: false,
  unscheduledPods: false,
};
const onArm = [{ key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] }];
const named =
  (name: string) =>
  ({ meta }: { readonly meta: { readonly name: string } }): boolean =>
    meta.name === name;

/** What DefaultTolerationSeconds gives every Pod. */
const defaultTolerations = ['not-ready', 'unreachable'].map((key) => ({
  key: `node.kubernetes.io/${key}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}));
const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

export function lookingContract(place: () => Place): void {
  describe('observe', () => {
    test('tells the time of the server, which is also what creation times are made of (D1-04)', async () => {
      const { hand, cluster } = place();
      const { metadata } = await hand.create(nodePool(fresh('pool')));
      const { observedAt } = await cluster().observe();
      const since = observedAt - at(metadata.creationTimestamp);
      expect({ whole: observedAt % 1000, since: since >= 0 && since < 60_000 }).toEqual({ whole: 0, since: true });
    });

    test('sees a NodePool whole, with the keys of its rotation (D15-03)', async () => {
      const { hand, cluster } = place();
      const annotations = { 'noderotation.io/active-rotation': 'api-1' };
      const raw = await hand.create(nodePool(fresh('pool'), {}, { labels: { workload: 'api' }, annotations }));
      const { nodePools } = await cluster().observe();
      expect(nodePools.find(named(raw.metadata.name))).toEqual({
        meta: { ...metaOf(raw), labels: { workload: 'api' }, annotations },
        template: {
          lifetime: { readable: true, expireAfter: lasting('336h'), terminationGracePeriod: lasting('1h30m') },
          labels: { workload: 'api' },
          taints: [{ key: 'dedicated', value: 'api', effect: 'NoSchedule' }],
          requirements: onArm,
        },
        ready: true,
        limits: amounts({ cpu: '100', memory: '400Gi' }),
        used: amounts({ cpu: '8', memory: '32Gi' }),
        unreadable: [],
      });
    });

    test('sees a NodeClaim whole (D15-03)', async () => {
      const { hand, cluster } = place();
      const name = fresh('claim');
      const raw = await hand.create(nodeClaim(name, 'a-pool', { finalizers: ['karpenter.sh/termination'] }));
      const { nodeClaims } = await cluster().observe();
      expect(nodeClaims.find(named(name))).toEqual({
        meta: {
          ...metaOf(raw),
          labels: { 'karpenter.sh/nodepool': 'a-pool' },
          finalizers: ['karpenter.sh/termination'],
        },
        nodePool: 'a-pool',
        lifetime: {
          readable: true,
          created: at(raw.metadata.creationTimestamp),
          expireAfter: lasting('336h'),
          terminationGracePeriod: lasting('1h'),
        },
        nodeName: `node-of-${name}`,
        providerId: `kwok://${name}`,
        ready: 'True',
        requirements: onArm,
        capacity: amounts({ cpu: '4', memory: '16Gi', pods: '58' }),
        allocatable: amounts({ cpu: '3900m', memory: '15Gi', pods: '58' }),
        unreadable: [],
      });
    });

    test('finds Karpenter’s own default where a NodePool or a NodeClaim names no expiry (D4-02)', async () => {
      const { hand, cluster } = place();
      const claim = fresh('claim');
      const pool = fresh('pool');
      const { nodeClassRef, requirements } = nodeClaim(claim, pool).spec as Record<string, unknown>;
      await hand.create(nodePool(pool, { template: { spec: { nodeClassRef, requirements } } }));
      await hand.create({ ...nodeClaim(claim, pool), spec: { nodeClassRef, requirements } });
      const seen = await cluster().observe();
      expect(seen.nodePools.find(named(pool))?.template.lifetime).toEqual({
        readable: true,
        expireAfter: lasting('720h'),
      });
      expect(seen.nodeClaims.find(named(claim))?.lifetime).toMatchObject({ expireAfter: lasting('720h') });
    });

    test('shows of a Node its metadata and nothing else (D15-03)', async () => {
      const { hand, cluster } = place();
      const name = fresh('node');
      const raw = await hand.create(node(name, { annotations: { 'noderotation.io/surge-for': 'x' } }));
      const { nodes } = await cluster().observe();
      expect(nodes.find(named(name))).toEqual({
        meta: {
          ...metaOf(raw),
          labels: { 'kubernetes.io/hostname': name },
          annotations: { 'noderotation.io/surge-for': 'x' },
        },
      });
    });

    test('finds labels, annotations and finalizers empty where there are none (D5-01)', async () => {
      const { hand, cluster } = place();
      const name = fresh('node');
      await hand.create(node(name, { labels: undefined }));
      const seen = (await cluster().observe()).nodes.find(named(name));
      expect(seen?.meta).toMatchObject({ labels: {}, annotations: {}, finalizers: [] });
    });

    test('finds placeholders by label in their own namespace only (D15-03)', async () => {
      const { hand, cluster, settings } = place();
      const elsewhere = fresh('shop');
      await hand.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: elsewhere } });
      const labels = { 'noderotation.io/surge-for': 'x' };
      const ours = await hand.create(pod(fresh('surge'), settings.namespace, {}, { labels }));
      await hand.create(pod(fresh('stranger'), settings.namespace));
      await hand.create(pod(fresh('surge'), elsewhere, {}, { labels }));
      const { placeholders } = await cluster().observe();
      expect(placeholders).toEqual([
        {
          meta: { ...metaOf(ours), labels },
          phase: 'Pending',
          priority: 0,
          terminationGracePeriod: lasting('30s'),
          tolerations: defaultTolerations,
          nodeSelector: {},
          requiredNodeAffinity: [],
          resources: {
            containers: [{ name: 'main', requests: amounts({ cpu: '500m', memory: '1Gi' }), sidecar: false }],
            initContainers: [],
            overhead: amounts({}),
          },
          unreadable: [],
        },
      ]);
      await hand.remove(ours);
    });

    test('reads a policy with every default, at its generation, and its status (D2-01, D2-07)', async () => {
      const { hand, cluster } = place();
      const name = fresh('policy');
      const raw = await hand.create(policy(name, { surge: { readyTimeout: '3m' } }));
      const reading = (await cluster().observe()).policies.find((one) => one.valid && one.policy.meta.name === name);
      expect(reading).toEqual({
        valid: true,
        policy: {
          meta: metaOf(raw),
          generation: 1,
          nodePoolSelector: { matchLabels: { workload: name }, matchExpressions: [] },
          mode: 'Rotate',
          ageThreshold: 'auto',
          minRotationChances: 2,
          windows: [{ timezone: 'Asia/Tokyo', days: ['Wed', 'Sat'], start: 120, end: 360 }],
          exclusions: [],
          surge: {
            maxUnavailable: 1,
            readyTimeout: lasting('3m'),
            cooldownAfter: lasting('10m'),
            failurePause: lasting('10m'),
            retryBackoff: lasting('30m'),
            provisioningEstimate: lasting('3m'),
            wholeNodeReservation: false,
            matchNodeRequirements: {
              required: ['topology.kubernetes.io/zone', 'kubernetes.io/arch', 'karpenter.sh/capacity-type'],
              preferred: [],
            },
            forcefulFallback: false,
            deferBlockedDrains: false,
          },
        },
      });
    });

    test('counts every change of a policy’s spec, and none of its metadata or status (D2-07, D10-02)', async () => {
      const { hand, cluster } = place();
      const raw = policy(fresh('policy'));
      await hand.create(raw);
      await hand.patch(raw, { metadata: { annotations: { team: 'shop' } } });
      await hand.setStatus(raw, statusNow);
      await hand.patch(raw, { spec: { mode: 'Observe' } });
      const found = (await cluster().observe()).policies.find(
        (one) => one.valid && one.policy.meta.name === raw.metadata.name,
      );
      expect(found).toMatchObject({ policy: { generation: 2, mode: 'Observe' }, status: statusNow });
    });

    test('reads a list of more than one page to its end, every object once (D15-03)', async () => {
      const { hand, cluster } = place();
      const pool = fresh('pool');
      const names = Array.from({ length: 501 }, (_, index) => `${pool}-${String(index).padStart(3, '0')}`);
      for (let from = 0; from < names.length; from += 8) {
        await Promise.all(
          names.slice(from, from + 8).map((name) => hand.create({ ...nodeClaim(name, pool), status: undefined })),
        );
      }
      const { nodeClaims } = await cluster().observe();
      expect(nodeClaims.filter((claim) => claim.nodePool === pool).map(({ meta }) => meta.name)).toEqual(names);
      await hand.cleanUp();
    }, 60_000);

    test('says of a caller without rights that it is forbidden (D11-07)', async () => {
      await expect(place().stranger().observe()).rejects.toMatchObject({ outcome: 'Forbidden' });
    });
  });

  describe('inspect', () => {
    test('asks for nothing and learns nothing (D15-03)', async () => {
      expect(await place().cluster().inspect(nothing)).toEqual({
        nodes: new Map(),
        podsOnNode: new Map(),
        dryRuns: new Map(),
      });
    });

    test('sees a Node whole, its amounts however they are written, and says which one is gone (D5-05, D8-01)', async () => {
      const { hand, cluster } = place();
      const name = fresh('node');
      const missing = fresh('node');
      const taints = [{ key: 'dedicated', value: 'api', effect: 'NoSchedule' }];
      const raw = await hand.create(node(name, {}, { unschedulable: true, taints }));
      const { nodes } = await cluster().inspect({ ...nothing, nodes: [name, missing] });
      expect(nodes).toEqual(
        new Map<string, unknown>([
          [
            name,
            {
              meta: metaOf(raw),
              providerId: `kwok://${name}`,
              unschedulable: true,
              ready: true,
              // The server itself marks a new Node, whatever it says of its readiness.
              taints: [...taints, notReady],
              allocatable: amounts({ cpu: '3920m', memory: '15Gi', pods: '58' }),
              unreadable: [],
            },
          ],
          [missing, 'gone'],
        ]),
      );
    });

    test('sees the Pods of a node in every namespace, and no others (D15-03)', async () => {
      const { hand, cluster, settings } = place();
      const [mine, other] = [fresh('node'), fresh('node')];
      const elsewhere = fresh('a-shop');
      await hand.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: elsewhere } });
      const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: '1', controller: true };
      const first = await hand.create({
        ...pod(
          fresh('web'),
          elsewhere,
          { nodeName: mine, terminationGracePeriodSeconds: 90 },
          { ownerReferences: [owner] },
        ),
        status: { phase: 'Running', startTime: '2026-06-01T00:00:00Z', conditions: [ready('2026-06-01T00:00:07Z')] },
      });
      const second = await hand.create(pod(fresh('web'), settings.namespace, { nodeName: mine }));
      await hand.create(pod(fresh('web'), settings.namespace, { nodeName: other }));
      const { podsOnNode } = await cluster().inspect({ ...nothing, podsOnNodes: [mine, fresh('node')] });
      const [pods = [], none] = [...podsOnNode.values()];
      expect([pods.map(({ meta }) => meta.name), none]).toEqual([[first.metadata.name, second.metadata.name], []]);
      expect(pods[0]).toMatchObject({
        meta: metaOf(first),
        nodeName: mine,
        phase: 'Running',
        startedAt: at('2026-06-01T00:00:00Z'),
        ready: { status: true, since: at('2026-06-01T00:00:07Z') },
        controllerKind: 'ReplicaSet',
        terminationGracePeriod: lasting('90s'),
      });
    });

    test('sees the Pods that wait for a node, with the scheduler’s words (D7-11)', async () => {
      const { hand, cluster, settings } = place();
      const waiting = await hand.create({
        ...pod(fresh('waiting'), settings.namespace),
        status: {
          conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }],
        },
      });
      await hand.create(pod(fresh('bound'), settings.namespace, { nodeName: fresh('node') }));
      const failed = { ...pod(fresh('failed'), settings.namespace), status: { phase: 'Failed' } };
      await hand.create(failed);
      const { unscheduledPods = [] } = await cluster().inspect({ ...nothing, unscheduledPods: true });
      const seen = unscheduledPods.filter(({ meta }) => meta.namespace === settings.namespace);
      expect(seen.map(({ meta, unschedulable }) => [meta.name, unschedulable])).toEqual([
        [waiting.metadata.name, { reason: 'Unschedulable', message: '0/3 nodes' }],
      ]);
      await hand.cleanUp();
    });

    test('takes what a container may use at most for what it asks, where it asks for nothing (D8-02)', async () => {
      const { hand, cluster, settings } = place();
      const name = fresh('node');
      const resources = { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '250m' } };
      const containers = [{ name: 'main', image: 'pause', resources }];
      await hand.create(pod(fresh('web'), settings.namespace, { nodeName: name, containers }));
      const { podsOnNode } = await cluster().inspect({ ...nothing, podsOnNodes: [name] });
      expect(podsOnNode.get(name)?.[0]?.resources.containers[0]?.requests).toEqual(
        amounts({ cpu: '250m', memory: '1Gi' }),
      );
    });

    test('sees disruption budgets with what their controller counted (D6-06)', async () => {
      const { hand, cluster, settings } = place();
      const name = fresh('budget');
      const counted = { disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3 };
      const raw = await hand.create({
        ...budget(name, settings.namespace, { selector: { matchLabels: { app: 'web' } }, maxUnavailable: '34%' }),
        status: counted,
      });
      const uncounted = await hand.create(budget(fresh('budget'), settings.namespace, { minAvailable: 2 }));
      const { disruptionBudgets = [] } = await cluster().inspect({ ...nothing, disruptionBudgets: true });
      expect(disruptionBudgets.find(named(name))).toEqual({
        meta: metaOf(raw),
        selector: { matchLabels: { app: 'web' }, matchExpressions: [] },
        maxUnavailable: '34%',
        ...counted,
        unreadable: [],
      });
      expect(disruptionBudgets.find(named(uncounted.metadata.name))).toEqual({
        meta: metaOf(uncounted),
        minAvailable: '2',
        disruptionsAllowed: 0,
        currentHealthy: 0,
        desiredHealthy: 0,
        expectedPods: 0,
        unreadable: [],
      });
    });

    test('tries a delete that changes nothing, and refuses nothing because somebody moved (D7-04)', async () => {
      const { hand, cluster } = place();
      const raw = await hand.create(nodeClaim(fresh('claim'), 'a-pool', { finalizers: ['karpenter.sh/termination'] }));
      const bare = await hand.create(nodeClaim(fresh('claim'), 'a-pool'));
      const replaced = { ...refOf(await hand.create(nodeClaim(fresh('claim'), 'a-pool'))), uid: 'another' };
      const gone = { ...refOf(raw), name: fresh('claim') };
      const dryRunDeletes = [refOf(raw), refOf(bare), replaced, gone];
      const { dryRuns } = await cluster().inspect({ ...nothing, dryRunDeletes });
      expect(dryRuns).toEqual(new Map(dryRunDeletes.map(({ name }) => [name, { outcome: 'accepted' }])));
      expect([await hand.read(raw), await hand.read(bare)]).toEqual([raw, bare]);
    });

    test('tells what a caller who may not delete would hear (D7-04)', async () => {
      const { hand, reader } = place();
      const claim = refOf(await hand.create(nodeClaim(fresh('claim'), 'a-pool')));
      const { dryRuns }: Inspected = await reader().inspect({ ...nothing, dryRunDeletes: [claim] });
      expect(dryRuns.get(claim.name)).toEqual({ outcome: 'refused', detail: expect.stringContaining(claim.name) });
    });
  });

  describe('reread', () => {
    test('sees the pool and the node as they are by now, or gone (D5-08)', async () => {
      const { hand, cluster } = place();
      const pool = nodePool(fresh('pool'));
      const seen = refOf(await hand.create(pool));
      const old = node(fresh('node'));
      const host = refOf(await hand.create(old));
      const looking = cluster();
      await hand.patch(pool, { metadata: { annotations: { 'noderotation.io/freeze': 'true' } } });
      const again = await looking.reread(seen);
      expect(again).toEqual({ nodePool: expect.objectContaining({ meta: metaOf(await hand.read(pool)) }) });
      expect(await looking.reread(seen, host)).toEqual({
        ...again,
        node: expect.objectContaining({ meta: metaOf(await hand.read(old)), ready: true }),
      });
      await hand.remove(old);
      await hand.remove(pool);
      expect(await looking.reread(seen, host)).toEqual({ nodePool: 'gone', node: 'gone' });
    });

    test('shows that an object is on its way out while a finalizer holds it (D5-08)', async () => {
      const { hand, cluster } = place();
      const pool = nodePool(fresh('pool'), {}, { finalizers: ['example.com/hold'] });
      const seen = refOf(await hand.create(pool));
      await hand.remove(pool);
      const raw = await hand.read(pool);
      expect(await cluster().reread(seen)).toMatchObject({
        nodePool: { meta: { deleting: true, deletionTimestamp: at(raw.metadata.deletionTimestamp ?? '') } },
      });
    });
  });
}

const ready = (lastTransitionTime: string) => ({ type: 'Ready', status: 'True', lastTransitionTime });

export const statusNow = {
  observedGeneration: 1,
  conditions: [
    {
      type: 'Ready',
      status: 'True',
      reason: 'Accepted',
      message: 'the policy governs',
      observedGeneration: 1,
      lastTransitionTime: '2026-06-01T00:00:00Z',
    },
  ],
  matchedNodePools: 1,
  rotatingNodePools: 0,
  nodePools: [{ name: 'api', ageThreshold: '200h', candidates: 0, shortLead: 0, findings: ['TGPUnset'] }],
} as const;
