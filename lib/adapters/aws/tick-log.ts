/**
 * The log of a tick: one structured line for each transition that landed and each thing that went wrong, and one summary.
 *
 * A quiet tick is one line, because there are more than a thousand of them a day for each cluster.
 */
import type { PoolRecord, TickRecord } from '../../controller/ports.ts';
import { outboxLimit, toWire, type UnrecordedStep } from '../../domain/rotation/unrecorded.ts';
import { formatInstant } from '../../domain/time.ts';

/** Where lines go; a Powertools logger is one. */
export interface Log {
  info(message: string, details: Record<string, unknown>): void;
  warn(message: string, details: Record<string, unknown>): void;
  error(message: string, details: Record<string, unknown>): void;
}

/** @design D11-06 */
export function logTick(log: Log, cluster: string, tick: TickRecord): void {
  for (const pool of tick.pools) logPool(log, cluster, pool);
  for (const text of tick.unreadable) log.error('An unreadable step was taken off the outbox', { cluster, text });
  for (const [nodePool, left] of tick.unrecorded) {
    if (left.length > outboxLimit.entries / 2)
      log.warn('Steps wait for the audit table', { cluster, nodePool, waiting: left.length });
  }
  const busy = tick.pools.filter(({ decision }) => decision.step !== 'nothing' && decision.step !== 'blocked');
  const summary = {
    cluster,
    outcome: tick.outcome,
    ...(tick.observedAt === undefined ? {} : { observedAt: formatInstant(tick.observedAt) }),
    ...(tick.detail === undefined ? {} : { detail: tick.detail }),
    nodePools: tick.pools.length,
    ...(busy.length === 0
      ? {}
      : { steps: Object.fromEntries(busy.map(({ decision }) => [decision.nodePool, decision.step])) }),
  };
  if (tick.outcome === 'Ok') log.info('Tick', summary);
  else log.error('Tick failed', summary);
}

function logPool(log: Log, cluster: string, { decision, results, stopped, landed }: PoolRecord): void {
  const where = { cluster, nodePool: decision.nodePool, step: decision.step };
  if (landed && decision.transition) log.info('Rotation', { ...where, ...transitionOf(decision.transition) });
  if (stopped !== undefined) {
    const line = { ...where, stopped, done: results.length, of: decision.actions.length };
    if (stopped.startsWith('InvariantViolated')) log.error('List refused by an invariant', line);
    else log.warn('List stopped', line);
  }
  for (const [index, result] of results.entries()) {
    if (result.outcome !== 'rejected') continue;
    log.warn('Write refused', { ...where, action: decision.actions[index]?.kind, detail: result.detail });
  }
  for (const { code, message } of decision.notices) {
    if (code === 'AuditLost') log.error('Audit row lost', { ...where, message });
  }
}

/** A step as it is logged: the names of the audit row, the step under a name of its own. */
function transitionOf(entry: UnrecordedStep): Record<string, string | number> {
  const { step, ...rest } = toWire(entry);
  return { ...rest, ...(step === undefined ? {} : { transition: step }) };
}
