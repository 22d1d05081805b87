/**
 * The rules of cdk-nag. A plug-in that sees nothing finds nothing wrong, so each acknowledgement is also shown to be
 * needed, and a planted fault to be found.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type App, Validations } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { expect, test, vi } from 'vitest';
import { build, everything, smallest } from '../support/deployment.ts';

vi.setConfig({ testTimeout: 120_000 });

interface Acknowledged {
  readonly path: string;
  readonly id: string;
  readonly reason: string;
}

function acknowledged(app: App): readonly Acknowledged[] {
  return app.node.findAll().flatMap(({ node }) =>
    node.metadata
      .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
      .flatMap(({ data }) => Object.entries(data as Record<string, string>))
      .map(([id, reason]) => ({ path: node.path, id, reason })),
  );
}

const reportOf = (app: App): string => readFileSync(join(app.outdir, 'validation-report.json'), 'utf8');

test.each([
  ['the smallest deployment', smallest],
  ['one with everything', everything],
])('%s breaks no rule of AwsSolutions (D15-01)', (_, json) => {
  const { app } = build(json);
  expect(() => app.synth({ force: true, errorOnDuplicateSynth: false })).not.toThrow();
  expect(reportOf(app)).not.toContain('AwsSolutions');
});

test('a planted queue without TLS is found (D15-01)', () => {
  const { app } = build(smallest);
  new Queue(app.node.findChild('NodeRotation') as never, 'Planted');
  expect(() => app.synth({ force: true, errorOnDuplicateSynth: false })).toThrow(/AwsSolutions-SQS4/);
  expect(reportOf(app)).toContain('AwsSolutions-SQS4');
});

test('what is acknowledged says why, and is little (D15-01)', () => {
  const all = acknowledged(build(everything).app);
  expect(all.map(({ path, id }) => `${path} ${id.replace(/^Annotation::AwsSolutions-/, '')}`)).toEqual([
    'NodeRotation/ReconcileRole/Role IAM5[Resource::arn:<AWS::Partition>:eks:eu-central-1:111122223333:cluster/*]',
    'NodeRotation/ReconcileRole/Role IAM5[Resource::*]',
    'NodeRotation/Ticks/DeadLetters SQS3',
    'NodeRotation/Ticksvpc-a/DeadLetters SQS3',
    'NodeRotation/Dispatch/Role IAM5[Resource::arn:<AWS::Partition>:eks:eu-central-1:111122223333:cluster/*]',
    'NodeRotation/Dispatch/Role IAM5[Resource::*]',
    'NodeRotation/Dispatch/ManualRunsLost SQS3',
  ]);
  for (const { reason } of all) expect(reason.length).toBeGreaterThan(40);
});
