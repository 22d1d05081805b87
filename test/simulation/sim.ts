/**
 * `npm run sim`: replays one seed or stored case with its story, or plays seed after seed and reports.
 *
 * Exit codes: 0 nothing was violated, 1 something was, 2 the flags make no sense.
 */
import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { caseOf } from './case-generator.ts';
import { playSeeds } from './play-seeds.ts';
import { reportOf, storyOf } from './report.ts';
import { runCase } from './run-case.ts';
import { shrink } from './shrink.ts';
import type { SimCase } from './sim-case.ts';

const wholeNumber = (text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('must be a whole number');
  return Number(text);
};
const positive = (text: string): number => {
  if (!/^\d{1,6}(\.\d{1,3})?$/.test(text) || Number(text) === 0)
    throw new InvalidArgumentError('must be a number above 0');
  return Number(text);
};

interface Flags {
  readonly seed?: number;
  readonly case?: string;
  readonly shrink?: boolean;
  readonly from: number;
  readonly count?: number;
  readonly minutes?: number;
  readonly processes: number;
}

const program = new Command('sim')
  .description('Random simulation of the controller: operators, Karpenter, the cloud and the network do their worst.')
  .option('--seed <number>', 'replay one seed and tell its story', wholeNumber)
  .option('--case <file>', 'replay a stored case and tell its story')
  .option('--shrink', 'with --seed or --case: shrink a failing case and print it as JSON')
  .option('--from <number>', 'first seed of a run', wholeNumber, 1)
  .option('--count <number>', 'how many seeds to play', wholeNumber)
  .option('--minutes <number>', 'how long to play, in minutes of real time', positive)
  .option('--processes <number>', 'how many processes play side by side', wholeNumber, 2)
  .allowExcessArguments(false)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));

async function main(): Promise<number> {
  const flags = program.parse().opts<Flags>();
  const single = [flags.seed, flags.case].filter((each) => each !== undefined).length;
  const several = flags.count !== undefined || flags.minutes !== undefined;
  if (single > 1 || (single === 1 && several) || (flags.shrink && single === 0) || flags.processes < 1)
    return refuse('give --seed or --case (with --shrink), or --count or --minutes with --from and --processes');
  if (single === 1) return replay(flags);
  const played = await playSeeds({
    from: flags.from,
    ...(flags.count === undefined && flags.minutes === undefined ? { minutes: 1 } : {}),
    ...(flags.count === undefined ? {} : { count: flags.count }),
    ...(flags.minutes === undefined ? {} : { minutes: flags.minutes }),
    processes: flags.processes,
    progress: (line) => process.stderr.write(`${line}\n`),
  });
  process.stdout.write(`${reportOf(played)}\n`);
  return played.failures.length > 0 ? 1 : 0;
}

async function replay(flags: Flags): Promise<number> {
  let simCase: SimCase;
  try {
    simCase = flags.case === undefined ? caseOf(flags.seed as number) : readCase(flags.case);
  } catch (error) {
    return refuse(`${flags.case} could not be read as a case: ${(error as Error).message}`);
  }
  const result = await runCase(simCase);
  process.stdout.write(`${storyOf(simCase, result)}\n`);
  if (result.violations.length === 0) return 0;
  if (flags.shrink) process.stdout.write(`${JSON.stringify(await shrink(simCase, result, 120_000), null, 1)}\n`);
  return 1;
}

/** A bare case, or one stored with a line about it. */
function readCase(file: string): SimCase {
  const read = JSON.parse(readFileSync(file, 'utf8')) as
    | SimCase
    | { readonly case: SimCase }
    | { readonly seed: number };
  if ('case' in read) return read.case;
  return 'pools' in read ? read : caseOf(read.seed);
}

function refuse(words: string): number {
  process.stderr.write(`error: ${words}\n`);
  return 2;
}

process.exitCode = await main();
