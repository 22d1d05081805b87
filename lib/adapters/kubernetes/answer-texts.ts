/**
 * The memory that answers are collected in, used again and again: a page of a list is megabytes, and thrown away it would
 * lie around until the garbage collector is driven to look for it.
 */

/** Kept for good, so that what is copied while it grows matters less than what is never filled. */
const growth = 1.25;

/** Grows as it must while parts are added. */
export class AnswerText {
  #memory: Buffer;
  #length = 0;

  constructor(memory: Buffer) {
    this.#memory = memory;
  }

  /** Whole once nothing is added any more. Valid until the memory is given back. */
  get text(): Buffer {
    return this.#memory.subarray(0, this.#length);
  }

  get memory(): Buffer {
    return this.#memory;
  }

  add(part: Buffer): void {
    const length = this.#length + part.length;
    if (length > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, Math.ceil(growth * this.#memory.length)));
      this.#memory.copy(larger, 0, 0, this.#length);
      this.#memory = larger;
    }
    part.copy(this.#memory, this.#length);
    this.#length = length;
  }
}

const smallest = 64 * 1024;
const largestKept = 8 * 1024 * 1024;
/** As many as there are long lists side by side. */
const mostKept = 2;
/** The largest last. */
const free: Buffer[] = [];

export const beginText = (): AnswerText => new AnswerText(free.pop() ?? Buffer.allocUnsafeSlow(smallest));

/** Nothing may read or add to the text afterwards. */
export function giveBack({ memory }: AnswerText): void {
  if (memory.length > largestKept) return;
  free.push(memory);
  free.sort((a, b) => a.length - b.length);
  if (free.length > mostKept) free.shift();
}
