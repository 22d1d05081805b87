/**
 * Alarms and dashboard against what is really emitted: an alarm on a metric that never comes is green for ever.
 */
import { Match } from 'aws-cdk-lib/assertions';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { metricDetails, metricNames, metricNamespace } from '../../lib/adapters/aws/metric-names.ts';
import { TickMetrics } from '../../lib/adapters/aws/metrics.ts';
import type { PoolRecord, TickRecord } from '../../lib/controller/ports.ts';
import type { RotationStep } from '../../lib/domain/rotation/unrecorded.ts';
import { minutes, seconds } from '../../lib/domain/time.ts';
import { at } from '../support/builders.ts';
import { account, build, everything, ofType, smallest } from '../support/deployment.ts';

const full = build(everything);
const alarms = Object.entries(ofType(full, 'AWS::CloudWatch::Alarm')).map(([id, { Properties }]) => ({
  id: id.replace(/^Observability/, '').replace(/[0-9A-F]{8}$/, ''),
  ...(Properties as { MetricName?: string; Namespace?: string; Dimensions?: { Name: string; Value: unknown }[] }),
  properties: Properties,
}));

let lines: Record<string, unknown>[] = [];

beforeAll(() => {
  vi.stubEnv('POWERTOOLS_DEV', 'true');
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(JSON.parse(line)));
});
afterAll(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const ended = (step: RotationStep): PoolRecord => ({
  decision: {
    nodePool: 'api',
    step: 'finish',
    actions: [],
    notices: [{ code: 'AuditLost', severity: 'warn', message: '' }],
    grounds: { windowOpen: true, frozen: false, staticPool: false },
    transition: {
      step,
      at: at('2026-06-09T17:20:00Z'),
      claim: 'api-1',
      uid: 'u',
      startedAt: at('2026-06-09T17:00:00Z'),
      surgeWait: minutes(1),
      drain: minutes(1),
      retryCount: 3,
    },
  },
  results: [],
  landed: true,
});

/** `name {dimension=value}` of everything that can be emitted at a level of detail. */
function emitted(detail: (typeof metricDetails)[number]): ReadonlySet<string> {
  lines = [];
  const metrics = new TickMetrics(detail);
  const steps: readonly RotationStep[] = [
    'started',
    'fallbackStarted',
    'draining',
    'completed',
    'failed',
    'expired',
    'aborted',
  ];
  const record: TickRecord = { outcome: 'Ok', pools: steps.map(ended), unrecorded: new Map(), unreadable: [] };
  metrics.tick('c', record, seconds(1));
  metrics.stale();
  metrics.dispatched(1, { clusters: 1, stale: 0, longestLag: minutes(1) });
  return new Set(
    lines.flatMap((line) => {
      const { CloudWatchMetrics } = line._aws as {
        CloudWatchMetrics: { Namespace: string; Dimensions: string[][]; Metrics: { Name: string }[] }[];
      };
      return CloudWatchMetrics.flatMap(({ Dimensions, Metrics }) =>
        Dimensions.flatMap((names) =>
          Metrics.map(({ Name }) =>
            named(
              Name,
              names.map((name) => [name, line[name]] as const),
            ),
          ),
        ),
      );
    }),
  );
}

const named = (name: string, dimensions: readonly (readonly [string, unknown])[]): string =>
  `${name} {${dimensions
    .map(([dimension, value]) => `${dimension}=${value}`)
    .sort()
    .join(',')}}`;

describe.each(metricDetails)('at level %s', (detail) => {
  test('every alarm of ours watches a metric that is emitted, under the same dimensions (D11-02, D11-05, PR-107)', () => {
    const known = emitted(detail);
    const watched = alarms
      .filter(({ Namespace }) => Namespace === metricNamespace)
      .map(({ MetricName = '', Dimensions = [] }) =>
        named(
          MetricName,
          Dimensions.map(({ Name, Value }) => [Name, Value] as const),
        ),
      );
    expect(watched.length).toBeGreaterThan(10);
    expect(watched.filter((metric) => !known.has(metric))).toEqual([]);
  });

  test('and so does the dashboard (D11-05)', () => {
    const known = emitted(detail);
    const drawn = dashboardMetrics();
    expect(drawn.length).toBeGreaterThan(10);
    expect(drawn.filter((metric) => !known.has(metric))).toEqual([]);
  });
});

test('there is an alarm for each thing that can go wrong (D11-05)', () => {
  const what = alarms.map(({ id }) => id).sort();
  expect(what).toEqual(
    [
      'NoTick',
      'ClusterLag',
      'TickFailures',
      'StaleTicks',
      'AuditLost',
      'DispatchErrors',
      'DispatchThrottles',
      'ReconcileErrors',
      'ReconcileThrottles',
      'ReconcilevpcaErrors',
      'ReconcilevpcaThrottles',
      'DeadTicks',
      'DeadTicksvpca',
      'LostManualRuns',
      'RotationFailed',
      'RotationExpired',
      'DrainStuck',
      'ShortLead',
      'Retries',
      'FallingBehind',
      'NoClusterYet',
    ].sort(),
  );
});

test('silence is the alarm for ticks, and no alarm for all else (D11-05)', () => {
  for (const { id, properties } of alarms) {
    expect(properties.TreatMissingData, id).toBe(id === 'NoTick' ? 'breaching' : 'notBreaching');
  }
  full.template.hasResourceProperties('AWS::CloudWatch::Alarm', {
    MetricName: metricNames.clusters,
    Statistic: 'SampleCount',
    Threshold: 1,
    ComparisonOperator: 'LessThanThreshold',
    Period: 60,
    EvaluationPeriods: 5,
    DatapointsToAlarm: 5,
  });
  full.template.hasResourceProperties('AWS::CloudWatch::Alarm', {
    MetricName: metricNames.clusterLag,
    Statistic: 'Maximum',
    Threshold: 300,
  });
  full.template.hasResourceProperties('AWS::CloudWatch::Alarm', { MetricName: metricNames.retryCount, Threshold: 3 });
});

test('a gauge is never summed over clusters (D11-02)', () => {
  const counters = new Set<string>([
    metricNames.completed,
    metricNames.forcefulFallback,
    metricNames.tickFailed,
    metricNames.staleTicks,
    metricNames.auditLost,
  ]);
  for (const { id, MetricName = '', Namespace, properties } of alarms) {
    if (Namespace !== metricNamespace || properties.Statistic !== 'Sum') continue;
    expect(counters.has(MetricName), id).toBe(true);
  }
});

test('every dead-letter queue has its alarm (D1-02, D11-05)', () => {
  const watched = JSON.stringify(alarms.filter(({ Namespace }) => Namespace === 'AWS/SQS'));
  const dead = Object.entries(ofType(full, 'AWS::SQS::Queue')).filter(
    ([, { Properties }]) => Properties.RedrivePolicy === undefined,
  );
  expect(dead).toHaveLength(3);
  for (const [id] of dead) expect(watched).toContain(id);
});

test('alarms go to one topic, which lets the account’s alarms publish, over TLS only (D11-05)', () => {
  full.template.resourceCountIs('AWS::SNS::Topic', 1);
  for (const { id, properties } of alarms.filter(({ id }) => id !== 'NoClusterYet')) {
    expect(properties.AlarmActions, id).toEqual([{ Ref: expect.stringMatching(/^ObservabilityTopic/) }]);
  }
  full.template.hasResourceProperties('AWS::SNS::TopicPolicy', {
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
        Match.objectLike({
          Effect: 'Allow',
          Action: 'sns:Publish',
          Principal: { Service: 'cloudwatch.amazonaws.com' },
          Condition: { StringEquals: { 'aws:SourceAccount': account } },
        }),
      ]),
    },
  });
  full.template.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint: 'oncall@example.com' });
});

test('one composite alarm pages, after five minutes, and not before there is a cluster (D11-05)', () => {
  full.template.hasResourceProperties('AWS::CloudWatch::CompositeAlarm', {
    AlarmActions: [everything.alarms.pageTopicArn],
    ActionsSuppressor: { 'Fn::GetAtt': [Match.stringLikeRegexp('^ObservabilityNoClusterYet'), 'Arn'] },
    ActionsSuppressorWaitPeriod: 300,
  });
  build(smallest).template.hasResourceProperties('AWS::CloudWatch::CompositeAlarm', {
    AlarmActions: [{ Ref: Match.stringLikeRegexp('^ObservabilityTopic') }],
  });
});

test('what pages for something that happens at an instant holds longer than the composite waits (D11-05)', () => {
  const [composite] = Object.values(ofType(full, 'AWS::CloudWatch::CompositeAlarm'));
  const rule = JSON.stringify(composite?.Properties.AlarmRule);
  const instants = new Set(['AuditLost', 'DispatchErrors', 'ReconcileErrors', 'RotationExpired', 'Retries']);
  for (const { id, properties } of alarms.filter(({ id }) => instants.has(id))) {
    expect(rule, id).toContain(`Observability${id}`);
    expect(Number(properties.Period), id).toBeGreaterThan(300);
  }
});

test('the dashboard draws the last rotations by the widget function (D11-05)', () => {
  const [dashboard] = Object.values(ofType(full, 'AWS::CloudWatch::Dashboard'));
  const body = JSON.stringify(dashboard?.Properties.DashboardBody);
  expect(body).toContain('\\"type\\":\\"custom\\"');
  expect(body).toMatch(/\["WidgetBundleFunction\w+","Arn"\]/);
});

/** Those of our namespace, as the dashboard's body names them. */
function dashboardMetrics(): readonly string[] {
  const [dashboard] = Object.values(ofType(full, 'AWS::CloudWatch::Dashboard'));
  const joined = dashboard?.Properties.DashboardBody as { 'Fn::Join': [string, readonly unknown[]] };
  const body = JSON.parse(
    joined['Fn::Join'][1].map((part) => (typeof part === 'string' ? part : 'reference')).join(''),
  ) as { widgets: { properties: { metrics?: unknown[][] } }[] };
  return body.widgets
    .flatMap(({ properties }) => properties.metrics ?? [])
    .filter(([namespace]) => namespace === metricNamespace)
    .map((metric) => {
      const texts = metric.slice(1).filter((part) => typeof part === 'string') as string[];
      const [name = '', ...rest] = texts;
      const pairs = rest.flatMap((key, index) => (index % 2 === 0 ? [[key, rest[index + 1]] as const] : []));
      return named(name, pairs);
    });
}
