/**
 * What a tick has to tell the audit table besides the steps of rotations.
 *
 * A key is made of what happened, so that the same thing told twice is one row: a policy by its generation and content,
 * a streak of failures by its begin, a finding by the tick that saw it come or go.
 */
import { createHash } from 'node:crypto';
import type { PoolRecord, TickRecord } from '../../controller/ports.ts';
import { own } from '../../domain/cluster/object-ref.ts';
import { metaOf, type PolicyReading } from '../../domain/policy/rotation-policy.ts';
import { warningsKey } from '../../domain/rotation/annotation-keys.ts';
import { formatInstant, type Instant } from '../../domain/time.ts';
import type { AuditNote } from './audit-note.ts';
import type { Health, TickResult } from './registry-table.ts';

const longestText = 1_000;

/** Findings that opened or closed in annotations that were really written. @design D10-02 */
export function findingNotes(cluster: string, { observedAt: at, pools }: TickRecord): readonly AuditNote[] {
  if (at === undefined) return [];
  return pools.flatMap((pool) =>
    (pool.decision.findings ?? [])
      .filter(({ on }) => wasWritten(pool, on))
      .map(({ change, on, code, severity, message }) => ({
        cluster,
        nodePool: pool.decision.nodePool,
        kind: 'finding' as const,
        at,
        key: `FINDING#${formatInstant(at)}#${change}#${code}#${on.kind}/${on.name}`,
        facts: {
          change,
          code,
          on: `${on.kind}/${on.name}`,
          ...(severity === undefined ? {} : { severity }),
          ...(message === undefined ? {} : { message: message.slice(0, longestText) }),
        },
      })),
  );
}

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

/**
 * The first tick of a streak of failures, or the good one that ends it.
 *
 * @param before how the ticks before it had gone
 * @design D10-02
 */
export function streakNotes(
  cluster: string,
  before: Health,
  { at, outcome }: TickResult,
  detail: string | undefined,
): readonly AuditNote[] {
  const { failingSince: since, failures = 0, lastOutcome = '' } = before;
  const note = (begun: Instant, part: string, facts: AuditNote['facts']): readonly AuditNote[] => [
    { cluster, kind: 'tick', at, key: `TICK#${formatInstant(begun)}#${part}`, facts },
  ];
  if (outcome === 'Ok') {
    if (since === undefined) return [];
    return note(since, 'recovered', {
      change: 'recovered',
      failingSince: formatInstant(since),
      failures,
      lastOutcome,
    });
  }
  if (since !== undefined) return [];
  const words = detail === undefined ? {} : { detail: detail.slice(0, longestText) };
  return note(at, 'failing', { change: 'failing', outcome, ...words });
}

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
