/**
 * The command line. Every command ends through here: with an exit code, and on failure with one line.
 */
import { Command, CommanderError } from 'commander';
import { exitCodes, failureOf } from './failure.ts';
import { addHistoryCommand } from './history.ts';
import { addLocalCommand } from './local.ts';
import { addRunCommand } from './run.ts';
import { addPlanCommand } from './plan.ts';
import { addValidateCommand } from './validate.ts';

const program = new Command('node-rotation')
  .description('Replaces Karpenter nodes inside maintenance windows, before their expiry forces them out')
  .exitOverride()
  .configureOutput({ outputError: () => {} })
  .showHelpAfterError(false);

const finish = (code: number): void => {
  process.exitCode = code;
};

addLocalCommand(program, finish);
addRunCommand(program, finish);
addHistoryCommand(program, finish);
addPlanCommand(program, finish);
addValidateCommand(program, finish);

function fail(error: unknown): void {
  if (error instanceof CommanderError) {
    finish(failOfFlags(error));
    return;
  }
  const failure = failureOf(error);
  process.stderr.write(`${failure.message}\n`);
  if (process.env['NODE_ROTATION_DEBUG'] === '1') console.error(failure.cause ?? failure);
  finish(failure.exitCode);
}

/** Help and version are no failures. */
function failOfFlags(error: CommanderError): number {
  if (error.exitCode === 0) return exitCodes.ok;
  if (error.code !== 'commander.help')
    process.stderr.write(`${error.message.replace(/^error: /, '').replace(/\s+/g, ' ')} See node-rotation --help.\n`);
  return exitCodes.usage;
}

// The embedded database reports a folder that it cannot open only here.
process.on('uncaughtException', (error) => {
  fail(error);
  process.exit();
});

try {
  await program.parseAsync();
} catch (error) {
  fail(error);
}
