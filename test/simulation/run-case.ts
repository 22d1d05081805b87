/**
 * Plays a case to its end under both oracles: minute after minute what is due happens, the controller ticks, and then
 * quiet time shows whether everything ends.
 */
import type { TickRecord } from '../../lib/controller/ports.ts';
import type { Instant } from '../../lib/domain/time.ts';
import { add, earliest, formatInstant, minutes, seconds } from '../../lib/domain/time.ts';
import type { KubeObject } from '../../lib/simulator/kube-object.ts';
import { Random } from '../../lib/simulator/random.ts';
import type { RotationLife } from '../../lib/simulator/timeline.ts';
import { TimelineWatcher } from '../../lib/simulator/timeline.ts';
import type { World } from '../../lib/simulator/world.ts';
import { MemoryTable } from '../support/story.ts';
import { buildCaseWorld } from './build-case-world.ts';
import { interleave } from './interleave.ts';
import { judgeCalm, judgeEnd } from './liveness.ts';
import type { Scene } from './moves.ts';
import { isIn, make } from './moves.ts';
import { termsOf, windowAt } from './policy-terms.ts';
import type { Violation } from './safety.ts';
import { SafetyOracle } from './safety.ts';
import { anchorOf, condition, key, lookAt, note } from './seen-cluster.ts';
import type { SimCase, TimedMove, Trouble } from './sim-case.ts';
import { runProcess } from './troubled-process.ts';
import { Troubles } from './troubles.ts';

export interface CaseResult {
  readonly violations: readonly Violation[];
  readonly minutes: number;
  readonly ticks: number;
  readonly actions: number;
  readonly faults: ReadonlyMap<string, number>;
  readonly moves: ReadonlyMap<string, number>;
  /** What Karpenter itself took, by reason. */
  readonly disruptions: ReadonlyMap<string, number>;
  /** Why nothing was started, by reason: pools times ticks. */
  readonly blocked: ReadonlyMap<string, number>;
  readonly rotations: readonly RotationLife[];
  readonly forced: number;
  /** One line per thing that happened, for a reader. */
  readonly story: readonly string[];
}

/** Longest that quiet time may have to last: a drain of a day, and the sweep after it. */
const mostQuietMinutes = 30 * 60;

export async function runCase(simCase: SimCase): Promise<CaseResult> {
  const run = new Run(simCase);
  await run.troubled();
  if (!run.broken) await run.quiet();
  return run.result();
}

class Run {
  readonly #case: SimCase;
  readonly #world: World;
  readonly #scene: Scene;
  readonly #oracle: SafetyOracle;
  readonly #table = new MemoryTable();
  readonly #troubles: Troubles;
  readonly #watcher: TimelineWatcher;
  readonly #from: Instant;
  readonly #story: string[] = [];
  readonly #made = new Map<string, number>();
  readonly #blocked = new Map<string, number>();
  readonly #disruptions = new Map<string, number>();
  readonly #extra: Violation[] = [];
  #waiting: TimedMove[];
  #ticks = 0;
  #actions = 0;
  #busyUntil: number;

  constructor(simCase: SimCase) {
    this.#case = simCase;
    this.#world = buildCaseWorld(simCase);
    this.#from = this.#world.now;
    this.#oracle = new SafetyOracle(this.#world);
    this.#oracle.trail.watch(this.#table.rows);
    this.#scene = { world: this.#world, oracle: this.#oracle, retired: false, request: undefined, later: [] };
    this.#troubles = new Troubles(simCase, () => this.#second());
    this.#watcher = new TimelineWatcher(this.#world);
    this.#world.store.onChange((event) => {
      const reason = reasonOf(event.type === 'modified' ? event.object : undefined);
      if (reason === undefined || (event.type === 'modified' && reasonOf(event.before) === reason)) return;
      this.#disruptions.set(reason, (this.#disruptions.get(reason) ?? 0) + 1);
    });
    this.#waiting = simCase.moves.toSorted((a, b) => a.at - b.at);
    this.#busyUntil = add(this.#from, minutes(5));
    this.#world.launchOutcome = () =>
      this.#troubles.strikes('insufficientCapacity', `launch/${this.#second()}`)
        ? 'insufficientCapacity'
        : this.#troubles.strikes('neverRegisters', `launch/${Math.floor(this.#second() / 900)}`)
          ? 'neverRegisters'
          : 'registers';
  }

  get broken(): boolean {
    return this.#oracle.violations.length + this.#extra.length > 0;
  }

  async troubled(): Promise<void> {
    const end = add(this.#from, minutes(this.#case.minutes));
    for (let at = this.#from; at <= end && !this.broken; at = this.#nextTick(at)) {
      this.#passTo(at);
      await this.#minute();
    }
  }

  /** Everything that has begun ends; then nothing new may begin, and nothing of ours is left. */
  async quiet(): Promise<void> {
    this.#tell('quiet time');
    this.#waiting = [];
    const begun = new Set(lookAt(this.#world).pools.flatMap((pool) => anchorId(pool)));
    await this.#tickUntil(() => !lookAt(this.#world).pools.some((pool) => anchorId(pool).some((id) => begun.has(id))));
    for (const policy of this.#world.store.all('RotationPolicy'))
      this.#world.store.patch({ kind: 'RotationPolicy', name: policy.metadata.name }, { spec: { mode: 'Observe' } });
    let good = 0;
    await this.#tickUntil(() => {
      const done = lookAt(this.#world).pools.every(
        (pool) => !anchorOf(pool) && note(pool, key('unrecorded')) === undefined,
      );
      good = done ? good + 1 : 0;
      return good > 2;
    });
    if (this.broken) return;
    this.#extra.push(...judgeEnd(this.#world));
    if (this.#case.calm) this.#extra.push(...judgeCalm(this.#world, this.#watcher.timeline()));
    this.#oracle.trail.atEnd();
  }

  result(): CaseResult {
    const { rotations, forcefulExpirations } = this.#watcher.timeline();
    return {
      violations: [...this.#oracle.violations, ...this.#extra],
      minutes: (this.#world.now - this.#from) / 60_000,
      ticks: this.#ticks,
      actions: this.#actions,
      faults: this.#troubles.struck,
      moves: this.#made,
      disruptions: this.#disruptions,
      blocked: this.#blocked,
      rotations,
      forced: forcefulExpirations.length,
      story: this.#story,
    };
  }

  #second(): number {
    return Math.floor((this.#world.now - this.#from) / 1000);
  }

  async #tickUntil(done: () => boolean): Promise<void> {
    for (let minute = 0; minute < mostQuietMinutes && !this.broken; minute += 1) {
      // A long drain is looked at less often; nothing else happens meanwhile.
      this.#passTo(add(this.#world.now, minutes(minute < 120 ? 1 : 10)));
      if (minute >= 120) minute += 9;
      await this.#minute();
      if (done()) return;
    }
    if (!this.broken) this.#extra.push({ rule: 'neverEnds', message: this.#inFlight(), at: this.#world.now });
  }

  #inFlight(): string {
    const lines = lookAt(this.#world).pools.map(
      (pool) => `${pool.metadata.name}: ${JSON.stringify(pool.metadata.annotations ?? {})}`,
    );
    return `after ${mostQuietMinutes} quiet minutes something is still in flight: ${lines.join('; ')}`;
  }

  /** Every minute while something can happen, else every quarter of an hour (D14-03). */
  #nextTick(at: Instant): Instant {
    const soon = add(at, minutes(1));
    if (this.#world.now >= soon) return add(at, minutes(Math.ceil((this.#world.now - at + 1) / 60_000)));
    if (this.#watcher.inFlight > 0 || at < this.#busyUntil) return soon;
    const second = this.#second();
    const terms = this.#world.store.all('RotationPolicy').map(termsOf);
    let next = soon;
    // Inside a window somebody may come due at any time, but not every minute.
    const inWindow = terms.some((each) => windowAt(each, at) === 'open') ? 3 : 1;
    for (let minute = 1; minute < 15; minute += 1, next = add(next, minutes(1))) {
      if (minute >= inWindow && terms.some((each) => windowAt(each, next) !== 'closed')) return next;
      const due = this.#waiting.some((move) => move.at <= second + minute * 60 && move.phase === undefined);
      if (due || this.#scene.later.some((each) => each.at <= next)) return next;
    }
    return next;
  }

  /** Lets time pass; moves and what was put off happen on the way. */
  #passTo(to: Instant): void {
    for (;;) {
      const move = this.#waiting.find((each) => each.phase === undefined && each.call === undefined);
      const next = Math.min(
        move ? this.#from + move.at * 1000 : Number.POSITIVE_INFINITY,
        ...this.#scene.later.map(({ at }) => at),
      );
      if (next > to) break;
      this.#world.advance(earliest(to, Math.max(next, this.#world.now) as Instant));
      const due = this.#scene.later.findIndex(({ at }) => at <= next);
      if (due >= 0) this.#scene.later.splice(due, 1)[0]?.make();
      else if (move) this.#make(move);
    }
    if (to > this.#world.now) this.#world.advance(to);
  }

  #make(move: TimedMove): void {
    this.#waiting.splice(this.#waiting.indexOf(move), 1);
    this.#made.set(move.move.kind, (this.#made.get(move.move.kind) ?? 0) + 1);
    this.#tell(`MOVE ${JSON.stringify(move.move)}`);
    make(this.#scene, move.move);
    this.#busyUntil = add(this.#world.now, minutes(5));
  }

  /** Moves that wait for a phase, inside a tick or after it. */
  #makeWaiting(call: number | undefined): void {
    const second = this.#second();
    for (const move of [...this.#waiting]) {
      if (move.at > second || move.call !== call || (move.phase === undefined && call === undefined)) continue;
      if (move.phase === undefined || isIn(this.#scene, move.phase)) this.#make(move);
    }
  }

  async #minute(): Promise<void> {
    const minute = Math.round((this.#world.now - this.#from) / 60_000);
    const strikes = (kind: Trouble['kind']): boolean => this.#troubles.strikes(kind, `${minute}`) !== undefined;
    if (strikes('skippedTick')) return;
    const faults = this.#troubles.count;
    const moves = this.#waiting.length;
    const processes = strikes('overlappingTicks') ? 2 + (minute % 2) : 1;
    const first = await this.#tick(minute, processes, '');
    const again = strikes('doubledTick') ? await this.#tick(minute, 1, 'again') : undefined;
    const alone = processes === 1 && again === undefined;
    const good =
      alone && this.#troubles.count === faults && this.#waiting.length === moves && this.#scene.later.length === 0;
    for (const record of [first, again]) if (record) this.#oracle.afterTick(record, good, this.#scene.retired);
    if (!first) this.#oracle.afterTick(undefined, false, this.#scene.retired);
    this.#makeWaiting(undefined);
  }

  /** @returns the record of the last process that lived to its end */
  async #tick(minute: number, count: number, suffix: string): Promise<TickRecord | undefined> {
    const random = new Random(this.#case.seed + minute);
    let last: TickRecord | undefined;
    const start = (index: number, turn?: () => Promise<void>) => async () => {
      const end = await runProcess({
        scene: this.#scene,
        table: this.#table,
        troubles: this.#troubles,
        place: `${minute}${suffix}${index === 0 ? '' : `.${index}`}`,
        ...(turn ? { turn } : {}),
        pass: (length) => this.#passTo(add(this.#world.now, seconds(length))),
        beforeCall: (call) => this.#makeWaiting(call),
      });
      this.#ticks += 1;
      this.#actions += end.actions;
      if (end.record) {
        last = end.record;
        this.#note(end.record);
        if (count > 1) this.#oracle.afterTick(end.record, false, this.#scene.retired);
      } else this.#tell('the process died');
    };
    if (count === 1) await start(0)();
    else
      await interleave(
        Array.from({ length: count }, (_, index) => (turn) => start(index, turn)()),
        random,
      );
    return last;
  }

  #note(record: TickRecord): void {
    if (record.outcome !== 'Ok') this.#tell(`tick: ${record.outcome} ${record.detail ?? ''}`);
    for (const { decision, stopped } of record.pools) {
      const reason = decision.blocked?.reason;
      if (reason !== undefined) this.#blocked.set(reason, (this.#blocked.get(reason) ?? 0) + 1);
      if (decision.actions.length === 0 && stopped === undefined) continue;
      this.#tell(
        `${decision.nodePool || '(rest)'} ${decision.step} [${decision.actions.map(({ kind }) => kind).join(' ')}]${stopped ? ` STOPPED ${stopped}` : ''}`,
      );
    }
  }

  #tell(line: string): void {
    this.#story.push(`${formatInstant(this.#world.now)} ${line}`);
  }
}

const anchorId = (pool: Parameters<typeof anchorOf>[0]): readonly string[] => {
  const anchor = anchorOf(pool);
  return anchor ? [`${anchor.claim}@${anchor.startedAt}`] : [];
};

const reasonOf = (object: KubeObject | undefined): string | undefined =>
  object?.kind === 'NodeClaim' && object.metadata.deletionTimestamp === undefined
    ? condition(object, 'DisruptionReason')?.reason
    : undefined;
