/**
 * The kinds of objects that are read or written, where the API serves them, and what a reference calls them.
 */
import type { Kind } from '../../domain/cluster/object-ref.ts';

export interface Resource {
  readonly apiVersion: string;
  /** Plural, as in paths and RBAC rules. */
  readonly plural: string;
}

export const resources = {
  nodePools: { apiVersion: 'karpenter.sh/v1', plural: 'nodepools' },
  nodeClaims: { apiVersion: 'karpenter.sh/v1', plural: 'nodeclaims' },
  nodes: { apiVersion: 'v1', plural: 'nodes' },
  pods: { apiVersion: 'v1', plural: 'pods' },
  rotationPolicies: { apiVersion: 'noderotation.io/v1alpha1', plural: 'rotationpolicies' },
  disruptionBudgets: { apiVersion: 'policy/v1', plural: 'poddisruptionbudgets' },
  events: { apiVersion: 'events.k8s.io/v1', plural: 'events' },
} as const satisfies Record<string, Resource>;

export const resourceOf: Readonly<Record<Kind, Resource>> = {
  NodePool: resources.nodePools,
  NodeClaim: resources.nodeClaims,
  Node: resources.nodes,
  Pod: resources.pods,
  RotationPolicy: resources.rotationPolicies,
};

/** The path of a collection, or of one object in it. Names are escaped: they come from the cluster. */
export function pathOf(resource: Resource, at: { namespace?: string | undefined; name?: string } = {}): string {
  const root = resource.apiVersion.includes('/') ? `/apis/${resource.apiVersion}` : `/api/${resource.apiVersion}`;
  const namespace = at.namespace === undefined ? '' : `/namespaces/${encodeURIComponent(at.namespace)}`;
  const name = at.name === undefined ? '' : `/${encodeURIComponent(at.name)}`;
  return `${root}${namespace}/${resource.plural}${name}`;
}
