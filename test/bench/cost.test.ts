import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { assumptions, billedSeconds, type CostFigures, metricsCost, monthlyCost, rotationsPerMonth } from './cost.ts';
import { costInMarkdown } from './cost-table.ts';
import { sectionOf } from './markdown.ts';
import { metricFigures, tickFigures, writeUnits } from './tick-figures.ts';

const nothing = { cpuMs: 0, calls: 0, logBytes: 0, logLines: 0, writeUnits: 0, readUnits: 0, events: 0 };
const noMetrics = { fleet: 0, cluster: 0, nodePool: 0 };
const figures = (over: Partial<CostFigures> = {}): CostFigures => ({
  memory: 512,
  alarms: 0,
  compositeAlarms: 0,
  dashboards: 0,
  nodes: 0,
  nodePools: 4,
  idle: nothing,
  start: nothing,
  handOver: nothing,
  metrics: { fleet: noMetrics, cluster: noMetrics, nodePool: noMetrics },
  ...over,
});

test('a tick is billed for its CPU at the share of its memory, and for the wait of every call', () => {
  expect(billedSeconds({ ...nothing, cpuMs: 100, calls: 6 }, 512)).toBeCloseTo(0.1 * (1_769 / 512) + 0.12, 6);
});

test('more memory than a whole processor needs makes one thread no faster', () => {
  expect(billedSeconds({ ...nothing, cpuMs: 100 }, 3_538)).toBe(0.1);
});

test('a month has 43,800 ticks, each with its own time and request', () => {
  const tick = { ...nothing, cpuMs: 100, calls: 6 };
  const { ticks } = monthlyCost(figures({ idle: tick }), 1, 'fleet');
  expect(ticks).toBeCloseTo(43_800 * billedSeconds(tick, 512) * 0.5 * 0.0000133334 + 0.0438 * 0.2, 6);
});

test('ten clusters cost ten times the ticks and the logs of one', () => {
  const busy = figures({ idle: { ...nothing, cpuMs: 50, logBytes: 1_000, logLines: 2 } });
  const [one, ten] = [monthlyCost(busy, 1, 'fleet'), monthlyCost(busy, 10, 'fleet')];
  expect(ten.ticks).toBeCloseTo(10 * one.ticks, 9);
  const ofDispatch = (43_800 * assumptions.dispatchLogBytes * 0.5) / 1e9;
  expect(ten.logs - ofDispatch).toBeCloseTo(10 * (one.logs - ofDispatch), 9);
  expect(one.logs - ofDispatch).toBeCloseTo((43_800 * (1_000 + 2 * 26) * 0.5) / 1e9, 9);
});

test('a rotation writes what its start, its hand-over and its end write, and its other ticks are idle ones in that', () => {
  const rotating = figures({
    nodes: 100,
    idle: { ...nothing, writeUnits: 1 },
    start: { ...nothing, writeUnits: 4, events: 1 },
    handOver: { ...nothing, writeUnits: 4, events: 1 },
  });
  const rotations = rotationsPerMonth(rotating);
  expect(rotations).toBeCloseTo(304.2, 1);
  const writes = 43_800 + rotations * (2 * 3 + assumptions.lastRowWrites);
  expect(monthlyCost(rotating, 1, 'fleet').table).toBeCloseTo((writes * 0.625 + 43_800 * 0.5 * 0.125) / 1e6, 6);
});

test.each([
  [0, 0],
  [10_000, 3_000],
  [10_010, 3_001],
])('%d metrics cost %d', (count, expected) => {
  expect(metricsCost(count)).toBeCloseTo(expected, 6);
});

test('metrics by NodePool are counted for each NodePool of each cluster, alarms once (D11-02)', () => {
  const detailed = figures({
    alarms: 18,
    compositeAlarms: 1,
    dashboards: 1,
    metrics: { fleet: noMetrics, cluster: noMetrics, nodePool: { fleet: 12, cluster: 2, nodePool: 10 } },
  });
  expect(monthlyCost(detailed, 5, 'nodePool').metrics).toBeCloseTo((12 + 3 + 5 * 2 + 5 * 4 * 10) * 0.3, 6);
  expect(monthlyCost(detailed, 5, 'nodePool').alarms).toBeCloseTo(1.8 + 0.5 + 3, 6);
});

test('a total is the sum of its parts', () => {
  const { total, ...parts } = monthlyCost(figures({ nodes: 100, alarms: 3 }), 100, 'fleet');
  expect(total).toBeCloseTo(
    Object.values(parts).reduce((sum, part) => sum + part, 0),
    9,
  );
});

test('a row is billed by the KB, in the table and in every index that takes it (D10-01)', () => {
  const row = { pk: { S: 'p' }, sk: { S: 's' } };
  const indexed = { ...row, cluster: { S: 'c' }, pool: { S: 'p' }, time: { S: 't' } };
  expect(writeUnits(row)).toBe(1);
  expect(writeUnits(indexed)).toBe(3);
  expect(writeUnits({ ...indexed, message: { S: 'x'.repeat(1_024) } })).toBe(6);
});

test('the figures of a tick are read off its calls and its lines', () => {
  const aws = [
    { target: 'DynamoDB_20120810.UpdateItem', body: '{}' },
    { target: 'DynamoDB_20120810.GetItem', body: '{}' },
    { target: 'DynamoDB_20120810.PutItem', body: '{"Item":{"pk":{"S":"p"}}}' },
    { target: 'AWSEvents.PutEvents', body: '{"Entries":[1,2]}' },
  ];
  const calls = { kubernetes: 5, beyondSnapshot: 0, events: 0, kilobytes: 1, aws };
  expect(tickFigures(calls, ['{"ä":1}\n', '{}\n'], 12)).toEqual({
    cpuMs: 12,
    calls: 9,
    logBytes: 12,
    logLines: 2,
    writeUnits: 2,
    readUnits: 1,
    events: 2,
  });
});

test('a metric is a name with its dimensions; those of pools are counted for one pool (D11-02)', () => {
  const line = (dimensions: Record<string, string>, ...names: string[]): string =>
    JSON.stringify({
      _aws: {
        CloudWatchMetrics: [{ Dimensions: [Object.keys(dimensions)], Metrics: names.map((Name) => ({ Name })) }],
      },
      ...dimensions,
    });
  const lines = [
    line({ service: 's' }, 'a', 'b'),
    line({ service: 's', cluster: 'c' }, 'a'),
    line({ service: 's', cluster: 'c', nodePool: 'x' }, 'a', 'b', 'c'),
    line({ service: 's', cluster: 'c', nodePool: 'y' }, 'a', 'b', 'c'),
    line({ service: 's' }, 'a'),
    '{"message":"Tick"}',
  ];
  expect(metricFigures(lines)).toEqual({ fleet: 2, cluster: 1, nodePool: 3 });
});

const read = (...path: string[]): string => readFileSync(join(import.meta.dirname, '..', '..', ...path), 'utf8');

test.each(['README.md', 'docs/performance.md'])(
  '%s has the costs that follow from the figures that were kept',
  (file) => {
    const kept = JSON.parse(read('test', 'bench', 'measurements.json')) as CostFigures;
    expect(sectionOf(read(file), 'cost')).toBe(costInMarkdown(kept));
  },
);
