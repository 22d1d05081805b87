/**
 * The command line. Every command ends through here: with an exit code, and on failure with one line.
 *
 * Only the command that was asked for is loaded; of the others the name and a sentence are enough.
 */
import { Command, CommanderError } from 'commander';
import { exitCodes, failureOf } from './failure.ts';

type Add = (program: Command, finish: (code: number) => void) => void;

const commands: readonly { name: string; description: string; load: () => Promise<Add> }[] = [
  {
    name: 'local',
    description: 'rotate an embedded cluster through two simulated weeks, with the real handlers',
    load: async () => (await import('./local.ts')).addLocalCommand,
  },
  {
    name: 'run',
    description: 'rotate the nodes of a kubeconfig context, one tick after the other, until Ctrl-C',
    load: async () => (await import('./run.ts')).addRunCommand,
  },
  {
    name: 'plan',
    description: 'one dry tick: what would be rotated when, and what is in the way',
    load: async () => (await import('./plan.ts')).addPlanCommand,
  },
  {
    name: 'validate',
    description: 'every problem and finding of RotationPolicies, with or without their NodePools',
    load: async () => (await import('./validate.ts')).addValidateCommand,
  },
  {
    name: 'history',
    description: 'show the audit table, oldest first: every step of every rotation, findings, runs, failures',
    load: async () => (await import('./history.ts')).addHistoryCommand,
  },
  {
    name: 'preflight',
    description: 'what a cluster still lacks: CRD, RBAC, PriorityClass, namespace, access',
    load: async () => (await import('./preflight.ts')).addPreflightCommand,
  },
  {
    name: 'manifests',
    description: 'print CRD, namespace, PriorityClass and RBAC, for kubectl apply -f -',
    load: async () => (await import('./manifests.ts')).addManifestsCommand,
  },
];

const finish = (code: number): void => {
  process.exitCode = code;
};

/** The program as far as these arguments need it. */
async function programFor(args: readonly string[]): Promise<Command> {
  const program = new Command('node-rotation')
    .description('Replaces Karpenter nodes inside maintenance windows, before their expiry forces them out')
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  for (const { name, description, load } of commands) {
    if (args.slice(0, 2).includes(name)) (await load())(program, finish);
    else program.command(name);
    program.commands.at(-1)?.description(description);
  }
  return program;
}

function fail(error: unknown): void {
  if (error instanceof CommanderError) {
    finish(failOfFlags(error));
    return;
  }
  const failure = failureOf(error);
  process.stderr.write(`${failure.message}\n`);
  if (process.env.NODE_ROTATION_DEBUG === '1') console.error(failure.cause ?? failure);
  finish(failure.exitCode);
}

/** Help and version are no failures. */
function failOfFlags(error: CommanderError): number {
  if (error.exitCode === 0) return exitCodes.ok;
  if (error.code !== 'commander.help') {
    const said = error.message.replace(/^error: /, '').replace(/\s+/g, ' ');
    process.stderr.write(`${said} See node-rotation --help.\n`);
  }
  return exitCodes.usage;
}

// The embedded database reports a folder that it cannot open only here.
process.on('uncaughtException', (error) => {
  fail(error);
  process.exit();
});

try {
  const args = process.argv.slice(2);
  await (await programFor(args)).parseAsync(args, { from: 'user' });
} catch (error) {
  fail(error);
}
