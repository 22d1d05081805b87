/**
 * The structural schemas of custom resources: what they drop, fill in and refuse.
 *
 * Rules in CEL are not evaluated: what only they refuse is stored here, as an older API server would.
 */
import type { JsonObject } from './merge-patch.ts';
import { isJsonObject, sameJson } from './merge-patch.ts';

export interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly nullable?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

export interface Misfit {
  /** Such as `spec.maintenanceWindows[0].start`. */
  readonly field: string;
  readonly problem: string;
}

/** The schema of a member; undefined for one that the schema does not know. */
function memberOf(schema: Schema, name: string): Schema | undefined {
  if (schema.properties && Object.hasOwn(schema.properties, name)) return schema.properties[name];
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

/** The value without what its schema does not know, and with the defaults that the schema has for what is missing. */
export function conformed(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.map((item) => conformed(items, item)) : value;
  }
  if (!isJsonObject(value)) return value;
  const keepsAll = schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true;
  const known = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const child = memberOf(schema, name);
    if (child === undefined) return keepsAll ? [[name, member]] : [];
    // A null that is not allowed gives way to the default.
    return member === null && child.nullable !== true && child.default !== undefined ? [] : [[name, member]];
  });
  const filled: Record<string, unknown> = Object.fromEntries(known);
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    if (!Object.hasOwn(filled, name) && child.default !== undefined) filled[name] = child.default;
  }
  return Object.fromEntries(
    Object.entries(filled).map(([name, member]) => [name, conformed(memberOf(schema, name) ?? keepAll, member)]),
  );
}

const keepAll: Schema = { 'x-kubernetes-preserve-unknown-fields': true };

/** Everything in the value that its schema does not allow. */
export function misfits(schema: Schema, value: unknown, field: string): readonly Misfit[] {
  if (value === null && schema.nullable) return [];
  if (!hasType(schema, value)) {
    return [{ field, problem: `Invalid value: ${JSON.stringify(value)}: must be of type ${schema.type}` }];
  }
  const own = problemsOf(schema, value).map((problem) => ({ field, problem }));
  if (Array.isArray(value)) {
    const { items } = schema;
    return [...own, ...(items ? value.flatMap((item, index) => misfits(items, item, `${field}[${index}]`)) : [])];
  }
  return isJsonObject(value) ? [...own, ...misfitsOfMembers(schema, value, field)] : own;
}

function misfitsOfMembers(schema: Schema, value: JsonObject, field: string): readonly Misfit[] {
  const within = (name: string): string => (field === '' ? name : `${field}.${name}`);
  const missing = (schema.required ?? []).filter((name) => value[name] === undefined);
  return [
    ...missing.map((name) => ({ field: within(name), problem: 'Required value' })),
    ...Object.entries(value).flatMap(([name, member]) => {
      const child = memberOf(schema, name);
      return child === undefined || member === undefined ? [] : misfits(child, member, within(name));
    }),
  ];
}

function hasType({ type, 'x-kubernetes-int-or-string': intOrString }: Schema, value: unknown): boolean {
  if (intOrString) return typeof value === 'string' || Number.isInteger(value);
  switch (type) {
    case 'object':
      return isJsonObject(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case undefined:
      return true;
    default:
      return typeof value === type;
  }
}

/** What is wrong with the value itself; its type is right. */
function problemsOf(schema: Schema, value: unknown): readonly string[] {
  const problems: string[] = [];
  const said = JSON.stringify(value);
  if (schema.enum && !schema.enum.includes(value)) {
    problems.push(
      `Unsupported value: ${said}: supported values: ${schema.enum.map((one) => JSON.stringify(one)).join(', ')}`,
    );
  }
  if (typeof value === 'string') {
    if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value)) {
      problems.push(`Invalid value: ${said}: should match '${schema.pattern}'`);
    }
    problems.push(...outside([...value].length, schema.minLength, schema.maxLength, 'characters'));
  }
  if (typeof value === 'number') problems.push(...outside(value, schema.minimum, schema.maximum, ''));
  if (Array.isArray(value)) {
    problems.push(...outside(value.length, schema.minItems, schema.maxItems, 'items'));
    const repeated = value.find((item, index) => value.slice(0, index).some((other) => sameEntry(schema, item, other)));
    if (repeated !== undefined) problems.push(`Duplicate value: ${JSON.stringify(repeated)}`);
  }
  if (isJsonObject(value)) {
    problems.push(...outside(Object.keys(value).length, undefined, schema.maxProperties, 'members'));
  }
  return problems;
}

/** Whether a list may not have both: a set holds each value once, a map each of its keys. */
function sameEntry(schema: Schema, a: unknown, b: unknown): boolean {
  if (schema['x-kubernetes-list-type'] === 'set') return sameJson(a, b);
  if (schema['x-kubernetes-list-type'] !== 'map' || !isJsonObject(a) || !isJsonObject(b)) return false;
  return (schema['x-kubernetes-list-map-keys'] ?? []).every((key) => sameJson(a[key], b[key]));
}

function outside(size: number, least: number | undefined, most: number | undefined, of: string): readonly string[] {
  const unit = of === '' ? '' : ` ${of}`;
  if (least !== undefined && size < least) return [`Invalid value: ${size}${unit}: should be at least ${least}`];
  if (most !== undefined && size > most) return [`Invalid value: ${size}${unit}: should be at most ${most}`];
  return [];
}
