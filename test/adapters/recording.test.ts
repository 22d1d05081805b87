import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AuditTable, PutOutcome } from '../../lib/adapters/aws/audit-table.ts';
import { domainEvent } from '../../lib/adapters/aws/domain-events.ts';
import { type MetricDetail, metricNames } from '../../lib/adapters/aws/metric-names.ts';
import { TickMetrics } from '../../lib/adapters/aws/metrics.ts';
import { TickRecorder } from '../../lib/adapters/aws/recorder.ts';
import { type Log, logTick } from '../../lib/adapters/aws/tick-log.ts';
import type { PoolRecord, TickRecord } from '../../lib/controller/ports.ts';
import { entryKey, type UnrecordedStep } from '../../lib/domain/rotation/unrecorded.ts';
import { days, minutes, seconds } from '../../lib/domain/time.ts';
import type { Decision, PoolGauges } from '../../lib/engine/decision.ts';
import { at } from '../support/builders.ts';

const cluster = '123456789012/ap-northeast-1/prod';

const completed: UnrecordedStep = {
  step: 'completed',
  at: at('2026-06-09T17:20:00Z'),
  claim: 'api-1',
  uid: 'uid-1',
  startedAt: at('2026-06-09T17:00:00Z'),
  drain: minutes(7),
};

const gauges: PoolGauges = {
  candidates: 2,
  inProgress: true,
  windowOpen: true,
  policyConflict: false,
  shortLeadNodes: 1,
  drainStuck: false,
  retryCount: 3,
  ageThreshold: days(6),
  rotationChances: 2,
  throughputCapacity: 9,
  rotationEstimate: minutes(15),
  rotationBound: minutes(85),
  windowPeriod: days(4),
};

const decision = (over: Partial<Decision> = {}): Decision => ({
  nodePool: 'api',
  step: 'nothing',
  actions: [],
  notices: [],
  grounds: { windowOpen: true, frozen: false, staticPool: false },
  gauges,
  ...over,
});

const pool = (over: Partial<PoolRecord> = {}): PoolRecord => ({
  decision: decision(),
  results: [],
  landed: false,
  ...over,
});

const tick = (pools: readonly PoolRecord[], over: Partial<TickRecord> = {}): TickRecord => ({
  outcome: 'Ok',
  observedAt: at('2026-06-09T17:20:00Z'),
  pools,
  unrecorded: new Map(),
  unreadable: [],
  ...over,
});

const finished = pool({ decision: decision({ step: 'finish', transition: completed }), landed: true });

class Lines implements Log {
  readonly lines: [string, string, Record<string, unknown>][] = [];
  info(message: string, details: Record<string, unknown>): void {
    this.lines.push(['info', message, details]);
  }
  warn(message: string, details: Record<string, unknown>): void {
    this.lines.push(['warn', message, details]);
  }
  error(message: string, details: Record<string, unknown>): void {
    this.lines.push(['error', message, details]);
  }
}

test('a quiet tick is one line (D11-06, PR-93)', () => {
  const log = new Lines();
  logTick(log, cluster, tick([pool(), pool({ decision: decision({ step: 'blocked' }) })]));
  expect(log.lines).toEqual([
    ['info', 'Tick', { cluster, outcome: 'Ok', observedAt: '2026-06-09T17:20:00Z', nodePools: 2 }],
  ]);
});

test('a transition that landed is a line of its own, one that did not is none (D11-06, D7-09)', () => {
  const log = new Lines();
  logTick(log, cluster, tick([finished, { ...finished, landed: false }]));
  expect(log.lines.filter(([, message]) => message === 'Rotation')).toEqual([
    [
      'info',
      'Rotation',
      expect.objectContaining({ cluster, nodePool: 'api', transition: 'completed', claim: 'api-1', drain: '7m' }),
    ],
  ]);
});

test('a failed tick, a stopped list, a refused write and a lost row are each told (D11-06, D10-04, PR-90, PR-95)', () => {
  const log = new Lines();
  const results = [{ outcome: 'rejected', detail: 'denied by a webhook' }] as const;
  const lost = { code: 'AuditLost', severity: 'warn', message: 'the step' } as const;
  logTick(
    log,
    cluster,
    tick([pool({ stopped: 'rejected: denied', results, decision: decision({ notices: [lost] }) })], {
      unreadable: ['{}'],
    }),
  );
  logTick(log, cluster, { outcome: 'AuthFailed', detail: 'no', pools: [], unrecorded: new Map(), unreadable: [] });
  expect(log.lines.map(([level, message]) => `${level} ${message}`)).toEqual([
    'warn List stopped',
    'warn Write refused',
    'error Audit row lost',
    'error An unreadable step was taken off the outbox',
    'info Tick',
    'error Tick failed',
  ]);
});

let emitted: Record<string, unknown>[] = [];

beforeEach(() => {
  emitted = [];
  vi.stubEnv('POWERTOOLS_DEV', 'true');
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
  vi.spyOn(console, 'log').mockImplementation((line: string) => void emitted.push(JSON.parse(line)));
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

function metricsOf(record: TickRecord, detail?: MetricDetail): Record<string, unknown>[] {
  new TickMetrics(detail).tick(cluster, record, seconds(1.5));
  return emitted.map(({ _aws, service, clusterKey, ...rest }) => {
    expect(_aws).toMatchObject({ CloudWatchMetrics: [{ Namespace: 'NodeRotation' }] });
    expect(service).toBe('node-rotation');
    return rest;
  });
}

const ofFleet = {
  [metricNames.candidates]: 2,
  [metricNames.inProgress]: 1,
  [metricNames.windowActive]: 1,
  [metricNames.policyConflict]: 0,
  [metricNames.shortLeadNodes]: 1,
  [metricNames.drainStuck]: 0,
  [metricNames.retryCount]: 3,
  [metricNames.fallingBehind]: 0,
};

test('the fleet has no dimension but the service, and outcome and phase where they belong (D11-01, D11-02)', () => {
  expect(metricsOf(tick([finished]))).toEqual([
    { outcome: 'success', [metricNames.completed]: 1 },
    { phase: 'drain', [metricNames.duration]: 420 },
    { [metricNames.tickFailed]: 0, [metricNames.tickSeconds]: 1.5, ...ofFleet },
  ]);
});

test('how long a node was cordoned before its surge was ready is measured at each hand-over (D11-01, PR-67)', () => {
  const { drain: _, ...draining } = { ...completed, step: 'draining' as const, surgeWait: seconds(53) };
  const waits = (landed: boolean) =>
    metricsOf(tick([pool({ decision: decision({ step: 'handOver', transition: draining }), landed })]), 'fleet').filter(
      (line) => metricNames.duration in line,
    );
  expect(waits(true)).toEqual([{ phase: 'surge_wait', [metricNames.duration]: 53 }]);
  emitted = [];
  expect(waits(false)).toEqual([]);
});

test('a failed tick counts, by outcome where clusters are dimensions (D11-07, PR-90)', () => {
  const failed: TickRecord = { outcome: 'AuthFailed', pools: [], unrecorded: new Map(), unreadable: [] };
  expect(metricsOf(failed, 'cluster')).toEqual([
    { [metricNames.tickFailed]: 1, [metricNames.tickSeconds]: 1.5 },
    { cluster, outcome: 'AuthFailed', [metricNames.tickFailed]: 1 },
    { cluster, [metricNames.tickSeconds]: 1.5 },
  ]);
});

test('thresholds, bounds and freeze exist for a NodePool only, in one line with its gauges (D11-01, D11-02)', () => {
  const frozen = pool({ decision: decision({ gauges: { ...gauges, freezeUntil: at('2026-06-10T00:00:00Z') } }) });
  expect(metricsOf(tick([frozen]), 'nodePool').at(-1)).toEqual({
    cluster,
    nodePool: 'api',
    ...ofFleet,
    [metricNames.freezeUntil]: Date.parse('2026-06-10T00:00:00Z') / 1000,
    [metricNames.ageThreshold]: 6 * 86_400,
    [metricNames.rotationEstimate]: 900,
    [metricNames.rotationBound]: 5_100,
    [metricNames.windowPeriod]: 4 * 86_400,
    [metricNames.rotationChances]: 2,
    [metricNames.throughputCapacity]: 9,
  });
});

test('gauges of a cluster are those of all its pools, its transitions go to the fleet as well (D11-02)', () => {
  const emitted = metricsOf(tick([finished, pool({ decision: decision({ nodePool: 'batch' }) })]), 'cluster');
  expect(emitted).toContainEqual({ outcome: 'success', [metricNames.completed]: 1 });
  expect(emitted).toContainEqual({ cluster, outcome: 'success', [metricNames.completed]: 1 });
  expect(emitted.at(-1)).toMatchObject({ cluster, [metricNames.candidates]: 4, [metricNames.retryCount]: 3 });
  expect(JSON.stringify(emitted)).not.toContain('nodePool');
});

test('three clusters of four pools are twelve sets of names at the finest level, none at the fleet’s (PR-107)', () => {
  const names = ['a', 'b', 'c', 'd'];
  const ticked = tick(names.map((nodePool) => pool({ decision: decision({ nodePool }) })));
  for (const each of ['x', 'y', 'z']) new TickMetrics('nodePool').tick(each, ticked, seconds(1));
  const sets = emitted.filter(({ nodePool }) => nodePool !== undefined);
  expect(new Set(sets.map((line) => `${line.cluster}/${line.nodePool}`)).size).toBe(12);
  expect(sets).toHaveLength(12);
  emitted = [];
  expect(metricsOf(ticked).some((line) => 'cluster' in line || 'nodePool' in line)).toBe(false);
});

test('how long a new surge host stood without our mark is told when it is marked (D11-01)', () => {
  const marked = pool({ decision: decision({ gauges: { ...gauges, unprotected: seconds(42) } }) });
  expect(metricsOf(tick([marked]))).toMatchObject([{ [metricNames.unprotectedSeconds]: 42 }]);
});

test('dispatch tells of the fleet what the registry knows, and its size when it knows nothing (D11-01)', () => {
  new TickMetrics().dispatched(3, { clusters: 4, stale: 1, longestLag: 360_000 });
  new TickMetrics().dispatched(3, undefined);
  expect(emitted.map(({ _aws, service, ...rest }) => rest)).toEqual([
    { [metricNames.clusters]: 4 },
    { [metricNames.clustersStale]: 1 },
    { [metricNames.clusterLag]: 360 },
    { [metricNames.clusters]: 3 },
  ]);
});

test('a metric name is spelled as documented (D11-01)', () => {
  for (const name of Object.values(metricNames)) expect(name).toMatch(/^noderotation_[a-z_]+$/);
  expect(metricNames.completed).toBe('noderotation_completed_total');
});

test('a domain event carries the row and is named by its step (D11-04)', () => {
  const { detailType, detail } = domainEvent({ cluster, nodePool: 'api', entry: completed });
  expect(detailType).toBe('Rotation Completed');
  expect(JSON.parse(detail)).toMatchObject({
    cluster,
    nodePool: 'api',
    step: 'completed',
    claim: 'api-1',
    drain: '7m',
  });
});

test('rows that are in the table leave the outbox, others stay and are told (D10-03, D10-04)', async () => {
  const outcomes: Readonly<Record<string, PutOutcome>> = {
    'uid-1': { outcome: 'new' },
    'uid-2': { outcome: 'alreadyThere' },
    'uid-3': { outcome: 'failed', throttled: true, detail: 'slow down' },
  };
  const put = async (_: string, __: string, { uid }: UnrecordedStep) => outcomes[uid] as PutOutcome;
  const log = new Lines();
  const recorder = new TickRecorder({ cluster, table: { putStep: put } as unknown as AuditTable, log });
  const entries = Object.keys(outcomes).map((uid) => ({ ...completed, uid }));
  const kept = await recorder.putSteps('api', entries);
  expect([...kept]).toEqual(entries.slice(0, 2).map(entryKey));
  expect(log.lines).toMatchObject([['warn', expect.stringContaining('waits on the outbox'), { throttled: true }]]);
});
