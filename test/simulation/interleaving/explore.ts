/**
 * The program behind the tests that take rules out of the sources: `explore.ts STORY…` prints one outcome per story.
 */
import { search } from './search.ts';
import { stories } from './stories.ts';

for (const name of process.argv.slice(2)) {
  const story = stories[name];
  if (!story) throw new Error(`there is no story "${name}"`);
  process.stdout.write(`${JSON.stringify({ name, ...(await search(story)) })}\n`);
}
