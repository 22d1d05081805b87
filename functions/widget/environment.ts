/**
 * What the deployment tells the widget function. The only reader of its environment; it imports no client.
 */
export const variables = { tableName: 'TABLE_NAME' } as const;

export interface WidgetEnvironment {
  readonly tableName: string;
}

/** @throws Error naming the variable that is missing */
export function readEnvironment(env: Readonly<Record<string, string | undefined>> = process.env): WidgetEnvironment {
  const tableName = env[variables.tableName]?.trim();
  if (!tableName) throw new Error(`the widget function is not configured: ${variables.tableName} is not set`);
  return { tableName };
}
