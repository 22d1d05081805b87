/**
 * What people put into a cluster: a NodePool of four-core machines, Pods for it, and a RotationPolicy.
 */
import type { KubeDocument } from '../harness/kube-api.ts';

/** @param registrationDelay from a machine's launch to its Node; read at each launch */
export const nodeClassNamed = (name: string, registrationDelay?: string): KubeDocument => ({
  apiVersion: 'karpenter.kwok.sh/v1alpha1',
  kind: 'KWOKNodeClass',
  metadata: { name },
  ...(registrationDelay !== undefined && { spec: { nodeRegistrationDelay: registrationDelay } }),
});

export const nodeClass = nodeClassNamed('default');

export interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface PoolOptions {
  readonly name: string;
  readonly expireAfter: string;
  readonly terminationGracePeriod: string;
  /** Unless said otherwise nothing is consolidated. */
  readonly disruption?: object;
  readonly nodeClass?: string;
  /** Besides system, architecture and price. */
  readonly requirements?: readonly Requirement[];
  /** Of NodePool's `spec`, such as `limits`. */
  readonly spec?: object;
  /** Of every node of it. */
  readonly labels?: Readonly<Record<string, string>>;
}

const fourCoresInOneZone: readonly Requirement[] = [
  { key: 'karpenter.kwok.sh/instance-cpu', operator: 'In', values: ['4'] },
  // Of equal prices Karpenter takes any zone, and a placeholder only goes where its node was.
  { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['test-zone-a'] },
];

/** A pool that Karpenter leaves as it is, unless `disruption` says otherwise. */
export const nodePool = ({
  name,
  expireAfter,
  terminationGracePeriod,
  disruption = { consolidationPolicy: 'WhenEmpty', consolidateAfter: 'Never' },
  nodeClass: className = 'default',
  requirements = fourCoresInOneZone,
  spec = {},
  labels = {},
}: PoolOptions): KubeDocument => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name, labels: { workload: name } },
  spec: {
    disruption,
    template: {
      metadata: { labels },
      spec: {
        nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: className },
        expireAfter,
        terminationGracePeriod,
        requirements: [
          { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
          { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
          { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
          ...requirements,
        ],
      },
    },
    ...spec,
  },
});

export interface WorkloadOptions {
  readonly name: string;
  readonly pool: string;
  readonly replicas: number;
  readonly cpu: string;
  /** How long each Pod takes to stop, where the control plane delays it. */
  readonly stopsIn?: string;
  /** Besides node selector and container. */
  readonly podSpec?: object;
}

export const workload = ({ name, replicas, ...pods }: WorkloadOptions): KubeDocument => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: { replicas, selector: { matchLabels: { app: name } }, template: podTemplate({ name, ...pods }) },
});

/** Its Pods have names of their own: one that is evicted comes again only when it has stopped. */
export const statefulSet = ({ name, replicas, ...pods }: WorkloadOptions): KubeDocument => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name },
  spec: {
    ...{ serviceName: name, replicas, selector: { matchLabels: { app: name } } },
    template: podTemplate({ name, ...pods }),
  },
});

/** What every kind of workload has: Pods labelled `app`, of one container, on nodes of the pool. */
export const podTemplate = ({ name, pool, cpu, stopsIn, podSpec = {} }: Omit<WorkloadOptions, 'replicas'>) => ({
  metadata: {
    labels: { app: name },
    annotations: stopsIn === undefined ? {} : { 'pod-delete.stage.kwok.x-k8s.io/delay': stopsIn },
  },
  spec: {
    nodeSelector: { 'karpenter.sh/nodepool': pool },
    containers: [{ name: 'main', image: 'example.org/app:1', resources: { requests: { cpu } } }],
    ...podSpec,
  },
});

/** @param spec besides, such as `unhealthyPodEvictionPolicy` */
export const oneAtATime = (name: string, spec: object = {}): KubeDocument => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name },
  spec: { maxUnavailable: 1, selector: { matchLabels: { app: name } }, ...spec },
});

/** Its window never closes. */
export const policy = (pool: string, spec: object = {}): KubeDocument => ({
  apiVersion: 'noderotation.io/v1alpha1',
  kind: 'RotationPolicy',
  metadata: { name: pool },
  spec: {
    nodePoolSelector: { matchLabels: { workload: pool } },
    maintenanceWindows: [
      { timezone: 'UTC', days: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'], start: '00:00', end: '24:00' },
    ],
    ...spec,
  },
});
