/**
 * Mixes the port calls of several ticks: of all calls that are ready to go, one goes at a time, by a seeded choice.
 */
import type { Random } from '../../lib/simulator/random.ts';

type Turn = () => Promise<void>;

export async function interleave(processes: readonly ((turn: Turn) => Promise<void>)[], random: Random): Promise<void> {
  const ready: (() => void)[] = [];
  const turn: Turn = () => new Promise((go) => ready.push(go));
  let running = processes.length;
  const ends = processes.map((process) =>
    process(turn).finally(() => {
      running -= 1;
    }),
  );
  // A failure must not wait for the others, which nobody lets go on any more.
  const failed = Promise.all(ends);
  failed.catch(() => {
    running = 0;
  });
  while (running > 0) {
    // All that follows from the last call has happened once the event loop comes round.
    await new Promise((resolve) => setImmediate(resolve));
    const [next] = ready.splice(random.below(ready.length), 1);
    next?.();
  }
  await failed;
}
