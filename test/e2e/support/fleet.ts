/**
 * What people put into a cluster: a NodePool of four-core machines, Pods for it, and a RotationPolicy.
 */
import type { KubeDocument } from '../harness/kube-api.ts';

export const nodeClass: KubeDocument = {
  apiVersion: 'karpenter.kwok.sh/v1alpha1',
  kind: 'KWOKNodeClass',
  metadata: { name: 'default' },
};

export interface PoolOptions {
  readonly name: string;
  readonly expireAfter: string;
  readonly terminationGracePeriod: string;
}

/** A pool that Karpenter leaves as it is: nothing is consolidated. */
export const nodePool = ({ name, expireAfter, terminationGracePeriod }: PoolOptions): KubeDocument => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name, labels: { workload: name } },
  spec: {
    disruption: { consolidationPolicy: 'WhenEmpty', consolidateAfter: 'Never' },
    template: {
      spec: {
        nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
        expireAfter,
        terminationGracePeriod,
        requirements: [
          { key: 'karpenter.kwok.sh/instance-cpu', operator: 'In', values: ['4'] },
          { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
          { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
          { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
          // Of equal prices Karpenter takes any zone, and a placeholder only goes where its node was.
          { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['test-zone-a'] },
        ],
      },
    },
  },
});

export interface WorkloadOptions {
  readonly name: string;
  readonly pool: string;
  readonly replicas: number;
  readonly cpu: string;
  /** How long each Pod takes to stop, where the control plane delays it. */
  readonly stopsIn?: string;
}

export const workload = ({ name, pool, replicas, cpu, stopsIn }: WorkloadOptions): KubeDocument => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: {
        labels: { app: name },
        annotations: stopsIn === undefined ? {} : { 'pod-delete.stage.kwok.x-k8s.io/delay': stopsIn },
      },
      spec: {
        nodeSelector: { 'karpenter.sh/nodepool': pool },
        containers: [{ name: 'main', image: 'example.org/app:1', resources: { requests: { cpu } } }],
      },
    },
  },
});

export const oneAtATime = (name: string): KubeDocument => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name },
  spec: { maxUnavailable: 1, selector: { matchLabels: { app: name } } },
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
