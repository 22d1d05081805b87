/**
 * Plays seed after seed in several processes and gathers what came of them.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { CaseResult } from './run-case.ts';
import type { Violation } from './safety.ts';

/** What one seed came to, small enough to be sent between processes. */
export interface SeedOutcome {
  readonly seed: number;
  readonly calm: boolean;
  readonly minutes: number;
  readonly ticks: number;
  readonly actions: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly moves: Readonly<Record<string, number>>;
  readonly disruptions: Readonly<Record<string, number>>;
  readonly blocked: Readonly<Record<string, number>>;
  /** Rotations by outcome. */
  readonly rotations: Readonly<Record<string, number>>;
  readonly forced: number;
  /** The first one. */
  readonly violation?: Violation;
  /** An exception that is no violation of a rule but a bug of product or simulation. */
  readonly thrown?: string;
}

export interface Played {
  readonly seconds: number;
  readonly outcomes: readonly SeedOutcome[];
  readonly failures: readonly SeedOutcome[];
}

export interface PlayOptions {
  readonly from: number;
  readonly count?: number;
  readonly minutes?: number;
  readonly processes: number;
  readonly progress: (line: string) => void;
}

export function outcomeOf(seed: number, calm: boolean, result: CaseResult): SeedOutcome {
  const rotations: Record<string, number> = {};
  for (const { outcome, mode } of result.rotations) {
    const name = `${outcome ?? 'unfinished'}${mode === 'surge' ? '' : ' (fallback)'}`;
    rotations[name] = (rotations[name] ?? 0) + 1;
  }
  const [violation] = result.violations;
  const { minutes, ticks, actions, forced } = result;
  return {
    seed,
    calm,
    minutes,
    ticks,
    actions,
    faults: Object.fromEntries(result.faults),
    moves: Object.fromEntries(result.moves),
    disruptions: Object.fromEntries(result.disruptions),
    blocked: Object.fromEntries(result.blocked),
    rotations,
    forced,
    ...(violation ? { violation } : {}),
  };
}

/** Of a seed that came to no end. */
export const brokenOff = (seed: number, calm: boolean, thrown: string): SeedOutcome => ({
  seed,
  calm,
  minutes: 0,
  ticks: 0,
  actions: 0,
  faults: {},
  moves: {},
  disruptions: {},
  blocked: {},
  rotations: {},
  forced: 0,
  thrown,
});

export async function playSeeds({ from, count, minutes, processes, progress }: PlayOptions): Promise<Played> {
  const began = performance.now();
  const until = minutes === undefined ? Number.POSITIVE_INFINITY : began + minutes * 60_000;
  const outcomes: SeedOutcome[] = [];
  let next = from;
  let told = began;
  const take = (): number | undefined => {
    const left = count === undefined ? true : next < from + count;
    if (!left || performance.now() >= until) return undefined;
    next += 1;
    return next - 1;
  };
  const keep = (outcome: SeedOutcome): void => {
    outcomes.push(outcome);
    const { seed, violation, thrown } = outcome;
    if (violation ?? thrown)
      progress(`seed ${seed}: ${violation ? `${violation.rule}: ${violation.message}` : thrown}`);
    if (performance.now() - told < 30_000) return;
    told = performance.now();
    const days = outcomes.reduce((sum, each) => sum + each.minutes, 0) / 1440;
    progress(`${Math.round((told - began) / 1000)} s: ${outcomes.length} seeds, ${days.toFixed(0)} cluster-days`);
  };
  await Promise.all(Array.from({ length: processes }, () => playInChild(take, keep)));
  outcomes.sort((a, b) => a.seed - b.seed);
  return {
    seconds: (performance.now() - began) / 1000,
    outcomes,
    failures: outcomes.filter(({ violation, thrown }) => violation !== undefined || thrown !== undefined),
  };
}

/** One process after another case, until there are none; a child that dies takes one seed with it, not the run. */
async function playInChild(take: () => number | undefined, keep: (outcome: SeedOutcome) => void): Promise<void> {
  for (let seed = take(); seed !== undefined; ) {
    const child = fork(fileURLToPath(new URL('./play-child.ts', import.meta.url)), {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    let playing: number | undefined = seed;
    child.send(seed);
    child.on('message', (outcome: SeedOutcome) => {
      keep(outcome);
      playing = take();
      if (playing === undefined) child.disconnect();
      else child.send(playing);
    });
    await new Promise((resolve) => child.once('exit', resolve));
    if (playing === undefined) return;
    keep(brokenOff(playing, false, 'the process that played it died'));
    seed = take();
  }
}
