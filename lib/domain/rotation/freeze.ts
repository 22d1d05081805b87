/**
 * The operator's hold: an annotation with an instant. A value that cannot be read holds too, and says so.
 */

import type { ObjectMeta } from '../cluster/object-ref.ts';
import { annotation } from '../cluster/object-ref.ts';
import type { Instant } from '../time.ts';
import { parseInstant } from '../time.ts';
import { freezeKey } from './annotation-keys.ts';

export type Freeze =
  | { readonly frozen: false }
  /** Until an instant, or without end while the text is malformed. */
  | {
      readonly frozen: true;
      readonly until?: Instant;
      readonly malformed?: { readonly on: string; readonly text: string };
    };

/**
 * Reads the freeze of one object. At the instant itself it is over.
 *
 * @param on what a message calls the object, such as `NodePool api`
 * @design R3.1-05, D5-06
 */
export function readFreeze(meta: ObjectMeta, on: string, at: Instant): Freeze {
  const text = annotation(meta, freezeKey);
  if (text === undefined) return { frozen: false };
  const until = parseInstant(text);
  if (until === undefined) return { frozen: true, malformed: { on, text } };
  return at < until ? { frozen: true, until } : { frozen: false };
}

/** Both holds apply; the later end counts, and a malformed one has no end. @design D5-07 */
export function strictest(a: Freeze, b: Freeze): Freeze {
  if (!a.frozen) return b;
  if (!b.frozen) return a;
  if (a.until === undefined) return a;
  if (b.until === undefined) return b;
  return a.until >= b.until ? a : b;
}
