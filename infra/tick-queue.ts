/**
 * The queue between dispatch and reconcile: FIFO, so that a cluster's ticks come one after the other, and short-lived,
 * so that no backlog builds up.
 *
 * A message in its dead-letter queue means that our code never ran or died, because whatever a cluster does is an outcome.
 */
import { Duration, Validations } from 'aws-cdk-lib';
import { DeduplicationScope, FifoThroughputLimit, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

/** A message hidden for less than its function may take would be ticked twice. @design D1-02 */
const visibility = Duration.seconds(60);

export class TickQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;

  /** @design D1-02 */
  constructor(scope: Construct, id: string) {
    super(scope, id);
    const shared = {
      fifo: true,
      deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
      fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    } as const;
    this.deadLetters = new Queue(this, 'DeadLetters', { ...shared, retentionPeriod: Duration.days(14) });
    this.queue = new Queue(this, 'Queue', {
      ...shared,
      retentionPeriod: Duration.seconds(300),
      visibilityTimeout: visibility,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: 3 },
    });
    acknowledgeDeadLetters(this.deadLetters);
  }
}

export function acknowledgeDeadLetters(queue: Queue): void {
  Validations.of(queue).acknowledge({
    id: 'AwsSolutions-SQS3',
    reason: 'This is a dead-letter queue; an alarm watches it, and nothing but people reads it.',
  });
}
