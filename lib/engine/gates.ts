/**
 * What stands between a pool and a start: an ordered list of small verdicts. The first "no" is reported.
 */
import { isStatic } from '../domain/cluster/node-pool.ts';
import type { RotationPolicy } from '../domain/policy/rotation-policy.ts';
import { readClaimState } from '../domain/rotation/rotation.ts';
import { nextOccurrence } from '../domain/schedule/calendar.ts';
import type { Finding } from '../domain/schedule/finding.ts';
import type { Instant } from '../domain/time.ts';
import { add, formatDuration, formatInstant, latest } from '../domain/time.ts';
import type { Blocked } from './decision.ts';
import type { PoolView } from './pool-view.ts';
import { claimsWithState } from './pool-view.ts';

export interface GateInput {
  readonly view: PoolView;
  readonly policy: RotationPolicy;
  readonly findings: readonly Finding[];
}

/** undefined lets the start through. */
type Gate = (input: GateInput) => Omit<Blocked, 'reason'> | undefined;

/** In the order in which they are asked. @design D6-04 */
export const gates: readonly { readonly code: string; readonly judge: Gate }[] = [
  { code: 'Infeasible', judge: infeasible },
  { code: 'StaticNodePool', judge: staticNodePool },
  { code: 'NodePoolNotReady', judge: nodePoolNotReady },
  { code: 'Frozen', judge: frozen },
  { code: 'OutOfWindow', judge: outOfWindow },
  { code: 'CooldownAfter', judge: cooldownAfter },
  { code: 'FailurePause', judge: failurePause },
];

export interface GateVerdict {
  readonly gate: string;
  readonly open: boolean;
  readonly message?: string;
  readonly until?: Instant;
}

/** Every gate's verdict, in order. */
export const judgeGates = (input: GateInput): readonly GateVerdict[] =>
  gates.map(({ code, judge }) => {
    const no = judge(input);
    return no === undefined ? { gate: code, open: true } : { gate: code, open: false, ...no };
  });

export function firstClosed(verdicts: readonly GateVerdict[]): Blocked | undefined {
  const closed = verdicts.find((verdict) => !verdict.open);
  if (!closed) return undefined;
  const { gate, message = '', until } = closed;
  return { reason: gate, message, ...(until === undefined ? {} : { until }) };
}

/** The gates that an ending fallback looks at again. @design D6-07 */
export const holdsFallback = new Set(['StaticNodePool', 'NodePoolNotReady', 'Frozen', 'OutOfWindow']);

function infeasible({ findings }: GateInput): ReturnType<Gate> {
  const fatal = findings.filter((finding) => finding.severity === 'fatal');
  return fatal.length === 0
    ? undefined
    : { message: fatal.map((finding) => `${finding.code}: ${finding.message}`).join(' ') };
}

function staticNodePool({ view }: GateInput): ReturnType<Gate> {
  if (!isStatic(view.pool)) return undefined;
  return {
    message:
      `NodePool ${view.pool.meta.name} has spec.replicas, so no Pod can make Karpenter bring up a node in it. ` +
      'Move the workload to a dynamic NodePool, or leave this pool out of the RotationPolicy selector.',
  };
}

function nodePoolNotReady({ view }: GateInput): ReturnType<Gate> {
  return view.pool.ready
    ? undefined
    : { message: `NodePool ${view.pool.meta.name} is not Ready; Karpenter provisions nothing for it.` };
}

function frozen({ view: { freeze } }: GateInput): ReturnType<Gate> {
  if (!freeze.frozen) return undefined;
  if (freeze.until !== undefined)
    return { message: `frozen until ${formatInstant(freeze.until)}`, until: freeze.until };
  return {
    message: `the freeze on ${freeze.malformed?.on} cannot be read, so it holds: ${JSON.stringify(freeze.malformed?.text)}`,
  };
}

function outOfWindow({ view, policy }: GateInput): ReturnType<Gate> {
  if (view.occurrence) return undefined;
  const next = nextOccurrence(policy, view.at);
  return next
    ? { message: `the next window opens at ${formatInstant(next.start)}`, until: next.start }
    : { message: 'no window opens in the coming year' };
}

function cooldownAfter({ view: { at, history }, policy }: GateInput): ReturnType<Gate> {
  if (history.lastRotationAt === undefined) return undefined;
  const until = add(history.lastRotationAt, policy.surge.cooldownAfter);
  if (at >= until) return undefined;
  return { message: `settling for ${formatDuration(policy.surge.cooldownAfter)} after a rotation`, until };
}

function failurePause({ view, policy }: GateInput): ReturnType<Gate> {
  const failedAt = lastFailure(view);
  if (failedAt === undefined) return undefined;
  const until = add(failedAt, policy.surge.failurePause);
  if (view.at >= until) return undefined;
  return { message: `pausing for ${formatDuration(policy.surge.failurePause)} after a failure`, until };
}

// A reverted NodePool has lost its last-failure-at; the claims still know when they failed. D5-02
function lastFailure({ history, claims }: PoolView): Instant | undefined {
  const failures = claimsWithState(claims).flatMap((claim) => {
    const state = readClaimState(claim.meta);
    return state.state === 'failed' ? [state.failedAt] : [];
  });
  if (history.lastFailureAt !== undefined) failures.push(history.lastFailureAt);
  return failures.length === 0 ? undefined : failures.reduce(latest);
}
