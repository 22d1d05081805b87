/**
 * A local run from its beginning to its end: what is started, in which order it is stopped, what is said on the way.
 *
 * Results go to standard output, what happens on the way to standard error.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log } from '../../adapters/aws/tick-log.ts';
import { assert } from '../../domain/assert.ts';
import type { Instant } from '../../domain/time.ts';
import { add, formatInstant, parseInstant, seconds } from '../../domain/time.ts';
import { type AuditStore, openEmbedded } from '../audit-store.ts';
import { type ExitCode, exitCodes, Failure } from '../failure.ts';
import { type Interruption, watchInterruption } from '../interruption.ts';
import { writeKubeconfig } from '../kubeconfig-file.ts';
import { type OutputFormat, written } from '../output.ts';
import { type Progress, showProgress } from '../progress.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts';
import { outcomeDocument, outcomeLines, outcomePage } from './outcome.ts';
import { runTwoWeeks, type TwoWeeks } from './two-weeks.ts';

export interface LocalOptions {
  readonly data?: string;
  readonly report?: string;
  readonly serve?: true;
  readonly port?: number;
  readonly seed: number;
  readonly output: Exclude<OutputFormat, 'ndjson'>;
}

// A Monday, so that the two weeks hold two Wednesdays and two Saturdays each. Fixed, so that runs can be compared.
const beginsAt = parseInstant('2026-06-01T00:00:00Z');

export async function runLocally(options: LocalOptions): Promise<ExitCode> {
  assert(beginsAt !== undefined, 'the beginning is a time');
  if (options.report !== undefined) closeSync(openSync(options.report, 'a'));
  const interruption = watchInterruption();
  const progress = showProgress();
  const open: { stop(): Promise<void> }[] = [];
  try {
    // The rows of simulated times are kept whatever the real date.
    const store = await openEmbedded(options.data, 0);
    open.push({ stop: () => store.close() });
    const embedded = await startEmbeddedCluster({
      startsAt: beginsAt,
      seed: options.seed,
      ...(options.port === undefined ? {} : { port: options.port }),
    });
    open.push(embedded);
    const began = performance.now();
    const result = await rotate(embedded, store, progress, interruption);
    progress.end();
    tell(result, options, Math.round((performance.now() - began) / 1000));
    if (options.serve) await serve(embedded, options, interruption);
    return result.problems.length === 0 ? exitCodes.ok : exitCodes.notAsItShouldBe;
  } finally {
    progress.end();
    interruption.release();
    for (const each of open.reverse()) await each.stop();
  }
}

async function rotate(
  embedded: EmbeddedCluster,
  store: AuditStore,
  progress: Progress,
  interruption: Interruption,
): Promise<TwoWeeks> {
  progress.note(`Kubernetes API at ${embedded.access.server}, ${store.place}`);
  let finished = 0;
  const log = rotationLog(progress, () => {
    finished += 1;
  });
  const beforeTick = (at: Instant): void => {
    if (interruption.requested) {
      throw new Failure(
        exitCodes.notAsItShouldBe,
        `Interrupted at ${formatInstant(at)} of virtual time. Start again for the whole two weeks.`,
      );
    }
    progress.update(`${formatInstant(at)}  ${finished} rotations finished`);
  };
  return await runTwoWeeks({ embedded, table: store.table, log, beforeTick });
}

/** Transitions and troubles as lines. */
function rotationLog(progress: Progress, onEnd: () => void): Log {
  const trouble = (message: string, details: Record<string, unknown>): void =>
    progress.note(`${message}: ${JSON.stringify(details)}`);
  return {
    info: (message, { nodePool, claim, transition, at, surgePath }) => {
      if (message !== 'Rotation') return;
      if (transition !== 'started' && transition !== 'draining' && transition !== 'fallbackStarted') onEnd();
      progress.note(`${at}  ${nodePool}  ${claim}  ${transition}${surgePath === undefined ? '' : `  (${surgePath})`}`);
    },
    warn: trouble,
    error: trouble,
  };
}

function tell(result: TwoWeeks, { report, output, data }: LocalOptions, took: number): void {
  if (output === 'text')
    process.stdout.write(`${outcomeLines(result, { took, ...(data === undefined ? {} : { data }) }).join('\n')}\n`);
  else process.stdout.write(written(output, outcomeDocument(result)));
  if (report === undefined) return;
  writeFileSync(report, outcomePage(result));
  process.stderr.write(`Report written to ${report}\n`);
}

/** Until interrupted, the cluster lives on at the pace of the real clock. */
async function serve(
  { world, access }: EmbeddedCluster,
  { data }: LocalOptions,
  interruption: Interruption,
): Promise<void> {
  const folder = data ?? mkdtempSync(join(tmpdir(), 'node-rotation-'));
  const file = join(folder, 'kubeconfig');
  writeKubeconfig(file, access);
  process.stderr.write(
    `Serving the cluster at ${access.server} until Ctrl-C. Look at it with\n  kubectl --kubeconfig ${file} get nodepools\n`,
  );
  const beat = seconds(1);
  while (!interruption.requested) {
    await interruption.sleep(beat);
    world.advance(add(world.now, beat));
  }
  // Nobody listens behind it any more.
  rmSync(data === undefined ? folder : file, { recursive: true });
}
