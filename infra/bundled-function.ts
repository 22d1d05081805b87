/**
 * A Lambda function made of one bundle, everything inside it, the AWS SDK too; its log group; and a role of its own.
 *
 * The bundle is CommonJS: loading Node's own modules from an ESM bundle costs a tick's worth of processor time.
 */
import { join } from 'node:path';
import { type Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  ApplicationLogLevel,
  Architecture,
  type CfnFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
} from 'aws-cdk-lib/aws-lambda';
import { type BundlingOptions, NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, LogGroupClass } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Config } from './config.ts';

const root = join(import.meta.dirname, '..');

export interface BundledFunctionProps {
  readonly config: Config;
  /** Its folder under functions/. */
  readonly folder: 'dispatch' | 'reconcile' | 'widget';
  readonly description: string;
  readonly role: Role;
  readonly timeout: Duration;
  readonly memory: number;
  readonly environment: Readonly<Record<string, string>>;
  readonly network?: Config['networks'][string] | undefined;
  readonly reservedConcurrency?: number | undefined;
  readonly commandHooks?: BundlingOptions['commandHooks'];
}

export class BundledFunction extends Construct {
  readonly lambda: NodejsFunction;

  /** @design D1-07 */
  constructor(scope: Construct, id: string, props: BundledFunctionProps) {
    super(scope, id);
    const { config, folder, description, role, timeout, memory, environment, network } = props;
    const logGroup = new LogGroup(this, 'Logs', {
      retention: config.retention.logDays,
      // The cheaper classes extract no metrics from log lines.
      logGroupClass: LogGroupClass.STANDARD,
      // An audit row that the table could not take is kept here and nowhere else.
      removalPolicy: RemovalPolicy.RETAIN,
    });
    this.lambda = new NodejsFunction(this, 'Function', {
      description,
      entry: join(root, 'functions', folder, 'handler.ts'),
      projectRoot: root,
      depsLockFilePath: join(root, 'package-lock.json'),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      role,
      timeout,
      memorySize: memory,
      environment: { ...environment },
      awsSdkConnectionReuse: false,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      systemLogLevelV2: SystemLogLevel.WARN,
      ...(props.reservedConcurrency === undefined ? {} : { reservedConcurrentExecutions: props.reservedConcurrency }),
      bundling: {
        format: OutputFormat.CJS,
        target: 'node24',
        bundleAwsSDK: true,
        mainFields: ['module', 'main'],
        minify: true,
        forceDockerBundling: false,
        ...(props.commandHooks === undefined ? {} : { commandHooks: props.commandHooks }),
      },
    });
    role.addToPolicy(
      new PolicyStatement({
        effect: Effect.ALLOW,
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [logGroup.logGroupArn],
      }),
    );
    if (network !== undefined) {
      // Subnets and groups by their ids: looking a network up would need the account at synth.
      (this.lambda.node.defaultChild as CfnFunction).vpcConfig = {
        subnetIds: network.subnetIds,
        securityGroupIds: network.securityGroupIds,
      };
    }
  }
}

/** Without AWS's own policies, which allow more than a function needs. */
export const functionRole = (scope: Construct, id: string, description: string, roleName?: string): Role =>
  new Role(scope, id, {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    description,
    ...(roleName === undefined ? {} : { roleName }),
  });
