/**
 * The cluster of the explorations: one pool, an old NodeClaim with one Pod, and on request a younger one that has room.
 *
 * It holds no more than the protocol can notice; every further object would multiply the states.
 */
import type { Instant } from '../../../lib/domain/time.ts';
import type {
  ClaimObject,
  KubeObject,
  Manifest,
  NodeObject,
  PodObject,
  Strings,
} from '../../../lib/simulator/kube-object.ts';
import { isDeleting } from '../../../lib/simulator/kube-object.ts';
import { at } from '../../support/builders.ts';
import { rawClaim, rawNode, rawPod, rawPolicy, rawPool } from '../../support/raw-objects.ts';
import { settings } from '../../support/story.ts';
import type { Stage } from './stage.ts';

/** Wednesday 02:00 in Tokyo. The window closes four hours later. */
export const windowOpens: Instant = at('2026-06-09T17:00:00Z');
export const windowCloses: Instant = at('2026-06-09T21:00:00Z');

export const oldClaim = 'old';
const finalizers = ['karpenter.sh/termination'];

export interface ClusterShape {
  /** A younger node of the pool with room for the placeholder. */
  readonly spare?: boolean;
  /** Of the policy's spec. */
  readonly policy?: Readonly<Record<string, unknown>>;
}

export function smallCluster({ spare = false, policy = {} }: ClusterShape): readonly Manifest[] {
  const younger = spare
    ? [
        rawClaim('spare', { created: '2026-06-08T17:00:00Z', metadata: { finalizers } }),
        rawNode('spare', { metadata: { finalizers } }),
      ]
    : [];
  return [
    ...['default', 'shop', settings.namespace].map((name) => ({ kind: 'Namespace', metadata: { name } })),
    { kind: 'PriorityClass', metadata: { name: settings.priorityClassName }, value: -10, preemptionPolicy: 'Never' },
    rawPolicy(policy),
    rawPool(),
    rawClaim(oldClaim, { created: '2026-05-31T00:00:00Z', metadata: { finalizers } }),
    rawNode(oldClaim, { metadata: { finalizers } }),
    rawPod('web', oldClaim, { requests: { cpu: '1' } }),
    ...younger,
  ] as unknown as readonly Manifest[];
}

/** A NodeClaim that Karpenter has just made; its Node follows. */
export function newClaim(name: string, created: string): Manifest {
  const raw = rawClaim(name, { created, metadata: { finalizers } }) as unknown as Manifest;
  const { nodeName: _nodeName, ...status } = raw.status as Strings;
  return { ...raw, status: { ...status, conditions: [] } };
}

export const newNode = (claim: string): Manifest => rawNode(claim, { metadata: { finalizers } }) as unknown as Manifest;

export const claimsIn = ({ store }: Stage): readonly ClaimObject[] => store.all<ClaimObject>('NodeClaim');
export const claimIn = ({ store }: Stage, name: string): ClaimObject | undefined =>
  store.get('NodeClaim', name) as ClaimObject | undefined;
export const nodesIn = ({ store }: Stage): readonly NodeObject[] => store.all<NodeObject>('Node');
export const nodeBehind = (stage: Stage, claim: string): NodeObject | undefined =>
  stage.store.get('Node', claimIn(stage, claim)?.status.nodeName ?? '') as NodeObject | undefined;
export const claimBehind = (stage: Stage, node: string): ClaimObject | undefined =>
  claimsIn(stage).find(({ status }) => status.nodeName === node);
export const podsIn = ({ store }: Stage): readonly PodObject[] => store.all<PodObject>('Pod');
export const placeholderIn = (stage: Stage): PodObject | undefined =>
  podsIn(stage).find(({ metadata }) => metadata.namespace === 'node-rotation');
export const poolIn = ({ store }: Stage): KubeObject | undefined => store.get('NodePool', 'api');
export const policyIn = ({ store }: Stage): KubeObject | undefined => store.get('RotationPolicy', 'api');

export const isPlaceholder = ({ metadata }: KubeObject): boolean => metadata.namespace === 'node-rotation';

const prefix = 'noderotation.io/';

/** Annotations of ours, without the prefix. */
export const marksOf = (object: KubeObject | undefined): Strings =>
  Object.fromEntries(
    Object.entries(object?.metadata.annotations ?? {}).flatMap(([key, value]) =>
      key.startsWith(prefix) ? [[key.slice(prefix.length), value]] : [],
    ),
  );

export const doNotDisrupt = (object: KubeObject | undefined): string | undefined =>
  object?.metadata.annotations?.['karpenter.sh/do-not-disrupt'];

export const isCordoned = (node: NodeObject | undefined): boolean => node?.spec.unschedulable === true;

/** The host that is marked for the old claim, the old node itself aside. */
export const hostIn = (stage: Stage): NodeObject | undefined => {
  const old = claimIn(stage, oldClaim)?.status.nodeName ?? `node-${oldClaim}`;
  return nodesIn(stage).find((node) => marksOf(node)['surge-for'] === oldClaim && node.metadata.name !== old);
};

/** Takes Pods as far as people and Karpenter are concerned; what it has chosen itself carries its taint. */
export function takesPods(stage: Stage, node: NodeObject): boolean {
  const claim = claimBehind(stage, node.metadata.name);
  return !isCordoned(node) && !isDeleting(node) && claim !== undefined && !isDeleting(claim) && !isChosen(claim);
}

/** Karpenter's own disruption has chosen it. */
export const isChosen = (claim: ClaimObject | undefined): boolean =>
  (claim?.status.conditions ?? []).some(({ type }) => type === 'DisruptionReason');

/** CPU that is left, in thousandths. */
export function cpuLeft(stage: Stage, node: NodeObject): number {
  const used = stage.store.podsOn(node.metadata.name).map(cpuOf);
  return used.reduce((left, each) => left - each, 3920);
}

export const cpuOf = (pod: PodObject): number =>
  (pod.spec.containers ?? []).reduce((sum, { resources }) => sum + thousandths(resources?.requests?.['cpu']), 0);

const thousandths = (text = '0'): number => (text.endsWith('m') ? Number(text.slice(0, -1)) : Number(text) * 1000);
