/**
 * Does the same thing again and again in this process and keeps what each time cost. The first time pays for connections
 * and for code that has never run, and is kept apart.
 */

export interface Cost {
  /** Milliseconds of processor time, garbage collection and TLS included. */
  readonly cpu: number;
  /** Milliseconds. */
  readonly wall: number;
}

export interface Repeated {
  readonly first: Cost;
  readonly later: readonly Cost[];
  /** Megabytes: the most that the process has ever held. */
  readonly peakRss: number;
}

/** How many times, the first included. @param between is not measured, and knows how many times are done */
export async function repeat(
  times: number,
  once: () => Promise<void>,
  between: (done: number) => Promise<void> = async () => {},
): Promise<Repeated> {
  const costs: Cost[] = [];
  for (let done = 0; done < times; done += 1) {
    await between(done);
    costs.push(await measured(once));
  }
  const [first, ...later] = costs as [Cost, ...Cost[]];
  return { first, later, peakRss: process.resourceUsage().maxRSS / 1_000 };
}

/** What one run costs. */
export async function measured(once: () => Promise<void>): Promise<Cost> {
  const [wall, cpu] = [performance.now(), process.cpuUsage()];
  await once();
  const { user, system } = process.cpuUsage(cpu);
  return { cpu: (user + system) / 1_000, wall: performance.now() - wall };
}

/** The one message that a script of this folder is started with. */
export const task = <T>(): Promise<T> =>
  new Promise((resolve) => process.once('message', (message) => resolve(message as T)));
