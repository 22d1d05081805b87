/**
 * Before any test: what is missing of the control plane is built, outside every time limit of a test.
 */
import { failureOf } from '../../../lib/cli/failure.ts';
import { build } from '../harness/build.ts';
import { kubernetesUnderTest } from './kubernetes-under-test.ts';

export async function setup(): Promise<void> {
  try {
    await build(kubernetesUnderTest(), (line) => void process.stderr.write(`${line}\n`));
  } catch (error) {
    const { message, exitCode } = failureOf(error);
    process.stderr.write(`${message}\n`);
    process.exit(exitCode);
  }
}
