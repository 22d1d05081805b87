/**
 * The metadata of any object. Dates may be text or Date objects, as clients and dumps have them.
 */

import * as z from 'zod';
import type { ObjectMeta, Unreadable } from '../../domain/cluster/object-ref.ts';
import type { Instant } from '../../domain/time.ts';
import { instant, parseInstant } from '../../domain/time.ts';
import { textOf } from './lenient-reading.ts';

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A map of anything, kept as it is: for values whose reader names the odd ones itself. */
export const anyMap = z.custom<Readonly<Record<string, unknown>>>(isMap, 'expected a map');

/**
 * A map of texts. Checked by hand and kept as it is: every object of a cluster carries dozens of labels, and copying
 * them one by one costs more than all other reading together.
 */
export const textMap = anyMap
  .check(({ value, issues }) => {
    for (const key of Object.keys(value)) {
      if (typeof value[key] === 'string') continue;
      issues.push({ code: 'custom', path: [key], input: value[key], message: 'expected a text' });
    }
  })
  .transform((map) => map as Readonly<Record<string, string>>);

const ownerReference = z.object({ kind: z.string(), name: z.string(), controller: z.boolean().nullish() });

/** Times are read afterwards, so that an unreadable one is named without losing that it is there. */
export const metadata = z.object({
  name: z.string().min(1),
  namespace: z.string().nullish(),
  uid: z.string().nullish(),
  resourceVersion: z.string().nullish(),
  creationTimestamp: z.unknown().optional(),
  deletionTimestamp: z.unknown().optional(),
  labels: textMap.nullish(),
  annotations: textMap.nullish(),
  finalizers: z.array(z.string()).nullish(),
  ownerReferences: z.array(ownerReference).nullish(),
});

export type Metadata = z.output<typeof metadata>;

const timeProblem = 'not an RFC 3339 time such as 2026-06-01T00:00:00Z';

/**
 * @param problems receives the times that are there but cannot be read
 * @design D5-06
 */
export function toMeta(read: Metadata, problems: Unreadable[]): ObjectMeta {
  const time = (field: 'creationTimestamp' | 'deletionTimestamp'): Instant | undefined => {
    const value = toInstant(read[field]);
    if (value === undefined && isThere(read[field])) {
      problems.push({ path: `metadata.${field}`, text: textOf(read[field]), problem: timeProblem });
    }
    return value;
  };
  const created = time('creationTimestamp');
  const deletionTimestamp = time('deletionTimestamp');
  return {
    name: read.name,
    ...(read.namespace ? { namespace: read.namespace } : {}),
    uid: read.uid ?? '',
    resourceVersion: read.resourceVersion ?? '',
    ...(created === undefined ? {} : { created }),
    deleting: isThere(read.deletionTimestamp),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    labels: read.labels ?? {},
    annotations: read.annotations ?? {},
    finalizers: read.finalizers ?? [],
  };
}

const isThere = (value: unknown): boolean => value !== undefined && value !== null;

/** Text in RFC 3339 or a Date; undefined for everything else. */
export function toInstant(value: unknown): Instant | undefined {
  if (typeof value === 'string') return parseInstant(value);
  if (value instanceof Date && !Number.isNaN(value.getTime())) return instant(value.getTime());
  return undefined;
}

/** The condition of a type, as every kind writes them. */
export const condition = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string().nullish(),
  message: z.string().nullish(),
  lastTransitionTime: z.unknown().optional(),
});

export type Condition = z.output<typeof condition>;

export const conditionOf = (conditions: readonly Condition[] | null | undefined, type: string): Condition | undefined =>
  conditions?.find((candidate) => candidate.type === type);
