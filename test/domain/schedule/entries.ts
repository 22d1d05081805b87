/** Window entries written the way people say them: `Wed,Sat 02:00-06:00 Asia/Tokyo`; `daily` for all seven days. */
import type { Weekday, WindowEntry } from '../../../lib/domain/policy/rotation-policy.ts';
import { weekdays } from '../../../lib/domain/policy/rotation-policy.ts';

export function entry(text: string): WindowEntry {
  const [dayList, times, timezone] = text.split(' ') as [string, string, string];
  const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
  const [start, end] = times.split('-').map(minuteOf) as [number, number];
  return { timezone, days: dayList === 'daily' ? weekdays : (dayList.split(',') as Weekday[]), start, end };
}

export const entries = (...texts: readonly string[]): readonly WindowEntry[] => texts.map(entry);
