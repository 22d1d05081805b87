/** Work side by side, but only so much at a time: what it talks to counts requests. */

/** @throws what the first piece throws; the others under way go on */
export async function inParallel<T>(
  pieces: readonly T[],
  atATime: number,
  work: (piece: T) => Promise<void>,
): Promise<void> {
  const waiting = [...pieces];
  const worker = async (): Promise<void> => {
    for (let piece = waiting.shift(); piece !== undefined; piece = waiting.shift()) await work(piece);
  };
  await Promise.all(Array.from({ length: Math.min(atATime, pieces.length) }, worker));
}
