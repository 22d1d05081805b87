/**
 * Runs ticks of the reconcile function as it ships: its bundle, its handler, its environment.
 */
import { createRequire } from 'node:module';
import { formatInstant, instant } from '../../lib/domain/time.ts';
import { type Repeated, repeat, task } from './repeated-ticks.ts';

export interface TickTask {
  /** The bundle's file. */
  readonly bundle: string;
  readonly url: string;
  /** PEM. */
  readonly authority: string;
  readonly ticks: number;
  /** Before the last tick: say so and wait for a message. */
  readonly pauseBeforeLast?: boolean;
}

export interface TickResult extends Repeated {
  /** Of the last tick, as they went to the log. */
  readonly lines: readonly string[];
}

type Handler = (
  event: unknown,
  context: unknown,
) => Promise<{ readonly ticks: readonly { readonly outcome: string }[] }>;

async function main(): Promise<void> {
  const { bundle, url, authority, ticks, pauseBeforeLast = false } = await task<TickTask>();
  let lines: string[] = [];
  process.stdout.write = (chunk: string | Uint8Array): boolean => {
    lines.push(String(chunk));
    return true;
  };
  const { handler } = createRequire(bundle)(bundle) as { handler: Handler };
  const cluster = {
    account: '111122223333',
    region: 'eu-west-1',
    name: 'bench',
    endpoint: url,
    certificateAuthority: Buffer.from(authority).toString('base64'),
  };
  const tick = async (): Promise<void> => {
    lines = [];
    const scheduledAt = formatInstant(instant(Date.now()));
    const body = JSON.stringify({ cluster, scheduledAt });
    const answer = await handler({ Records: [{ body }] }, { getRemainingTimeInMillis: () => 50_000 });
    if (answer.ticks[0]?.outcome !== 'Ok')
      throw new Error(`a tick failed: ${JSON.stringify(answer)} ${lines.join('')}`);
  };
  const pause = async (done: number): Promise<void> => {
    if (!pauseBeforeLast || done !== ticks - 1) return;
    const go = task();
    process.send?.('paused');
    await go;
  };
  const repeated = await repeat(ticks, tick, pause);
  process.send?.({ ...repeated, lines } satisfies TickResult);
}

void main();
