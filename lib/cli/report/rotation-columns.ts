/**
 * A told rotation as a line of a table, and as a document for programs.
 */
import { formatDuration, formatInstant } from '../../domain/time.ts';
import type { RotationStory } from '../../report/rotation-story.ts';
import type { Column } from '../text-table.ts';

const orDash = <T>(value: T | undefined, format: (value: T) => string): string =>
  value === undefined ? '-' : format(value);

/** What an operator asks about a rotation, in this order. */
export const rotationColumns: readonly Column<RotationStory>[] = [
  { title: 'NODEPOOL', of: ({ nodePool }) => nodePool },
  { title: 'NODECLAIM', of: ({ nodeClaim }) => nodeClaim },
  { title: 'STARTED', of: ({ startedAt }) => formatInstant(startedAt) },
  { title: 'OUTCOME', of: ({ outcome }) => outcome },
  { title: 'PATH', of: ({ path }) => path ?? '-' },
  { title: 'SURGE WAIT', of: ({ surgeWait }) => orDash(surgeWait, formatDuration), right: true },
  { title: 'DRAIN', of: ({ drain }) => orDash(drain, formatDuration), right: true },
  { title: 'MARGIN', of: ({ margin }) => orDash(margin, formatDuration), right: true },
];

/** For programs: times RFC 3339, durations Go strings, what is not known left out. @design D13-01 */
export function rotationDocument(story: RotationStory): Readonly<Record<string, string>> {
  const { startedAt, drainingAt, endedAt, surgeWait, drain, deadline, margin, ...texts } = story;
  const times = Object.entries({ startedAt, drainingAt, endedAt, deadline }).flatMap(([key, at]) =>
    at === undefined ? [] : [[key, formatInstant(at)]],
  );
  const lengths = Object.entries({ surgeWait, drain, margin }).flatMap(([key, of]) =>
    of === undefined ? [] : [[key, formatDuration(of)]],
  );
  return { ...texts, ...Object.fromEntries([...times, ...lengths]) };
}
