/**
 * The placeholder Pod: a low-priority, restricted Pod that makes Karpenter bring up capacity in the same NodePool.
 *
 * Karpenter refuses a required hostname term, so other nodes are only avoided by preference; the candidate itself is
 * kept free by its cordon. Karpenter follows only the heaviest preferred term at a time.
 */
import type { NodeMetadata } from '../cluster/node.ts';
import { hostnameLabel, nodePoolLabel } from '../cluster/node.ts';
import type { NodeClaim } from '../cluster/node-claim.ts';
import type { NodePool, Taint } from '../cluster/node-pool.ts';
import type { Toleration } from '../cluster/pod.ts';
import type { Requirement } from '../cluster/requirements.ts';
import type { ResourceList } from '../cluster/resource-list.ts';
import { formatResourceList, isExtended, isHugePages } from '../cluster/resource-list.ts';
import type { PlaceholderSettings } from '../cluster/snapshot.ts';
import type { RotationPolicy } from '../policy/rotation-policy.ts';
import { nodeKeys, surgeForLabel } from '../rotation/annotation-keys.ts';
import type { Duration } from '../time.ts';
import { minutes, second, sum } from '../time.ts';
import { sha256Hex } from './digest.ts';
import type { DroppedRequirement } from './replicated-requirements.ts';
import { replicatedRequirements } from './replicated-requirements.ts';
import { hostnameOf } from './reschedulable.ts';

/** A Pod as it goes to the API server, plain JSON. */
export interface PodManifest {
  readonly apiVersion: 'v1';
  readonly kind: 'Pod';
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

export interface Placeholder {
  readonly pod: PodManifest;
  /** Required keys that the pool no longer allows and that the Pod is therefore not held to. */
  readonly dropped: readonly DroppedRequirement[];
}

export interface PlaceholderInput {
  readonly claim: NodeClaim;
  /** The candidate's node. */
  readonly node: NodeMetadata;
  readonly pool: NodePool;
  readonly policy: RotationPolicy;
  /** The footprint; nothing at all makes a Pod without requests. */
  readonly requests: ResourceList;
  /** Poor hosts besides the candidate, made anew at every creation. */
  readonly avoid: readonly NodeMetadata[];
  readonly settings: PlaceholderSettings;
}

const longestPodName = 253;
const longestLabelValue = 63;

/** The one name that the placeholder of this claim can have. @design D8-06 */
export const placeholderName = (claimName: string): string =>
  shortened(`noderotation-surge-${claimName}`, claimName, longestPodName);

/** The claim's name as a label value can carry it. @design D8-06 */
export const surgeForValue = (claimName: string): string => shortened(claimName, claimName, longestLabelValue);

/** Cut to `longest` with 16 digits of the claim's digest at the end, if it is too long; the cut never ends in a mark. */
function shortened(text: string, claimName: string, longest: number): string {
  if (text.length <= longest) return text;
  const digest = sha256Hex(claimName).slice(0, 16);
  return `${text.slice(0, longest - digest.length - 1).replace(/[^A-Za-z0-9]+$/, '')}-${digest}`;
}

/**
 * The Pod that stands for the workload of one candidate.
 *
 * @design R3.3-02, R3.3-04, R3.3-07, R3.7-01, D8-06
 */
export function placeholderPod(input: PlaceholderInput): Placeholder {
  const { claim, pool, settings } = input;
  const { affinity, dropped } = affinityOf(input);
  const pod: PodManifest = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: placeholderName(claim.meta.name),
      namespace: settings.namespace,
      labels: {
        [surgeForLabel]: surgeForValue(claim.meta.name),
        [nodePoolLabel]: pool.meta.name,
        'app.kubernetes.io/name': 'node-rotation',
        'app.kubernetes.io/component': 'placeholder',
        'app.kubernetes.io/managed-by': 'node-rotation',
      },
      // From its first moment on Karpenter lets the host alone, even before the host itself is protected.
      annotations: { [nodeKeys.doNotDisrupt]: 'true' },
    },
    spec: {
      priorityClassName: settings.priorityClassName,
      preemptionPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      activeDeadlineSeconds: activeDeadline(input.policy.surge.readyTimeout),
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65535, seccompProfile: { type: 'RuntimeDefault' } },
      nodeSelector: { [nodePoolLabel]: pool.meta.name },
      affinity,
      tolerations: pool.template.taints.map(tolerationFor),
      containers: [container(input)],
    },
  };
  return { pod, dropped };
}

/** Seconds; the API takes 32 bits. An abandoned placeholder must not hold a drain for long. @design D8-06 */
const activeDeadline = (readyTimeout: Duration): number =>
  Math.min(Math.ceil(sum(readyTimeout, minutes(10)) / second), 2 ** 31 - 1);

function container({ requests, settings }: PlaceholderInput): Readonly<Record<string, unknown>> {
  // The API refuses to overcommit these.
  const limits: ResourceList = new Map([...requests].filter(([name]) => isExtended(name) || isHugePages(name)));
  return {
    name: 'pause',
    image: settings.image,
    imagePullPolicy: 'IfNotPresent',
    resources: {
      requests: formatResourceList(requests),
      ...(limits.size > 0 ? { limits: formatResourceList(limits) } : {}),
    },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
    },
  };
}

/** Exactly this taint: a bare Exists would also tolerate Karpenter's drain taint. @design R3.3-04, D8-07 */
const tolerationFor = ({ key, value, effect }: Taint): Toleration => ({
  key,
  operator: 'Equal',
  ...(value === undefined ? {} : { value }),
  effect,
});

/** One required term for the replicated keys, and preferred terms that say the same to Karpenter and the scheduler. @design D8-07 */
function affinityOf({ claim, node, pool, policy, avoid }: PlaceholderInput) {
  const keys = policy.surge.matchNodeRequirements;
  const required = replicatedRequirements(keys.required, node, claim, pool);
  const preferred = replicatedRequirements(keys.preferred, node, claim, pool);
  const others = [...new Set(avoid.map(hostnameOf))].filter((name) => name !== hostnameOf(node)).sort();
  const elsewhere: Requirement = { key: hostnameLabel, operator: 'NotIn', values: [hostnameOf(node), ...others] };
  const nodeAffinity = {
    ...(required.requirements.length === 0
      ? {}
      : {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: required.requirements }],
          },
        }),
    preferredDuringSchedulingIgnoredDuringExecution: preferredTerms(elsewhere, preferred.requirements),
  };
  return { affinity: { nodeAffinity }, dropped: required.dropped };
}

/** A weaker term that would repeat a stronger one is left out. */
function preferredTerms(elsewhere: Requirement, keys: readonly Requirement[]) {
  const term = (weight: number, matchExpressions: readonly Requirement[]) => ({
    weight,
    preference: { matchExpressions },
  });
  return [
    term(100, [elsewhere, ...keys]),
    ...(keys.length > 1 ? keys.map((key) => term(10, [elsewhere, key])) : []),
    ...(keys.length > 0 ? [term(1, [elsewhere])] : []),
  ];
}
