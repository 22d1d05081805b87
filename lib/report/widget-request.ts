/**
 * What a dashboard asks of its custom widget: the stretch of time that it shows, how wide it is, and in which colours.
 */
import type { Instant } from '../domain/time.ts';
import { days, duration, instant, subtract } from '../domain/time.ts';

export interface WidgetRequest {
  /** Somebody wants to know what the widget can do. */
  readonly describe: boolean;
  readonly range: { readonly start: Instant; readonly end: Instant };
  readonly theme: 'light' | 'dark';
  /** In pixels. */
  readonly width: number;
}

const longest = days(31);
const usual = days(7);
/** What can be written as a time of four-digit years, with room for the longest stretch before it. */
const readable = { first: longest, last: 253_402_214_400_000 };

export function readWidgetRequest(event: unknown, now: number): WidgetRequest {
  const { describe, widgetContext } = fields(event);
  const { timeRange, theme, width } = fields(widgetContext);
  const { start, end, zoom } = fields(timeRange);
  const zoomed = fields(zoom);
  const until = instant(time(zoomed.end) ?? time(end) ?? Math.floor(now));
  const from = time(zoomed.start) ?? time(start);
  const back = from === undefined || from >= until ? usual : duration(Math.min(longest, until - from));
  return {
    describe: describe === true,
    range: { start: subtract(until, back), end: until },
    theme: theme === 'dark' ? 'dark' : 'light',
    width: Math.min(2400, Math.max(400, number(width) ?? 1200)),
  };
}

const fields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const number = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** Milliseconds since the epoch. */
function time(value: unknown): number | undefined {
  const ms = number(value);
  return ms !== undefined && ms >= readable.first && ms <= readable.last ? Math.floor(ms) : undefined;
}
