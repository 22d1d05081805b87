/**
 * Broken versions of the tick, which carries lists out.
 */
import type { BrokenVersion } from './version.ts';
import { breakOf } from './version.ts';

const controller = breakOf('lib/controller');

export const ofTheTick: readonly BrokenVersion[] = [
  {
    does: 'goes on with a list after a conflict',
    rules: ['D5-05'],
    breaks: [
      controller(
        'run-tick',
        "if (result.outcome === 'applied' || result.outcome === 'alreadyDone' ||",
        "if (result.outcome === 'applied' || result.outcome === 'alreadyDone' || result.outcome === 'conflict' ||",
      ),
    ],
    caughtBy: { case: 'writes meet conflicts', rule: 'cordon' },
  },
  {
    does: 'takes steps off the outbox before their rows are in the table',
    rules: ['D10-04'],
    breaks: [
      controller('run-tick', 'entries.filter((entry) => !recorded.has(entryKey(entry)))', 'recorded ? [] : entries'),
    ],
    caughtBy: { case: 'the table is down', rule: 'auditLost' },
  },
  {
    does: 'acts on a snapshot that is older than a minute',
    rules: ['D5-08'],
    breaks: [controller('run-tick', 'tick.budget.sinceSnapshot() > snapshotLasts', 'tick.budget === undefined')],
    caughtBy: { case: 'the process stands still', rule: 'staleWrite' },
  },
];
