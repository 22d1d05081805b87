/**
 * A RotationPolicy with its defaults applied: nothing optional is left but what depends on the NodeClaim.
 *
 * Values out of range that feasibility reports (K < 1, no windows) are let through as values, so that they become a
 * finding and not a crash.
 */
import type { LabelSelector } from '../cluster/label-selector.ts';
import type { ObjectMeta } from '../cluster/object-ref.ts';
import type { Duration } from '../time.ts';
import type { PolicyStatus } from './policy-status.ts';

export const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
export type Weekday = (typeof weekdays)[number];

/** One entry of maintenanceWindows. @design R3.1-01, D3-02 */
export interface WindowEntry {
  /** IANA name, checked to be known. */
  readonly timezone: string;
  /** The days on which the window starts. */
  readonly days: readonly Weekday[];
  /** Minutes after midnight, 0–1439. */
  readonly start: number;
  /** Minutes after midnight, 1–1440; earlier than start means on the next day. Never equal to start. */
  readonly end: number;
}

/** Whole calendar days, both ends included, as `YYYY-MM-DD`. @design D3-06 */
export interface Exclusion {
  readonly timezone: string;
  readonly from: string;
  readonly to: string;
  readonly reason?: string;
}

export interface SurgeSettings {
  readonly maxUnavailable: 1;
  readonly readyTimeout: Duration;
  readonly cooldownAfter: Duration;
  /** max(10m, cooldownAfter) when unset. */
  readonly failurePause: Duration;
  readonly retryBackoff: Duration;
  /** Unset → min(readyTimeout, 5m); larger than readyTimeout is clamped where it is used. @design R3.2-15 */
  readonly provisioningEstimate: Duration;
  /** Absent → min(tGP, 10m), which depends on the pool. */
  readonly drainEstimate?: Duration;
  readonly wholeNodeReservation: boolean;
  readonly matchNodeRequirements: { readonly required: readonly string[]; readonly preferred: readonly string[] };
  readonly forcefulFallback: boolean;
  readonly deferBlockedDrains: boolean;
}

export interface RotationPolicy {
  readonly meta: ObjectMeta;
  readonly generation: number;
  readonly nodePoolSelector: LabelSelector;
  readonly mode: 'Rotate' | 'Observe';
  readonly ageThreshold: 'auto' | Duration;
  /** K. */
  readonly minRotationChances: number;
  readonly windows: readonly WindowEntry[];
  readonly exclusions: readonly Exclusion[];
  readonly surge: SurgeSettings;
}

export interface FieldProblem {
  /** Such as `spec.maintenanceWindows[1].timezone`. */
  readonly path: string;
  /** What is wrong, with the offending value, and what would be right. */
  readonly problem: string;
}

/** A policy as read: usable, or refused with every problem named. @design D2-03 */
export type PolicyReading = (
  | { readonly valid: true; readonly policy: RotationPolicy }
  | {
      readonly valid: false;
      readonly meta: ObjectMeta;
      readonly generation: number;
      /** Absent when the selector itself cannot be read: such a policy governs nothing. @design D2-09 */
      readonly nodePoolSelector?: LabelSelector;
      readonly problems: readonly FieldProblem[];
    }
) & {
  /** Paths of fields that no policy has, such as `spec.surge.readyTimout`: they do nothing. Absent when there are none. */
  readonly unknownFields?: readonly string[];
  /** What the cluster has as its status. Absent when there is none, or none that we would write. */
  readonly status?: PolicyStatus;
};

export const metaOf = (reading: PolicyReading): ObjectMeta => (reading.valid ? reading.policy.meta : reading.meta);
