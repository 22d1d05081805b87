/**
 * Objects as operators and controllers write them, whole enough for a real API server to take them.
 */
import type { Manifest } from './operators-hand.ts';

type Fields = Readonly<Record<string, unknown>>;

export const nodeClassRef = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };
const requirements = [{ key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] }];
const condition = (type: string, status: string, reason: string): Fields => ({
  type,
  status,
  reason,
  message: '',
  lastTransitionTime: '2026-06-01T00:00:00Z',
});

export const nodePool = (name: string, spec: Fields = {}, metadata: Fields = {}): Manifest => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name, ...metadata },
  spec: {
    template: {
      metadata: { labels: { workload: 'api' } },
      spec: {
        expireAfter: '336h',
        terminationGracePeriod: '1h30m',
        nodeClassRef,
        requirements,
        taints: [{ key: 'dedicated', value: 'api', effect: 'NoSchedule' }],
      },
    },
    limits: { cpu: '100', memory: '400Gi' },
    ...spec,
  },
  status: { resources: { cpu: '8', memory: '32Gi' }, conditions: [condition('Ready', 'True', 'Ready')] },
});

export const nodeClaim = (name: string, pool: string, metadata: Fields = {}, spec: Fields = {}): Manifest => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { name, labels: { 'karpenter.sh/nodepool': pool }, ...metadata },
  spec: { expireAfter: '336h', terminationGracePeriod: '1h', nodeClassRef, requirements, ...spec },
  status: {
    nodeName: `node-of-${name}`,
    providerID: `kwok://${name}`,
    capacity: { cpu: '4', memory: '16Gi', pods: '58' },
    allocatable: { cpu: '3900m', memory: '15Gi', pods: '58' },
    conditions: [condition('Ready', 'True', 'Ready')],
  },
});

export const node = (name: string, metadata: Fields = {}, spec: Fields = {}): Manifest => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubernetes.io/hostname': name }, ...metadata },
  spec: { providerID: `kwok://${name}`, ...spec },
  status: {
    capacity: { cpu: '4', memory: '16Gi', pods: '58' },
    allocatable: { cpu: '3.92', memory: '15360Mi', pods: '58' },
    conditions: [condition('Ready', 'True', 'KubeletReady')],
  },
});

export const pod = (name: string, namespace: string, spec: Fields = {}, metadata: Fields = {}): Manifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, ...metadata },
  spec: {
    containers: [{ name: 'main', image: 'pause', resources: { requests: { cpu: '0.5', memory: '1024Mi' } } }],
    ...spec,
  },
});

export const budget = (name: string, namespace: string, spec: Fields): Manifest => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace },
  spec,
});

export const policy = (name: string, spec: Fields = {}, metadata: Fields = {}): Manifest => ({
  apiVersion: 'noderotation.io/v1alpha1',
  kind: 'RotationPolicy',
  metadata: { name, ...metadata },
  spec: {
    nodePoolSelector: { matchLabels: { workload: name } },
    maintenanceWindows: [{ timezone: 'Asia/Tokyo', days: ['Wed', 'Sat'], start: '02:00', end: '06:00' }],
    ...spec,
  },
});
