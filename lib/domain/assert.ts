/**
 * Assertions for our own bugs only: a failed one ends the tick before it writes.
 *
 * Bad input from people or from the outside world never comes here; it is a value with a code or a typed error.
 */

/** Raised when the code contradicts itself. Nothing catches it inside the engine. */
class BrokenAssumption extends Error {
  override readonly name = 'BrokenAssumption';
}

/** @throws BrokenAssumption when `condition` is false. */
export function assert(condition: boolean, assumption: string): asserts condition {
  if (!condition) throw new BrokenAssumption(assumption);
}

/** Closes a `switch` over a union: the compiler proves that no member is left. */
export function assertNever(value: never): never {
  throw new BrokenAssumption(`unexpected value ${JSON.stringify(value)}`);
}
