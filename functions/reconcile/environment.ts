/**
 * What the deployment tells the reconcile function. The only reader of its environment; it imports no client.
 */
import { type MetricDetail, metricDetails } from '../../lib/adapters/aws/metric-names.ts';

export const variables = {
  tableName: 'TABLE_NAME',
  retentionDays: 'AUDIT_RETENTION_DAYS',
  busName: 'EVENT_BUS_NAME',
  metricDetail: 'METRIC_DETAIL',
  namespace: 'PLACEHOLDER_NAMESPACE',
  image: 'PLACEHOLDER_IMAGE',
  priorityClassName: 'PLACEHOLDER_PRIORITY_CLASS',
} as const;

/** @design D8-06 */
export const defaultPlaceholder = {
  namespace: 'node-rotation',
  image: 'registry.k8s.io/pause:3.10',
  priorityClassName: 'node-rotation-placeholder',
} as const;

export interface ReconcileEnvironment {
  readonly tableName: string;
  readonly retentionDays?: number;
  /** Unset: no domain events. */
  readonly busName?: string;
  readonly metricDetail: MetricDetail;
  readonly placeholder: { readonly namespace: string; readonly image: string; readonly priorityClassName: string };
  /** Things that were set and are not honoured. */
  readonly warnings: readonly string[];
}

/** @throws Error naming every variable that is missing or wrong */
export function readEnvironment(env: Readonly<Record<string, string | undefined>> = process.env): ReconcileEnvironment {
  const problems: string[] = [];
  const value = (name: keyof typeof variables): string | undefined => env[variables[name]]?.trim() || undefined;
  const tableName = value('tableName');
  if (tableName === undefined) problems.push(`${variables.tableName} is not set`);
  const retention = value('retentionDays');
  if (retention !== undefined && !/^\d{1,5}$/.test(retention)) {
    problems.push(`${variables.retentionDays} must be a whole number of days, not ${retention}`);
  }
  const detail = metricDetails.find((known) => known === (value('metricDetail') ?? 'fleet'));
  if (detail === undefined) problems.push(`${variables.metricDetail} must be one of ${metricDetails.join(', ')}`);
  if (problems.length > 0) throw new Error(`the reconcile function is not configured: ${problems.join('; ')}`);
  const busName = value('busName');
  return {
    tableName: tableName as string,
    ...(retention === undefined ? {} : { retentionDays: Number(retention) }),
    ...(busName === undefined ? {} : { busName }),
    metricDetail: detail as MetricDetail,
    placeholder: {
      namespace: value('namespace') ?? defaultPlaceholder.namespace,
      image: value('image') ?? defaultPlaceholder.image,
      priorityClassName: value('priorityClassName') ?? defaultPlaceholder.priorityClassName,
    },
    warnings: ['HTTPS_PROXY', 'https_proxy']
      .filter((name) => env[name])
      .map((name) => `${name} is set but not used: clusters are reached directly`),
  };
}
