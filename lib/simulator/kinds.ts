/**
 * The kinds of object that the simulated API serves, and how each is addressed.
 */

export type KindName =
  | 'NodePool'
  | 'NodeClaim'
  | 'Node'
  | 'Pod'
  | 'Event'
  | 'RotationPolicy'
  | 'PodDisruptionBudget'
  | 'Deployment'
  | 'ReplicaSet'
  | 'DaemonSet'
  | 'StatefulSet'
  | 'Job'
  | 'Namespace'
  | 'PriorityClass'
  | 'CustomResourceDefinition';

export interface Kind {
  readonly kind: KindName;
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  /** Defined by a CustomResourceDefinition. */
  readonly custom: boolean;
  /** Its status is written through the status subresource only. */
  readonly hasStatus: boolean;
}

const row = (
  kind: KindName,
  groupVersion: string,
  plural: string,
  scope: 'Namespaced' | 'Cluster',
  shortNames: readonly string[] = [],
  hasStatus = true,
): Kind => {
  const [version, group] = groupVersion.split('/').reverse() as [string, string | undefined];
  const custom = ['karpenter.sh', 'noderotation.io'].includes(group ?? '');
  return {
    kind,
    group: group ?? '',
    version,
    plural,
    shortNames,
    namespaced: scope === 'Namespaced',
    custom,
    hasStatus,
  };
};

export const kinds: readonly Kind[] = [
  row('NodePool', 'karpenter.sh/v1', 'nodepools', 'Cluster'),
  row('NodeClaim', 'karpenter.sh/v1', 'nodeclaims', 'Cluster'),
  row('Node', 'v1', 'nodes', 'Cluster', ['no']),
  row('Pod', 'v1', 'pods', 'Namespaced', ['po']),
  row('Event', 'events.k8s.io/v1', 'events', 'Namespaced', ['ev'], false),
  row('RotationPolicy', 'noderotation.io/v1alpha1', 'rotationpolicies', 'Cluster', ['rotpol']),
  row('PodDisruptionBudget', 'policy/v1', 'poddisruptionbudgets', 'Namespaced', ['pdb']),
  row('Deployment', 'apps/v1', 'deployments', 'Namespaced', ['deploy']),
  row('ReplicaSet', 'apps/v1', 'replicasets', 'Namespaced', ['rs']),
  row('DaemonSet', 'apps/v1', 'daemonsets', 'Namespaced', ['ds']),
  row('StatefulSet', 'apps/v1', 'statefulsets', 'Namespaced', ['sts']),
  row('Job', 'batch/v1', 'jobs', 'Namespaced'),
  row('Namespace', 'v1', 'namespaces', 'Cluster', ['ns']),
  row('PriorityClass', 'scheduling.k8s.io/v1', 'priorityclasses', 'Cluster', ['pc'], false),
  row('CustomResourceDefinition', 'apiextensions.k8s.io/v1', 'customresourcedefinitions', 'Cluster', ['crd']),
];

const byName = new Map(kinds.map((kind) => [kind.kind, kind]));

export const kindOf = (name: KindName): Kind => byName.get(name) as Kind;

export const findKind = (name: unknown): Kind | undefined => byName.get(name as KindName);

/** `karpenter.sh/v1`, or `v1` in the core group. */
export const apiVersionOf = (kind: Kind): string =>
  kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
