/**
 * How far the API server's clock is from our own. The server's is the one that counts; a difference is worth a word,
 * because deadlines, logs and schedules are then read against different clocks.
 */
import { type Duration, duration, formatDuration, type Instant, minute } from '../../domain/time.ts';

/**
 * @param own milliseconds since the epoch by our own clock
 * @returns a sentence when the difference is more than a minute
 * @design D1-04
 */
export function clockSkew(observedAt: Instant, own: number): string | undefined {
  const ahead: Duration = duration(observedAt - Math.floor(own));
  if (Math.abs(ahead) <= minute) return undefined;
  const side = ahead > 0 ? 'ahead of' : 'behind';
  return `ClockSkew: the API server's clock is ${formatDuration(duration(Math.abs(ahead)))} ${side} ours`;
}
