/**
 * The deployment as templates, built in this process. Bundling is left out unless asked for: it takes seconds, and the
 * properties of a function do not depend on its code.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, type Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { type Config, readConfig } from '../../infra/config.ts';
import { buildDeployment } from '../../infra/deployment.ts';
import type { Target } from '../../infra/target.ts';

export const account = '111122223333';
export const otherAccount = '444455556666';
export const region = 'eu-west-1';
export const foreignRole = `arn:aws:iam::${otherAccount}:role/platform/node-rotation`;

/** Everything that can be configured, at once. */
export const everything = {
  account,
  region,
  clusters: [
    { name: 'prod', manageAccessEntry: true },
    { name: 'inner', network: 'vpc-a', manageAccessEntry: true },
    { name: 'far', region: 'us-west-2', manageAccessEntry: true },
    { name: 'theirs', roleArn: foreignRole, externalId: 'ours', manageAccessEntry: true },
    { name: 'known', endpoint: 'https://known.example', certificateAuthority: 'Y2E=' },
  ],
  discovery: [{ region: 'eu-central-1' }, { roleArn: foreignRole, network: 'vpc-a' }],
  networks: { 'vpc-a': { subnetIds: ['subnet-0123abcd'], securityGroupIds: ['sg-0123abcd'] } },
  alarms: { email: ['oncall@example.com'], pageTopicArn: `arn:aws:sns:eu-west-1:${account}:pages` },
  manualRuns: { fromAccounts: [otherAccount] },
  permissionsBoundary: 'boundary',
};

/** The simplest that works: one cluster of our own, no role, no network. */
export const smallest = { account, region, clusters: [{ name: 'prod' }] };

export function configOf(json: unknown): Config {
  const reading = readConfig(json);
  if (!reading.valid) throw new Error(JSON.stringify(reading.problems));
  return reading.config;
}

export interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
  readonly DependsOn?: readonly string[];
}

export interface BuildOptions {
  readonly target?: Target;
  readonly bundle?: boolean;
  readonly outdir?: string;
}

export interface Built {
  readonly app: App;
  readonly template: Template;
  /** By the name of their stack. */
  readonly access: Readonly<Record<string, Template>>;
  readonly resources: Readonly<Record<string, Resource>>;
}

export const emptyFolder = (): string => mkdtempSync(join(tmpdir(), 'node-rotation-synth-'));

export function build(
  json: unknown,
  { target = 'aws', bundle = false, outdir = emptyFolder() }: BuildOptions = {},
): Built {
  const app = new App({
    outdir,
    context: bundle ? {} : { 'aws:cdk:bundling-stacks': [] },
    analyticsReporting: false,
  });
  const { service, access } = buildDeployment(app, configOf(json), target);
  const template = Template.fromStack(service);
  return {
    app,
    template,
    access: Object.fromEntries(access.map((stack: Stack) => [stack.stackName, Template.fromStack(stack)])),
    resources: template.toJSON().Resources,
  };
}

/** The resources of a type, by their logical id. */
export const ofType = (built: Pick<Built, 'resources'>, type: string): Readonly<Record<string, Resource>> =>
  Object.fromEntries(Object.entries(built.resources).filter(([, { Type }]) => Type === type));
