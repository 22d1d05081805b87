/**
 * The installation's own bus: what happened goes out on it, and requests for manual runs come in. Who may put events on
 * it may rotate nodes, so other accounts get no further than that one kind of event.
 */
import { Duration, Stack } from 'aws-cdk-lib';
import { CfnEventBusPolicy, EventBus, Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Alias, IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Config } from './config.ts';
import type { Target } from './target.ts';

const source = 'noderotation.manual';
const detailType = 'Rotation Run Requested';

export class RotationBus extends Construct {
  readonly bus: EventBus;

  /** @design D11-04, D12-01 */
  constructor(scope: Construct, id: string, { config, target }: { readonly config: Config; readonly target: Target }) {
    super(scope, id);
    this.bus = new EventBus(this, 'Bus', {
      eventBusName: config.name,
      description: 'Rotations as they happen, and requests for manual runs',
    });
    if (target === 'emulator') return;
    for (const account of config.manualRuns.fromAccounts) this.#admit(account);
  }

  #admit(account: string): void {
    new CfnEventBusPolicy(this, `From${account}`, {
      eventBusName: this.bus.eventBusName,
      statementId: `manual-runs-from-${account}`,
      statement: {
        Effect: 'Allow',
        Principal: { AWS: `arn:${Stack.of(this).partition}:iam::${account}:root` },
        Action: 'events:PutEvents',
        Resource: this.bus.eventBusArn,
        Condition: { StringEquals: { 'events:source': source, 'events:detail-type': detailType } },
      },
    });
  }

  allowPut(): PolicyStatement {
    return new PolicyStatement({
      effect: Effect.ALLOW,
      actions: ['events:PutEvents'],
      resources: [this.bus.eventBusArn],
    });
  }

  /** @param lost keeps requests that could not be delivered @design D1-02, D12-01 */
  runManually(dispatch: Alias, lost: IQueue): void {
    new Rule(this, 'ManualRuns', {
      eventBus: this.bus,
      description: 'Somebody asks for a rotation, a tick or a plan',
      eventPattern: { source: [source], detailType: [detailType] },
      targets: [
        new LambdaFunction(dispatch as IFunction, {
          retryAttempts: 2,
          maxEventAge: Duration.minutes(15),
          deadLetterQueue: lost,
        }),
      ],
    });
  }
}
