import { expect, test } from 'vitest';
import { answerNote, type ManualRun, requestNote } from '../../lib/adapters/aws/manual-run.ts';
import { oldestFirst, rowOfNote } from '../../lib/cli/history-row.ts';
import { add, type Instant, minutes, parseInstant } from '../../lib/domain/time.ts';

const noon = parseInstant('2026-06-01T12:00:00Z') as Instant;
const asked = (id: string, nodePool: string, requestedAt: Instant): ManualRun => ({
  cluster: '123456789012/eu-west-1/production',
  nodePool,
  action: 'tick',
  reason: 'a test',
  requestedBy: 'somebody',
  id,
  account: '123456789012',
  requestedAt,
});

test('a manual run is told as it went, oldest first: its answer after its request, though both have one time (D10-05, D12-03)', () => {
  const runs = [
    asked('first', 'web', noon),
    asked('second', 'api', add(noon, minutes(1))),
    asked('third', 'web', add(noon, minutes(1))),
  ];
  const inOrder = runs.flatMap((run) => [
    rowOfNote(requestNote(run)),
    rowOfNote(answerNote(run, { outcome: 'Done', message: 'done' })),
  ]);
  expect(inOrder.toReversed().sort(oldestFirst)).toEqual(inOrder);
  expect(inOrder.toSorted(oldestFirst)).toEqual(inOrder);
});
