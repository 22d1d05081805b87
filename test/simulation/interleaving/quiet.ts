/**
 * What follows when nothing more goes wrong: one observer, whole ticks, and a cluster that does what it has to do.
 *
 * From every cluster it must come to rest, again after readyTimeout, and again after the window, and then nothing of ours
 * is left. A cluster that comes back without having come to rest goes in circles.
 */
import { add, minutes, parseInstant } from '../../../lib/domain/time.ts';
import { isDeleting, isTrue } from '../../../lib/simulator/kube-object.ts';
import { clusterSteps } from './cluster-steps.ts';
import type { Explorer, State } from './explorer.ts';
import { judgeDraining, judgeRecords, leftOfOurs, seenAt } from './oracle.ts';
import type { WriteKind } from './port.ts';
import {
  claimIn,
  doNotDisrupt,
  hostIn,
  isCordoned,
  marksOf,
  nodeBehind,
  oldClaim,
  placeholderIn,
  poolIn,
  windowCloses,
} from './small-cluster.ts';
import type { ClusterState, Stage } from './stage.ts';

export interface Quiet {
  readonly violation?: string;
  readonly trace: readonly string[];
}

/** Far more than a rotation, its undoing and its records take. */
const mostRounds = 60;

export class QuietEnds {
  readonly #explorer: Explorer;
  readonly #good = new Set<number>();

  constructor(explorer: Explorer) {
    this.#explorer = explorer;
  }

  async from(cluster: ClusterState): Promise<Quiet> {
    const trace: string[] = [];
    const passed: number[] = [];
    let state: State = { cluster, ticks: [], faults: 0, moves: 0 };
    let sinceRest = new Set<number>();
    for (let round = 0; ; round += 1) {
      if (this.#good.has(state.cluster.id)) break;
      if (round > mostRounds) return { violation: 'ticks never come to rest', trace };
      sinceRest.add(state.cluster.id);
      passed.push(state.cluster.id);
      const next = await this.#round(state, trace);
      if ('violation' in next) return { violation: next.violation, trace };
      const { id } = next.state.cluster;
      if (!sinceRest.has(id)) {
        state = next.state;
        continue;
      }
      const later = this.#afterRest(next.state, trace, id !== state.cluster.id);
      if (later === undefined) break;
      if ('violation' in later) return { violation: later.violation, trace };
      sinceRest = new Set();
      state = later.state;
    }
    for (const id of passed) this.#good.add(id);
    return { trace };
  }

  /** A tick, then every step of the cluster that is due. */
  async #round(from: State, trace: string[]): Promise<{ state: State } | { violation: string }> {
    const ticked = await this.#explorer.wholeTick(from);
    if (ticked.state.cluster.id !== from.cluster.id) trace.push(`quiet: ${ticked.label}`);
    if (ticked.violation !== undefined) return { violation: ticked.violation };
    const { stage } = this.#explorer;
    stage.load(ticked.state.cluster);
    const unprotected = this.#refusedForGood('nodePatch') ? undefined : judgeDraining(stage);
    if (unprotected !== undefined) return { violation: unprotected };
    for (let [step] = clusterSteps(stage); step; [step] = clusterSteps(stage)) {
      trace.push(`quiet: ${step.name}`);
      step.make(stage);
    }
    return { state: { ...ticked.state, cluster: stage.capture() } };
  }

  #refusedForGood(kind: WriteKind): boolean {
    return this.#explorer.stage.refusal === 'forGood' && this.#explorer.bounds.refusing?.kind === kind;
  }

  /**
   * What is judged where nothing new happens any more, and how much later it is looked at again; undefined at the end.
   *
   * @param circling the same happens again and again: allowed while readyTimeout or the window can still end it
   */
  #afterRest(state: State, trace: string[], circling: boolean): { state: State } | { violation: string } | undefined {
    const { stage, bounds } = this.#explorer;
    stage.load(state.cluster);
    const anchored = marksOf(poolIn(stage))['active-rotation'] !== undefined;
    const idle = readyButIdle(stage);
    if (idle !== undefined && !circling) return { violation: idle };
    const left = leftOfOurs(stage);
    const goOn = (label: string): { state: State } => {
      trace.push(`quiet: ${label}`);
      return { state: { ...state, cluster: stage.capture() } };
    };
    if (anchored) {
      const readyBy = parseInstant(marksOf(poolIn(stage))['started-at'] ?? '');
      const past = readyBy === undefined ? stage.now : add(readyBy, minutes(16));
      if (past > stage.now) {
        stage.now = past;
        return goOn('readyTimeout passes');
      }
      if (stage.now < windowCloses) {
        stage.now = windowCloses;
        return goOn('the window closes');
      }
    }
    if (circling) return { violation: 'ticks go in circles' };
    const refused = stage.refusal === 'forGood' ? bounds.refusing?.kind : undefined;
    if (anchored && refused !== 'poolPatch') return { violation: 'the rotation never ends' };
    if (refused !== undefined) {
      stage.refusal = 'over';
      return goOn('nothing is refused any more');
    }
    if (left.length > 0) return { violation: `left behind: ${left.join(', ')}` };
    // What the claim was never allowed to carry cannot be counted on it.
    const counts = !(bounds.refusing?.kind === 'claimPatch' && bounds.refusing.how === 'forGood');
    const records = judgeRecords(stage, counts);
    return records === undefined ? undefined : { violation: records };
  }
}

/** Everything that a hand-over asks for is there, nothing forbids it, and yet nobody hands over. */
function readyButIdle(stage: Stage): string | undefined {
  const pool = marksOf(poolIn(stage));
  const old = claimIn(stage, oldClaim);
  const placeholder = placeholderIn(stage);
  if (pool['active-rotation'] === undefined || !old || isDeleting(old) || stage.refusal === 'forGood') return undefined;
  if (placeholder?.status.phase !== 'Running' || nodeBehind(stage, oldClaim) === undefined) return undefined;
  const host = hostIn(stage);
  if (!host || placeholder.spec.nodeName !== host.metadata.name || !isTrue(host, 'Ready')) return undefined;
  const startedAt = parseInstant(pool['started-at'] ?? '');
  if (startedAt === undefined || stage.now > add(startedAt, minutes(15))) return undefined;
  if (isCordoned(host) || doNotDisrupt(host) !== 'true') return undefined;
  const holds = seenAt(stage, { kind: 'observe' }).filter((each) => !each.startsWith('to start'));
  return holds.length === 0 ? 'the surge is ready and nobody hands over' : undefined;
}
