/**
 * Everything that moves by itself in the simulated cluster, in the order in which it looks at the world.
 */
import type { Instant } from '../domain/time.ts';
import { disruptionController } from './disruption-budgets.ts';
import { jobs } from './jobs.ts';
import { createKarpenter } from './karpenter.ts';
import { goneInstances, silentNodes } from './node-health.ts';
import { scheduler } from './scheduler.ts';
import { statefulSets } from './stateful-sets.ts';
import { daemonSets, kubelets, nodeTaints, replicaSets } from './workloads.ts';
import type { Model } from './world-state.ts';

/** @param podsMoved nodes whose Pods changed, and when; emptied as they are noted */
export const createModels = (podsMoved: Map<string, Instant>, repairsNodes: boolean): readonly Model[] => [
  goneInstances,
  nodeTaints,
  silentNodes,
  replicaSets,
  statefulSets,
  jobs,
  daemonSets,
  kubelets,
  scheduler,
  ...createKarpenter(podsMoved, repairsNodes),
  disruptionController,
];
