/**
 * Before any test: what is missing of the control plane is built, and the AWS emulator installed, outside every time
 * limit of a test. The emulator comes first, so that a missing Python is not told after ten minutes of compiling.
 */
import { failureOf } from '../../../lib/cli/failure.ts';
import { pythonEnvironment } from '../emulator/python-environment.ts';
import { build } from '../harness/build.ts';
import { kubernetesUnderTest } from './kubernetes-under-test.ts';

export async function setup(): Promise<void> {
  try {
    const tell = (line: string): void => void process.stderr.write(`${line}\n`);
    await pythonEnvironment(tell);
    await build(kubernetesUnderTest(), tell);
  } catch (error) {
    const { message, exitCode } = failureOf(error);
    process.stderr.write(`${message}\n`);
    process.exit(exitCode);
  }
}
