/**
 * Runs `plan` and `validate` on objects handed in as standard input, in this process.
 */
import { exitCodes, Failure } from '../../lib/cli/failure.ts';
import { plan } from '../../lib/cli/plan.ts';
import { validate } from '../../lib/cli/validate.ts';
import { at } from './builders.ts';
import { rawList } from './raw-objects.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  /** Notices, or the message of the failure. */
  readonly err: string;
}

type Output = 'text' | 'json' | 'yaml';

/** @param text what is read from standard input */
export async function run(
  command: 'plan' | 'validate',
  text: string,
  {
    when = '2026-06-09T18:00:00Z',
    output = 'json' as Output,
    files = ['-'],
  }: { when?: string; output?: Output; files?: readonly string[] } = {},
): Promise<Ran> {
  const written = { out: '', err: '' };
  const surroundings = {
    out: (more: string) => {
      written.out += more;
    },
    err: (more: string) => {
      written.err += more;
    },
    stdin: () => text,
    now: () => at('2026-06-09T18:00:00Z'),
  };
  const options = { file: files, at: at(when), output };
  try {
    const code = await (command === 'plan' ? plan : validate)(options, surroundings);
    return { code, ...written };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { code: error.exitCode, out: written.out, err: `${written.err}${error.message}` };
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a printed document is looked into as any other program would
type Printed = any;

/** The printed document of a plan, with the exit code and the notices beside it. */
export async function planOf(
  objects: readonly Record<string, unknown>[],
  when?: string,
): Promise<Ran & { document: Printed; pool: Printed }> {
  const ran = await run('plan', JSON.stringify(rawList(...objects)), when === undefined ? {} : { when });
  if (ran.code === exitCodes.usage) throw new Error(ran.err);
  const document = JSON.parse(ran.out);
  return { ...ran, document, pool: document.nodePools[0] };
}
