/**
 * The two doors of the controller: the cluster it looks at and acts on, and the recorder that keeps what happened.
 *
 * The same suite of contract tests runs against every implementation.
 */
import type { Node } from '../domain/cluster/node.ts';
import type { NodePool } from '../domain/cluster/node-pool.ts';
import type { ObjectRef } from '../domain/cluster/object-ref.ts';
import type { Inspected, LightSnapshot, Sought } from '../domain/cluster/snapshot.ts';
import type { PolicyReading } from '../domain/policy/rotation-policy.ts';
import type { UnrecordedStep } from '../domain/rotation/unrecorded.ts';
import type { Duration, Instant } from '../domain/time.ts';
import type { Action, Decision, Need, StandingFinding } from '../engine/decision.ts';
import type { RequestAnswer } from '../engine/request.ts';

/** @design D5-05 */
export type ActionResult =
  | { readonly outcome: 'applied' | 'alreadyDone'; readonly resourceVersion?: string }
  /** Somebody moved (409, or a missing object where its absence means that). */
  | { readonly outcome: 'conflict'; readonly detail: string }
  /** The server refuses the write itself (403, 422, admission); repeating it as it is will not help. */
  | { readonly outcome: 'rejected'; readonly detail: string }
  /** No answer, throttled past the budget, or a server error: what happened is unknown. */
  | { readonly outcome: 'unreachable'; readonly detail: string };

/** The second look before a pool's first write. @design D5-08 */
export interface Reread {
  readonly nodePool: Sought<NodePool>;
  readonly node?: Sought<Node>;
}

/**
 * One Kubernetes cluster. Looking throws an `ObservationFailed` when a complete answer cannot be had;
 * acting never throws for an answer of the server.
 */
export interface Cluster {
  observe(): Promise<LightSnapshot>;
  /** Only what `need` names; never all Pods, never all Nodes. @design D15-03 */
  inspect(need: Need): Promise<Inspected>;
  reread(nodePool: ObjectRef, node?: ObjectRef): Promise<Reread>;
  apply(action: Action): Promise<ActionResult>;
}

/** How a look at the cluster ended without a complete answer. @design D11-07 */
export type ObservationOutcome =
  | 'Unreachable'
  | 'AuthFailed'
  | 'Forbidden'
  | 'Throttled'
  | 'Timeout'
  | 'TlsFailed'
  | 'CrdMissing';

export class ObservationFailed extends Error {
  override readonly name = 'ObservationFailed';
  readonly outcome: ObservationOutcome;
  constructor(outcome: ObservationOutcome, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.outcome = outcome;
  }
}

/** What a pool's list came to. */
export interface PoolRecord {
  readonly decision: Decision;
  /** One per attempted action, in order; shorter than the list when it stopped. */
  readonly results: readonly ActionResult[];
  /** Why the list was not begun or stopped early. */
  readonly stopped?: string;
  /** Whether the patch that carries `decision.transition` landed. */
  readonly landed: boolean;
}

export interface TickRecord {
  readonly outcome: 'Ok' | ObservationOutcome;
  /** Absent when the cluster could not be looked at. */
  readonly observedAt?: Instant;
  readonly detail?: string;
  readonly pools: readonly PoolRecord[];
  /** By NodePool name: steps whose rows are not known to be in the table, oldest first. */
  readonly unrecorded: ReadonlyMap<string, readonly UnrecordedStep[]>;
  /** Elements of an outbox that could not be read and were taken off it: text, to be logged in full. */
  readonly unreadable: readonly string[];
  /** As they were read; absent when the cluster could not be looked at. */
  readonly policies?: readonly PolicyReading[];
  /** What the `warnings` annotations said before this tick wrote any; absent when the cluster could not be looked at. */
  readonly standing?: readonly StandingFinding[];
  /** What became of the request that the tick was made for. @design D12-02 */
  readonly answer?: RequestAnswer;
}

/** Keeps what was asked and what was done: audit rows, metrics, log lines. */
export interface Recorder {
  /** Puts the rows of these steps; returns the keys (`entryKey`) of those now known to be in the table. Never throws. */
  putSteps(nodePool: string, entries: readonly UnrecordedStep[]): Promise<ReadonlySet<string>>;
  /** Metrics and log lines of the whole tick. Never throws. */
  record(tick: TickRecord): Promise<void>;
}

/** What is left of a tick's time. @design D1-06 */
export interface Budget {
  left(): Duration;
  /** Since the snapshot was taken, by the process's own monotonic clock. */
  sinceSnapshot(): Duration;
}
