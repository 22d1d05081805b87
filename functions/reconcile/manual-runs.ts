/**
 * A tick that somebody asked for, and what they are told about it.
 */
import type { ClusterTarget } from '../../lib/adapters/aws/cluster-registry.ts';
import { expiredAnswer, isExpired, type ManualRun, type RunAnswer } from '../../lib/adapters/aws/manual-run.ts';
import type { RunDesk } from '../../lib/adapters/aws/run-desk.ts';
import { ourClock } from '../../lib/adapters/aws/schedule-event.ts';
import { UnusableConnection } from '../../lib/adapters/kubernetes/connection.ts';
import { lookForPlan } from '../../lib/controller/look-for-plan.ts';
import { ObservationFailed, type PoolRecord, type TickRecord } from '../../lib/controller/ports.ts';
import type { Tick } from '../../lib/controller/run-tick.ts';
import { outlookOf } from '../../lib/engine/outlook.ts';
import { poolDocument } from '../../lib/engine/plan-document.ts';
import { budgetOf, makeTick, openCluster, type ReconcileDependencies, type Remaining } from './tick.ts';
import { trimmed } from './trimmed-plan.ts';

/** @returns what was answered; undefined when it had its answer already @design D12-02, D12-03 */
export async function answerRun(
  dependencies: ReconcileDependencies & { readonly desk: RunDesk },
  target: ClusterTarget,
  run: ManualRun,
  context: Remaining,
): Promise<RunAnswer | undefined> {
  const { desk, metrics, now = Date.now } = dependencies;
  if (await desk.isAnswered(run)) return undefined;
  const answer = isExpired(run, ourClock(now()))
    ? expiredAnswer(run)
    : run.action === 'plan'
      ? await plan(dependencies, target, run, context)
      : answerOf(
          run,
          await makeTick(dependencies, target, { ...requestOf(run), scheduledAt: run.requestedAt }, context),
        );
  if (await desk.answer(run, answer)) metrics?.run(answer.outcome);
  return answer;
}

/** The record of a start has room for some words, not for a letter. */
const longestReason = 200;

function requestOf(run: ManualRun): Pick<Tick, 'request'> {
  const { action, nodeClaim, nodePool, ignoreWindow = false, id, requestedBy, reason, requestedAt } = run;
  if (action !== 'rotate' || nodeClaim === undefined) return {};
  const words = `manual run ${id}, asked for by ${requestedBy} (as claimed): ${reason}`.slice(0, longestReason);
  return {
    request: { nodeClaim, ...(nodePool === undefined ? {} : { nodePool }), ignoreWindow, reason: words, requestedAt },
  };
}

function answerOf(run: ManualRun, record: TickRecord): RunAnswer {
  const { outcome, detail = '', pools, answer } = record;
  if (outcome !== 'Ok') return { outcome: 'Refused', reason: outcome, message: detail };
  if (answer?.outcome === 'started') return { outcome: 'Started', message: answer.message };
  if (answer !== undefined) return { outcome: 'Refused', reason: answer.reason, message: answer.message };
  const { nodePool } = run;
  const told = pools.filter(({ decision }) => nodePool === undefined || decision.nodePool === nodePool);
  if (nodePool !== undefined && told.length === 0) return unknownPool(nodePool);
  return { outcome: 'Done', message: told.map(inWords).join('; ').slice(0, 4_000) || 'the cluster has no NodePools' };
}

const inWords = ({ decision: { nodePool, step, blocked }, stopped }: PoolRecord): string =>
  `${nodePool || '(no NodePool)'}: ${step}${blocked ? ` (${blocked.reason}: ${blocked.message})` : ''}${stopped === undefined ? '' : `, stopped: ${stopped}`}`;

const unknownPool = (name: string): RunAnswer => ({
  outcome: 'Refused',
  reason: 'UnknownNodePool',
  message: `the cluster has no NodePool ${name}`,
});

/** Nothing is written, not even a delete that is only tried. @design D12-02, D13-02 */
async function plan(
  dependencies: ReconcileDependencies,
  target: ClusterTarget,
  { nodePool = '' }: ManualRun,
  context: Remaining,
): Promise<RunAnswer> {
  try {
    const cluster = openCluster(dependencies, target, budgetOf(context));
    const outlook = outlookOf(await lookForPlan(cluster));
    const pool = outlook.pools.find(({ name }) => name === nodePool);
    if (pool === undefined) return unknownPool(nodePool);
    return { outcome: 'Done', message: `the plan of NodePool ${nodePool}`, plan: trimmed(poolDocument(pool)) };
  } catch (error) {
    if (error instanceof ObservationFailed)
      return { outcome: 'Refused', reason: error.outcome, message: error.message };
    if (error instanceof UnusableConnection) {
      return { outcome: 'Refused', reason: 'Unreachable', message: error.message };
    }
    throw error;
  }
}
