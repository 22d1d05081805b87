/**
 * A NodePool as far as rotation needs it. Its annotations hold the pool's rotation; its template is only representative.
 */
import type { Duration } from '../time.ts';
import type { ObjectMeta, StringMap, Unreadable } from './object-ref.ts';
import type { Requirement } from './requirements.ts';
import type { ResourceList } from './resource-list.ts';

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

/** The template's values: they serve validation and metrics, never the trigger. @design R3.2-16 */
export type TemplateLifetime =
  | { readonly readable: true; readonly expireAfter: Duration | 'Never'; readonly terminationGracePeriod?: Duration }
  | { readonly readable: false; readonly unreadable: readonly Unreadable[] };

export interface NodePool {
  readonly meta: ObjectMeta;
  readonly template: {
    readonly lifetime: TemplateLifetime;
    readonly labels: StringMap;
    readonly taints: readonly Taint[];
    readonly requirements: readonly Requirement[];
  };
  /** Present, even as 0, on a static pool. @design R3.3-03 */
  readonly replicas?: number;
  /** Root condition Ready is True. */
  readonly ready: boolean;
  /** spec.limits; empty when none. */
  readonly limits: ResourceList;
  /** status.resources: what the pool's nodes that are not marked for deletion add up to. */
  readonly used: ResourceList;
  readonly unreadable: readonly Unreadable[];
}

export const isStatic = (pool: NodePool): boolean => pool.replicas !== undefined;
