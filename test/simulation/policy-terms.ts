/**
 * What a RotationPolicy means, worked out once more from the rules and from raw objects, for judging the product.
 *
 * Nothing here calls the product's own reading of policies, calendars or durations, so that both would have to be wrong
 * in the same way. Where a time zone shifts its clock, it does not judge: `unsure`.
 */
import { DateTime } from 'luxon';
import type { KubeObject } from '../../lib/simulator/kube-object.ts';

const minute = 60_000;
const hour = 60 * minute;
export const day = 24 * hour;
/** R3.2-14. */
const buffer = 2 * minute;

export interface PolicyTerms {
  readonly name: string;
  /** Set by whoever wrote the policy, who knows; never found out by validating. */
  readonly broken: 'no' | 'spec' | 'selector';
  readonly observe: boolean;
  readonly selector: RawSelector;
  readonly windows: readonly RawWindow[];
  readonly exclusions: readonly { readonly timezone: string; readonly from: string; readonly to: string }[];
  readonly ageThreshold: number | 'auto';
  readonly chances: number;
  readonly readyTimeout: number;
  readonly cooldownAfter: number;
  readonly failurePause: number;
  readonly retryBackoff: number;
  readonly drainEstimate: number | undefined;
  readonly provisioningEstimate: number | undefined;
  readonly fallback: boolean;
  readonly freeze: string | undefined;
}

interface RawSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

export interface RawWindow {
  readonly timezone: string;
  readonly days: readonly string[];
  readonly start: string;
  readonly end: string;
}

/** Label by which the author of a case says that the product must find the policy invalid. */
export const brokenLabel = 'case/broken';

/** Milliseconds; undefined for `Never` and for what is no duration. */
export function readGo(text: string | undefined): number | undefined {
  if (text === undefined || !/^(\d+(h|ms|m|s))+$/.test(text)) return undefined;
  const factors: Record<string, number> = { h: hour, m: minute, s: 1000, ms: 1 };
  return [...text.matchAll(/(\d+)(h|ms|m|s)/g)].reduce(
    (sum, [, n, unit]) => sum + Number(n) * (factors[unit as string] as number),
    0,
  );
}

/** What is no list is found out elsewhere: such a policy is broken. */
const listOf = <T>(value: unknown): readonly T[] => (Array.isArray(value) ? (value as readonly T[]) : []);

const known = new WeakMap<KubeObject, PolicyTerms>();

export function termsOf(policy: KubeObject): PolicyTerms {
  const before = known.get(policy);
  if (before) return before;
  const spec = (policy.spec ?? {}) as Record<string, unknown>;
  const surge = (spec['surge'] ?? {}) as Record<string, unknown>;
  const text = (key: string): string | undefined =>
    typeof surge[key] === 'string' ? (surge[key] as string) : undefined;
  const cooldownAfter = readGo(text('cooldownAfter')) ?? 10 * minute;
  const terms: PolicyTerms = {
    name: policy.metadata.name,
    broken: (policy.metadata.labels?.[brokenLabel] ?? 'no') as PolicyTerms['broken'],
    observe: spec['mode'] === 'Observe',
    selector: (spec['nodePoolSelector'] ?? {}) as RawSelector,
    windows: listOf<RawWindow>(spec['maintenanceWindows']),
    exclusions: listOf<PolicyTerms['exclusions'][number]>(spec['exclusions']),
    ageThreshold: readGo(spec['ageThreshold'] as string | undefined) ?? 'auto',
    chances: (spec['minRotationChances'] ?? 2) as number,
    readyTimeout: readGo(text('readyTimeout')) ?? 15 * minute,
    cooldownAfter,
    failurePause: readGo(text('failurePause')) ?? Math.max(10 * minute, cooldownAfter),
    retryBackoff: readGo(text('retryBackoff')) ?? 30 * minute,
    drainEstimate: readGo(text('drainEstimate')),
    provisioningEstimate: readGo(text('provisioningEstimate')),
    fallback: ((surge['forcefulFallback'] ?? {}) as { enabled?: boolean }).enabled === true,
    freeze: policy.metadata.annotations?.['noderotation.io/freeze'],
  };
  known.set(policy, terms);
  return terms;
}

/** D2-06, D2-09: the policy with most constraints; `conflict` for several, `undefined` for none. */
export function governing(
  labels: Readonly<Record<string, string>>,
  policies: readonly KubeObject[],
): PolicyTerms | 'conflict' | undefined {
  const matching = policies
    .map(termsOf)
    .filter(({ broken, selector }) => broken !== 'selector' && matches(selector, labels));
  const weight = ({ selector }: PolicyTerms): number =>
    Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length;
  const most = Math.max(...matching.map(weight));
  const top = matching.filter((terms) => weight(terms) === most);
  return top.length > 1 ? 'conflict' : top[0];
}

function matches(
  { matchLabels = {}, matchExpressions = [] }: RawSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      const among = value !== undefined && values.includes(value);
      return operator === 'In' ? among : !among;
    })
  );
}

/** An RFC 3339 time of the day it says; NaN for anything else that JavaScript would make a date of. */
export function readTime(text: string | undefined): number {
  const shape = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
  return text !== undefined && shape.test(text) ? Date.parse(text) : Number.NaN;
}

/** R3.1-05, D5-06: until the instant, exclusive; text that is no RFC 3339 time holds without end. */
export function isFrozen(text: string | undefined, at: number): boolean {
  if (text === undefined) return false;
  const until = readTime(text);
  return Number.isNaN(until) || at < until;
}

const offsets = new Map<string, number>();

/** Minutes east of UTC; of a quarter of an hour the first instant stands for all. */
function offsetAt(zone: string, at: number): number {
  const quarter = Math.floor(at / (15 * minute));
  const key = `${zone}/${quarter}`;
  const before = offsets.get(key);
  if (before !== undefined) return before;
  const offset = DateTime.fromMillis(quarter * 15 * minute, { zone }).offset;
  if (offsets.size > 200_000) offsets.clear();
  offsets.set(key, offset);
  return offset;
}

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const minutesOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));

/** Whether a minute of the local week (Sunday 00:00 is 0) lies in the entry. */
function holdsWeekMinute({ days, start, end }: RawWindow, weekMinute: number): boolean {
  const weekday = Math.floor(weekMinute / 1440);
  const time = weekMinute % 1440;
  const [from, to] = [minutesOf(start), minutesOf(end)];
  const today = days.includes(weekdays[weekday] as string);
  if (from < to) return today && from <= time && time < to;
  const yesterday = days.includes(weekdays[(weekday + 6) % 7] as string);
  return (today && time >= from) || (yesterday && time < to);
}

export type Opening = 'open' | 'closed' | 'unsure';

/** D3-01, D3-06. */
export function windowAt({ windows, exclusions }: Pick<PolicyTerms, 'windows' | 'exclusions'>, at: number): Opening {
  const zones = new Set([...windows, ...exclusions].map(({ timezone }) => timezone));
  for (const zone of zones) {
    // An occurrence may have begun a day ago, so a shift since then can move its end.
    if (offsetAt(zone, at) !== offsetAt(zone, at - day) || offsetAt(zone, at) !== offsetAt(zone, at + 3 * hour))
      return 'unsure';
  }
  const excluded = exclusions.some(({ timezone, from, to }) => {
    const date = new Date(at + offsetAt(timezone, at) * minute).toISOString().slice(0, 10);
    return from <= date && date <= to;
  });
  if (excluded) return 'closed';
  const open = windows.some((window) => {
    const local = Math.floor(at / minute) + offsetAt(window.timezone, at);
    // The epoch was a Thursday.
    return holdsWeekMinute(window, (((local + 4 * 1440) % 10_080) + 10_080) % 10_080);
  });
  return open ? 'open' : 'closed';
}

export interface Week {
  /** P and D in milliseconds; P is a minute for a union that never closes, 0 for an empty one. */
  readonly period: number;
  readonly shortest: number;
  /** Whether all entries are in one zone, so that the figures are exact. */
  readonly exact: boolean;
}

const weeks = new Map<string, Week>();

/** R3.1-10, R3.1-11, by walking through the minutes of a week. Zones are taken at their present offsets. */
export function weekOf({ windows }: Pick<PolicyTerms, 'windows'>, at: number): Week {
  const shifts = windows.map(({ timezone }) => offsetAt(timezone, at));
  const key = JSON.stringify([windows, shifts]);
  const before = weeks.get(key);
  if (before) return before;
  const open = Array.from({ length: 10_080 }, (_, utc) =>
    windows.some((window, index) => holdsWeekMinute(window, (utc + (shifts[index] as number) + 10_080) % 10_080)),
  );
  const starts = open.flatMap((is, index) => (is && !open[(index + 10_079) % 10_080] ? [index] : []));
  const periods = starts.map(
    (start, index) => ((starts[(index + 1) % starts.length] as number) - start + 10_080) % 10_080 || 10_080,
  );
  const lengths = starts.map((start) => {
    let length = 0;
    while (length < 10_080 && open[(start + length) % 10_080]) length += 1;
    return length;
  });
  const always = open.every(Boolean);
  const week: Week = {
    period: always ? minute : Math.max(0, ...periods) * minute,
    shortest: (always ? 10_080 : Math.min(...lengths)) * minute,
    exact: new Set(windows.map(({ timezone }) => timezone)).size <= 1,
  };
  weeks.set(key, week);
  return week;
}

/** t_rot. */
export const boundOf = (terms: PolicyTerms, grace: number | undefined): number =>
  terms.readyTimeout + (grace ?? hour) + buffer;

/** K·P + t_rot. */
export const leadOf = (terms: PolicyTerms, grace: number | undefined, at: number): number =>
  Math.max(0, terms.chances) * weekOf(terms, at).period + boundOf(terms, grace);

/** C: starts per occurrence. R3.2-15, R3.2-40 */
export function capacityOf(terms: PolicyTerms, grace: number | undefined, at: number): number {
  const drain = Math.min(terms.drainEstimate ?? 10 * minute, grace ?? Number.POSITIVE_INFINITY);
  const provisioning = Math.min(terms.provisioningEstimate ?? 5 * minute, terms.readyTimeout);
  return Math.ceil(weekOf(terms, at).shortest / (provisioning + drain + terms.cooldownAfter));
}

/** D4-03, the fatal ones, as a word. A is taken with three hours of tolerance where zones mix. */
export function fatalOf(
  terms: PolicyTerms,
  expireAfter: number | undefined,
  grace: number | undefined,
  at: number,
): string | undefined {
  const { period, exact } = weekOf(terms, at);
  const slack = exact ? 0 : 3 * hour;
  if (period === 0) return 'NoWindows';
  if (terms.chances < 1) return 'KBelowOne';
  if (expireAfter === undefined) return undefined;
  if (terms.ageThreshold === 'auto')
    return expireAfter - leadOf(terms, grace, at) + slack <= 0 ? 'ANonPositive' : undefined;
  const chances = Math.floor((expireAfter - boundOf(terms, grace) - terms.ageThreshold + slack) / period);
  return terms.ageThreshold <= 0 || chances < 1 ? 'OverrideGBelowOne' : undefined;
}
