import { describe, expect, test } from 'vitest';
import { readEnvironment } from '../../functions/widget/environment.ts';
import { createHandler } from '../../functions/widget/handler.ts';
import type { AuditRow, TimeRange } from '../../lib/adapters/aws/audit-table.ts';
import { add, type Instant, minutes } from '../../lib/domain/time.ts';
import { at } from '../support/builders.ts';

const now = at('2026-06-08T12:00:00Z');

const rowsOf = (cluster: string, count: number): readonly AuditRow[] =>
  Array.from({ length: count }, (_, index) => {
    const startedAt = add(at('2026-06-02T17:00:00Z'), minutes(index));
    return {
      cluster,
      nodePool: 'api',
      entry: { step: 'started', at: startedAt, claim: `api-${index}`, uid: `u-${index}`, startedAt },
    };
  });

/** A table of these clusters, and the ranges that it was asked for. */
function widget(clusters: Readonly<Record<string, number>>) {
  const ranges: TimeRange[] = [];
  const handler = createHandler({
    registry: { all: async () => Object.keys(clusters).map((key) => ({ key }) as never) },
    table: {
      byCluster: async function* (cluster: string, range: TimeRange = {}) {
        ranges.push(range);
        yield* rowsOf(cluster, clusters[cluster] ?? 0);
      },
    },
    now: () => now,
  });
  return { handler, ranges };
}

describe('the widget of the dashboard', () => {
  test('draws the rotations of every known cluster within the asked time, newest first (D11-05, D10-05)', async () => {
    const { handler, ranges } = widget({ '1/eu-west-1/a': 2, '1/eu-west-1/b': 1 });
    const start = at('2026-06-01T00:00:00Z');
    const markup = await handler({ widgetContext: { timeRange: { start, end: now as Instant } } });
    expect(ranges).toEqual([
      { from: start, to: now },
      { from: start, to: now },
    ]);
    const order = [...markup.matchAll(/<td[^>]*>(api-\d)<\/td>/g)].map(([, claim]) => claim);
    expect(order).toEqual(['api-1', 'api-0', 'api-0']);
  });

  test('draws forty at most and says how many more there are (D11-05)', async () => {
    const markup = await widget({ '1/eu-west-1/a': 45 }).handler({});
    expect(markup.match(/<rect /g)).toHaveLength(40);
    expect(markup).toContain('5 older ones are left out');
  });

  test('describes itself when it is asked to, without a look at the table (D11-05)', async () => {
    const { handler, ranges } = widget({ '1/eu-west-1/a': 1 });
    expect(await handler({ describe: true })).toMatch(/^### /);
    expect(ranges).toEqual([]);
  });

  test('names the variable that it lacks (D1-07)', () => {
    expect(() => readEnvironment({})).toThrow('TABLE_NAME is not set');
    expect(readEnvironment({ TABLE_NAME: 't' })).toEqual({ tableName: 't' });
  });
});
