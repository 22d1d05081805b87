import { expect, test } from 'vitest';
import { conditionOf } from '../../lib/simulator/kube-object.ts';
import type { World } from '../../lib/simulator/world.ts';
import { addPod, create, emptyWorld, nodes, pass, pod } from '../support/small-world.ts';

function addNode(
  world: World,
  name: string,
  over: { labels?: object; spec?: object; ready?: boolean; cpu?: string } = {},
): void {
  const { labels = {}, spec = {}, ready = true, cpu = '4' } = over;
  world.store.adopt({
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec,
    status: {
      allocatable: { cpu, memory: '8Gi', pods: '10' },
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-06-01T00:00:00Z' }],
    },
  });
}

const hostOf = (world: World, name: string) => pod(world, name)?.spec.nodeName;
const why = (world: World, name: string) => conditionOf(pod(world, name) ?? { status: {} }, 'PodScheduled');

test('a Pod goes to the node with the larger free share, and the next one to the other (D14-02)', () => {
  const world = emptyWorld();
  addNode(world, 'n1');
  addNode(world, 'n2');
  addPod(world, 'a');
  addPod(world, 'b');
  pass(world, '1s');
  expect([hostOf(world, 'a'), hostOf(world, 'b')]).toEqual(['n1', 'n2']);
});

test('a request at the bound fits and one above it does not (D14-02)', () => {
  const world = emptyWorld();
  addNode(world, 'n1');
  addPod(world, 'fits', { cpu: '4' });
  pass(world, '1s');
  expect(hostOf(world, 'fits')).toBe('n1');
  addPod(world, 'above', { cpu: '1m' });
  pass(world, '1s');
  expect(why(world, 'above')).toMatchObject({
    status: 'False',
    reason: 'Unschedulable',
    message: expect.stringContaining('0/1 nodes are available: 1 Insufficient cpu.'),
  });
});

test.each([
  ['a cordon', { spec: { unschedulable: true } }, 'node(s) were unschedulable'],
  [
    'a taint',
    { spec: { taints: [{ key: 'team', value: 'x', effect: 'NoSchedule' }] } },
    'untolerated taint(s) {team: x}',
  ],
  ['a node that is not Ready', { ready: false }, 'not-ready'],
])('%s keeps a Pod away, and the condition says so (D14-02)', (_, over, words) => {
  const world = emptyWorld();
  addNode(world, 'n1', over);
  addPod(world, 'a');
  pass(world, '1s');
  expect(why(world, 'a')?.message).toContain(words);
});

test('a toleration opens a tainted node (D14-02)', () => {
  const world = emptyWorld();
  addNode(world, 'n1', { spec: { taints: [{ key: 'team', value: 'x', effect: 'NoSchedule' }] } });
  addPod(world, 'a', { spec: { tolerations: [{ key: 'team', operator: 'Equal', value: 'x' }] } });
  pass(world, '1s');
  expect(hostOf(world, 'a')).toBe('n1');
});

test('nodeSelector and required terms bind, preferred terms only weigh (D14-02)', () => {
  const world = emptyWorld();
  addNode(world, 'n1', { labels: { zone: 'a' } });
  addNode(world, 'n2', { labels: { zone: 'b' } });
  const term = (operator: string, ...values: string[]) => ({ matchExpressions: [{ key: 'zone', operator, values }] });
  const required = (...nodeSelectorTerms: object[]) => ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  });
  const preferred = {
    affinity: {
      nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: term('In', 'b') }] },
    },
  };
  addPod(world, 'selected', { spec: { nodeSelector: { zone: 'b' } } });
  addPod(world, 'either', { spec: required(term('In', 'x'), term('NotIn', 'a')) });
  addPod(world, 'prefers', { spec: preferred });
  addPod(world, 'nowhere', { spec: required(term('In', 'x')) });
  pass(world, '1s');
  expect(['selected', 'either', 'prefers', 'nowhere'].map((name) => hostOf(world, name))).toEqual([
    'n2',
    'n2',
    'n2',
    undefined,
  ]);
});

test('a Pod preempts the lower priority that it needs gone and no more (D14-02)', () => {
  const world = emptyWorld();
  addNode(world, 'n1');
  create(world, { kind: 'PriorityClass', metadata: { name: 'high' }, value: 100 });
  const spec = { priorityClassName: 'node-rotation-placeholder', terminationGracePeriodSeconds: 0 };
  addPod(world, 'low', { cpu: '2', spec });
  addPod(world, 'normal', { cpu: '2' });
  pass(world, '1s');
  addPod(world, 'high', { cpu: '2', spec: { priorityClassName: 'high' } });
  pass(world, '1s');
  expect([hostOf(world, 'high'), hostOf(world, 'normal'), pod(world, 'low')]).toEqual(['n1', 'n1', undefined]);
});

test('while its victim stops, the node stays promised to the preemptor (D14-02)', () => {
  const world = emptyWorld();
  addNode(world, 'n1', { cpu: '2' });
  create(world, { kind: 'PriorityClass', metadata: { name: 'high' }, value: 100 });
  addPod(world, 'normal', { cpu: '2' });
  pass(world, '10s');
  addPod(world, 'high', { cpu: '2', spec: { priorityClassName: 'high' } });
  pass(world, '1s');
  expect(pod(world, 'high')?.status.nominatedNodeName).toBe('n1');
  addPod(world, 'late', { cpu: '1' });
  pass(world, '10s');
  expect([hostOf(world, 'high'), hostOf(world, 'late'), nodes(world).length]).toEqual(['n1', undefined, 1]);
});

test('preemptionPolicy Never takes nobody away (D14-02)', () => {
  const world = emptyWorld();
  addNode(world, 'n1', { cpu: '2' });
  create(world, { kind: 'PriorityClass', metadata: { name: 'polite' }, value: 100, preemptionPolicy: 'Never' });
  addPod(world, 'normal', { cpu: '2' });
  addPod(world, 'polite', { cpu: '3', spec: { priorityClassName: 'polite' } });
  pass(world, '10s');
  expect([hostOf(world, 'normal'), hostOf(world, 'polite')]).toEqual(['n1', undefined]);
});
