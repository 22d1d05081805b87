/**
 * The Date header (RFC 9110): an instant in whole seconds, in words and GMT.
 */
import type { Instant } from '../domain/time.ts';
import { calendarDate, day, hour, minute, second } from '../domain/time.ts';

const weekdays = ['Thu', 'Fri', 'Sat', 'Sun', 'Mon', 'Tue', 'Wed'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (n: number): string => String(n).padStart(2, '0');

/** Such as `Tue, 09 Jun 2026 17:00:00 GMT`. */
export function httpDate(at: Instant): string {
  const dayNumber = Math.floor(at / day);
  const rest = at - dayNumber * day;
  const { year, month, dayOfMonth } = calendarDate(dayNumber);
  // The epoch was a Thursday.
  const weekday = weekdays[((dayNumber % 7) + 7) % 7];
  const clock = [Math.floor(rest / hour), Math.floor(rest / minute) % 60, Math.floor(rest / second) % 60]
    .map(two)
    .join(':');
  return `${weekday}, ${two(dayOfMonth)} ${months[month - 1]} ${String(year).padStart(4, '0')} ${clock} GMT`;
}
