/**
 * A cluster under contract: the port that is tested, the operator's hand beside it, and names that nobody else has.
 *
 * No Karpenter, scheduler or kubelet is at work in it, so that every object stays as it was made.
 */
import { randomBytes } from 'node:crypto';
import type { Cluster } from '../../lib/controller/ports.ts';
import type { PlaceholderSettings } from '../../lib/domain/cluster/snapshot.ts';
import type { Hand } from './operators-hand.ts';

export interface Place {
  readonly hand: Hand;
  readonly settings: PlaceholderSettings;
  /** The cluster as one tick has it. */
  cluster(): Cluster;
  /** The same cluster for a caller who may look at everything and write nothing. */
  reader(): Cluster;
  /** The same for a caller who is known and may do nothing at all. */
  stranger(): Cluster;
  stop(): Promise<void>;
}

/** Starts one; the placeholder namespace and its priority class are there. */
export type Provide = () => Promise<Place>;

/** A name that no other test on the same server uses. */
export const fresh = (prefix: string): string => `${prefix}-${randomBytes(4).toString('hex')}`;

export const priorityClassName = 'node-rotation-placeholder';

export const placeholderSettings = (): PlaceholderSettings => ({
  namespace: fresh('rotation'),
  image: 'registry.k8s.io/pause:3.10',
  priorityClassName,
});

/** What an operator applies before the first tick, the CRDs aside. */
export async function furnish(hand: Hand, { namespace }: PlaceholderSettings): Promise<void> {
  await hand.ensure({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await hand.ensure({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: priorityClassName },
    value: -10,
    preemptionPolicy: 'Never',
  });
}
