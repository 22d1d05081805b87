import { describe, expect, it } from 'vitest';
import { runBroken } from '../support/broken-source.ts';
import type { Outcome } from './interleaving/search.ts';
import { search } from './interleaving/search.ts';
import { stories } from './interleaving/stories.ts';

/** Each rule of the protocol is there for a reason: a sequence of steps that goes wrong without it, and is found. */
describe.each(Object.entries(stories))('%s', (name, story) => {
  it('with it nothing is found within these bounds (D7-10)', { timeout: 120_000 }, async () => {
    const { complete, violation, trace } = await search(story);
    expect({ complete, violation, trace }).toEqual({ complete: true, violation: undefined, trace: undefined });
  });

  it('without it the search finds what goes wrong (D7-10, D15-02)', { timeout: 120_000 }, async () => {
    const printed = await runBroken('test/simulation/interleaving/explore.ts', [name], story.without);
    const { violation, trace } = JSON.parse(printed) as Outcome;
    expect({ violation, told: (trace?.length ?? 0) > 2 }).toEqual({ violation: story.finds, told: true });
  });
});
