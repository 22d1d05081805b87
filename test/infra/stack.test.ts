/**
 * The template, property by property, for what the rules say of it.
 */
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import * as dispatchEnvironment from '../../functions/dispatch/environment.ts';
import * as reconcileEnvironment from '../../functions/reconcile/environment.ts';
import * as widgetEnvironment from '../../functions/widget/environment.ts';
import { auditTableDefinition } from '../../lib/adapters/aws/create-audit-table.ts';
import { readManualRun } from '../../lib/adapters/aws/manual-run.ts';
import { readSchedule } from '../../lib/adapters/aws/schedule-event.ts';
import { at } from '../support/builders.ts';
import {
  account,
  build,
  everything,
  foreignRole,
  ofType,
  otherAccount,
  type Resource,
  smallest,
} from '../support/deployment.ts';

const small = build(smallest);
const full = build(everything);

const manualRun = { source: 'noderotation.manual', 'detail-type': 'Rotation Run Requested' } as const;

const functionsOf = (built: typeof small): readonly Resource[] => Object.values(ofType(built, 'AWS::Lambda::Function'));

describe('what starts a tick', () => {
  test('a schedule fires every minute, in no time zone, and is not repeated (D1-02, PR-120)', () => {
    small.template.resourceCountIs('AWS::Scheduler::Schedule', 1);
    small.template.hasResourceProperties('AWS::Scheduler::Schedule', {
      ScheduleExpression: 'rate(1 minute)',
      ScheduleExpressionTimezone: Match.absent(),
      FlexibleTimeWindow: { Mode: 'OFF' },
      Target: { RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 } },
    });
  });

  test('it hands its scheduled time over where dispatch reads it (D1-01)', () => {
    const [schedule] = Object.values(ofType(small, 'AWS::Scheduler::Schedule'));
    const { Input } = (schedule as Resource).Properties.Target as { Input: string };
    const event = JSON.parse(Input.replace('<aws.scheduler.scheduled-time>', '2026-06-09T17:20:00Z'));
    expect(readSchedule(event, 0)).toEqual({ scheduledAt: at('2026-06-09T17:20:00Z') });
  });

  test('ticks are invoked once and grow old in a minute, manual runs three times in a quarter of an hour (D1-02)', () => {
    small.template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      Qualifier: '$LATEST',
      MaximumRetryAttempts: 0,
      MaximumEventAgeInSeconds: 60,
      DestinationConfig: Match.absent(),
    });
    small.template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      Qualifier: 'manual-runs',
      MaximumRetryAttempts: 2,
      MaximumEventAgeInSeconds: 900,
      DestinationConfig: { OnFailure: { Destination: Match.anyValue() } },
    });
    small.template.hasResourceProperties('AWS::Lambda::Alias', { Name: 'manual-runs' });
  });

  test('a request for a manual run matches the rule, and the alias is invoked for it (D12-01)', () => {
    small.template.hasResourceProperties('AWS::Events::Rule', {
      EventPattern: { source: [manualRun.source], 'detail-type': [manualRun['detail-type']] },
      EventBusName: { Ref: Match.stringLikeRegexp('^Bus') },
      Targets: [
        {
          Arn: { Ref: Match.stringLikeRegexp('^DispatchManualRuns') },
          RetryPolicy: { MaximumRetryAttempts: 2, MaximumEventAgeInSeconds: 900 },
          DeadLetterConfig: Match.anyValue(),
        },
      ],
    });
    expect(readManualRun({ ...manualRun, id: 'e', detail: {} }, at('2026-06-09T17:20:00Z'))).toBeDefined();
  });

  test('other accounts may send that one event, if they are named (D12-01)', () => {
    small.template.resourceCountIs('AWS::Events::EventBusPolicy', 0);
    full.template.hasResourceProperties('AWS::Events::EventBusPolicy', {
      Statement: {
        Effect: 'Allow',
        Action: 'events:PutEvents',
        Principal: { AWS: { 'Fn::Join': ['', Match.arrayWith([`:iam::${otherAccount}:root`])] } },
        Condition: {
          StringEquals: {
            'events:source': manualRun.source,
            'events:detail-type': manualRun['detail-type'],
          },
        },
      },
    });
  });
});

describe('the queue', () => {
  test('is FIFO in high-throughput mode, short-lived, with a FIFO dead-letter queue after three times (D1-02, PR-101)', () => {
    small.template.hasResourceProperties('AWS::SQS::Queue', {
      FifoQueue: true,
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
      MessageRetentionPeriod: 300,
      VisibilityTimeout: 60,
      RedrivePolicy: { maxReceiveCount: 3, deadLetterTargetArn: Match.anyValue() },
    });
    small.template.hasResourceProperties('AWS::SQS::Queue', {
      FifoQueue: true,
      MessageRetentionPeriod: 14 * 86_400,
      RedrivePolicy: Match.absent(),
    });
  });

  test('hides a message for ten seconds longer than its function may take (D1-02)', () => {
    const queues = ofType(full, 'AWS::SQS::Queue');
    const mappings = Object.values(ofType(full, 'AWS::Lambda::EventSourceMapping'));
    expect(mappings).toHaveLength(2);
    for (const { Properties } of mappings) {
      const queue = queues[idIn(Properties.EventSourceArn)];
      const lambda = full.resources[idIn(Properties.FunctionName)];
      const timeout = Number(lambda?.Properties.Timeout);
      expect(timeout).toBe(50);
      expect(Number(queue?.Properties.VisibilityTimeout)).toBeGreaterThanOrEqual(timeout + 10);
    }
  });

  test('hands out one cluster at a time, to so many at once (D1-02)', () => {
    small.template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      BatchSize: 1,
      ScalingConfig: { MaximumConcurrency: 5 },
      FunctionResponseTypes: Match.absent(),
    });
  });

  test('is one for each network, with a function in that network and the same role (D1-07, PR-112)', () => {
    full.template.resourceCountIs('AWS::Lambda::EventSourceMapping', 2);
    full.template.hasResourceProperties('AWS::Lambda::Function', {
      VpcConfig: { SubnetIds: ['subnet-0123abcd'], SecurityGroupIds: ['sg-0123abcd'] },
      Environment: { Variables: Match.objectLike({ [reconcileEnvironment.variables.tableName]: Match.anyValue() }) },
    });
    const reconcile = functionsOf(full).filter(({ Properties }) => Properties.Timeout === 50);
    expect(reconcile).toHaveLength(2);
    expect(new Set(reconcile.map(({ Properties }) => JSON.stringify(Properties.Role))).size).toBe(1);
    full.template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          [dispatchEnvironment.variables.networkQueueUrls]: Match.objectLike({
            'Fn::Join': ['', Match.arrayWith(['{"vpc-a":"'])],
          }),
        }),
      },
    });
    expect(JSON.stringify(functionsOf(small))).not.toContain('VpcConfig');
  });
});

describe('the functions', () => {
  test('run on Node 24 and arm64, with their memory and time (D1-07)', () => {
    for (const { Properties } of functionsOf(full)) {
      expect(Properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
        MemorySize: 512,
        LoggingConfig: { LogFormat: 'JSON', SystemLogLevel: 'WARN' },
      });
    }
    const larger = build({ ...smallest, reconcile: { memory: 1024, reservedConcurrency: 5 } });
    larger.template.hasResourceProperties('AWS::Lambda::Function', {
      MemorySize: 1024,
      ReservedConcurrentExecutions: 5,
    });
  });

  test('reserve no concurrency unless they are told to (PR-109)', () => {
    expect(JSON.stringify(small.resources)).not.toContain('ReservedConcurrentExecutions');
    expect(JSON.stringify(full.resources)).not.toContain('ReservedConcurrentExecutions');
  });

  test('get every variable that they need, and read what they get (D1-07, D10-01, D11-02)', () => {
    const environments = functionsOf(full).map(({ Properties }) => {
      const { Variables } = Properties.Environment as { Variables: Record<string, unknown> };
      return Object.fromEntries(
        Object.entries(Variables).map(([key, value]) => [key, typeof value === 'string' ? value : '{"a":"b"}']),
      );
    });
    const reconcile = environments.filter((env) => reconcileEnvironment.variables.image in env);
    expect(reconcile.map((env) => reconcileEnvironment.readEnvironment(env))).toHaveLength(2);
    expect(reconcile[0]).toMatchObject({ AUDIT_RETENTION_DAYS: '400', METRIC_DETAIL: 'fleet' });
    const [dispatch] = environments.filter((env) => dispatchEnvironment.variables.queueUrl in env);
    const { clustersFile, ...withoutFile } = dispatchEnvironment.variables;
    expect(dispatch?.[clustersFile]).toBe('fleet.json');
    const read = dispatchEnvironment.readEnvironment({ ...dispatch, [clustersFile]: undefined });
    expect(read.account).toBe(account);
    expect(Object.keys(dispatch ?? {}).sort()).toEqual(
      [...Object.values(withoutFile).filter((name) => name !== withoutFile.clusters), clustersFile].sort(),
    );
    const [widget] = environments.filter((env) => Object.keys(env).length === 1);
    expect(widgetEnvironment.readEnvironment(widget)).toBeDefined();
  });

  test('log for as long as configured, in the class that metrics are read from, and keep it (D11-06, PR-108)', () => {
    const groups = Object.values(ofType(full, 'AWS::Logs::LogGroup'));
    expect(groups).toHaveLength(functionsOf(full).length);
    for (const { Properties, DeletionPolicy } of groups) {
      expect(Properties).toMatchObject({ RetentionInDays: 90, LogGroupClass: 'STANDARD' });
      expect(DeletionPolicy).toBe('Retain');
    }
    const shorter = build({ ...smallest, retention: { logDays: 30 } });
    shorter.template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 });
  });
});

describe('the audit table', () => {
  test('is kept, protected, restorable to any point and billed by use, and rows go by their time (D10-01, PR-106)', () => {
    small.template.hasResource('AWS::DynamoDB::GlobalTable', {
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        TableName: Match.absent(),
        BillingMode: 'PAY_PER_REQUEST',
        TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
        Replicas: [
          {
            DeletionProtectionEnabled: true,
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          },
        ],
      },
    });
  });

  test('has the keys and both indexes that the code puts and queries (D10-01, D10-03)', () => {
    const made = auditTableDefinition('t');
    const [table] = Object.values(ofType(small, 'AWS::DynamoDB::GlobalTable'));
    const shape = ({ KeySchema, GlobalSecondaryIndexes }: Record<string, unknown>) => ({
      KeySchema,
      GlobalSecondaryIndexes,
    });
    expect(shape(table?.Properties ?? {})).toEqual(shape({ ...made }));
    const names = (list: unknown) => (list as { AttributeName: string }[]).map((each) => each.AttributeName).sort();
    expect(names(table?.Properties.AttributeDefinitions)).toEqual(names(made.AttributeDefinitions));
  });
});

describe('access to clusters', () => {
  test('the role of reconcile has a fixed name with the region in it and is kept (D9-05)', () => {
    full.template.hasResource('AWS::IAM::Role', {
      DeletionPolicy: 'Retain',
      Properties: { RoleName: 'node-rotation-reconcile-eu-west-1' },
    });
  });

  test('entries are made where they are wanted, in a stack for each account and region (D9-05, PR-111)', () => {
    const entries = Object.fromEntries(
      Object.entries(full.access).map(([stack, template]) => [
        stack,
        Object.values(template.findResources('AWS::EKS::AccessEntry')).map(({ Properties }) => Properties),
      ]),
    );
    const entry = (ClusterName: string, PrincipalArn: unknown) => ({
      ClusterName,
      PrincipalArn,
      Type: 'STANDARD',
      KubernetesGroups: ['node-rotation'],
    });
    const own = {
      'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, `:iam::${account}:role/node-rotation-reconcile-eu-west-1`]],
    };
    expect(entries).toEqual({
      [`NodeRotationAccess-${account}-eu-west-1`]: [entry('prod', own), entry('inner', own)],
      [`NodeRotationAccess-${account}-us-west-2`]: [entry('far', own)],
      [`NodeRotationAccess-${otherAccount}-eu-west-1`]: [entry('theirs', foreignRole)],
    });
  });

  test('no entry is made unless it is asked for, and none brings an access policy (D9-05, PR-110)', () => {
    expect(small.access).toEqual({});
    small.template.resourceCountIs('AWS::EKS::AccessEntry', 0);
    expect(JSON.stringify(Object.values(full.access).map((template: Template) => template.toJSON()))).not.toMatch(
      /AccessPolicies|system:|ClusterAdmin/,
    );
  });

  test('a hundred and fifty clusters fit, because they are in no environment (PR-91)', () => {
    const clusters = Array.from({ length: 150 }, (_, index) => ({
      name: `cluster-${index}-${'x'.repeat(60)}`,
      endpoint: `https://${index}.example`,
      certificateAuthority: 'Y2Fj'.repeat(300),
    }));
    const many = build({ ...smallest, clusters });
    for (const { Properties } of functionsOf(many)) {
      expect(JSON.stringify(Properties.Environment).length).toBeLessThan(3_000);
    }
    many.template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      ScalingConfig: { MaximumConcurrency: 8 },
    });
  });
});

test('an account that is not known at synth stays open (PR-92)', () => {
  const { template } = build({ region: 'eu-west-1', clusters: [{ name: 'prod' }] });
  template.hasResourceProperties('AWS::Lambda::Function', {
    Environment: { Variables: Match.objectLike({ ACCOUNT_ID: { Ref: 'AWS::AccountId' } }) },
  });
});

/** The logical id that a reference names. */
function idIn(reference: unknown): string {
  const text = JSON.stringify(reference);
  const [, id] = /"(?:Ref|Fn::GetAtt)":\[?"(\w+)"/.exec(text) ?? [];
  if (id === undefined) throw new Error(`no reference in ${text}`);
  return id;
}
