/**
 * Rights and calls, both ways: what the code of a function can call is allowed, and what is allowed is called, by the
 * code or by AWS itself on the function's behalf.
 */
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { awsCallsFrom } from '../support/calls.ts';
import { account, build, everything, foreignRole, ofType, smallest } from '../support/deployment.ts';

vi.setConfig({ testTimeout: 120_000 });

const root = join(import.meta.dirname, '..', '..');
const built = build(everything);

/** Calls whose right has another name. */
const rights: Readonly<Record<string, string>> = { 'sqs:SendMessageBatch': 'sqs:SendMessage' };
const prefixes: Readonly<Record<string, string>> = {
  'client-dynamodb': 'dynamodb',
  'client-eks': 'eks',
  'client-eventbridge': 'events',
  'client-resource-groups-tagging-api': 'tag',
  'client-sqs': 'sqs',
  'client-sts': 'sts',
};

/** What Lambda does with the role of a function: logs for all, the queue and the network of reconcile. */
const logs = ['logs:CreateLogStream', 'logs:PutLogEvents'];
const byLambda: Readonly<Record<string, readonly string[]>> = {
  Dispatch: logs,
  Reconcile: [
    ...logs,
    'sqs:DeleteMessage',
    'sqs:GetQueueAttributes',
    'sqs:ReceiveMessage',
    'ec2:AssignPrivateIpAddresses',
    'ec2:CreateNetworkInterface',
    'ec2:DeleteNetworkInterface',
    'ec2:DescribeNetworkInterfaces',
    'ec2:DescribeSubnets',
    'ec2:UnassignPrivateIpAddresses',
  ],
  Widget: logs,
};

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

/** The statements of the role whose construct begins so. */
function statementsOf(from: typeof built, name: string): readonly Statement[] {
  const policies = Object.entries(ofType(from, 'AWS::IAM::Policy')).filter(([id]) => id.startsWith(name));
  expect(policies).toHaveLength(1);
  const document = policies[0]?.[1].Properties.PolicyDocument as { Statement: readonly Statement[] };
  return document.Statement;
}

const actionsOf = (statement: Statement): readonly string[] => [statement.Action].flat();

describe.each(['Dispatch', 'Reconcile', 'Widget'])('%s', (name) => {
  test('may do exactly what its code calls and what Lambda does for it (D1-07, D15-01)', () => {
    const calls = awsCallsFrom(join(root, 'functions', name.toLowerCase(), 'handler.ts'));
    const needed = [...calls].map((call) => {
      const [from = '', command = ''] = call.split(' ');
      const action = `${prefixes[from]}:${command}`;
      return rights[action] ?? action;
    });
    const allowed = statementsOf(built, `${name}Role`).flatMap(actionsOf);
    expect([...new Set(allowed)].sort()).toEqual([...new Set([...needed, ...(byLambda[name] ?? [])])].sort());
  });

  test('names every resource, but for those that have no name (D1-07)', () => {
    const everywhere = statementsOf(built, `${name}Role`).filter(({ Resource }) => JSON.stringify(Resource) === '"*"');
    expect(everywhere.flatMap(actionsOf).filter((action) => !/^(tag|ec2):/.test(action))).toEqual([]);
    expect(JSON.stringify(statementsOf(built, `${name}Role`))).not.toMatch(/"(\w+:)?\*"(?<!"Resource":"\*")/);
  });
});

const arn = (from: string, name: string) => ({
  'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, `:eks:${from}:${account}:cluster/${name}`]],
});

test('clusters are described by exact ARN, and a whole region only where it is searched (D9-02, D9-03)', () => {
  for (const name of ['Dispatch', 'Reconcile']) {
    const described = statementsOf(built, `${name}Role`).find(({ Action }) => Action === 'eks:DescribeCluster');
    // theirs is described by its own role, and EKS is not asked about known.
    expect(described?.Resource).toEqual([
      arn('eu-central-1', '*'),
      arn('eu-west-1', 'prod'),
      arn('eu-west-1', 'inner'),
      arn('us-west-2', 'far'),
    ]);
    const assumed = statementsOf(built, `${name}Role`).find(({ Action }) => Action === 'sts:AssumeRole');
    expect(assumed?.Resource).toBe(foreignRole);
  }
});

test('one cluster of our own needs no role to assume and no search (PR-92)', () => {
  const small = build(smallest);
  for (const name of ['Dispatch', 'Reconcile']) {
    const actions = statementsOf(small, `${name}Role`).flatMap(actionsOf);
    expect(actions).toContain('eks:DescribeCluster');
    expect(actions.filter((action) => /^(sts|tag|ec2):/.test(action))).toEqual([]);
  }
});

test('a schedule may invoke dispatch and nothing else, and only this account’s (D1-02)', () => {
  const [statement, ...others] = statementsOf(built, 'DispatchScheduleRole');
  expect(others).toEqual([]);
  expect(statement).toMatchObject({
    Action: 'lambda:InvokeFunction',
    Resource: { 'Fn::GetAtt': [expect.stringMatching(/^DispatchBundleFunction/), 'Arn'] },
  });
  const [role] = Object.entries(ofType(built, 'AWS::IAM::Role')).filter(([id]) =>
    id.startsWith('DispatchScheduleRole'),
  );
  expect(JSON.stringify(role)).toContain('aws:SourceAccount');
});

test('a boundary bounds every role (D9-05)', () => {
  const roles = Object.values(ofType(built, 'AWS::IAM::Role'));
  expect(roles.length).toBeGreaterThan(3);
  for (const { Properties } of roles)
    expect(JSON.stringify(Properties.PermissionsBoundary)).toContain('policy/boundary');
  const byArn = build({ ...smallest, permissionsBoundary: `arn:aws:iam::${account}:policy/b` });
  for (const { Properties } of Object.values(ofType(byArn, 'AWS::IAM::Role'))) {
    expect(Properties.PermissionsBoundary).toBe(`arn:aws:iam::${account}:policy/b`);
  }
});
