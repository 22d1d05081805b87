/**
 * Breadth first through everything that can happen within the bounds: what is found first is found in the fewest steps.
 */
import { clusterSteps } from './cluster-steps.ts';
import type { Bounds, State } from './explorer.ts';
import { Explorer } from './explorer.ts';
import type { MoveName } from './moves.ts';
import { moves } from './moves.ts';
import { QuietEnds } from './quiet.ts';
import { hostIn, marksOf, placeholderIn, poolIn } from './small-cluster.ts';
import type { ClusterState, Stage } from './stage.ts';

export interface Search extends Bounds {
  /** Where it sets in: after whole quiet ticks, each with one step of the cluster, until this holds. */
  readonly from?: keyof typeof moments;
  /** What then happens before the search: whole ticks, the first step of the cluster, moves. */
  readonly after?: readonly ('tick' | 'step' | MoveName)[];
  /** A search that comes to so many states has not been through everything. */
  readonly mostStates: number;
}

/** Moments of a rotation. */
const moments = {
  /** The placeholder runs on a host that the pool knows and that is protected: the next tick hands over. */
  surgeReady: (stage: Stage) =>
    placeholderIn(stage)?.status.phase === 'Running' &&
    marksOf(hostIn(stage))['surge-for'] !== undefined &&
    marksOf(poolIn(stage))['surge-claim'] !== undefined,
  /** The placeholder waits for a node. */
  waiting: (stage: Stage) => placeholderIn(stage) !== undefined,
} satisfies Readonly<Record<string, (stage: Stage) => boolean>>;

/** Every tick acts on what the one step before it has brought. */
async function quietlyUntil(explorer: Explorer, first: State, moment: keyof typeof moments): Promise<State> {
  const { stage } = explorer;
  let state = first;
  for (let round = 0; round < 20; round += 1) {
    for (const act of ['tick', 'step'] as const) {
      stage.load(state.cluster);
      if (moments[moment](stage)) return state;
      if (act === 'tick') state = (await explorer.wholeTick(state)).state;
      else {
        clusterSteps(stage)[0]?.make(stage);
        state = { ...state, cluster: stage.capture() };
      }
    }
  }
  throw new Error(`the rotation never comes to the moment ${moment}`);
}

async function told(explorer: Explorer, first: State, story: Search): Promise<State> {
  const { stage } = explorer;
  let state = story.from ? await quietlyUntil(explorer, first, story.from) : first;
  for (const happening of story.after ?? []) {
    stage.load(state.cluster);
    if (happening === 'tick') state = (await explorer.wholeTick(state)).state;
    else {
      if (happening === 'step') clusterSteps(stage)[0]?.make(stage);
      else moves[happening].make(stage);
      state = { ...state, cluster: stage.capture() };
    }
  }
  return state;
}

export interface Outcome {
  readonly states: number;
  readonly transitions: number;
  /** Different clusters, the ticks in flight aside; from each a quiet end was looked for. */
  readonly clusters: number;
  /** Different ticks as far as they had come. */
  readonly ticks: number;
  readonly depth: number;
  /** Everything within the bounds was seen. */
  readonly complete: boolean;
  readonly violation?: string;
  readonly trace?: readonly string[];
}

interface Visited {
  readonly parent: number;
  readonly label: string;
}

export async function search(bounds: Search): Promise<Outcome> {
  const explorer = new Explorer(bounds);
  const quiet = new QuietEnds(explorer);
  const visited: Visited[] = [];
  const known = new Set<string>();
  const ended = new Set<number>();
  let transitions = 0;
  let depth = 0;

  const outcome = (complete: boolean, violation?: string, trace?: readonly string[]): Outcome => ({
    states: visited.length,
    transitions,
    clusters: explorer.stage.seen,
    ticks: explorer.tree.size,
    depth,
    complete,
    ...(violation === undefined ? {} : { violation, trace: trace ?? [] }),
  });
  const traceOf = (index: number): string[] => {
    const labels: string[] = [];
    for (let at = index; at > 0; at = (visited[at] as Visited).parent) labels.unshift((visited[at] as Visited).label);
    return labels;
  };
  const badEnd = async (
    cluster: ClusterState,
  ): Promise<{ violation: string; trace: readonly string[] } | undefined> => {
    if (ended.has(cluster.id)) return undefined;
    ended.add(cluster.id);
    const { violation, trace } = await quiet.from(cluster);
    return violation === undefined ? undefined : { violation, trace };
  };

  const first = explorer.initial();
  const start = await told(explorer, first, bounds);
  visited.push({ parent: 0, label: '' });
  known.add(explorer.keyOf(start));
  let level: { readonly state: State; readonly index: number }[] = [{ state: start, index: 0 }];
  while (level.length > 0) {
    const next: typeof level = [];
    for (const { state, index } of level) {
      for await (const taken of explorer.next(state)) {
        transitions += 1;
        if (taken.violation !== undefined) return outcome(false, taken.violation, [...traceOf(index), taken.label]);
        const key = explorer.keyOf(taken.state);
        if (known.has(key)) continue;
        known.add(key);
        visited.push({ parent: index, label: taken.label });
        const bad = await badEnd(taken.state.cluster);
        if (bad) return outcome(false, bad.violation, [...traceOf(visited.length - 1), ...bad.trace]);
        if (visited.length >= bounds.mostStates) return outcome(false);
        next.push({ state: taken.state, index: visited.length - 1 });
      }
    }
    level = next;
    depth += 1;
  }
  return outcome(true);
}
