/**
 * What the deployment tells the dispatch function. The only reader of its environment; it imports no client.
 */
export const variables = {
  queueUrl: 'TICK_QUEUE_URL',
  /** JSON: a list of clusters with account, region, name, endpoint and certificateAuthority. */
  clusters: 'CLUSTERS',
} as const;

export interface DispatchEnvironment {
  readonly queueUrl: string;
  /** As JSON values, still to be read. */
  readonly clusters: unknown;
}

/** @throws Error naming every variable that is missing or wrong */
export function readEnvironment(env: Readonly<Record<string, string | undefined>> = process.env): DispatchEnvironment {
  const problems: string[] = [];
  const queueUrl = env[variables.queueUrl];
  if (!queueUrl) problems.push(`${variables.queueUrl} is not set`);
  const clusters = parseJson(env[variables.clusters] ?? '[]');
  if (clusters === undefined) problems.push(`${variables.clusters} is not JSON`);
  if (problems.length > 0) throw new Error(`the dispatch function is not configured: ${problems.join('; ')}`);
  return { queueUrl: queueUrl as string, clusters };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
