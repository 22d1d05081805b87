/**
 * A version of the sources with one rule taken out, and what has to notice.
 */
import type { SourceBreak } from '../../support/broken-source.ts';
import type { CaseName } from './cases.ts';

export interface BrokenVersion {
  /** What it does wrong. */
  readonly does: string;
  /** The rules that it breaks. */
  readonly rules: readonly string[];
  readonly breaks: readonly SourceBreak[];
  readonly caughtBy: CaughtByCase | CaughtByTest;
}

/** A small case of the random simulation, and the first rule of its oracles that is violated. */
export interface CaughtByCase {
  readonly case: CaseName;
  readonly rule: string;
}

export interface CaughtByTest {
  /** Relative to the project. */
  readonly file: string;
  /** The whole title of the test, without its describe blocks. */
  readonly title: string;
}

export const breakOf =
  (folder: string) =>
  (file: string, find: string, replace: string): SourceBreak => ({ file: `${folder}/${file}.ts`, find, replace });

/** The lists of a tick are carried out whatever the invariants say of them, so that it is the oracle that speaks. */
export const unchecked: SourceBreak = {
  file: 'lib/controller/run-tick.ts',
  find: 'broken.length > 0',
  replace: 'broken.length < 0',
};
