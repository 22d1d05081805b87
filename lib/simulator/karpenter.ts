/**
 * Karpenter, as the list of its controllers in the order in which they look at the world.
 */
import type { Instant } from '../domain/time.ts';
import { claimLifecycle } from './claim-lifecycle.ts';
import { createDisruption } from './disruption.ts';
import { drift } from './drift.ts';
import { nodeRepair } from './node-health.ts';
import { createPodEvents, poolCounter } from './pool-status.ts';
import { createProvisioner } from './provisioner.ts';
import { staticPools } from './static-pools.ts';
import { expiration, termination } from './termination.ts';
import type { Model } from './world-state.ts';

/** @param podsMoved nodes whose Pods changed, and when; emptied as they are noted */
export const createKarpenter = (podsMoved: Map<string, Instant>, repairsNodes: boolean): readonly Model[] => [
  expiration,
  ...(repairsNodes ? [nodeRepair] : []),
  termination,
  claimLifecycle,
  createProvisioner(),
  staticPools,
  createPodEvents(podsMoved),
  drift,
  createDisruption(),
  poolCounter,
];
