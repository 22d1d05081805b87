/**
 * What a test run goes through, and what a run by hand goes through besides.
 *
 * Every exploration starts at the opening of the window and knows one rotation of one node. It ends where nothing new can
 * happen within its faults and moves; ticks follow each other without end.
 */
import { allMoves } from './moves.ts';
import { writeKinds } from './port.ts';
import type { Search } from './search.ts';

export const plain: Search = {
  shape: {},
  ticks: 1,
  faults: 0,
  moves: 0,
  allowed: allMoves,
  looksAtOnce: false,
  mostStates: 1_000_000,
};

/** The same for two observers, from the moment at which they hand over. */
const refusalsOfTwo: Readonly<Record<string, Search>> = Object.fromEntries(
  writeKinds.flatMap((kind) =>
    (['once', 'forGood'] as const).map((how) => [
      `a ready surge, two observers, ${kind} refused ${how}`,
      { ...plain, ticks: 2, from: 'surgeReady', looksAtOnce: true, refusing: { kind, how } } satisfies Search,
    ]),
  ),
);

/** Every kind of write, refused once or from some moment on, for one observer whose process may die once. */
const refusals: Readonly<Record<string, Search>> = Object.fromEntries(
  writeKinds.flatMap((kind) =>
    (['once', 'forGood'] as const).map((how) => [
      `${kind} refused ${how}, one fault`,
      { ...plain, faults: 1, refusing: { kind, how } },
    ]),
  ),
);

/** Together less than a minute of one processor. */
export const inEveryRun: Readonly<Record<string, Search>> = {
  'a whole rotation, two observers': { ...plain, ticks: 2, looksAtOnce: true },
  'a ready surge, two observers, one fault': { ...plain, ticks: 2, from: 'surgeReady', faults: 1, looksAtOnce: true },
  'a whole rotation, one observer, two faults': { ...plain, faults: 2 },
  'a whole rotation onto a spare node, one observer, two faults': { ...plain, shape: { spare: true }, faults: 2 },
  'a ready surge, one observer, one move': { ...plain, from: 'surgeReady', moves: 1 },
  ...refusals,
};

/** Minutes to hours. */
export const byHand: Readonly<Record<string, Search>> = {
  ...refusalsOfTwo,
  'a whole rotation, two observers, between any two calls': { ...plain, ticks: 2 },
  'a whole rotation, one observer, one move': { ...plain, moves: 1 },
  'a whole rotation onto a spare node, one observer, one move': { ...plain, shape: { spare: true }, moves: 1 },
  'a whole rotation, two observers, one fault': { ...plain, ticks: 2, faults: 1, looksAtOnce: true },
  'a ready surge, two observers, two faults': { ...plain, ticks: 2, from: 'surgeReady', faults: 2, looksAtOnce: true },
  'a ready surge, two observers, one move': { ...plain, ticks: 2, from: 'surgeReady', moves: 1, looksAtOnce: true },
  'a ready surge, one observer, one fault, two moves': { ...plain, from: 'surgeReady', faults: 1, moves: 2 },
  'a ready surge, two observers, two faults, three moves': {
    ...plain,
    ticks: 2,
    from: 'surgeReady',
    faults: 2,
    moves: 3,
    looksAtOnce: true,
    mostStates: 6_000_000,
  },
};
