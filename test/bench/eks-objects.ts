/**
 * Objects as an EKS cluster with Karpenter serves them: every label, condition, image list and managedFields entry that a
 * real Node carries, because reading costs by the byte and half of a Node's bytes are nobody's business.
 */

export type Json = Readonly<Record<string, unknown>>;

export interface NodeShape {
  /** Of the NodeClaim; the Node is `ip-…`. */
  readonly claim: string;
  readonly pool: string;
  /** Position in the cluster, from 0; decides address, zone and the like. */
  readonly index: number;
  /** RFC 3339. */
  readonly created: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly unschedulable?: boolean;
}

const zones = ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'] as const;
const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

export const zoneOf = (index: number): string => zones[index % zones.length] as string;
const ipOf = (index: number): string => `10.${(index >> 14) & 255}.${(index >> 7) & 127}.${(index & 127) + 1}`;
export const nodeNameOf = (index: number): string =>
  `ip-${ipOf(index).replaceAll('.', '-')}.eu-west-1.compute.internal`;
const instanceOf = (index: number): string => `i-0${hex(index * 2_654_435_761, 16).slice(-16)}`;
const providerIdOf = (index: number): string => `aws:///${zoneOf(index)}/${instanceOf(index)}`;

/** Shaped like a random one, and the same in every run. */
export const uidOf = (kind: number, index: number): string =>
  `${hex(kind, 8)}-7c1e-4f3a-9b2d-${hex(index * 48_271 + 1, 12)}`;

/** `{"f:a":{},"f:b":{}}`, as server-side apply keeps who owns what. */
const owned = (keys: readonly string[]): Json => Object.fromEntries(keys.map((key) => [`f:${key}`, {}]));

const nodeClassLabels = {
  'beta.kubernetes.io/arch': 'arm64',
  'beta.kubernetes.io/instance-type': 'm7g.xlarge',
  'beta.kubernetes.io/os': 'linux',
  'eks.amazonaws.com/capacityType': 'ON_DEMAND',
  'failure-domain.beta.kubernetes.io/region': 'eu-west-1',
  'k8s.io/cloud-provider-aws': '0f2a1d6b7c8e9f00112233445566778a',
} as const;

const labelsOf = ({ pool, index }: NodeShape): Readonly<Record<string, string>> => ({
  'karpenter.k8s.aws/ec2nodeclass': 'default',
  'karpenter.k8s.aws/instance-category': 'm',
  'karpenter.k8s.aws/instance-cpu': '4',
  'karpenter.k8s.aws/instance-cpu-manufacturer': 'aws',
  'karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz': '2600',
  'karpenter.k8s.aws/instance-ebs-bandwidth': '10000',
  'karpenter.k8s.aws/instance-encryption-in-transit-supported': 'true',
  'karpenter.k8s.aws/instance-family': 'm7g',
  'karpenter.k8s.aws/instance-generation': '7',
  'karpenter.k8s.aws/instance-hypervisor': 'nitro',
  'karpenter.k8s.aws/instance-memory': '16384',
  'karpenter.k8s.aws/instance-network-bandwidth': '1876',
  'karpenter.k8s.aws/instance-size': 'xlarge',
  'karpenter.sh/capacity-type': 'on-demand',
  'karpenter.sh/nodepool': pool,
  'kubernetes.io/arch': 'arm64',
  'kubernetes.io/os': 'linux',
  'node.kubernetes.io/instance-type': 'm7g.xlarge',
  'topology.k8s.aws/zone-id': `euw1-az${(index % zones.length) + 1}`,
  'topology.kubernetes.io/region': 'eu-west-1',
  'topology.kubernetes.io/zone': zoneOf(index),
  workload: 'bench',
});

const nodeLabelsOf = (shape: NodeShape): Readonly<Record<string, string>> => ({
  ...nodeClassLabels,
  ...labelsOf(shape),
  'failure-domain.beta.kubernetes.io/zone': zoneOf(shape.index),
  'karpenter.sh/initialized': 'true',
  'karpenter.sh/registered': 'true',
  'kubernetes.io/hostname': nodeNameOf(shape.index),
});

const conditionTypes = ['Initialized', 'Launched', 'Registered', 'ConsistentStateFound', 'NodeClassReady', 'Ready'];

const condition = (type: string, at: string, status = 'True'): Json => ({
  lastTransitionTime: at,
  message: '',
  observedGeneration: 1,
  reason: type,
  status,
  type,
});

const quantities = (cpu: string, memory: string, storage: string): Json => ({
  cpu,
  'ephemeral-storage': storage,
  'hugepages-1Gi': '0',
  'hugepages-2Mi': '0',
  'hugepages-32Mi': '0',
  'hugepages-64Ki': '0',
  memory,
  pods: '58',
});
const capacity = quantities('4', '15896356Ki', '83864556Ki');
const allocatable = quantities('3920m', '14879524Ki', '76224326324');

export function nodeClaimOf(shape: NodeShape): Json {
  const { claim, pool, index, created, annotations = {} } = shape;
  const labels = labelsOf(shape);
  const ownAnnotations = {
    'compatibility.karpenter.k8s.aws/cluster-name-tagged': 'true',
    'karpenter.k8s.aws/ec2nodeclass-hash': '4030572921803402911',
    'karpenter.k8s.aws/ec2nodeclass-hash-version': 'v4',
    'karpenter.k8s.aws/tagged': 'true',
    'karpenter.sh/nodepool-hash': '6698513171926428124',
    'karpenter.sh/nodepool-hash-version': 'v3',
    ...annotations,
  };
  const requirement = (key: string, ...values: string[]): Json => ({ key, operator: 'In', values });
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: {
      annotations: ownAnnotations,
      creationTimestamp: created,
      finalizers: ['karpenter.sh/termination'],
      generateName: `${pool}-`,
      generation: 1,
      labels,
      managedFields: [
        {
          apiVersion: 'karpenter.sh/v1',
          fieldsType: 'FieldsV1',
          fieldsV1: {
            'f:metadata': {
              'f:annotations': { '.': {}, ...owned(Object.keys(ownAnnotations)) },
              'f:finalizers': { '.': {}, 'v:"karpenter.sh/termination"': {} },
              'f:generateName': {},
              'f:labels': { '.': {}, ...owned(Object.keys(labels)) },
              'f:ownerReferences': { '.': {}, [`k:{"uid":"${uidOf(9, 0)}"}`]: {} },
            },
            'f:spec': owned([
              '.',
              'expireAfter',
              'nodeClassRef',
              'requirements',
              'resources',
              'terminationGracePeriod',
            ]),
          },
          manager: 'karpenter',
          operation: 'Update',
          time: created,
        },
        {
          apiVersion: 'karpenter.sh/v1',
          fieldsType: 'FieldsV1',
          fieldsV1: {
            'f:status': owned(['.', 'allocatable', 'capacity', 'conditions', 'imageID', 'nodeName', 'providerID']),
          },
          manager: 'karpenter',
          operation: 'Update',
          subresource: 'status',
          time: created,
        },
      ],
      name: claim,
      ownerReferences: [
        {
          apiVersion: 'karpenter.sh/v1',
          blockOwnerDeletion: true,
          kind: 'NodePool',
          name: pool,
          uid: uidOf(9, 0),
        },
      ],
      resourceVersion: String(1_000_000 + index),
      uid: uidOf(1, index),
    },
    spec: {
      expireAfter: '336h',
      nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
      requirements: [
        requirement('karpenter.sh/nodepool', pool),
        requirement('karpenter.sh/capacity-type', 'on-demand'),
        requirement('kubernetes.io/arch', 'arm64'),
        requirement('kubernetes.io/os', 'linux'),
        requirement('topology.kubernetes.io/zone', zoneOf(index)),
        requirement('node.kubernetes.io/instance-type', 'm7g.xlarge', 'm7g.2xlarge', 'm8g.xlarge', 'm8g.2xlarge'),
        requirement('karpenter.k8s.aws/ec2nodeclass', 'default'),
      ],
      resources: { requests: { cpu: '3150m', memory: '11Gi', pods: '28' } },
      terminationGracePeriod: '1h',
    },
    status: {
      allocatable,
      capacity,
      conditions: conditionTypes.map((type) => condition(type, created)),
      imageID: 'ami-0a1b2c3d4e5f67890',
      lastPodEventTime: created,
      nodeName: nodeNameOf(index),
      providerID: providerIdOf(index),
    },
  };
}

const kubeletConditions = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** The metadata alone, as PartialObjectMetadata has it. */
export function nodeMetadataOf(shape: NodeShape): Json {
  const { claim, index, created, annotations = {} } = shape;
  const labels = nodeLabelsOf(shape);
  const ownAnnotations = {
    'alpha.kubernetes.io/provided-node-ip': ipOf(index),
    'csi.volume.kubernetes.io/nodeid': JSON.stringify({
      'ebs.csi.aws.com': instanceOf(index),
      'efs.csi.aws.com': instanceOf(index),
    }),
    'karpenter.k8s.aws/ec2nodeclass-hash': '4030572921803402911',
    'karpenter.k8s.aws/ec2nodeclass-hash-version': 'v4',
    'karpenter.sh/nodepool-hash': '6698513171926428124',
    'karpenter.sh/nodepool-hash-version': 'v3',
    'node.alpha.kubernetes.io/ttl': '15',
    'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
    ...annotations,
  };
  const managed = (manager: string, fieldsV1: Json, subresource?: string): Json => ({
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1,
    manager,
    operation: 'Update',
    ...(subresource === undefined ? {} : { subresource }),
    time: created,
  });
  return {
    annotations: ownAnnotations,
    creationTimestamp: created,
    finalizers: ['karpenter.sh/termination'],
    labels,
    managedFields: [
      managed('kubelet', {
        'f:metadata': {
          'f:annotations': { '.': {}, ...owned(Object.keys(ownAnnotations).slice(0, 2)) },
          'f:labels': { '.': {}, ...owned(Object.keys(labels)) },
        },
        'f:spec': { 'f:providerID': {} },
      }),
      managed('karpenter', {
        'f:metadata': {
          'f:annotations': owned(Object.keys(ownAnnotations).slice(2, 6)),
          'f:finalizers': { '.': {}, 'v:"karpenter.sh/termination"': {} },
          'f:labels': owned(['karpenter.sh/initialized', 'karpenter.sh/registered']),
          'f:ownerReferences': { '.': {}, [`k:{"uid":"${uidOf(1, index)}"}`]: {} },
        },
      }),
      managed('aws-cloud-controller-manager', {
        'f:metadata': { 'f:labels': owned(Object.keys(nodeClassLabels)) },
        'f:spec': { 'f:providerID': {} },
      }),
      managed('kube-controller-manager', {
        'f:metadata': { 'f:annotations': owned(['node.alpha.kubernetes.io/ttl']) },
      }),
      managed(
        'kubelet',
        {
          'f:status': {
            'f:allocatable': owned(Object.keys(allocatable)),
            'f:capacity': owned(Object.keys(capacity)),
            'f:conditions': Object.fromEntries(
              [...kubeletConditions, 'Ready'].map((type) => [
                `k:{"type":"${type}"}`,
                owned(['lastHeartbeatTime', 'lastTransitionTime', 'message', 'reason', 'status']),
              ]),
            ),
            'f:images': {},
          },
        },
        'status',
      ),
    ],
    name: nodeNameOf(index),
    ownerReferences: [
      { apiVersion: 'karpenter.sh/v1', blockOwnerDeletion: true, kind: 'NodeClaim', name: claim, uid: uidOf(1, index) },
    ],
    resourceVersion: String(2_000_000 + index),
    uid: uidOf(2, index),
  };
}

/** A kubelet tells of at most 50 images, each by digest and by tag. */
const images = Array.from({ length: 28 }, (_, n) => ({
  names: [
    `111122223333.dkr.ecr.eu-west-1.amazonaws.com/service-${n}@sha256:${hex(n * 7_919 + 1, 64)}`,
    `111122223333.dkr.ecr.eu-west-1.amazonaws.com/service-${n}:v1.${n}.0`,
  ],
  sizeBytes: 104_857_600 + n * 1_048_576,
}));

export function nodeOf(shape: NodeShape): Json {
  const { index, created, unschedulable } = shape;
  const kubelet = (type: string, status: string): Json => ({
    lastHeartbeatTime: created,
    lastTransitionTime: created,
    message: type === 'Ready' ? 'kubelet is posting ready status' : `kubelet has no ${type}`,
    reason: type === 'Ready' ? 'KubeletReady' : `KubeletHasNo${type}`,
    status,
    type,
  });
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: nodeMetadataOf(shape),
    spec: {
      podCIDR: `10.244.${index & 255}.0/24`,
      providerID: providerIdOf(index),
      ...(unschedulable
        ? { unschedulable, taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] }
        : {}),
    },
    status: {
      addresses: [
        { address: ipOf(index), type: 'InternalIP' },
        { address: nodeNameOf(index), type: 'InternalDNS' },
        { address: nodeNameOf(index), type: 'Hostname' },
      ],
      allocatable,
      capacity,
      conditions: [...kubeletConditions.map((type) => kubelet(type, 'False')), kubelet('Ready', 'True')],
      daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
      images,
      nodeInfo: {
        architecture: 'arm64',
        bootID: uidOf(3, index),
        containerRuntimeVersion: 'containerd://2.1.4',
        kernelVersion: '6.12.40-64.114.amzn2023.aarch64',
        kubeletVersion: 'v1.35.2-eks-1a2b3c4',
        machineID: hex(index, 32),
        operatingSystem: 'linux',
        osImage: 'Amazon Linux 2023.9.20260928',
        systemUUID: uidOf(4, index),
      },
    },
  };
}

/** One of the Pods on a node: the first few belong to DaemonSets, the others to ReplicaSets. */
export function podOf(node: number, position: number, created: string): Json {
  const daemon = position < 4;
  const app = daemon ? `agent-${position}` : `service-${position % 12}`;
  const name = `${app}-${hex(node, 5)}${hex(position, 3)}`;
  const labels = {
    app,
    'app.kubernetes.io/component': 'server',
    'app.kubernetes.io/instance': app,
    'app.kubernetes.io/managed-by': 'Helm',
    'app.kubernetes.io/name': app,
    'app.kubernetes.io/version': '1.27.4',
    'pod-template-hash': '7d9c5b8f6d',
  };
  const container = (part: string): Json => ({
    env: Array.from({ length: 8 }, (_, n) => ({ name: `SETTING_${n}`, value: `value-of-setting-${n}` })),
    image: `111122223333.dkr.ecr.eu-west-1.amazonaws.com/${app}:v1.27.4`,
    imagePullPolicy: 'IfNotPresent',
    livenessProbe: { failureThreshold: 3, httpGet: { path: '/live', port: 8080, scheme: 'HTTP' }, periodSeconds: 10 },
    name: part,
    ports: [{ containerPort: 8080, name: 'http', protocol: 'TCP' }],
    readinessProbe: { failureThreshold: 3, httpGet: { path: '/ready', port: 8080, scheme: 'HTTP' }, periodSeconds: 10 },
    resources: { limits: { memory: '256Mi' }, requests: { cpu: '50m', memory: '256Mi' } },
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, runAsNonRoot: true },
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    volumeMounts: [
      { mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', name: 'kube-api-access-x7k2p', readOnly: true },
    ],
  });
  const status = (part: string): Json => ({
    containerID: `containerd://${hex(node * 100 + position, 64)}`,
    image: `111122223333.dkr.ecr.eu-west-1.amazonaws.com/${app}:v1.27.4`,
    imageID: `111122223333.dkr.ecr.eu-west-1.amazonaws.com/${app}@sha256:${hex(position + 1, 64)}`,
    lastState: {},
    name: part,
    ready: true,
    restartCount: 0,
    started: true,
    state: { running: { startedAt: created } },
  });
  const parts = ['main', 'proxy'];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      creationTimestamp: created,
      generateName: `${app}-`,
      labels,
      managedFields: ['kube-controller-manager', 'kubelet'].map((manager) => ({
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:metadata': { 'f:labels': { '.': {}, ...owned(Object.keys(labels)) } },
          'f:spec': owned(['containers', 'dnsPolicy', 'enableServiceLinks', 'restartPolicy', 'schedulerName']),
          'f:status': owned(['conditions', 'containerStatuses', 'hostIP', 'phase', 'podIP', 'podIPs', 'startTime']),
        },
        manager,
        operation: 'Update',
        time: created,
      })),
      name,
      namespace: 'shop',
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          blockOwnerDeletion: true,
          controller: true,
          kind: daemon ? 'DaemonSet' : 'ReplicaSet',
          name: app,
          uid: uidOf(5, position),
        },
      ],
      resourceVersion: String(3_000_000 + node * 100 + position),
      uid: uidOf(6, node * 100 + position),
    },
    spec: {
      containers: parts.map(container),
      dnsPolicy: 'ClusterFirst',
      enableServiceLinks: true,
      nodeName: nodeNameOf(node),
      preemptionPolicy: 'PreemptLowerPriority',
      priority: 0,
      restartPolicy: 'Always',
      schedulerName: 'default-scheduler',
      serviceAccountName: app,
      terminationGracePeriodSeconds: 30,
      tolerations: ['not-ready', 'unreachable'].map((what) => ({
        effect: 'NoExecute',
        key: `node.kubernetes.io/${what}`,
        operator: 'Exists',
        tolerationSeconds: 300,
      })),
      volumes: [{ name: 'kube-api-access-x7k2p', projected: { defaultMode: 420, sources: [] } }],
    },
    status: {
      conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(
        (type) => ({ lastProbeTime: null, lastTransitionTime: created, status: 'True', type }),
      ),
      containerStatuses: parts.map(status),
      hostIP: ipOf(node),
      phase: 'Running',
      podIP: `10.244.${node & 255}.${position + 1}`,
      podIPs: [{ ip: `10.244.${node & 255}.${position + 1}` }],
      qosClass: 'Burstable',
      startTime: created,
    },
  };
}
