import { describe, expect, test } from 'vitest';
import { reportPage } from '../../lib/cli/report/report-page.ts';
import { rotationColumns, rotationDocument } from '../../lib/cli/report/rotation-columns.ts';
import { timeScale } from '../../lib/cli/report/time-scale.ts';
import { textTable } from '../../lib/cli/text-table.ts';
import { minutes, seconds } from '../../lib/domain/time.ts';
import { element, raw } from '../../lib/report/markup.ts';
import { type RecordedStep, tellRotations } from '../../lib/report/rotation-story.ts';
import { at } from '../support/builders.ts';

const startedAt = at('2026-06-02T17:00:00Z');
const step = (name: RecordedStep['step'], time: string, facts: Partial<RecordedStep> = {}): RecordedStep => ({
  nodePool: 'api',
  claim: 'api-1',
  uid: 'u1',
  startedAt,
  step: name,
  at: at(time),
  ...facts,
});

const started = step('started', '2026-06-02T17:00:00Z', { deadline: at('2026-06-08T00:00:00Z'), node: 'ip-1' });
const draining = step('draining', '2026-06-02T17:02:00Z', {
  surgePath: 'provisioned',
  surgeWait: seconds(53),
  surgeClaim: 'api-2',
});
const completed = step('completed', '2026-06-02T17:03:00Z', { drain: minutes(1) });

describe('a rotation told from its rows', () => {
  test('has its path, its lengths, and what was left until the deadline (D10-02)', () => {
    expect(tellRotations([completed, started, draining])).toEqual([
      {
        nodePool: 'api',
        nodeClaim: 'api-1',
        uid: 'u1',
        node: 'ip-1',
        startedAt,
        drainingAt: at('2026-06-02T17:02:00Z'),
        endedAt: at('2026-06-02T17:03:00Z'),
        outcome: 'completed',
        path: 'provisioned',
        surgeClaim: 'api-2',
        surgeWait: seconds(53),
        drain: minutes(1),
        deadline: at('2026-06-08T00:00:00Z'),
        margin: at('2026-06-08T00:00:00Z') - at('2026-06-02T17:03:00Z'),
      },
    ]);
  });

  test.each([
    { rows: [started], outcome: 'started', margin: undefined },
    { rows: [started, draining], outcome: 'draining', margin: undefined },
    {
      rows: [started, step('failed', '2026-06-02T17:00:00Z', { reason: 'ReadyTimeout' })],
      outcome: 'failed',
      margin: 127 * 60,
    },
    { rows: [started, step('aborted', '2026-06-02T17:16:00Z')], outcome: 'aborted', margin: 126 * 60 + 44 },
    { rows: [started, step('expired', '2026-06-08T00:00:00Z')], outcome: 'expired', margin: 0 },
  ])(
    'ends with the last step on record, an end coming last within a second: $outcome (D10-02)',
    ({ rows, outcome, margin }) => {
      const [story] = tellRotations(rows.toReversed());
      expect(story?.outcome).toBe(outcome);
      expect(story?.margin).toBe(margin === undefined ? undefined : margin * 60_000);
    },
  );

  test('is another one when the same claim starts again (D10-03)', () => {
    const again = { ...started, startedAt: at('2026-06-05T17:00:00Z'), at: at('2026-06-05T17:00:00Z') };
    expect(tellRotations([again, started]).map((story) => story.startedAt)).toEqual([startedAt, again.startedAt]);
  });

  test('of a fallback has gone the forceful path (R3.6-01)', () => {
    const [story] = tellRotations([step('fallbackStarted', '2026-06-02T17:00:00Z', { mode: 'forceful-fallback' })]);
    expect(story).toMatchObject({ path: 'forceful', drainingAt: startedAt });
  });

  test('is written for programs with times in RFC 3339 and lengths as Go strings (D13-01)', () => {
    const [story] = tellRotations([started, draining, completed]);
    if (!story) throw new Error('nothing was told');
    expect(rotationDocument(story)).toEqual({
      nodePool: 'api',
      nodeClaim: 'api-1',
      uid: 'u1',
      node: 'ip-1',
      startedAt: '2026-06-02T17:00:00Z',
      drainingAt: '2026-06-02T17:02:00Z',
      endedAt: '2026-06-02T17:03:00Z',
      outcome: 'completed',
      path: 'provisioned',
      surgeClaim: 'api-2',
      surgeWait: '53s',
      drain: '1m',
      deadline: '2026-06-08T00:00:00Z',
      margin: '126h57m',
    });
    expect(textTable(rotationColumns, [story])).toEqual([
      'NODEPOOL  NODECLAIM  STARTED               OUTCOME    PATH         SURGE WAIT  DRAIN   MARGIN',
      'api       api-1      2026-06-02T17:00:00Z  completed  provisioned         53s     1m  126h57m',
    ]);
  });
});

describe('the scale of the timeline', () => {
  const range = { start: at('2026-06-01T00:00:00Z'), end: at('2026-06-11T00:00:00Z') };
  const window = { start: at('2026-06-02T00:00:00Z'), end: at('2026-06-02T04:00:00Z') };

  test('gives most of the width to the windows, and begins and ends at the edges', () => {
    const scale = timeScale(range, [window], 0, 1000);
    expect(scale.segments.map(({ open, left, right }) => [open, Math.round(right - left)])).toEqual([
      [false, 20],
      [true, 800],
      [false, 180],
    ]);
    expect([range.start, range.end].map((instant) => scale.x(instant))).toEqual([0, 1000]);
    expect(scale.x(at('2026-06-02T02:00:00Z'))).toBeCloseTo(scale.x(window.start) + 400);
  });

  test.each([
    { windows: [], what: 'no window' },
    { windows: [range], what: 'a window that never closes' },
  ])('is even with $what', ({ windows }) => {
    expect(timeScale(range, windows, 100, 1100).x(at('2026-06-06T00:00:00Z'))).toBeCloseTo(600);
  });

  test('puts what lies outside at the edges', () => {
    const scale = timeScale(range, [window], 10, 20);
    expect([at('2026-01-01T00:00:00Z'), at('2027-01-01T00:00:00Z')].map((instant) => scale.x(instant))).toEqual([
      10, 20,
    ]);
  });
});

describe('the page', () => {
  test('escapes every text, and leaves markup of our own alone', () => {
    const hostile = `<script>alert("1")</script> & 'co'`;
    const { markup } = element('p', { title: hostile, x: 1.26 }, hostile, raw('<br>'));
    expect(markup).not.toContain('<script');
    expect(markup).toMatch(/^<p title="[^"<>]*" x="1.3">[^<>]*<br><\/p>$/);
  });

  test('is well-formed with nothing to show', () => {
    const range = { start: at('2026-06-01T00:00:00Z'), end: at('2026-06-15T00:00:00Z') };
    const page = reportPage({
      title: 'Empty',
      figures: [],
      query: '',
      timeline: { range, windows: [], claims: [], rotations: [] },
    });
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(page).not.toMatch(/NaN|undefined|Infinity/);
  });
});
