/**
 * RotationPolicy as people write it. This schema is the single source: documents are read by it, and the CRD's
 * structural schema is generated from it.
 *
 * Fields keep their wire form (durations and times stay text), so that the schema describes the document itself.
 * `meta` holds what only the CRD states: rules in CEL, and bounds that a reader lets through as values.
 */
import * as z from 'zod';
import { weekdays } from '../../domain/policy/rotation-policy.ts';
import { parseGoDuration } from '../../domain/time.ts';
import { isKnownZone, parseDate } from '../../domain/wall-clock.ts';

/** Rules whose parts may be missing or malformed look at what there is; they run even after other problems. */
const always = { when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null };

/** The longest label key: a prefix of 253, a slash, a name of 63. */
export const longestText = 317;
export const mostItems = 100;

/** What the API server counts; the CRD states the same. */
const text = (message: string) => z.string(message).max(longestText, `must be at most ${longestText} characters`);
const list = <Item extends z.ZodType>(item: Item, message: string) =>
  z.array(item, message).max(mostItems, `must have at most ${mostItems} entries`);

/** A list in which nothing stands twice. */
const set = <Item extends z.ZodType<string>>(item: Item, message: string) =>
  list(item, message).superRefine((items, context) => {
    items.forEach((name, place) => {
      if (items.indexOf(name) === place) return;
      context.addIssue({ code: 'custom', path: [place], message: 'must not stand here twice' });
    });
  });

const cel = (rule: string, message: string) => ({ 'x-kubernetes-validations': [{ rule, message }] });

const durationPattern = /^([0-9]+(h|ms|m|s))+$/;
const readableDuration = 'is longer than a duration can be (about 292 years)';
const fits = (text: string): boolean => !durationPattern.test(text) || parseGoDuration(text) !== undefined;
const duration = text('must be a duration such as "15m" or "1h30m"')
  .regex(durationPattern, 'must be a duration of h, m, s, ms such as "15m" or "1h30m"')
  .refine(fits, readableDuration);
const positiveDuration = duration
  .refine((text) => parseGoDuration(text) !== 0, 'must be above 0')
  .meta(cel("duration(self) > duration('0s')", 'must be above 0'));

const timezone = text('must be an IANA time zone name such as "Asia/Tokyo"')
  .min(1, 'must be an IANA time zone name such as "Asia/Tokyo"')
  .refine(
    (name) => name === '' || isKnownZone(name),
    'is no known IANA time zone name such as "Asia/Tokyo" or "UTC" (offsets are no zones)',
  )
  .meta({ description: 'IANA time zone name, such as Asia/Tokyo. Offsets such as +09:00 are refused.' });

const startTime = z
  .string('must be a quoted time "HH:MM"')
  .regex(/^([01][0-9]|2[0-3]):[0-5][0-9]$/, 'must be a time "HH:MM" from "00:00" to "23:59"')
  .meta({ description: 'Time of day, in the zone of this entry, at which the window opens.' });

const endTime = z
  .string('must be a quoted time "HH:MM"')
  .regex(/^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$/, 'must be a time "HH:MM" from "00:00" to "24:00"')
  .meta({ description: 'Time of day at which the window closes; earlier than start means on the next day.' });

const windowEntry = z
  .object(
    {
      timezone,
      days: set(
        z.enum(weekdays, `must be one of ${weekdays.join(', ')}`),
        `must be a list of days out of ${weekdays.join(', ')}`,
      )
        .min(1, 'must name at least one day')
        .meta({ description: 'Days on which the window opens.', 'x-kubernetes-list-type': 'set' }),
      start: startTime,
      end: endTime,
    },
    'must be a window {timezone, days, start, end}',
  )
  .refine(({ start, end }) => typeof start !== 'string' || start !== end, {
    ...always,
    path: ['end'],
    error: 'must differ from start (the whole day is "00:00" to "24:00")',
  })
  .meta(cel('self.start != self.end', 'start and end must differ (the whole day is 00:00 to 24:00)'));

const date = z
  .string('must be a quoted date "YYYY-MM-DD"')
  .regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/, 'must be a date "YYYY-MM-DD"')
  .refine(
    (text) => !/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text) || parseDate(text) !== undefined,
    'is no date of the calendar',
  );

const exclusion = z
  .object(
    {
      timezone,
      from: date.meta({ description: 'First day on which nothing starts.' }),
      to: date.meta({ description: 'Last day on which nothing starts.' }),
      reason: z
        .string('must be text')
        .max(200, 'must be at most 200 characters')
        .optional()
        .meta({ description: 'Shown where the exclusion costs a node its chances.' }),
    },
    'must be an exclusion {timezone, from, to, reason}',
  )
  .refine(({ from, to }) => typeof from !== 'string' || typeof to !== 'string' || from <= to, {
    ...always,
    path: ['to'],
    error: 'must not come before from',
  })
  .meta(cel('self.from <= self.to', 'to must not come before from'));

const selectorRequirement = z
  .object(
    {
      key: text('must be a label key').min(1, 'must be a label key').meta({ description: 'Key of the label.' }),
      operator: z
        .enum(['In', 'NotIn', 'Exists', 'DoesNotExist'], 'must be one of In, NotIn, Exists, DoesNotExist')
        .meta({ description: 'How the label is held against the values.' }),
      values: list(text('must be text'), 'must be a list of label values')
        .default([])
        .meta({ description: 'Values for In and NotIn; none otherwise.' }),
    },
    'must be {key, operator, values}',
  )
  .refine(
    ({ operator, values }) => !['In', 'NotIn'].includes(operator) || !Array.isArray(values) || values.length > 0,
    {
      ...always,
      path: ['values'],
      error: 'must name at least one value for In and NotIn',
    },
  )
  .refine(
    ({ operator, values }) =>
      !['Exists', 'DoesNotExist'].includes(operator) || !Array.isArray(values) || values.length === 0,
    {
      ...always,
      path: ['values'],
      error: 'must be empty for Exists and DoesNotExist',
    },
  )
  .meta(
    cel(
      "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
      'values are for In and NotIn, and required there',
    ),
  );

export const selectorSchema = z
  .object(
    {
      matchLabels: z
        .record(z.string(), text('must be a label value; quote numbers and booleans'), 'must be a map of labels')
        .refine((labels) => Object.keys(labels).length <= mostItems, `must have at most ${mostItems} entries`)
        .default({})
        .meta({ description: 'Labels that the NodePool has with these very values.' }),
      matchExpressions: list(selectorRequirement, 'must be a list of requirements')
        .default([])
        .meta({ description: 'Requirements that the labels of the NodePool meet, all of them.' }),
    },
    'must be a label selector; {} matches every NodePool',
  )
  .meta({
    description:
      'Labels of the NodePools that this policy is for. The most specific policy wins; {} matches every pool.',
  });

const replicableKey = /^([a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?\/)?[a-zA-Z0-9]([-_.a-zA-Z0-9]*[a-zA-Z0-9])?$/;
const refusedByKarpenter = (key: string): boolean =>
  key === 'kubernetes.io/hostname' ||
  (/^([^/]+\.)?karpenter\.sh\//.test(key) && key !== 'karpenter.sh/nodepool' && key !== 'karpenter.sh/capacity-type');
const requirementKeys = set(
  text('must be a node label key')
    .regex(replicableKey, 'must be a node label key')
    .refine((key) => !refusedByKarpenter(key), 'is a key that Karpenter refuses in node affinity'),
  'must be a list of node label keys',
).meta({
  'x-kubernetes-list-type': 'set',
  ...cel(
    "self.all(key, key != 'kubernetes.io/hostname' && (!key.matches('^([^/]+[.])?karpenter[.]sh/') || key in ['karpenter.sh/nodepool', 'karpenter.sh/capacity-type']))",
    'kubernetes.io/hostname and most karpenter.sh/ keys are refused by Karpenter',
  ),
});

const flag = z.boolean('must be true or false').default(false);

const surge = z
  .object(
    {
      maxUnavailable: z
        .literal(1, 'must be 1: one node of a pool at a time')
        .default(1)
        .meta({ description: 'Nodes of a pool that are rotated at once.' }),
      readyTimeout: positiveDuration
        .default('15m')
        .meta({ description: 'How long a replacement may take to be ready.' }),
      cooldownAfter: duration.default('10m').meta({ description: 'Pause after a rotation that succeeded.' }),
      failurePause: positiveDuration.optional().meta({
        description: 'Pause of the pool after one that failed. Default: 10m or cooldownAfter, whichever is longer.',
      }),
      retryBackoff: positiveDuration
        .default('30m')
        .meta({ description: 'Wait of the failed node; doubled with each further failure, up to eight times.' }),
      provisioningEstimate: positiveDuration.optional().meta({
        description: 'Expected time until a replacement is ready. Default: 5m or readyTimeout, whichever is shorter.',
      }),
      drainEstimate: positiveDuration.optional().meta({
        description: 'Expected length of a drain. Default: 10m or terminationGracePeriod, whichever is shorter.',
      }),
      wholeNodeReservation: flag.meta({
        description: 'Reserve a whole node of the same size instead of what the Pods ask for.',
      }),
      matchNodeRequirements: z
        .object(
          {
            required: requirementKeys
              .default(['topology.kubernetes.io/zone', 'kubernetes.io/arch', 'karpenter.sh/capacity-type'])
              .meta({ description: 'Labels that the replacement must share with the old node.' }),
            preferred: requirementKeys.default([]).meta({ description: 'Labels that it should share.' }),
          },
          'must be {required, preferred}',
        )
        .prefault({})
        .meta({ description: 'Which properties of the old node its replacement repeats.' }),
      forcefulFallback: z
        .object({ enabled: flag.meta({ description: 'Whether that may happen.' }) }, 'must be {enabled}')
        .prefault({})
        .meta({
          description: 'Delete a node inside the window without a replacement when too little time is left for one.',
        }),
      deferBlockedDrains: flag.meta({
        description: 'Put off a node whose drain cannot proceed while a later chance remains.',
      }),
    },
    'must be an object',
  )
  .prefault({})
  .meta({ description: 'How a node is replaced.' });

export const specSchema = z.object(
  {
    nodePoolSelector: selectorSchema,
    mode: z
      .enum(['Rotate', 'Observe'], 'must be Rotate or Observe')
      .default('Rotate')
      .meta({ description: 'Observe decides and reports, and starts nothing.' }),
    ageThreshold: text('must be auto or a duration such as "240h"')
      .regex(/^(auto|([0-9]+(h|ms|m|s))+)$/, 'must be auto or a duration of h, m, s, ms such as "240h"')
      .refine(fits, readableDuration)
      .default('auto')
      .meta({ description: 'Age from which a node is rotated; auto derives it from expireAfter and the windows.' }),
    minRotationChances: z
      .int('must be a whole number')
      .max(1_000, 'must be at most 1000')
      .default(2)
      .meta({ description: 'Windows that must open between the moment a node is due and its deadline.', minimum: 1 }),
    maintenanceWindows: list(windowEntry, 'must be a list of windows {timezone, days, start, end}').meta({
      description: 'When rotations may start: the union of all entries.',
      minItems: 1,
    }),
    exclusions: list(exclusion, 'must be a list of exclusions {timezone, from, to, reason}')
      .default([])
      .meta({ description: 'Days on which nothing starts, such as holidays and change freezes.' }),
    surge,
  },
  'must be an object',
);

export type PolicySpec = z.output<typeof specSchema>;
