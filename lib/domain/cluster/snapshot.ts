/**
 * What one tick saw. The light part is complete and the same in every tick; the inspected part holds only what a step
 * needs besides. The engine is a function of this and of nothing else.
 */
import type { PolicyReading } from '../policy/rotation-policy.ts';
import type { Instant } from '../time.ts';
import type { DisruptionBudget } from './disruption-budget.ts';
import type { Node, NodeMetadata } from './node.ts';
import type { NodeClaim } from './node-claim.ts';
import type { NodePool } from './node-pool.ts';
import type { Pod } from './pod.ts';

/** What is configured per installation and shows in the objects we create. @design D8-06 */
export interface PlaceholderSettings {
  readonly namespace: string;
  readonly image: string;
  readonly priorityClassName: string;
}

/** Somebody asks that one NodeClaim be rotated now, due or not. @design D12-02 */
export interface RotateRequest {
  readonly nodeClaim: string;
  /** Where it is thought to be; another pool is a refusal. */
  readonly nodePool?: string;
  /** Also while no window is open. */
  readonly ignoreWindow: boolean;
  /** Who asks and why, for the record of the start. */
  readonly reason: string;
  /** A rotation of that claim that began since then is what was asked for. */
  readonly requestedAt: Instant;
}

/** @design D15-03 */
export interface LightSnapshot {
  /** The API server's own clock (D1-04): a tick's only time. */
  readonly observedAt: Instant;
  readonly policies: readonly PolicyReading[];
  readonly nodePools: readonly NodePool[];
  readonly nodeClaims: readonly NodeClaim[];
  readonly nodes: readonly NodeMetadata[];
  /** Pods of the placeholder namespace that carry our surge-for label. */
  readonly placeholders: readonly Pod[];
  readonly settings: PlaceholderSettings;
  /** The cluster left the configuration: what is in flight is ended, nothing starts. @design D9-03 */
  readonly retired: boolean;
  /** What was asked of this tick besides. */
  readonly request?: RotateRequest;
}

/** The server's answer to a NodeClaim delete with dryRun. An API without dry runs passes. @design D7-04 */
export type DryRun = { readonly outcome: 'accepted' } | { readonly outcome: 'refused'; readonly detail: string };

/** An object asked for by name: `gone` only when the server said NotFound naming it. @design D5-05 */
export type Sought<T> = T | 'gone';

export interface Inspected {
  readonly nodes: ReadonlyMap<string, Sought<Node>>;
  readonly podsOnNode: ReadonlyMap<string, readonly Pod[]>;
  /** By NodeClaim name. */
  readonly dryRuns: ReadonlyMap<string, DryRun>;
  readonly disruptionBudgets?: readonly DisruptionBudget[];
  /** Pods of the whole cluster that no node has been found for. */
  readonly unscheduledPods?: readonly Pod[];
}

export interface ClusterSnapshot extends LightSnapshot {
  readonly inspected: Inspected;
}

export const nothingInspected: Inspected = { nodes: new Map(), podsOnNode: new Map(), dryRuns: new Map() };
