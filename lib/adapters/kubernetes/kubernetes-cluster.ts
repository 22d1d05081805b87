/**
 * A real cluster behind the controller's port: one instance per tick, on a connection that outlives it.
 */

import type { ActionResult, Cluster, Reread } from '../../controller/ports.ts';
import { assert } from '../../domain/assert.ts';
import type { ObjectRef } from '../../domain/cluster/object-ref.ts';
import type { Inspected, LightSnapshot } from '../../domain/cluster/snapshot.ts';
import type { Instant } from '../../domain/time.ts';
import type { Action, Need } from '../../engine/decision.ts';
import { ApiClient, type Exchange } from './api-client.ts';
import { apply } from './apply.ts';
import type { Connection } from './connection.ts';
import { inspect } from './inspect.ts';
import { type Installation, type Looking, observe, reread } from './observe.ts';
import type { TickBudget } from './tick-budget.ts';

export interface KubernetesClusterOptions extends Installation {
  readonly connection: Connection;
  readonly budget: TickBudget;
  /** Who reports Events: the cluster's key. */
  readonly instance: string;
}

export class KubernetesCluster implements Cluster {
  readonly #options: KubernetesClusterOptions;
  readonly #client: ApiClient;
  readonly #refused: string[] = [];
  readonly #looking: Looking;
  #observedAt: Instant | undefined;

  constructor(options: KubernetesClusterOptions) {
    this.#options = options;
    this.#client = new ApiClient({ connection: options.connection, left: () => options.budget.leftForCalls() });
    this.#looking = { client: this.#client, refused: (problem) => this.#refused.push(problem) };
  }

  /** Objects that were left out of the tick because they cannot even be named. */
  get refused(): readonly string[] {
    return this.#refused;
  }

  /** Every request of this tick. */
  get exchanges(): readonly Exchange[] {
    return this.#client.exchanges;
  }

  async observe(): Promise<LightSnapshot> {
    this.#options.budget.snapshotBegins();
    const snapshot = await observe(this.#looking, this.#options);
    this.#observedAt = snapshot.observedAt;
    return snapshot;
  }

  async inspect(need: Need): Promise<Inspected> {
    return await inspect(this.#looking, need);
  }

  async reread(nodePool: ObjectRef, node?: ObjectRef): Promise<Reread> {
    return await reread(this.#looking, nodePool, node);
  }

  async apply(action: Action): Promise<ActionResult> {
    assert(this.#observedAt !== undefined, 'nothing is written before the cluster was looked at');
    return await apply(
      { client: this.#client, observedAt: this.#observedAt, instance: this.#options.instance },
      action,
    );
  }
}
