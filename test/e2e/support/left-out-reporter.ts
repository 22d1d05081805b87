/**
 * Names what a run left out, before the line that only counts it.
 */
import type { Reporter, TestModule } from 'vitest/node';
import { everything } from './scope.ts';

export class LeftOutReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const leftOut = modules.flatMap((module) =>
      [...module.children.allTests('skipped')].map((test) => `  ${module.relativeModuleId}: ${test.name}`),
    );
    if (leftOut.length === 0) return;
    const hint = everything ? '' : '; `npm run e2e -- --all` runs everything';
    process.stdout.write(`Left out${hint}:\n${leftOut.join('\n')}\n`);
  }
}
