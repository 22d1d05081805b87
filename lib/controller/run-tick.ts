/**
 * One tick: observe, decide, check, act, record. It decides nothing itself.
 *
 * Pools are acted on side by side, a pool's actions in order. Every write names the version it was decided on, or the
 * one that our own earlier write to the same object returned. Whatever stops a list, the next tick goes on from the
 * annotations.
 */
import type { NodePool } from '../domain/cluster/node-pool.ts';
import type { ObjectMeta } from '../domain/cluster/object-ref.ts';
import { annotation, keyOf, own, refOf } from '../domain/cluster/object-ref.ts';
import type { ClusterSnapshot, RotateRequest } from '../domain/cluster/snapshot.ts';
import { nothingInspected } from '../domain/cluster/snapshot.ts';
import { keyPrefix, nodeKeys, poolKeys } from '../domain/rotation/annotation-keys.ts';
import type { UnrecordedStep } from '../domain/rotation/unrecorded.ts';
import { entryKey, readOutbox, writeOutbox } from '../domain/rotation/unrecorded.ts';
import { seconds } from '../domain/time.ts';
import { decide } from '../engine/decide.ts';
import type { Action, Decision } from '../engine/decision.ts';
import { violations } from '../engine/invariants.ts';
import { viewOf } from '../engine/pool-view.ts';
import { afterRefusal } from '../engine/refusal.ts';
import { answerRequest } from '../engine/request.ts';
import { mergeInspected, survey } from '../engine/survey.ts';
import { standingFindings } from '../engine/warnings.ts';
import { nothingNeeded } from '../engine/writes.ts';
import type { ActionResult, Budget, Cluster, PoolRecord, Recorder, TickRecord } from './ports.ts';
import { ObservationFailed } from './ports.ts';

/** Questions lead to questions (candidate after candidate, then a dry run), but not without end. */
const mostLooks = 12;
/** A list is begun only with this much of the budget left, and abandoned when the snapshot is older than that. @design D1-06, D5-08 */
const listNeeds = seconds(10);
const snapshotLasts = seconds(60);

export interface Tick {
  readonly cluster: Cluster;
  readonly recorder: Recorder;
  readonly budget: Budget;
  /** Somebody asks that one NodeClaim be rotated now. @design D12-02 */
  readonly request?: RotateRequest;
}

/** @design D6, D1-05, D10-04 */
export async function runTick(tick: Tick): Promise<TickRecord> {
  let snapshot: ClusterSnapshot;
  try {
    snapshot = await look(tick.cluster, tick.request);
  } catch (error) {
    if (!(error instanceof ObservationFailed)) throw error;
    const failed: TickRecord = {
      outcome: error.outcome,
      detail: error.message,
      pools: [],
      unrecorded: new Map(),
      unreadable: [],
    };
    await tick.recorder.record(failed);
    return failed;
  }
  const lists = decide(snapshot).map((decision) => carryOut(tick, snapshot, decision));
  const outcomes = await Promise.all(lists);
  const record: TickRecord = {
    outcome: 'Ok',
    observedAt: snapshot.observedAt,
    pools: outcomes.map((outcome) => outcome.record),
    unrecorded: new Map(
      outcomes.filter(({ left }) => left.length > 0).map(({ record: { decision }, left }) => [decision.nodePool, left]),
    ),
    unreadable: outcomes.flatMap((outcome) => outcome.unreadable),
    policies: snapshot.policies,
    standing: standingFindings(snapshot),
    ...(tick.request === undefined
      ? {}
      : {
          answer: answerRequest(
            snapshot,
            tick.request,
            outcomes.map(({ record: each }) => each),
          ),
        }),
  };
  await tick.recorder.record(record);
  return record;
}

async function look(cluster: Cluster, request: RotateRequest | undefined): Promise<ClusterSnapshot> {
  let snapshot: ClusterSnapshot = {
    ...(await cluster.observe()),
    ...(request === undefined ? {} : { request }),
    inspected: nothingInspected,
  };
  for (let looks = 0; looks < mostLooks; looks += 1) {
    const wanted = survey(snapshot);
    if (nothingNeeded(wanted)) break;
    snapshot = { ...snapshot, inspected: mergeInspected(snapshot.inspected, await cluster.inspect(wanted)) };
  }
  return snapshot;
}

interface Outcome {
  readonly record: PoolRecord;
  /** Steps that are still on the outbox. */
  readonly left: readonly UnrecordedStep[];
  readonly unreadable: readonly string[];
}

async function carryOut(tick: Tick, snapshot: ClusterSnapshot, decision: Decision): Promise<Outcome> {
  const pool = snapshot.nodePools.find((each) => each.meta.name === decision.nodePool);
  const broken = violations(pool && viewOf(snapshot, pool), decision);
  const versions = new Map<string, string>();
  const record =
    broken.length > 0
      ? stop(decision, [], `InvariantViolated: ${broken.join('; ')}`)
      : decision.actions.length === 0
        ? { decision, results: [], landed: false }
        : await actOn(tick, pool, decision, versions);
  if (!pool) return { record, left: [], unreadable: [] };
  return { record, ...(await emptyOutbox(tick, pool, record, versions)) };
}

const stop = (decision: Decision, results: readonly ActionResult[], stopped: string, landed = false): PoolRecord => ({
  decision,
  results,
  stopped,
  landed,
});

async function actOn(
  tick: Tick,
  pool: NodePool | undefined,
  decision: Decision,
  versions: Map<string, string>,
): Promise<PoolRecord> {
  if (tick.budget.left() < (decision.needs ?? listNeeds)) return stop(decision, [], 'OutOfTime');
  const moved = pool && (await secondLook(tick.cluster, pool, decision, versions));
  if (moved !== undefined) return stop(decision, [], moved);
  const results: ActionResult[] = [];
  let landed = false;
  for (const action of decision.actions) {
    if (tick.budget.sinceSnapshot() > snapshotLasts) return stop(decision, results, 'Suspended', landed);
    const result = await tick.cluster.apply(atVersion(action, versions));
    results.push(result);
    remember(action, result, versions);
    if (
      result.outcome === 'applied' &&
      action.kind === 'annotate' &&
      own(action.annotations, poolKeys.unrecorded) !== undefined
    )
      landed = true;
    if (result.outcome === 'applied' || result.outcome === 'alreadyDone' || action.kind === 'emitEvent') continue;
    if (result.outcome === 'rejected' && action.whenRefused === 'goOn') continue;
    if (result.outcome === 'rejected' && pool) {
      const followUp = afterRefusal(pool, decision, action, result.detail);
      if (followUp) remember(followUp, await tick.cluster.apply(atVersion(followUp, versions)), versions);
    }
    return stop(decision, results, `${result.outcome}: ${'detail' in result ? result.detail : ''}`, landed);
  }
  return { decision, results, landed };
}

/** Reads the pool, and for a hand-over the old Node, once more; what changed since the snapshot drops the list. @design D5-08 */
async function secondLook(
  cluster: Cluster,
  pool: NodePool,
  decision: Decision,
  versions: Map<string, string>,
): Promise<string | undefined> {
  const ref = refOf('NodePool', pool.meta);
  try {
    const now = await cluster.reread(ref, decision.rereadNode);
    if (now.nodePool === 'gone' || fingerprint(now.nodePool.meta) !== fingerprint(pool.meta))
      return `Moved: NodePool ${pool.meta.name}`;
    versions.set(keyOf(ref), now.nodePool.meta.resourceVersion);
    const node = decision.rereadNode;
    if (
      node &&
      (now.node === undefined ||
        now.node === 'gone' ||
        !decision.nodeAsSeen ||
        fingerprint(now.node.meta) !== fingerprint(decision.nodeAsSeen))
    ) {
      return `Moved: Node ${node.name}`;
    }
    return undefined;
  } catch (error) {
    if (error instanceof ObservationFailed) return `${error.outcome}: ${error.message}`;
    throw error;
  }
}

/** What a decision depends on in an object that others may write, too. */
const fingerprint = (meta: ObjectMeta): string =>
  JSON.stringify([
    meta.uid,
    meta.deleting,
    Object.entries(meta.annotations)
      .filter(([key]) => key.startsWith(keyPrefix) || key === nodeKeys.doNotDisrupt)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  ]);

function atVersion(action: Action, versions: ReadonlyMap<string, string>): Action {
  if (!('target' in action)) return action;
  const resourceVersion = versions.get(keyOf(action.target));
  return resourceVersion === undefined ? action : { ...action, target: { ...action.target, resourceVersion } };
}

function remember(action: Action, result: ActionResult, versions: Map<string, string>): void {
  if ('target' in action && result.outcome === 'applied' && result.resourceVersion !== undefined) {
    versions.set(keyOf(action.target), result.resourceVersion);
  }
}

/** Puts the rows of what is on the outbox and takes off what is known to be in the table. @design D10-04 */
async function emptyOutbox(
  tick: Tick,
  pool: NodePool,
  record: PoolRecord,
  versions: ReadonlyMap<string, string>,
): Promise<Omit<Outcome, 'record'>> {
  const outbox = readOutbox(annotation(pool.meta, poolKeys.unrecorded));
  const { transition } = record.decision;
  const entries = record.landed && transition ? [...outbox.entries, transition] : outbox.entries;
  // A list that landed has written the outbox anew, without what could not be read.
  const spoilt = record.landed ? [] : outbox.unreadable;
  if (entries.length === 0 && spoilt.length === 0) return { left: [], unreadable: [] };
  const recorded = await tick.recorder.putSteps(pool.meta.name, entries);
  const left = entries.filter((entry) => !recorded.has(entryKey(entry)));
  const asItWas = left.length === entries.length && spoilt.length === 0;
  if (asItWas || record.stopped?.startsWith('Moved')) return { left, unreadable: [] };
  const patch: Action = {
    kind: 'annotate',
    target: refOf('NodePool', pool.meta),
    annotations: { [poolKeys.unrecorded]: writeOutbox(left) },
    whenRefused: 'goOn',
  };
  const result = await tick.cluster.apply(atVersion(patch, versions));
  return result.outcome === 'applied' ? { left, unreadable: spoilt } : { left: entries, unreadable: [] };
}
