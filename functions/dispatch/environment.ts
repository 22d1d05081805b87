/**
 * What the deployment tells the dispatch function. The only reader of its environment; it imports no client.
 *
 * The fleet may be too long for an environment: then it is a file beside the function's code.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export const variables = {
  queueUrl: 'TICK_QUEUE_URL',
  /** JSON: queue URLs by the name of their network, for clusters in private networks. */
  networkQueueUrls: 'NETWORK_QUEUE_URLS',
  tableName: 'TABLE_NAME',
  retentionDays: 'AUDIT_RETENTION_DAYS',
  busName: 'EVENT_BUS_NAME',
  /** The account of clusters that name neither an account nor a role. */
  account: 'ACCOUNT_ID',
  /**
   * JSON: `{ clusters: [{ name, region, account?, roleArn?, externalId?, network?, endpoint?, certificateAuthority? }],
   * discovery: [{ region, account?, roleArn?, externalId?, network? }] }`, or the list of clusters alone.
   */
  clusters: 'CLUSTERS',
  /** Path of a file with that JSON, instead; a relative one starts at the function's code. */
  clustersFile: 'CLUSTERS_FILE',
} as const;

export interface DispatchEnvironment {
  readonly queueUrl: string;
  readonly networkQueueUrls: Readonly<Record<string, string>>;
  readonly tableName: string;
  readonly retentionDays?: number;
  /** Unset: no domain events. */
  readonly busName?: string;
  readonly account: string;
  /** As JSON values, still to be read. */
  readonly clusters: unknown;
}

/** @throws Error naming every variable that is missing or wrong */
export function readEnvironment(env: Readonly<Record<string, string | undefined>> = process.env): DispatchEnvironment {
  const problems: string[] = [];
  const value = (name: keyof typeof variables): string | undefined => env[variables[name]]?.trim() || undefined;
  const needed = (name: keyof typeof variables): string => {
    if (value(name) === undefined) problems.push(`${variables[name]} is not set`);
    return value(name) ?? '';
  };
  const queueUrl = needed('queueUrl');
  const tableName = needed('tableName');
  const account = needed('account');
  const retention = value('retentionDays');
  if (retention !== undefined && !/^\d{1,5}$/.test(retention)) {
    problems.push(`${variables.retentionDays} must be a whole number of days, not ${retention}`);
  }
  const networks = parseJson(value('networkQueueUrls') ?? '{}');
  if (!isTextMap(networks)) problems.push(`${variables.networkQueueUrls} is not a JSON object of queue URLs`);
  const file = value('clustersFile');
  const text = file === undefined ? (value('clusters') ?? '[]') : readText(resolve(env.LAMBDA_TASK_ROOT ?? '', file));
  const clusters = parseJson(text ?? '');
  const source = file === undefined ? variables.clusters : `${variables.clustersFile} ${file}`;
  if (text === undefined) problems.push(`${source} cannot be read`);
  else if (clusters === undefined) problems.push(`${source} is not JSON`);
  if (problems.length > 0) throw new Error(`the dispatch function is not configured: ${problems.join('; ')}`);
  const busName = value('busName');
  return {
    queueUrl,
    networkQueueUrls: networks as Record<string, string>,
    tableName,
    ...(retention === undefined ? {} : { retentionDays: Number(retention) }),
    ...(busName === undefined ? {} : { busName }),
    account,
    clusters,
  };
}

const isTextMap = (json: unknown): json is Record<string, string> =>
  typeof json === 'object' && json !== null && Object.values(json).every((value) => typeof value === 'string');

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
