/**
 * What is wrong with a policy whatever pool it meets.
 *
 * Only what the policy alone can tell; it is reported with each of its pools, and by `validate` without any.
 */
import type { RotationPolicy, SurgeSettings } from '../policy/rotation-policy.ts';
import type { Instant } from '../time.ts';
import { formatDuration, minutes } from '../time.ts';
import type { Finding } from './finding.ts';
import { fatal, warn } from './finding.ts';
import { windowPeriods } from './window.ts';

/**
 * What can be said of a policy before any NodePool is known.
 *
 * @design D4-03, R3.2-20, R3.2-21, R3.2-22
 */
export function policyFindings(policy: RotationPolicy, at: Instant): readonly Finding[] {
  const { minRotationChances: wanted, surge, ageThreshold } = policy;
  if (windowPeriods(policy.windows, at).worstCasePeriod === 0) {
    return [
      fatal(
        'NoWindows',
        'the maintenance windows never open (P = 0): nothing can be rotated; add an entry to maintenanceWindows',
      ),
    ];
  }
  const found: Finding[] = [];
  if (wanted < 1) found.push(fatal('KBelowOne', `minRotationChances ${wanted} is below 1: set it to 2 or more`));
  if (wanted === 1)
    found.push(
      warn(
        'KBelowTwo',
        'minRotationChances is 1: a node has no second chance when a window is missed; set it to 2 or more',
      ),
    );
  if (ageThreshold !== 'auto' && ageThreshold <= 0) {
    found.push(
      fatal(
        'OverrideNonPositive',
        `ageThreshold ${formatDuration(ageThreshold)} is not above 0: every node would be due at once; raise it or use auto`,
      ),
    );
  }
  return [...found, ...settingFindings(surge)];
}

/** @design D4-03, R3.2-29, R3.7-05 */
function settingFindings(surge: SurgeSettings): Finding[] {
  const found: Finding[] = [];
  if (surge.retryBackoff < surge.readyTimeout) {
    found.push(
      warn(
        'RetryBackoffShort',
        `retryBackoff ${formatDuration(surge.retryBackoff)} is below readyTimeout ${formatDuration(surge.readyTimeout)}: a retry comes faster than an attempt may take; raise retryBackoff`,
      ),
    );
  }
  if (surge.readyTimeout < minutes(1)) {
    found.push(
      warn(
        'ReadyTimeoutShort',
        `readyTimeout ${formatDuration(surge.readyTimeout)} is below 1m, the time between two looks: no node can be ready in it; raise it`,
      ),
    );
  }
  if (surge.provisioningEstimate > surge.readyTimeout) {
    found.push(
      warn(
        'ProvisioningEstimateAboveReadyTimeout',
        `provisioningEstimate ${formatDuration(surge.provisioningEstimate)} exceeds readyTimeout ${formatDuration(surge.readyTimeout)} and is clamped to it: lower it or raise readyTimeout`,
      ),
    );
  }
  if (!surge.matchNodeRequirements.required.includes('topology.kubernetes.io/zone')) {
    found.push(
      warn(
        'ZoneNotPinned',
        'matchNodeRequirements.required does not name topology.kubernetes.io/zone: Pods with zonal volumes may be left without a node in their zone; add it',
      ),
    );
  }
  return found;
}
