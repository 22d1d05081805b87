/**
 * What the schedule says about its own time, and when a tick has come too late to be of use.
 */

import * as z from 'zod';
import { between, type Instant, instant, minute, parseInstant, seconds } from '../../domain/time.ts';

export interface Schedule {
  readonly scheduledAt: Instant;
  /** What stood in the event where a time should be; then the current minute is taken. */
  readonly replaced?: string;
}

// EventBridge Scheduler fills in a field of our choice; an EventBridge rule has its own.
const eventSchema = z.object({ scheduledTime: z.string().optional(), time: z.string().optional() });

/** @design D1-01 */
export function readSchedule(event: unknown, now: number): Schedule {
  const read = eventSchema.safeParse(event);
  const text = read.success ? (read.data.scheduledTime ?? read.data.time) : undefined;
  const scheduledAt = parseInstant(text ?? '');
  if (scheduledAt !== undefined) return { scheduledAt };
  return {
    scheduledAt: instant(Math.floor(now / minute) * minute),
    replaced: text ?? JSON.stringify(event) ?? 'nothing',
  };
}

const longestDelay = seconds(150);

/** Whether a tick scheduled then is not worth making any more; at the limit itself it still is. @design D1-02 */
export const isStale = (scheduledAt: Instant, now: number): boolean =>
  between(scheduledAt, instant(Math.floor(now))) > longestDelay;

/** Our own clock's reading, for what grows stale by it. */
export const ourClock = (milliseconds: number): Instant => instant(Math.floor(milliseconds));

const envelopeSchema = z.object({ source: z.string(), 'detail-type': z.string() });
const schedulers = new Set(['aws.events', 'aws.scheduler']);

/** An event of a bus that no schedule of ours has sent. */
export function isForeign(event: unknown): boolean {
  const read = envelopeSchema.safeParse(event);
  return read.success && !schedulers.has(read.data.source);
}
