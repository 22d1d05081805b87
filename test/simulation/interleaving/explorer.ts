/**
 * The state of an exploration, and everything that can happen next in it.
 *
 * A state is a cluster, up to two ticks in flight, and what is left of faults and moves. Which of two ticks is called A
 * makes no difference to what can follow, so it is not part of what makes states equal.
 */
import type { ObjectRef } from '../../../lib/domain/cluster/object-ref.ts';
import { anchorKeys } from '../../../lib/domain/rotation/annotation-keys.ts';
import type { Instant } from '../../../lib/domain/time.ts';
import { add, between, minutes, seconds } from '../../../lib/domain/time.ts';
import type { Action } from '../../../lib/engine/decision.ts';
import { clusterSteps } from './cluster-steps.ts';
import { inWords } from './in-words.ts';
import type { MoveName } from './moves.ts';
import { moves } from './moves.ts';
import { beforeWrite, judge, seenAt } from './oracle.ts';
import type { PortAnswer, PortCall, WriteKind } from './port.ts';
import { keyOfRef, Port, writeKindOf } from './port.ts';
import type { ClusterShape } from './small-cluster.ts';
import { placeholderIn, smallCluster, windowOpens } from './small-cluster.ts';
import type { ClusterState } from './stage.ts';
import { Stage } from './stage.ts';
import type { Learnt, TickNode, WaitingCall } from './tick-tree.ts';
import { TickTree } from './tick-tree.ts';

/** A tick in flight. */
export interface InFlight {
  readonly name: 'A' | 'B';
  readonly tick: TickNode;
  /** By object: the first of the tick's tokens that is still current. Absent: all of them are. */
  readonly freshFrom: ReadonlyMap<string, number>;
  readonly lookedAt: Instant;
}

export interface State {
  readonly cluster: ClusterState;
  readonly ticks: readonly InFlight[];
  /** Crashes, lost requests and lost responses that may still happen. */
  readonly faults: number;
  readonly moves: number;
}

export interface Bounds {
  readonly shape: ClusterShape;
  readonly ticks: 1 | 2;
  readonly faults: number;
  readonly moves: number;
  readonly allowed: readonly MoveName[];
  /** One kind of write that may be refused, once or from some moment on for good. */
  readonly refusing?: { readonly kind: WriteKind; readonly how: 'once' | 'forGood' };
  /** A look and the reads that follow it are one step: fewer states, but nothing happens between them. */
  readonly looksAtOnce: boolean;
}

/** What happens next, and the state after it. */
export interface Taken {
  readonly state: State;
  readonly label: string;
  readonly violation?: string;
}

type Fault = 'request' | 'response';

/** What an event makes of the cluster; a function of the cluster, so worked out once for each. */
interface Effect {
  readonly label: string;
  readonly cluster: ClusterState;
  /** Keys of the objects that it wrote. */
  readonly changed: readonly string[];
}

/** … and of the tick whose call is answered. */
interface CallEffect extends Effect {
  readonly tick: TickNode;
  readonly violation?: string;
}

/** What can happen to a cluster without any tick. */
interface Around {
  readonly steps: readonly Effect[];
  readonly moves: readonly Effect[];
  readonly refusal?: Effect;
}

const unreachable = { outcome: 'unreachable', detail: 'no answer' } as const;
const tickNames = ['A', 'B'] as const;

export class Explorer {
  readonly bounds: Bounds;
  readonly stage: Stage;
  readonly tree = new TickTree();
  readonly #port: Port;
  readonly #numbers = new Map<string, number>();
  readonly #around = new Map<number, Around>();
  readonly #calls = new Map<string, CallEffect>();

  constructor(bounds: Bounds) {
    this.bounds = bounds;
    this.stage = new Stage(windowOpens, smallCluster(bounds.shape));
    this.#port = new Port(this.stage);
  }

  initial(): State {
    return { cluster: this.stage.capture(), ticks: [], faults: this.bounds.faults, moves: this.bounds.moves };
  }

  /** Equal for states from which the same can follow. */
  keyOf({ cluster, ticks, faults, moves: left }: State): string {
    const flights = ticks.map(({ tick, freshFrom }) => {
      let text = `${tick.id}`;
      for (const [key, from] of freshFrom) if (tick.versions.has(key)) text += `,${this.#number(key)}<${from}`;
      return text;
    });
    if (flights.length === 2 && (flights[0] as string) > (flights[1] as string)) flights.reverse();
    return `${cluster.id};${flights.join(';')};${faults};${left}`;
  }

  /** Everything that can happen next, what is certain to follow it included. */
  async *next(state: State): AsyncGenerator<Taken> {
    for await (const taken of this.#nextOf(state)) yield await this.#settle(taken);
  }

  /**
   * Answers at once every call whose answer can no longer depend on what happens first: it is no choice.
   *
   * A patch on a version that is not current will be refused whenever it comes, and changes nothing. Rows that are put
   * in the table are seen by nobody, so that only a death before they are put makes a difference.
   */
  async #settle(taken: Taken): Promise<Taken> {
    if (taken.violation !== undefined) return taken;
    for (const flight of taken.state.ticks) {
      const waiting = flight.tick.calls.find(({ call }) => isCertain(flight, call, taken.state.faults));
      if (!waiting) continue;
      const { label, ...then } = await this.call(taken.state, flight, waiting);
      return this.#settle({ ...then, label: `${taken.label} · ${label}` });
    }
    return taken;
  }

  async *#nextOf(state: State): AsyncGenerator<Taken> {
    const idle = tickNames.slice(0, this.bounds.ticks).find((name) => !state.ticks.some((each) => each.name === name));
    for (const flight of idle ? [...state.ticks, await this.#newTick(idle, state)] : state.ticks) {
      for (const waiting of flight.tick.calls) {
        yield await this.call(state, flight, waiting);
        if (waiting.call.kind !== 'apply' || state.faults === 0) continue;
        yield await this.call(state, flight, waiting, 'request');
        yield await this.call(state, flight, waiting, 'response');
      }
      // Nothing tells a process that died before its next write from one that died right after its last.
      if (state.faults > 0 && flight.tick.justWrote) yield this.#crash(state, flight.name);
    }
    const { steps, moves: possible, refusal } = this.#aroundOf(state.cluster);
    for (const step of steps) yield { state: withEffect(state, step), label: step.label };
    if (refusal) yield { state: withEffect(state, refusal), label: refusal.label };
    if (state.moves === 0) return;
    for (const move of possible)
      yield { state: { ...withEffect(state, move), moves: state.moves - 1 }, label: move.label };
  }

  #crash(state: State, dead: string): Taken {
    const ticks = state.ticks.filter(({ name }) => name !== dead);
    return { state: { ...state, ticks, faults: state.faults - 1 }, label: `${dead} dies` };
  }

  async #newTick(name: 'A' | 'B', { cluster }: State): Promise<InFlight> {
    return { name, tick: await this.tree.root(), freshFrom: new Map(), lookedAt: cluster.now };
  }

  #aroundOf(cluster: ClusterState): Around {
    const known = this.#around.get(cluster.id);
    if (known) return known;
    const { stage, bounds } = this;
    const effect = (label: string, make: () => void): Effect => {
      stage.load(cluster);
      make();
      const changed = [...new Set(stage.changed)];
      return { label, changed, cluster: stage.capture() };
    };
    stage.load(cluster);
    const steps = clusterSteps(stage);
    const possible = bounds.allowed.filter((name) => moves[name].possible(stage));
    const { refusing } = bounds;
    const around: Around = {
      steps: steps.map(({ name, make }) => effect(name, () => make(stage))),
      moves: bounds.moves === 0 ? [] : possible.map((name) => effect(`move: ${name}`, () => moves[name].make(stage))),
      ...(refusing && cluster.refusal === 'notYet'
        ? {
            refusal: effect(`from now on ${refusing.kind} is refused ${refusing.how}`, () => {
              stage.refusal = refusing.how;
            }),
          }
        : {}),
    };
    this.#around.set(cluster.id, around);
    return around;
  }

  /** One whole tick, nothing happening beside it. */
  async wholeTick(from: State): Promise<Taken> {
    let state: State = { ...from, ticks: [] };
    const said: string[] = [];
    for (let flight: InFlight | undefined = await this.#newTick('A', state); flight; [flight] = state.ticks) {
      const [waiting] = flight.tick.calls;
      if (!waiting) break;
      const taken = await this.call(state, flight, waiting);
      if (waiting.call.kind === 'apply') said.push(taken.label);
      state = taken.state;
      if (taken.violation !== undefined) return { ...taken, label: said.join('; ') };
    }
    return { state, label: said.join('; ') };
  }

  /** A tick's call is answered. */
  async call(state: State, flight: InFlight, waiting: WaitingCall, fault?: Fault): Promise<Taken> {
    const { name, freshFrom } = flight;
    const effect = await this.#effectOf(state, flight, waiting, fault);
    const others = state.ticks.filter((each) => each.name !== name);
    // What the tick's own write changed is shown to it by the answer.
    const own: InFlight = {
      ...flight,
      tick: effect.tick,
      freshFrom: stale(freshFrom, effect.changed, flight.tick.answers),
    };
    const faults = state.faults - (fault ? 1 : 0);
    const rest = withEffect({ ...state, ticks: others, faults }, effect);
    const flying = effect.tick.calls.length > 0;
    const next = flying ? { ...rest, ticks: name === 'A' ? [own, ...rest.ticks] : [...rest.ticks, own] } : rest;
    const label = `${name}: ${effect.label}`;
    const [more] = effect.tick.calls;
    if (this.bounds.looksAtOnce && more && effect.tick.calls.every((each) => each.call.kind === 'inspect'))
      return { ...(await this.call(next, own, more)), label };
    return { state: next, label, ...(effect.violation === undefined ? {} : { violation: effect.violation }) };
  }

  async #effectOf(
    state: State,
    flight: InFlight,
    { index, call }: WaitingCall,
    fault: Fault | undefined,
  ): Promise<CallEffect> {
    const { cluster } = state;
    const action = call.kind === 'apply' ? call.action : undefined;
    const fresh = action && 'target' in action ? isFresh(flight, action.target) : true;
    const uid = action?.kind === 'createPlaceholder' ? this.#freshUid(state) : '';
    const key = `${cluster.id};${flight.tick.id};${index};${fault ?? ''};${fresh};${uid}`;
    const known = this.#calls.get(key);
    if (known) return known;
    const { stage } = this;
    stage.load(cluster);
    stage.nextUid = uid;
    const refusing = this.#refusing(action, fault);
    const before = beforeWrite(stage);
    const late = between(flight.lookedAt, cluster.now) > minutes(1);
    const answer: PortAnswer =
      fault === 'request'
        ? { value: unreachable, key: 'lost', shown: [], landed: false }
        : await this.#port.answer(call, flight.tick.answers, fresh, refusing);
    if (answer.landed && action && marksDrain(action)) stage.now = add(stage.now, seconds(1));
    const told = fault === 'response' ? { ...answer, value: unreachable, key: 'lost' } : answer;
    const broken = action && answer.landed ? judge(stage, before, action, flight.tick) : undefined;
    const tick = await this.tree.child(flight.tick, index, told, late, () => this.#learn(call));
    const violation = broken ?? (tick.failure === undefined ? undefined : `the tick threw ${tick.failure}`);
    const outcome = fault
      ? ` (${fault} lost)`
      : answer.key.startsWith('conflict')
        ? ' (conflict)'
        : answer.key.startsWith('re')
          ? ' (refused)'
          : '';
    const effect: CallEffect = {
      label: inWords(call) + outcome,
      changed: [...new Set(stage.changed)],
      cluster: stage.capture(),
      tick,
      ...(violation === undefined ? {} : { violation }),
    };
    this.#calls.set(key, effect);
    return effect;
  }

  #learn(call: PortCall): Learnt {
    const placeholder = call.kind === 'observe' ? placeholderIn(this.stage)?.metadata.uid : undefined;
    return { saw: seenAt(this.stage, call), ...(placeholder === undefined ? {} : { placeholder }) };
  }

  /** A name that nobody remembers, so that equal histories get equal names. */
  #freshUid({ cluster, ticks }: State): string {
    this.stage.load(cluster);
    const taken = [placeholderIn(this.stage)?.metadata.uid, ...ticks.map(({ tick }) => tick.placeholder)];
    return ['p1', 'p2', 'p3'].find((uid) => !taken.includes(uid)) ?? 'p4';
  }

  /** The kind of write that this call finds refused; a single refusal is then used up. */
  #refusing(action: Parameters<typeof writeKindOf>[0] | undefined, fault: Fault | undefined): WriteKind | undefined {
    const { stage, bounds } = this;
    if (stage.refusal !== 'once' && stage.refusal !== 'forGood') return undefined;
    const meets = action !== undefined && writeKindOf(action) === bounds.refusing?.kind && fault !== 'request';
    if (stage.refusal === 'once' && meets) stage.refusal = 'over';
    return bounds.refusing?.kind;
  }

  #number(key: string): number {
    const known = this.#numbers.get(key) ?? this.#numbers.size;
    this.#numbers.set(key, known);
    return known;
  }
}

function isCertain(flight: InFlight, call: PortCall, faults: number): boolean {
  if (call.kind === 'putSteps') return faults === 0;
  if (call.kind !== 'apply') return false;
  const { action } = call;
  // Elsewhere an object that is gone is as good as done, so that it matters when the write comes.
  return (action.kind === 'annotate' || action.kind === 'protect') && !isFresh(flight, action.target);
}

/** One observer's ticks are a minute apart: who looks after a drain was marked does not mark it again in the same second. */
const marksDrain = (action: Action): boolean =>
  action.kind === 'annotate' && typeof action.annotations[anchorKeys.drainingAt] === 'string';

const isFresh = (flight: InFlight, ref: ObjectRef): boolean =>
  Number(ref.resourceVersion.slice(1)) >= (flight.freshFrom.get(keyOfRef(ref)) ?? 0);

/** Tokens of these objects older than `from` are no longer current. In the order of the keys, so that it can be compared. */
function stale(
  known: ReadonlyMap<string, number>,
  changed: readonly string[],
  from: number,
): ReadonlyMap<string, number> {
  if (changed.length === 0) return known;
  const next = new Map([...known, ...changed.map((key) => [key, from] as const)]);
  return new Map([...next].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The state after an event, and every tick's knowledge of what it wrote out of date. */
const withEffect = (state: State, { cluster, changed }: Effect): State => ({
  ...state,
  cluster,
  ticks: state.ticks.map((flight) =>
    changed.length === 0 ? flight : { ...flight, freshFrom: stale(flight.freshFrom, changed, flight.tick.answers) },
  ),
});
