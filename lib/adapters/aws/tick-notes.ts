/**
 * What a tick has to tell the audit table besides the steps of rotations.
 *
 * All of it can be told again from what cluster and registry say, so that a tick that dies before its rows are put loses
 * none. A key is made of what happened, so that the same thing told twice is one row: a policy by its generation and
 * content, a streak of failures by its begin, a finding by the tick that tells of it.
 */
import { createHash } from 'node:crypto';
import type { PoolRecord, TickRecord } from '../../controller/ports.ts';
import { own } from '../../domain/cluster/object-ref.ts';
import { metaOf, type PolicyReading } from '../../domain/policy/rotation-policy.ts';
import { warningsKey } from '../../domain/rotation/annotation-keys.ts';
import { formatInstant, type Instant } from '../../domain/time.ts';
import type { FindingChange, Notice } from '../../engine/decision.ts';
import type { AuditNote } from './audit-note.ts';
import type { Health, StreakMark, TickResult } from './registry-table.ts';

const longestText = 1_000;

/** Room for the findings of a cluster in one row of the table, which takes 400 KB. */
const mostBytes = 300_000;

/**
 * The findings that are open after a tick, as `pool Kind/name Code`: what annotations said before it, and what it wrote.
 *
 * @returns in order; beyond what fits into a row the last ones are left out
 * @design D10-02
 */
export function openFindings({ standing = [], pools }: TickRecord): readonly string[] {
  const open = new Set(standing.map(({ nodePool, on, code }) => nameOf(nodePool, on, code)));
  for (const pool of pools) {
    for (const { change, on, code } of writtenChanges(pool)) {
      const name = nameOf(pool.decision.nodePool, on, code);
      if (change === 'opened') open.add(name);
      else open.delete(name);
    }
  }
  let bytes = 0;
  return [...open].sort().filter((name) => {
    bytes += Buffer.byteLength(name) + 1;
    return bytes <= mostBytes;
  });
}

const nameOf = (nodePool: string, { kind, name }: FindingChange['on'], code: string): string =>
  `${nodePool} ${kind}/${name} ${code}`;

/**
 * The rows of what has opened and closed since the table was last told.
 *
 * @param told as `openFindings` had it then
 * @design D10-02, D10-04
 */
export function findingNotes(
  cluster: string,
  at: Instant,
  told: readonly string[],
  open: readonly string[],
  pools: readonly PoolRecord[],
): readonly AuditNote[] {
  const [before, now] = [new Set(told), new Set(open)];
  const note = (name: string, change: FindingChange['change']): AuditNote => {
    const [nodePool = '', on = '', code = ''] = name.split(' ');
    const notice = change === 'opened' ? noticeOf(pools, nodePool, on, code) : undefined;
    return {
      cluster,
      nodePool,
      kind: 'finding',
      at,
      key: `FINDING#${formatInstant(at)}#${change}#${code}#${on}`,
      facts: {
        change,
        code,
        on,
        ...(notice && { severity: notice.severity, message: notice.message.slice(0, longestText) }),
      },
    };
  };
  return [
    ...open.filter((name) => !before.has(name)).map((name) => note(name, 'opened')),
    ...told.filter((name) => !now.has(name)).map((name) => note(name, 'closed')),
  ];
}

/** What the engine says of it in this tick, if it still does. */
const noticeOf = (pools: readonly PoolRecord[], nodePool: string, on: string, code: string): Notice | undefined =>
  pools
    .find(({ decision }) => decision.nodePool === nodePool)
    ?.decision.notices.find(
      (notice) =>
        notice.code === code &&
        on === (notice.claim === undefined ? `NodePool/${nodePool}` : `NodeClaim/${notice.claim}`),
    );

/** @design D10-02 */
export const writtenChanges = (pool: PoolRecord): readonly FindingChange[] =>
  (pool.decision.findings ?? []).filter(({ on }) => wasWritten(pool, on));

const wasWritten = ({ decision, results }: PoolRecord, on: { kind: string; name: string }): boolean =>
  decision.actions.some(
    (action, index) =>
      action.kind === 'annotate' &&
      action.target.kind === on.kind &&
      action.target.name === on.name &&
      own(action.annotations, warningsKey) !== undefined &&
      results[index]?.outcome === 'applied',
  );

/** A policy as it is at present; the same one has the same key in every tick. @design D10-02 */
export function policyNote(cluster: string, reading: PolicyReading, at: Instant): AuditNote {
  const { name, uid } = metaOf(reading);
  const generation = reading.valid ? reading.policy.generation : reading.generation;
  const hash = createHash('sha256')
    .update(JSON.stringify(contentOf(reading)))
    .digest('hex')
    .slice(0, 16);
  return {
    cluster,
    kind: 'policy',
    at,
    key: `POLICY#${name}#${uid}#${generation}#${hash}`,
    facts: { policy: name, generation, hash, status: reading.valid ? 'Valid' : 'Invalid' },
  };
}

function contentOf(reading: PolicyReading): unknown {
  if (!reading.valid) return reading.problems;
  const { meta: _, generation: __, ...content } = reading.policy;
  return content;
}

/** Rows about a streak of failures, and what is to be remembered of it once they are in the table. */
export interface StreakTale {
  readonly notes: readonly AuditNote[];
  readonly mark?: StreakMark;
}

/**
 * The rows of a streak that the table is not known to have: its first failure, and the good tick that ended it.
 *
 * A streak is kept until both are there, so that a tick which dies between its outcome and its rows loses none. Its last
 * good tick tells whether it had ended already.
 *
 * @param before how the ticks before it had gone
 * @design D10-02, D10-04
 */
export function streakTale(
  cluster: string,
  before: Health,
  { at, outcome }: TickResult,
  detail: string | undefined,
): StreakTale {
  const { failingSince: since, failingWith = outcome, streakTold, lastOkAt } = before;
  const ended = since !== undefined && lastOkAt !== undefined && lastOkAt > since ? lastOkAt : undefined;
  const began = since === undefined || streakTold === since ? [] : [failing(cluster, since, failingWith, undefined)];
  if (outcome === 'Ok') {
    if (since === undefined) return { notes: [] };
    return { notes: [...began, recovered(cluster, since, ended ?? at, before)], mark: { since, as: 'ended' } };
  }
  const begins = failing(cluster, at, outcome, detail);
  if (since === undefined) return { notes: [begins], mark: { since: at, as: 'told' } };
  if (ended !== undefined) {
    return {
      notes: [...began, recovered(cluster, since, ended, before), begins],
      mark: { since, as: 'restarted' },
    };
  }
  return began.length === 0 ? { notes: [] } : { notes: began, mark: { since, as: 'told' } };
}

const streakNote = (cluster: string, since: Instant, at: Instant, facts: AuditNote['facts']): AuditNote => ({
  cluster,
  kind: 'tick',
  at,
  key: `TICK#${formatInstant(since)}#${facts.change}`,
  facts,
});

const failing = (cluster: string, since: Instant, outcome: string, detail: string | undefined): AuditNote =>
  streakNote(cluster, since, since, {
    change: 'failing',
    outcome,
    ...(detail === undefined ? {} : { detail: detail.slice(0, longestText) }),
  });

const recovered = (
  cluster: string,
  since: Instant,
  at: Instant,
  { failures = 0, lastFailure, lastOutcome = '' }: Health,
): AuditNote =>
  streakNote(cluster, since, at, {
    change: 'recovered',
    failingSince: formatInstant(since),
    failures,
    lastOutcome: lastFailure ?? lastOutcome,
  });

/** Whether a tick has found nothing of ours on the cluster, and had nothing left to do or to tell. @design D9-03 */
export const nothingLeft = ({ outcome, pools, unrecorded, unreadable }: TickRecord): boolean =>
  outcome === 'Ok' &&
  unrecorded.size === 0 &&
  unreadable.length === 0 &&
  pools.every(
    ({ decision: { step, actions, blocked, gauges } }) =>
      (step === 'nothing' || (step === 'blocked' && blocked?.reason !== 'NotInspected')) &&
      gauges?.inProgress !== true &&
      actions.every(({ kind }) => kind === 'emitEvent'),
  );
