/**
 * The program behind the tests of broken versions: `replay.ts CASE` plays one case and prints what it violated.
 */
import { runCase } from '../run-case.ts';
import type { CaseName } from './cases.ts';
import { cases } from './cases.ts';

const { violations } = await runCase(cases[process.argv[2] as CaseName]);
process.stdout.write(JSON.stringify(violations));
