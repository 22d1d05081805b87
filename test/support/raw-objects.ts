/**
 * Objects as the API prints them, for everything that reads dumps: complete by default, each test names what it is about.
 */

type Raw = Record<string, unknown>;

export const rawPolicy = (spec: Raw = {}, name = 'api', metadata: Raw = {}): Raw => ({
  apiVersion: 'noderotation.io/v1alpha1',
  kind: 'RotationPolicy',
  metadata: { name, uid: `uid-${name}`, resourceVersion: '1', generation: 1, ...metadata },
  spec: {
    nodePoolSelector: { matchLabels: { workload: 'api' } },
    maintenanceWindows: [{ timezone: 'Asia/Tokyo', days: ['Wed', 'Sat'], start: '02:00', end: '06:00' }],
    ...spec,
  },
});

export function rawPool(over: { name?: string; metadata?: Raw; spec?: Raw; lifetime?: Raw; status?: Raw } = {}): Raw {
  const { name = 'api', metadata, spec, lifetime, status } = over;
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name, uid: `uid-${name}`, resourceVersion: '1', labels: { workload: 'api' }, ...metadata },
    spec: { template: { spec: { expireAfter: '336h', terminationGracePeriod: '1h', ...lifetime } }, ...spec },
    status: { conditions: [{ type: 'Ready', status: 'True' }], ...status },
  };
}

export function rawClaim(
  name: string,
  over: { pool?: string; created?: unknown; metadata?: Raw; spec?: Raw; status?: Raw } = {},
): Raw {
  const { pool = 'api', created = '2026-06-01T00:00:00Z', metadata, spec, status } = over;
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: {
      name,
      uid: `uid-${name}`,
      resourceVersion: '1',
      creationTimestamp: created,
      labels: { 'karpenter.sh/nodepool': pool },
      managedFields: [{ manager: 'karpenter', operation: 'Update', fieldsV1: { 'f:status': {} } }],
      ...metadata,
    },
    spec: { expireAfter: '336h', terminationGracePeriod: '1h', ...spec },
    status: {
      nodeName: `node-${name}`,
      providerID: `aws:///a/${name}`,
      conditions: [{ type: 'Ready', status: 'True' }],
      capacity: { cpu: '4', memory: '16Gi', pods: '58' },
      allocatable: { cpu: '3900m', memory: '15Gi', pods: '58' },
      ...status,
    },
  };
}

export const rawNode = (
  claim: string,
  over: { pool?: string; metadata?: Raw; spec?: Raw; status?: Raw } = {},
): Raw => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: `node-${claim}`,
    uid: `uid-node-${claim}`,
    resourceVersion: '1',
    labels: {
      'karpenter.sh/nodepool': over.pool ?? 'api',
      'kubernetes.io/hostname': `node-${claim}`,
      'topology.kubernetes.io/zone': 'ap-northeast-1a',
      'kubernetes.io/arch': 'arm64',
      'karpenter.sh/capacity-type': 'on-demand',
    },
    ...over.metadata,
  },
  spec: { providerID: `aws:///a/${claim}`, ...over.spec },
  status: {
    allocatable: { cpu: '3920m', memory: '15Gi', pods: '58' },
    conditions: [{ type: 'Ready', status: 'True' }],
    ...over.status,
  },
});

/** A running Pod of a ReplicaSet on the claim's node. */
export const rawPod = (
  name: string,
  claim: string,
  over: { metadata?: Raw; owner?: string; requests?: Raw; spec?: Raw; status?: Raw } = {},
): Raw => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'shop',
    uid: `uid-${name}`,
    resourceVersion: '1',
    ownerReferences: [{ kind: over.owner ?? 'ReplicaSet', name: 'owner', controller: true }],
    ...over.metadata,
  },
  spec: {
    nodeName: `node-${claim}`,
    containers: [{ name: 'main', resources: { requests: over.requests ?? { cpu: '500m', memory: '1Gi' } } }],
    ...over.spec,
  },
  status: { phase: 'Running', ...over.status },
});

export const rawBudget = (name: string, spec: Raw): Raw => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace: 'shop' },
  spec,
});

/** What `kubectl get …` prints for several objects. */
export const rawList = (...items: readonly Raw[]): Raw => ({
  apiVersion: 'v1',
  kind: 'List',
  items,
  metadata: { resourceVersion: '' },
});
