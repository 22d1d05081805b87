/**
 * What `plan` and `validate` have in common: their flags, where their documents go, and what their exit code says.
 */
import { InvalidArgumentError } from 'commander';
import type { PolicyReading } from '../domain/policy/rotation-policy.ts';
import { metaOf } from '../domain/policy/rotation-policy.ts';
import type { Instant } from '../domain/time.ts';
import { instant, parseInstant } from '../domain/time.ts';
import type { Outlook } from '../engine/outlook.ts';
import { unreadableCode } from '../engine/unreadable.ts';
import type { ExitCode } from './failure.ts';
import { exitCodes } from './failure.ts';

/** Where a command writes and what it takes from outside besides its flags. */
export interface Surroundings {
  readonly out: (text: string) => void;
  /** For notices: what is printed here is no part of the result. */
  readonly err: (text: string) => void;
  readonly stdin?: () => string;
  readonly now: () => Instant;
}

export const processSurroundings: Surroundings = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  now: () => instant(Date.now()),
};

/** Reader of a flag that may be repeated. */
export const collect = (file: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  file,
];

/** Reader of `--at`. */
export function readInstant(text: string): Instant {
  const at = parseInstant(text);
  if (at === undefined)
    throw new InvalidArgumentError('Write an RFC 3339 time with its offset, such as 2026-06-09T17:00:00Z.');
  return at;
}

/** @design D13-01 */
export function exitCodeOf({ policies, pools }: Outlook, refused: readonly string[]): ExitCode {
  const findings = [...policies, ...pools].flatMap((each) => [...each.findings]);
  const wrong =
    refused.length > 0 ||
    policies.some(({ status }) => status !== 'Accepted') ||
    findings.some(({ severity, code }) => severity === 'fatal' || code === unreadableCode);
  return wrong ? exitCodes.notAsItShouldBe : exitCodes.ok;
}

/** Fields of policies that no policy has: a slip of the pen there does nothing, silently. */
export const strayFields = (policies: readonly PolicyReading[]): readonly string[] =>
  policies.flatMap((reading) =>
    (reading.unknownFields ?? []).map(
      (path) => `RotationPolicy ${metaOf(reading).name}: ${path} is no field of a policy and does nothing`,
    ),
  );

/** Notices and refusals, one line each. */
export function report(to: (text: string) => void, notices: readonly string[], refused: readonly string[] = []): void {
  for (const problem of refused) to(`Unreadable: ${problem}\n`);
  for (const notice of notices) to(`Notice: ${notice}\n`);
}
