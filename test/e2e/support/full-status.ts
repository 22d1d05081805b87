/**
 * A status of a policy that says everything that one can say.
 */
import type { PolicyStatus } from '../../../lib/domain/policy/policy-status.ts';

export const fullStatus: PolicyStatus = {
  observedGeneration: 1,
  conditions: [
    {
      type: 'Ready',
      status: 'True',
      reason: 'Accepted',
      message: 'The policy governs 2 NodePools.',
      observedGeneration: 1,
      lastTransitionTime: '2026-06-09T17:20:00Z',
    },
    {
      type: 'Feasible',
      status: 'False',
      reason: 'NoChance,ZoneNotPinned',
      message: 'No window opens in time.',
      observedGeneration: 1,
      lastTransitionTime: '2026-06-09T17:20:00Z',
    },
  ],
  matchedNodePools: 2,
  rotatingNodePools: 1,
  nodePools: [
    {
      name: 'api',
      ageThreshold: '240h',
      worstCasePeriod: '96h',
      guaranteedChances: 2,
      capacity: 3,
      candidates: 1,
      shortLead: 0,
      nextWindow: { start: '2026-06-09T17:00:00Z', end: '2026-06-09T21:00:00Z' },
      findings: ['NoChance', 'ZoneNotPinned'],
    },
    { name: 'batch', candidates: 0, shortLead: 0, nextWindow: { start: '2026-06-09T17:00:00Z' }, findings: [] },
  ],
};
