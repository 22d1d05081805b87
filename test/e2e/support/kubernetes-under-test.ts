/**
 * The row of the version matrix that this run tests: `E2E_KUBERNETES=1.34 npm run e2e`.
 */
import { exitCodes, Failure } from '../../../lib/cli/failure.ts';
import { type KubernetesVersion, kubernetesVersions } from '../harness/modules.ts';

export function kubernetesUnderTest(): KubernetesVersion {
  const wanted = process.env.E2E_KUBERNETES ?? kubernetesVersions[0];
  const found = kubernetesVersions.find((version) => version === wanted);
  if (found) return found;
  throw new Failure(
    exitCodes.usage,
    `E2E_KUBERNETES is ${wanted}, and the end-to-end tests know ${kubernetesVersions.join(' and ')}.`,
  );
}
