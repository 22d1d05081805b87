/**
 * Karpenter, as the list of its controllers in the order in which they look at the world.
 */
import type { Instant } from '../domain/time.ts';
import { claimLifecycle } from './claim-lifecycle.ts';
import { createPodEvents, emptiness, poolCounter } from './consolidation.ts';
import { createProvisioner } from './provisioner.ts';
import { expiration, termination } from './termination.ts';
import type { Model } from './world-state.ts';

/** @param podsMoved nodes whose Pods changed, and when; emptied as they are noted */
export const createKarpenter = (podsMoved: Map<string, Instant>): readonly Model[] => [
  expiration,
  termination,
  claimLifecycle,
  createProvisioner(),
  createPodEvents(podsMoved),
  emptiness,
  poolCounter,
];
