/**
 * What Karpenter sees of a Node: its state of some seconds ago.
 *
 * A cordon, a taint or a do-not-disrupt that is written now may therefore not stop what Karpenter decides just after.
 */
import type { Duration, Instant } from '../domain/time.ts';
import { add, zero } from '../domain/time.ts';
import type { NodeObject } from './kube-object.ts';
import type { StoreEvent } from './object-store.ts';
import { nextOf } from './world-state.ts';

interface Version {
  readonly at: Instant;
  readonly node: NodeObject;
}

export class NodeViews {
  readonly #lag: Duration;
  /** By uid, oldest first; the first one is the version that is seen. */
  readonly #versions = new Map<string, Version[]>();

  constructor(lag: Duration) {
    this.#lag = lag;
  }

  note({ type, object }: StoreEvent, at: Instant): void {
    if (this.#lag === zero || object.kind !== 'Node') return;
    if (type === 'deleted') {
      this.#versions.delete(object.metadata.uid);
      return;
    }
    const versions = this.#versions.get(object.metadata.uid) ?? [];
    versions.push({ at, node: object as NodeObject });
    this.#versions.set(object.metadata.uid, versions);
  }

  /** The Node as Karpenter has it; a Node that is new to it is seen as it began. */
  seen(node: NodeObject, now: Instant): NodeObject {
    const versions = this.#versions.get(node.metadata.uid);
    if (!versions) return node;
    while (versions.length > 1 && add((versions[1] as Version).at, this.#lag) <= now) versions.shift();
    return (versions[0] as Version).node;
  }

  /** When Karpenter next sees something new. */
  next(now: Instant): Instant | undefined {
    const arrivals = [...this.#versions.values()].flatMap((versions) => versions.map(({ at }) => add(at, this.#lag)));
    return nextOf(now, arrivals);
  }
}
