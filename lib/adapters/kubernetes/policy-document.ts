/**
 * Reads a RotationPolicy: usable with its defaults applied, or refused with every problem named.
 *
 * Nothing here throws, whatever the document holds. Fields that the schema does not know are ignored, as the API server
 * prunes them, and named beside the reading; a null counts as absent, as it does there.
 */
import * as z from 'zod';
import { assert } from '../../domain/assert.ts';
import type { ObjectMeta } from '../../domain/cluster/object-ref.ts';
import type { PolicyStatus } from '../../domain/policy/policy-status.ts';
import type {
  FieldProblem,
  PolicyReading,
  RotationPolicy,
  SurgeSettings,
} from '../../domain/policy/rotation-policy.ts';
import type { Duration } from '../../domain/time.ts';
import { longer, minutes, parseGoDuration, shorter } from '../../domain/time.ts';
import { metadata, toMeta } from './decode-metadata.ts';
import { pathText, readLeniently, textOf } from './lenient-reading.ts';
import type { PolicySpec } from './policy-schema.ts';
import { selectorSchema, specSchema } from './policy-schema.ts';
import { statusSchema } from './policy-status-schema.ts';
import { resources } from './resources.ts';
import { unknownFields } from './unknown-fields.ts';

/**
 * @param json a parsed document or an object from the API
 * @design D2-02, D2-03, D2-04, D2-05, D2-09, D4-01
 */
export function readPolicy(json: unknown): PolicyReading {
  const document = asObject(json);
  const spec = withoutNulls(document.spec);
  const { meta, problems: ofMetadata } = readMetadata(document);
  const read = specSchema.safeParse(spec);
  const lost = lostLabels(document.spec);
  const problems = [
    ...ofDocument(json, document),
    ...ofMetadata,
    ...lost,
    ...(read.success ? [] : read.error.issues.map(({ path, message }) => problemAt(spec, path, message))),
  ];
  const generation = generationOf(document);
  const besides = { ...unknownIn(document), ...statusIn(document) };
  if (read.success && problems.length === 0) {
    return { valid: true, policy: toPolicy(meta, generation, read.data), ...besides };
  }
  const selector = selectorSchema.safeParse(asObject(spec).nodePoolSelector);
  const readable = selector.success && lost.length === 0;
  return {
    valid: false,
    meta,
    generation,
    ...(readable ? { nodePoolSelector: selector.data } : {}),
    problems,
    ...besides,
  };
}

/** Metadata is the API server's own, and so is what it keeps in the status. */
const documentSchema = z.object({
  apiVersion: z.unknown(),
  kind: z.unknown(),
  metadata: z.unknown(),
  spec: specSchema,
  status: z.unknown(),
});

/** A status of another form is written anew. */
function statusIn({ status }: Readonly<Record<string, unknown>>): Pick<PolicyReading, 'status'> {
  const read = statusSchema.safeParse(status);
  // JSON knows no undefined, so what is optional is absent.
  return read.success ? { status: read.data as PolicyStatus } : {};
}

function unknownIn(document: Readonly<Record<string, unknown>>): Pick<PolicyReading, 'unknownFields'> {
  const paths = unknownFields(documentSchema, document).map(pathText);
  return paths.length === 0 ? {} : { unknownFields: paths };
}

function ofDocument(json: unknown, document: Readonly<Record<string, unknown>>): FieldProblem[] {
  if (document !== json) return [{ path: '', problem: `must be a RotationPolicy object, not ${quoted(json)}` }];
  const { apiVersion } = document;
  const { apiVersion: known } = resources.rotationPolicies;
  if (apiVersion === undefined || apiVersion === known) return [];
  return [{ path: 'apiVersion', problem: `must be ${known}, not ${quoted(apiVersion)}` }];
}

/** Metadata that cannot be read is a problem of the policy: a hold written there must not be overlooked. */
function readMetadata(document: Readonly<Record<string, unknown>>): { meta: ObjectMeta; problems: FieldProblem[] } {
  const read = readLeniently(z.object({ metadata }), { metadata: document.metadata });
  if (read === undefined) {
    const meta = {
      name: '',
      uid: '',
      resourceVersion: '',
      deleting: false,
      labels: {},
      annotations: {},
      finalizers: [],
    };
    const name = asObject(document.metadata).name;
    return {
      meta,
      problems: [
        {
          path: 'metadata.name',
          problem: `must be the policy's name${name === undefined ? '' : `, not ${quoted(name)}`}`,
        },
      ],
    };
  }
  const unreadable = [...read.unreadable];
  const meta = toMeta(read.value.metadata, unreadable);
  // Single labels and annotations are kept as text, and whoever reads them judges them.
  const spoiled = unreadable.filter(({ path }) => !/^metadata\.(labels|annotations)[.[]/.test(path));
  return { meta, problems: spoiled.map(({ path, text, problem }) => ({ path, problem: `${problem} (${text})` })) };
}

function generationOf(document: Readonly<Record<string, unknown>>): number {
  const { generation } = asObject(document.metadata);
  return typeof generation === 'number' && Number.isSafeInteger(generation) ? generation : 0;
}

/**
 * Labels that would be lost on the way, so that the selector would match more than it says: one named like JavaScript's
 * own machinery, and one without a value, which the API server drops in silence.
 */
function lostLabels(spec: unknown): FieldProblem[] {
  const labels = asObject(asObject(asObject(spec).nodePoolSelector).matchLabels);
  return Object.entries(labels).flatMap(([key, value]) => {
    const path = pathText(['spec', 'nodePoolSelector', 'matchLabels', key]);
    if (key === '__proto__') return [{ path, problem: 'is no label key' }];
    return value === null ? [{ path, problem: 'must have a value ("" for an empty one), not null' }] : [];
  });
}

function problemAt(spec: unknown, path: readonly PropertyKey[], message: string): FieldProblem {
  const value = path.reduce<unknown>(
    (within, key) => (isIndexable(within) && Object.hasOwn(within, key) ? within[key] : undefined),
    spec,
  );
  const shown = value === undefined ? 'is required: ' : '';
  return {
    path: pathText(['spec', ...path]),
    problem: `${shown}${message}${value === undefined ? '' : `, not ${quoted(value)}`}`,
  };
}

const isIndexable = (value: unknown): value is Record<PropertyKey, unknown> =>
  typeof value === 'object' && value !== null;
const asObject = (value: unknown): Readonly<Record<string, unknown>> =>
  isIndexable(value) && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
const quoted = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(textOf(value)) : textOf(value));

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isIndexable(value) || value instanceof Date) return value;
  const kept = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(kept.map(([key, member]) => [key, withoutNulls(member)]));
}

function toPolicy(meta: ObjectMeta, generation: number, spec: PolicySpec): RotationPolicy {
  return {
    meta,
    generation,
    nodePoolSelector: spec.nodePoolSelector,
    mode: spec.mode,
    ageThreshold: spec.ageThreshold === 'auto' ? 'auto' : read(spec.ageThreshold),
    minRotationChances: spec.minRotationChances,
    windows: spec.maintenanceWindows.map(({ timezone, days, start, end }) => ({
      timezone,
      days,
      start: minuteOfDay(start),
      // Midnight at the end of a window is the end of a day, however it is written.
      end: minuteOfDay(end) || 24 * 60,
    })),
    exclusions: spec.exclusions.map(({ reason, ...rest }) => (reason === undefined ? rest : { ...rest, reason })),
    surge: toSurge(spec.surge),
  };
}

/** @design D2-01, R3.2-15 */
function toSurge(surge: PolicySpec['surge']): SurgeSettings {
  const readyTimeout = read(surge.readyTimeout);
  const cooldownAfter = read(surge.cooldownAfter);
  const { failurePause, provisioningEstimate, drainEstimate } = surge;
  return {
    maxUnavailable: 1,
    readyTimeout,
    cooldownAfter,
    failurePause: failurePause === undefined ? longer(minutes(10), cooldownAfter) : read(failurePause),
    retryBackoff: read(surge.retryBackoff),
    provisioningEstimate:
      provisioningEstimate === undefined ? shorter(readyTimeout, minutes(5)) : read(provisioningEstimate),
    ...(drainEstimate === undefined ? {} : { drainEstimate: read(drainEstimate) }),
    wholeNodeReservation: surge.wholeNodeReservation,
    matchNodeRequirements: surge.matchNodeRequirements,
    forcefulFallback: surge.forcefulFallback.enabled,
    deferBlockedDrains: surge.deferBlockedDrains,
  };
}

/** Text that the schema has let through. */
function read(text: string): Duration {
  const value = parseGoDuration(text);
  assert(value !== undefined, 'the schema lets only durations through');
  return value;
}

function minuteOfDay(text: string): number {
  const [hours, minutesPast] = text.split(':').map(Number) as [number, number];
  return hours * 60 + minutesPast;
}
