/**
 * The border of the cluster: raw objects of the API become domain values, or are refused with a problem that names them.
 *
 * Every field that is there and cannot be read is named in the value; none becomes zero, NaN or a default.
 */

import * as z from 'zod';
import type { Node, NodeMetadata } from '../../domain/cluster/node.ts';
import { nodePoolLabel } from '../../domain/cluster/node.ts';
import type { Lifetime, NodeClaim } from '../../domain/cluster/node-claim.ts';
import type { NodePool, Taint, TemplateLifetime } from '../../domain/cluster/node-pool.ts';
import { label, type Unreadable } from '../../domain/cluster/object-ref.ts';
import type { ResourceList } from '../../domain/cluster/resource-list.ts';
import { parseResourceList } from '../../domain/cluster/resource-list.ts';
import type { Duration, Instant } from '../../domain/time.ts';
import { hours, parseKarpenterDuration } from '../../domain/time.ts';
import { anyMap, condition, conditionOf, metadata, textMap, toMeta } from './decode-metadata.ts';
import { nameOddBounds, requirement } from './decode-requirements.ts';
import { readLeniently, textOf } from './lenient-reading.ts';
import { soundNodeClaim, soundNodeMetadata } from './sound-objects.ts';

/** What became of one raw object. */
export type Decoded<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/** Read by `parseResourceList`, which names what is no quantity. */
export const amounts = anyMap;

const taint = z
  .object({ key: z.string(), value: z.string().nullish(), effect: z.string() })
  .transform(({ key, value, effect }): Taint => (value ? { key, value, effect } : { key, effect }));

const lifetimeFields = { expireAfter: z.string().nullish(), terminationGracePeriod: z.string().nullish() };

const nodePoolSchema = z.object({
  metadata,
  spec: z
    .object({
      replicas: z.number().int().nullish(),
      limits: amounts.nullish(),
      template: z
        .object({
          metadata: z.object({ labels: textMap.nullish() }).nullish(),
          spec: z
            .object({
              ...lifetimeFields,
              taints: z.array(taint).nullish(),
              requirements: z.array(requirement).nullish(),
            })
            .nullish(),
        })
        .nullish(),
    })
    .nullish(),
  status: z.object({ resources: amounts.nullish(), conditions: z.array(condition).nullish() }).nullish(),
});

export const nodeClaimSchema = z.object({
  metadata,
  spec: z.object({ ...lifetimeFields, requirements: z.array(requirement).nullish() }).nullish(),
  status: z
    .object({
      nodeName: z.string().nullish(),
      providerID: z.string().nullish(),
      capacity: amounts.nullish(),
      allocatable: amounts.nullish(),
      conditions: z.array(condition).nullish(),
    })
    .nullish(),
});

const nodeSchema = z.object({
  metadata,
  spec: z
    .object({
      providerID: z.string().nullish(),
      unschedulable: z.boolean().nullish(),
      taints: z.array(taint).nullish(),
    })
    .nullish(),
  status: z.object({ allocatable: amounts.nullish(), conditions: z.array(condition).nullish() }).nullish(),
});

export const nodeMetadataSchema = z.object({ metadata });

/**
 * Reads an object by its schema, or says why it is refused.
 *
 * @param sound reads an object that needs no schema; undefined leaves it to the schema
 */
export function decoded<S extends z.ZodType, T>(
  kind: string,
  schema: S,
  raw: unknown,
  build: (read: z.output<S>, problems: Unreadable[]) => T,
  sound?: (raw: unknown) => z.output<S> | undefined,
): Decoded<T> {
  const asItShouldBe = sound?.(raw);
  if (asItShouldBe !== undefined) return { ok: true, value: build(asItShouldBe, []) };
  const reading = readLeniently(schema, raw);
  if (reading === undefined) return { ok: false, problem: `${kind} without a readable metadata.name: ${textOf(raw)}` };
  return { ok: true, value: build(reading.value, [...reading.unreadable]) };
}

export function resourceList(
  record: Readonly<Record<string, unknown>> | null | undefined,
  path: string,
  problems: Unreadable[],
): ResourceList {
  const { list, unreadable } = parseResourceList(record ?? {}, path);
  problems.push(...unreadable);
  return list;
}

export const decodeNodePool = (raw: unknown): Decoded<NodePool> =>
  decoded('NodePool', nodePoolSchema, raw, ({ metadata, spec, status }, problems) => {
    const meta = toMeta(metadata, problems);
    const template = spec?.template?.spec;
    const lifetime = readDurations('spec.template.spec', template ?? {}, problems);
    nameOddBounds(template?.requirements, 'spec.template.spec.requirements', problems);
    const [lifetimeProblems, others] = split(problems, lifetimeOfTemplate);
    return {
      meta,
      template: {
        lifetime: templateLifetime(lifetime, lifetimeProblems),
        labels: spec?.template?.metadata?.labels ?? {},
        taints: template?.taints ?? [],
        requirements: template?.requirements ?? [],
      },
      ...(isStatic(raw, spec?.replicas) ? { replicas: spec?.replicas ?? 0 } : {}),
      ready: conditionOf(status?.conditions, 'Ready')?.status === 'True',
      limits: resourceList(spec?.limits, 'spec.limits', others),
      used: resourceList(status?.resources, 'status.resources', others),
      unreadable: others,
    };
  });

export const decodeNodeClaim = (raw: unknown): Decoded<NodeClaim> =>
  decoded(
    'NodeClaim',
    nodeClaimSchema,
    raw,
    ({ metadata, spec, status }, problems) => {
      const meta = toMeta(metadata, problems);
      const durations = readDurations('spec', spec ?? {}, problems);
      nameOddBounds(spec?.requirements, 'spec.requirements', problems);
      const [lifetimeProblems, others] = split(problems, lifetimeOfClaim);
      if (meta.created === undefined && lifetimeProblems.every(({ path }) => path !== createdPath)) {
        lifetimeProblems.push({ path: createdPath, text: '', problem: 'the object carries no creation time' });
      }
      const { nodeName, providerID, capacity, allocatable, conditions } = status ?? {};
      const disruption = conditionOf(conditions, 'DisruptionReason');
      const ready = conditionOf(conditions, 'Ready')?.status;
      return {
        meta,
        nodePool: label(meta, nodePoolLabel) ?? '',
        lifetime: claimLifetime(meta.created, durations, lifetimeProblems),
        ...(nodeName ? { nodeName } : {}),
        ...(providerID ? { providerId: providerID } : {}),
        ready: ready === 'True' || ready === 'False' ? ready : 'Unknown',
        ...(disruption?.status === 'True' ? { disruptionReason: disruption.reason || 'Unknown' } : {}),
        requirements: spec?.requirements ?? [],
        ...(capacity ? { capacity: resourceList(capacity, 'status.capacity', others) } : {}),
        ...(allocatable ? { allocatable: resourceList(allocatable, 'status.allocatable', others) } : {}),
        unreadable: others,
      };
    },
    soundNodeClaim,
  );

export const decodeNodeMetadata = (raw: unknown): Decoded<NodeMetadata> =>
  decoded(
    'Node',
    nodeMetadataSchema,
    raw,
    ({ metadata }, problems) => ({ meta: toMeta(metadata, problems) }),
    soundNodeMetadata,
  );

export const decodeNode = (raw: unknown): Decoded<Node> =>
  decoded('Node', nodeSchema, raw, ({ metadata, spec, status }, problems) => {
    const meta = toMeta(metadata, problems);
    return {
      meta,
      ...(spec?.providerID ? { providerId: spec.providerID } : {}),
      unschedulable: spec?.unschedulable ?? false,
      ready: conditionOf(status?.conditions, 'Ready')?.status === 'True',
      taints: spec?.taints ?? [],
      allocatable: resourceList(status?.allocatable, 'status.allocatable', problems),
      unreadable: problems,
    };
  });

const createdPath = 'metadata.creationTimestamp';
const lifetimeOfClaim = [createdPath, 'spec', 'spec.expireAfter', 'spec.terminationGracePeriod'];
const lifetimeOfTemplate = [
  'spec',
  'spec.template',
  'spec.template.spec',
  'spec.template.spec.expireAfter',
  'spec.template.spec.terminationGracePeriod',
];

interface Durations {
  readonly expireAfter?: Duration | 'Never';
  readonly terminationGracePeriod?: Duration;
}

/** @design D2-02 */
function readDurations(
  path: string,
  spec: { expireAfter?: string | null | undefined; terminationGracePeriod?: string | null | undefined },
  problems: Unreadable[],
): Durations {
  const read = (field: 'expireAfter' | 'terminationGracePeriod', form: string): Duration | undefined => {
    const text = spec[field];
    if (text === undefined || text === null) return undefined;
    const value = parseKarpenterDuration(text);
    if (value === undefined) problems.push({ path: `${path}.${field}`, text, problem: `not a duration: ${form}` });
    return value;
  };
  const never = spec.expireAfter === 'Never';
  const expireAfter = never ? 'Never' : read('expireAfter', 'whole numbers of h, m and s such as 336h, or Never');
  const terminationGracePeriod = read('terminationGracePeriod', 'whole numbers of h, m and s such as 1h30m');
  return {
    ...(expireAfter === undefined ? {} : { expireAfter }),
    ...(terminationGracePeriod === undefined ? {} : { terminationGracePeriod }),
  };
}

function claimLifetime(
  created: Instant | undefined,
  durations: Durations,
  unreadable: readonly Unreadable[],
): Lifetime {
  if (created === undefined || unreadable.length > 0) return { readable: false, unreadable };
  return { readable: true, created, ...durations, expireAfter: durations.expireAfter ?? 'Never' };
}

// The template's missing expireAfter is the default that the CRD would have filled in. @design D4-02
function templateLifetime(durations: Durations, unreadable: readonly Unreadable[]): TemplateLifetime {
  if (unreadable.length > 0) return { readable: false, unreadable };
  return { readable: true, ...durations, expireAfter: durations.expireAfter ?? hours(720) };
}

// A pool whose replicas are there but unreadable is still static: it must not be taken for a dynamic one.
function isStatic(raw: unknown, replicas: number | null | undefined): boolean {
  if (typeof replicas === 'number') return true;
  const spec = (raw as { spec?: { replicas?: unknown } | null } | null)?.spec;
  return spec?.replicas !== undefined && spec.replicas !== null;
}

function split(problems: readonly Unreadable[], paths: readonly string[]): [Unreadable[], Unreadable[]] {
  const within = (problem: Unreadable): boolean => paths.includes(problem.path);
  return [problems.filter(within), problems.filter((problem) => !within(problem))];
}
