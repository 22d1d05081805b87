/**
 * List prices of us-east-1 in USD, without free tiers, as they were read in the sources named here. Change them together.
 */

export const pricesAsOf = '2026-12';

export const prices = {
  /** https://aws.amazon.com/lambda/pricing/, arm64. */
  lambdaGigabyteSecond: 0.0000133334,
  lambdaMillionRequests: 0.2,
  /** https://aws.amazon.com/sqs/pricing/, FIFO. */
  queueMillionRequests: 0.5,
  /** https://aws.amazon.com/dynamodb/pricing/on-demand/. */
  tableMillionWrites: 0.625,
  tableMillionReads: 0.125,
  /** https://aws.amazon.com/cloudwatch/pricing/. */
  logGigabyte: 0.5,
  metricMonth: 0.3,
  /** Of each metric beyond the first 10,000. */
  manyMetricsMonth: 0.1,
  alarmMonth: 0.1,
  compositeAlarmMonth: 0.5,
  dashboardMonth: 3,
  /** https://aws.amazon.com/eventbridge/pricing/. */
  eventMillion: 1,
  scheduleMillion: 1,
} as const;
