import { describe, expect, test } from 'vitest';
import { minutes } from '../../lib/domain/time.ts';
import { type DrawnRotation, rotationChart } from '../../lib/report/rotation-chart.ts';
import { readWidgetRequest } from '../../lib/report/widget-request.ts';
import { at } from '../support/builders.ts';

const range = { start: at('2026-06-01T00:00:00Z'), end: at('2026-06-08T00:00:00Z') };
const cluster = '111122223333/eu-west-1/prod';
const rotation = (over: Partial<DrawnRotation['story']> = {}): DrawnRotation => ({
  cluster,
  story: {
    nodePool: 'api',
    nodeClaim: 'api-1',
    uid: 'u',
    startedAt: at('2026-06-02T17:00:00Z'),
    drainingAt: at('2026-06-02T17:02:00Z'),
    endedAt: at('2026-06-02T17:09:00Z'),
    outcome: 'completed',
    path: 'provisioned',
    margin: minutes(90),
    ...over,
  },
});
const drawn = (rotations: readonly DrawnRotation[], leftOut = 0, theme: 'light' | 'dark' = 'light'): string =>
  rotationChart({ rotations, leftOut, range, theme, width: 1200 }).markup;

describe('the drawing of the last rotations', () => {
  test('has a bar for each part, and says the same in words (D11-05)', () => {
    const markup = drawn([rotation()]);
    expect(markup.match(/<rect /g)).toHaveLength(3);
    expect(markup).toContain('<td');
    for (const words of [cluster, 'api-1', 'completed', 'provisioned', '9m', '1h30m', '2026-06-02T17:00:00Z']) {
      expect(markup).toContain(words);
    }
  });

  test('reaches to the end for one that goes on, and stays inside for one that began before (D11-05)', () => {
    const { endedAt: _, drainingAt: __, ...story } = rotation().story;
    const markup = drawn([{ cluster, story: { ...story, startedAt: at('2026-05-30T00:00:00Z'), outcome: 'started' } }]);
    expect(markup).toContain('under way (started)');
    expect(markup).toContain('x="360" y="30" width="828"');
  });

  test('is safe and whole whatever a name holds, and has nothing that a dashboard takes out (D11-05)', () => {
    const markup = drawn([rotation({ nodeClaim: '<script>alert(1)</script>', reason: '"&\'' })]);
    expect(markup).not.toMatch(/<script|<style|<use|onload|href/);
    expect(markup).toContain('&#60;script&#62;');
  });

  test('says so when there is nothing, and how many are left out (D11-05)', () => {
    expect(drawn([])).toContain('No rotation from 2026-06-01T00:00:00Z to 2026-06-08T00:00:00Z.');
    expect(drawn([rotation()], 7)).toContain('7 older ones are left out');
    expect(drawn([rotation()], 0, 'dark')).toContain('#d5dbdb');
  });
});

describe('what the dashboard asks for', () => {
  const now = at('2026-06-08T12:00:00Z');

  test('is its own stretch of time, zoomed or not, its width and its colours (D11-05)', () => {
    const timeRange = { mode: 'absolute', start: range.start, end: range.end };
    const asked = (over: object) => readWidgetRequest({ widgetContext: { timeRange: { ...timeRange, ...over } } }, now);
    expect(asked({})).toEqual({ describe: false, range, theme: 'light', width: 1200 });
    const zoom = { start: at('2026-06-02T00:00:00Z'), end: at('2026-06-03T00:00:00Z') };
    expect(asked({ zoom }).range).toEqual(zoom);
    expect(readWidgetRequest({ describe: true, widgetContext: { theme: 'dark', width: 99_999 } }, now)).toMatchObject({
      describe: true,
      theme: 'dark',
      width: 2400,
    });
  });

  test('is a week when it cannot be read, and a month at most (D11-05)', () => {
    const week = { start: at('2026-06-01T12:00:00Z'), end: now };
    for (const event of [undefined, null, 'x', {}, { widgetContext: { timeRange: { start: 'x', end: Number.NaN } } }]) {
      expect(readWidgetRequest(event, now).range).toEqual(week);
    }
    const long = readWidgetRequest({ widgetContext: { timeRange: { start: 86_400_000 * 31, end: now } } }, now);
    expect(long.range).toEqual({ start: at('2026-05-08T12:00:00Z'), end: now });
    const backwards = readWidgetRequest({ widgetContext: { timeRange: { start: now + 1, end: now } } }, now);
    expect(backwards.range).toEqual(week);
  });
});
