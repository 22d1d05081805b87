/**
 * What a tick intends, as data: actions that can be compared, printed, audited and replayed.
 *
 * An action says completely what is written and on which version it was decided. Whoever carries it out decides nothing.
 */
import type { ObjectMeta, ObjectRef } from '../domain/cluster/object-ref.ts';
import type { PolicyStatus } from '../domain/policy/policy-status.ts';
import type { AnnotationPatch } from '../domain/rotation/rotation.ts';
import type { UnrecordedStep } from '../domain/rotation/unrecorded.ts';
import type { PodManifest } from '../domain/surge/placeholder.ts';
import type { Duration, Instant } from '../domain/time.ts';

/** What a refused write (403, 422) means for the rest of its list. @design D6-08, D6-09 */
export type WhenRefused = 'stop' | 'goOn';

export type Action = ActionKind & {
  readonly whenRefused: WhenRefused;
};

type ActionKind =
  /** A merge patch of our own annotation keys. @design D5-04 */
  | { readonly kind: 'annotate'; readonly target: ObjectRef; readonly annotations: AnnotationPatch }
  /** Marks and, for a candidate, our cordon, in one patch. */
  | {
      readonly kind: 'protect' | 'unprotect';
      readonly target: ObjectRef;
      readonly annotations: AnnotationPatch;
      /** true cordons, null undoes our cordon, absent leaves it alone. */
      readonly unschedulable?: true | null;
    }
  | { readonly kind: 'createPlaceholder'; readonly pod: PodManifest }
  /** With grace 0. `mustExist`: inside a hand-over a placeholder that is gone means that somebody moved. @design D5-05 */
  | { readonly kind: 'deletePlaceholder'; readonly target: ObjectRef; readonly mustExist: boolean }
  /** Precondition uid and resourceVersion. @design D5-05 */
  | {
      readonly kind: 'deleteNodeClaim';
      readonly target: ObjectRef;
      readonly because: 'drain' | 'fallback' | 'reapSurge';
    }
  /** The whole status of a policy, on the version that was read. @design D2-07 */
  | { readonly kind: 'writeStatus'; readonly target: ObjectRef; readonly status: PolicyStatus }
  /** A Kubernetes Event; its failure is no failure of the list. @design D11-03 */
  | { readonly kind: 'emitEvent'; readonly event: EventDraft };

export interface EventDraft {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly note: string;
  readonly regarding: EventObject;
  readonly related?: EventObject;
}

export type EventObject = Pick<ObjectRef, 'kind' | 'name' | 'uid'> & { readonly namespace?: string };

/** The one step that a pool takes in a tick. */
export type Step =
  | 'nothing'
  | 'blocked'
  | 'restore'
  | 'start'
  | 'startFallback'
  | 'hold'
  | 'awaitSurge'
  | 'recreatePlaceholder'
  | 'leaveBadHost'
  | 'handOver'
  | 'awaitDrain'
  | 'repeatDelete'
  | 'leaveDraining'
  | 'finish'
  | 'rollBack'
  | 'abort'
  | 'expire';

/** Why nothing starts, or why a rotation waits. `until` when an instant is known. @design D6-04 */
export interface Blocked {
  readonly reason: string;
  readonly message: string;
  readonly until?: Instant;
}

/** Something an operator should know about a pool or one of its claims. */
export interface Notice {
  readonly code: string;
  readonly severity: 'fatal' | 'warn' | 'info';
  readonly message: string;
  readonly claim?: string;
}

/** A code that begins or ends to hold for a pool or a claim, once its `warnings` annotation is written. @design D10-02 */
export interface FindingChange {
  readonly change: 'opened' | 'closed';
  readonly on: Pick<ObjectRef, 'kind' | 'name'>;
  readonly code: string;
  readonly severity?: Notice['severity'];
  readonly message?: string;
}

/** A code that holds for a pool or a claim, as its `warnings` annotation says. @design D10-02 */
export interface StandingFinding {
  readonly nodePool: string;
  readonly on: Pick<ObjectRef, 'kind' | 'name'>;
  readonly code: string;
}

/** What a pool measures, for metrics. What depends on a policy is absent without one. @design D11-01 */
export interface PoolGauges {
  readonly candidates: number;
  readonly inProgress: boolean;
  readonly windowOpen: boolean;
  readonly policyConflict: boolean;
  readonly shortLeadNodes: number;
  readonly drainStuck: boolean;
  /** The largest of the pool's claims. */
  readonly retryCount: number;
  /** Absent while nothing is frozen, or while the freeze has no readable end. */
  readonly freezeUntil?: Instant;
  readonly ageThreshold?: Duration;
  /** G. */
  readonly rotationChances?: number;
  /** C. */
  readonly throughputCapacity?: number;
  readonly rotationEstimate?: Duration;
  readonly rotationBound?: Duration;
  readonly windowPeriod?: Duration;
  /** How long the surge host had stood without our mark when this list protects it. */
  readonly unprotected?: Duration;
}

export interface Decision {
  /** Name of the NodePool; empty for what belongs to none: the sweep of objects whose pool is gone, policies' status. */
  readonly nodePool: string;
  readonly step: Step;
  readonly actions: readonly Action[];
  readonly blocked?: Blocked;
  readonly notices: readonly Notice[];
  /** What the list's `warnings` patches begin and end. */
  readonly findings?: readonly FindingChange[];
  /** Absent for what belongs to no pool. */
  readonly gauges?: PoolGauges;
  /** The audit step that this list makes, exactly as its pool patch carries it. */
  readonly transition?: UnrecordedStep;
  /** Why an anchor or a delete in this list is allowed: what the invariants check it against. */
  readonly grounds: Grounds;
  /** Least time that must be left of the tick's budget for this list to begin. @design D7-04 */
  readonly needs?: Duration;
  /** The Node that is read again, beside the pool, before the first write. @design D5-08 */
  readonly rereadNode?: ObjectRef;
  /** That Node's metadata as the decision saw it. */
  readonly nodeAsSeen?: ObjectMeta;
}

/** Facts about the decision that an invariant can hold against its actions. @design D7-10 */
export interface Grounds {
  readonly windowOpen: boolean;
  readonly frozen: boolean;
  readonly staticPool: boolean;
  /** The hand-over was decided with the surge ready, or a repetition under its conditions. */
  readonly surgeReady?: boolean;
  readonly fallback?: boolean;
  /** The reap guards held for this claim. */
  readonly reapGuarded?: string;
}

/** Where a pool's list may not begin yet because something was not looked at. */
export interface Need {
  readonly nodes: readonly string[];
  readonly podsOnNodes: readonly string[];
  readonly dryRunDeletes: readonly ObjectRef[];
  readonly disruptionBudgets: boolean;
  readonly unscheduledPods: boolean;
}
