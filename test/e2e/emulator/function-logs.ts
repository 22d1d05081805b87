/**
 * What the deployed functions have logged, and in it every request that IAM denied them.
 */
import type { AwsEmulator } from './aws-emulator.ts';
import { askAws } from './aws-requests.ts';

export interface Denial {
  readonly role: string;
  /** As in a policy, such as `sqs:SendMessage`. */
  readonly action: string;
}

const denial = /assumed-role\/([^/\s]+)\/\S+ is not authorized to perform: ([\w:]+)/g;

/**
 * All lines of all functions, by log group in the order of time.
 *
 * @param startTime milliseconds since the epoch
 */
export async function linesOf(emulator: AwsEmulator, startTime = 0): Promise<readonly string[]> {
  const { logGroups } = await ask<{ logGroups: { logGroupName: string }[] }>(emulator, 'DescribeLogGroups', {});
  const lines: string[] = [];
  for (const { logGroupName } of logGroups) {
    let nextToken: string | undefined;
    do {
      const page = await ask<Page>(emulator, 'FilterLogEvents', { logGroupName, startTime, nextToken });
      lines.push(...page.events.map(({ message }) => message));
      nextToken = page.nextToken;
    } while (nextToken !== undefined);
  }
  return lines;
}

interface Page {
  readonly events: readonly { readonly message: string }[];
  readonly nextToken?: string;
}

/** Each kind once, as they came up. */
export async function denialsOf(emulator: AwsEmulator, startTime?: number): Promise<readonly Denial[]> {
  const found = (await linesOf(emulator, startTime)).flatMap((line) => [...line.matchAll(denial)]);
  const denials = found.map(([, role = '', action = '']) => [`${role} ${action}`, { role, action }] as const);
  return [...new Map(denials).values()];
}

const ask = async <Answer>(emulator: AwsEmulator, target: string, body: object): Promise<Answer> =>
  JSON.parse(
    await askAws(emulator, {
      service: 'logs',
      headers: { 'x-amz-target': `Logs_20140328.${target}`, 'content-type': 'application/x-amz-json-1.1' },
      body: JSON.stringify(body),
    }),
  );
