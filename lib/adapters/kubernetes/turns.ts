/**
 * Work that is done by one at a time, in the order of asking.
 */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Begins once all work before it has ended, well or badly. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}
