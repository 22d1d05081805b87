/**
 * `npm run e2e:build`, `e2e:up` and `e2e:down`: the control plane of the end-to-end tests, by hand.
 *
 * One such cluster at a time: its place is fixed, so that `down` finds what `up` left running.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { exitCodes, Failure, failureOf } from '../../../lib/cli/failure.ts';
import { pythonEnvironment } from '../emulator/python-environment.ts';
import { build } from './build.ts';
import { clients, startControlPlane } from './control-plane.ts';
import { isRunning } from './end-process.ts';
import { type KubernetesVersion, kubernetesVersions } from './modules.ts';
import { startedIn, stopLeftOver } from './processes.ts';

const folder = join(tmpdir(), `node-rotation-e2e-of-${userInfo().username}`);
const tell = (line: string): void => void process.stderr.write(`${line}\n`);

interface UpOptions {
  readonly kubernetes: KubernetesVersion;
  readonly port?: number;
  readonly onlyApi: boolean;
  readonly delayedPodDelete: boolean;
}

async function up({ kubernetes, port, onlyApi, delayedPodDelete }: UpOptions): Promise<void> {
  if (startedIn(folder).some(isRunning)) {
    throw new Failure(
      exitCodes.noAccess,
      `A control plane is running already: its kubeconfig is ${join(folder, 'kubeconfig')}. \`npm run e2e:down\` ends it.`,
    );
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  const began = performance.now();
  const plane = await startControlPlane({
    kubernetes,
    folder,
    tell,
    delayedPodDelete,
    ...(port !== undefined && { port }),
    ...(onlyApi && { karpenter: false }),
  });
  plane.letGo();
  const what = onlyApi ? 'API server' : 'control plane with Karpenter';
  tell(
    `Kubernetes ${kubernetes}: ${what} up in ${((performance.now() - began) / 1000).toFixed(1)} s, logs in ${join(folder, 'logs')}.`,
  );
  tell(`Contexts: ${Object.keys(clients).join(', ')}. \`npm run e2e:down\` ends it.`);
  process.stdout.write(`${plane.kubeconfig}\n`);
}

async function down(): Promise<void> {
  if (!existsSync(folder)) return tell('No control plane is running.');
  await stopLeftOver(folder);
  rmSync(folder, { recursive: true, force: true });
  tell('Ended.');
}

function readPort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new InvalidArgumentError('It is a number from 1 to 65535.');
}

const kubernetesOption = (): Option =>
  new Option('--kubernetes <minor>', 'version of Kubernetes').choices(kubernetesVersions).default('1.36');

const program = new Command('e2e').exitOverride();
program
  .command('build')
  .description('build what is missing')
  .addOption(kubernetesOption())
  .action(async ({ kubernetes }: { readonly kubernetes: KubernetesVersion }) => {
    await pythonEnvironment(tell);
    await build(kubernetes, tell);
    tell(`Kubernetes ${kubernetes} and Karpenter are built, and the AWS emulator is installed.`);
  });
program
  .command('up')
  .description('start a control plane and leave it running')
  .addOption(kubernetesOption())
  .option('--port <number>', 'port of the API server (default: a free one)', readPort)
  .option('--only-api', 'etcd and the API server only', false)
  .option('--delayed-pod-delete', 'Pods stop after the delay that their annotation names', false)
  .action(up);
program.command('down').description('end it, and remove everything of it').action(down);

// What had been started is stopped by the guard, and partial builds go with the exit.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    tell('Interrupted: what was started is stopped.');
    process.exit(exitCodes.notAsItShouldBe);
  });
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage;
  } else {
    const failure = failureOf(error);
    tell(failure.message);
    process.exitCode = failure.exitCode;
  }
}
