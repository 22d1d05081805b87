/**
 * The names under which metrics are emitted, shared with the alarms and the dashboard. The emitter and they never differ.
 */

export const metricNamespace = 'NodeRotation';
/** The one fixed service dimension. @design D11-02 */
export const metricService = 'node-rotation';

/** @design D11-01 */
export const metricNames = {
  candidates: 'noderotation_candidates',
  inProgress: 'noderotation_in_progress',
  completed: 'noderotation_completed_total',
  forcefulFallback: 'noderotation_forceful_fallback_total',
  duration: 'noderotation_duration_seconds',
  windowActive: 'noderotation_window_active',
  policyConflict: 'noderotation_policy_conflict',
  freezeUntil: 'noderotation_freeze_until_timestamp',
  ageThreshold: 'noderotation_age_threshold_seconds',
  rotationChances: 'noderotation_rotation_chances',
  throughputCapacity: 'noderotation_throughput_capacity',
  rotationEstimate: 'noderotation_t_rot_estimate_seconds',
  rotationBound: 'noderotation_t_rot_bound_seconds',
  windowPeriod: 'noderotation_window_period_seconds',
  shortLeadNodes: 'noderotation_short_lead_nodes',
  drainStuck: 'noderotation_drain_stuck',
  retryCount: 'noderotation_retry_count',
  tickSeconds: 'noderotation_tick_seconds',
  tickFailed: 'noderotation_tick_failed',
  staleTicks: 'noderotation_stale_ticks',
  auditLost: 'noderotation_audit_lost',
  unprotectedSeconds: 'noderotation_unprotected_seconds',
  clusters: 'noderotation_clusters',
  clustersStale: 'noderotation_clusters_stale',
  clusterLag: 'noderotation_cluster_lag_seconds',
  manualRuns: 'noderotation_manual_runs',
  fallingBehind: 'noderotation_falling_behind',
} as const;

export type MetricName = (typeof metricNames)[keyof typeof metricNames];

/** How fine the dimensions are; every step finer costs a metric per cluster, or per NodePool. @design D11-02 */
export const metricDetails = ['fleet', 'cluster', 'nodePool'] as const;
export type MetricDetail = (typeof metricDetails)[number];
