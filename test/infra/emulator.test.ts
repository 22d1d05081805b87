/**
 * What the emulator's deployment lacks, and nothing else: its CloudFormation refuses three types, and its schedules do
 * not say for when they were due.
 */
import { expect, test } from 'vitest';
import { build, emptyFolder, everything, ofType } from '../support/deployment.ts';

// Into one folder, because names of assets that are not bundled depend on it.
const outdir = emptyFolder();
const real = build(everything, { outdir });
const emulated = build(everything, { outdir, target: 'emulator' });

const difference = (from: typeof real, to: typeof real): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(from.resources)
      .filter(([id]) => !(id in to.resources))
      .map(([id, { Type }]) => [id, Type]),
  );

test('the emulator is spared the composite alarm, access entries and bus policies, and ticks by a rule (D15-01)', () => {
  expect(Object.values(difference(real, emulated)).sort()).toEqual([
    'AWS::CloudWatch::CompositeAlarm',
    'AWS::Events::EventBusPolicy',
    // The schedule, and its right to invoke.
    'AWS::IAM::Policy',
    'AWS::IAM::Role',
    'AWS::Scheduler::Schedule',
  ]);
  expect(Object.values(difference(emulated, real)).sort()).toEqual(['AWS::Events::Rule', 'AWS::Lambda::Permission']);
  expect(Object.keys(emulated.access)).toEqual([]);
  expect(Object.keys(real.access).length).toBeGreaterThan(0);
});

test('and all that both have is the same (D15-01)', () => {
  const common = Object.keys(real.resources).filter((id) => id in emulated.resources);
  expect(common.length).toBeGreaterThan(40);
  for (const id of common) expect(emulated.resources[id], id).toEqual(real.resources[id]);
});

test('the rule ticks once a minute and is not repeated (D1-02)', () => {
  const rules = Object.values(ofType(emulated, 'AWS::Events::Rule'));
  const [rule] = rules.filter(({ Properties }) => Properties.ScheduleExpression !== undefined);
  expect(rule?.Properties).toMatchObject({
    ScheduleExpression: 'rate(1 minute)',
    Targets: [{ RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 } }],
  });
});
