/**
 * What an API server does with a structural schema, as far as our CRD uses it: refuse what is no such schema, fill in
 * defaults, and name what does not fit.
 */
import type { SchemaNode } from '../../lib/adapters/kubernetes/policy-crd.ts';

const keywords = new Set([
  'type',
  'description',
  'default',
  'enum',
  'format',
  'pattern',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'maxProperties',
  'required',
  'properties',
  'additionalProperties',
  'items',
  'x-kubernetes-validations',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
]);
const types = ['object', 'array', 'string', 'integer', 'boolean'];
const formats = ['date-time', 'int32', 'int64'];

/** Every node below with its path. */
export function nodesOf(schema: SchemaNode, path = ''): { path: string; node: SchemaNode }[] {
  return [
    { path, node: schema },
    ...Object.entries(schema.properties ?? {}).flatMap(([name, child]) => nodesOf(child, `${path}.${name}`)),
    ...(schema.items ? nodesOf(schema.items, `${path}[]`) : []),
    ...(schema.additionalProperties ? nodesOf(schema.additionalProperties, `${path}.*`) : []),
  ];
}

/** What an API server would refuse in the schema itself. */
export function structuralProblems(schema: SchemaNode): string[] {
  return nodesOf(schema).flatMap(({ path, node }) => problemsOfNode(node).map((problem) => `${path}: ${problem}`));
}

function problemsOfNode(node: SchemaNode): string[] {
  const problems = Object.keys(node)
    .filter((key) => !keywords.has(key))
    .map((key) => `keyword ${key}`);
  if (!types.includes(node.type)) problems.push(`type ${node.type}`);
  if (node.format !== undefined && !formats.includes(String(node.format)))
    problems.push(`format ${String(node.format)}`);
  if (node.type === 'array' && node.items === undefined) problems.push('a list without items');
  if (node.properties && node.additionalProperties) problems.push('properties beside additionalProperties');
  const required = (node.required ?? []) as readonly string[];
  problems.push(
    ...required
      .filter((name) => node.properties?.[name] === undefined)
      .map((name) => `required ${name} is no property`),
  );
  if (node['x-kubernetes-list-type'] === 'set' && node.items?.type !== 'string')
    problems.push('a set of other than scalars');
  if (node['x-kubernetes-list-type'] === 'map') {
    const keys = node['x-kubernetes-list-map-keys'] as readonly string[];
    const named = (node.items?.required ?? []) as readonly string[];
    problems.push(...keys.filter((key) => !named.includes(key)).map((key) => `map key ${key} is not required`));
  }
  if (typeof node.pattern === 'string' && !compiles(node.pattern)) problems.push(`pattern ${node.pattern}`);
  if (node.default !== undefined)
    problems.push(...misfits(node, node.default).map((misfit) => `its default ${misfit}`));
  for (const { rule, message } of (node['x-kubernetes-validations'] ?? []) as readonly {
    rule: string;
    message: string;
  }[]) {
    if (!hasShapeOfCel(rule) || message === '') problems.push(`rule ${rule}`);
  }
  return problems;
}

// RE2 knows neither look-arounds nor back references.
function compiles(pattern: string): boolean {
  if (/\(\?[=!<]|\\[1-9]/.test(pattern)) return false;
  return new RegExp(pattern) instanceof RegExp;
}

/** Balanced brackets, closed quotes, and about the value that it stands at. */
function hasShapeOfCel(rule: string): boolean {
  const bare = rule.replace(/'[^']*'/g, "''");
  const closers: Record<string, string> = { '(': ')', '[': ']', '{': '}' };
  const open: string[] = [];
  for (const character of bare) {
    if (closers[character]) open.push(closers[character]);
    else if (')]}'.includes(character) && open.pop() !== character) return false;
  }
  return open.length === 0 && (bare.match(/'/g) ?? []).length % 2 === 0 && /\bself\b/.test(bare);
}

/** The value with the defaults that an API server fills in, and without the nulls that it drops before. */
export function withDefaults(schema: SchemaNode, value: unknown): unknown {
  if (Array.isArray(value))
    return schema.items ? value.map((item) => withDefaults(schema.items as SchemaNode, item)) : value;
  if (!isRecord(value)) return value;
  const filled = Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
  if (!schema.properties) return filled;
  for (const [name, child] of Object.entries(schema.properties)) {
    if (filled[name] === undefined && child.default !== undefined) filled[name] = structuredClone(child.default);
    if (filled[name] !== undefined) filled[name] = withDefaults(child, filled[name]);
  }
  return filled;
}

/** What does not fit, by path. CEL rules are not evaluated. */
export function misfits(schema: SchemaNode, value: unknown, path = ''): string[] {
  const at = path || 'value';
  if (typeOf(value) !== schema.type) return [`${at} is no ${schema.type}`];
  const found: string[] = [];
  if (Array.isArray(schema.enum) && !schema.enum.includes(value)) found.push(`${at} is not in the enum`);
  if (typeof value === 'string') {
    if (typeof schema.pattern === 'string' && !new RegExp(schema.pattern).test(value))
      found.push(`${at} does not match`);
    if (outside([...value].length, schema.minLength, schema.maxLength)) found.push(`${at} has a wrong length`);
  }
  if (typeof value === 'number' && outside(value, schema.minimum, schema.maximum)) found.push(`${at} is out of range`);
  if (Array.isArray(value)) {
    if (outside(value.length, schema.minItems, schema.maxItems)) found.push(`${at} has a wrong number of items`);
    if (schema['x-kubernetes-list-type'] === 'set' && new Set(value).size < value.length)
      found.push(`${at} repeats an item`);
    if (schema.items)
      found.push(...value.flatMap((item, index) => misfits(schema.items as SchemaNode, item, `${path}[${index}]`)));
  }
  if (isRecord(value)) {
    const required = (schema.required ?? []) as readonly string[];
    if (outside(Object.keys(value).length, undefined, schema.maxProperties)) found.push(`${at} has too many entries`);
    found.push(...required.filter((name) => value[name] === undefined).map((name) => `${path}.${name} is missing`));
    for (const [name, member] of Object.entries(value)) {
      const child = schema.properties?.[name] ?? schema.additionalProperties;
      if (child) found.push(...misfits(child, member, `${path}.${name}`));
    }
  }
  return found;
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return value === null ? 'null' : typeof value;
}

const outside = (size: number, least: unknown, most: unknown): boolean =>
  (typeof least === 'number' && size < least) || (typeof most === 'number' && size > most);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
