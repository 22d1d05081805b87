/**
 * The adapter's decoders, asked once per object: simulated objects never change in place, so what was read of one stays
 * true. Reading everything anew is most of the cost of an idle tick, and the Kubernetes adapter remembers, too.
 *
 * What is remembered is frozen. Whoever writes to an object that a later tick is given again fails here.
 */
import type { Decoders } from '../../lib/simulator/simulated-cluster.ts';
import { decoders } from './decoders.ts';

function once<T extends object>(
  decode: (raw: unknown) => T,
  identity = (raw: unknown): object => raw as object,
): (raw: unknown) => T {
  const known = new WeakMap<object, T>();
  return (raw) => {
    const key = identity(raw);
    const before = known.get(key);
    if (before !== undefined) return before;
    const read = frozen(decode(raw));
    known.set(key, read);
    return read;
  };
}

/** With all that it holds. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const each of Object.values(value)) frozen(each);
  return value;
}

export const rememberingDecoders: Decoders = {
  policy: once(decoders.policy),
  nodePool: once(decoders.nodePool),
  nodeClaim: once(decoders.nodeClaim),
  node: once(decoders.node),
  // Listed as metadata only, in a wrapper that is made for every list.
  nodeMetadata: once(decoders.nodeMetadata, (raw) => (raw as { metadata: object }).metadata),
  pod: once(decoders.pod),
  disruptionBudget: once(decoders.disruptionBudget),
  event: decoders.event,
};
