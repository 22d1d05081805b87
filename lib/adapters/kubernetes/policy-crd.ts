/**
 * The CustomResourceDefinition of RotationPolicy, made from the schema by which policies are read.
 *
 * The API server takes a structural schema only: every node typed, nothing that JSON Schema has beyond it. Every text,
 * list and map of the spec is bounded, because the cost of the CEL rules is estimated from these bounds.
 */
import * as z from 'zod';
import { longestText, mostItems, specSchema } from './policy-schema.ts';
import { statusSchema } from './policy-status-schema.ts';
import { resources } from './resources.ts';

/** A node of a structural schema. */
export interface SchemaNode {
  readonly type: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode;
  readonly items?: SchemaNode;
  readonly [key: string]: unknown;
}

/** @design D2-01 */
export function policyCrd() {
  const { apiVersion, plural } = resources.rotationPolicies;
  const [group, version] = apiVersion.split('/') as [string, string];
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { 'app.kubernetes.io/name': 'node-rotation' } },
    spec: {
      group,
      scope: 'Cluster',
      names: {
        kind: 'RotationPolicy',
        listKind: 'RotationPolicyList',
        plural,
        singular: 'rotationpolicy',
        shortNames: ['rotpol'],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: printerColumns,
          schema: { openAPIV3Schema: rootSchema() },
        },
      ],
    },
  };
}

const condition = (type: string): string => `.status.conditions[?(@.type=="${type}")].status`;

const printerColumns = [
  { name: 'Mode', type: 'string', jsonPath: '.spec.mode', description: 'Observe starts nothing.' },
  { name: 'Ready', type: 'string', jsonPath: condition('Ready'), description: 'The policy can be read and governs.' },
  {
    name: 'Feasible',
    type: 'string',
    jsonPath: condition('Feasible'),
    description: 'Its windows leave time to rotate.',
  },
  { name: 'Pools', type: 'integer', jsonPath: '.status.matchedNodePools', description: 'NodePools that it governs.' },
  {
    name: 'Rotating',
    type: 'integer',
    jsonPath: '.status.rotatingNodePools',
    description: 'NodePools with a rotation in flight.',
  },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
];

const rootSchema = (): SchemaNode => ({
  type: 'object',
  description: 'When and how the nodes of the NodePools it selects are replaced, before their expiry forces them out.',
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: bounded({ description: 'What its owner wants.', ...structural(z.toJSONSchema(specSchema, options)) }),
    status: structural(z.toJSONSchema(statusSchema, options)),
  },
});

const options = { io: 'input', target: 'openapi-3.0' } as const;

type JsonSchema = Readonly<Record<string, unknown>>;

/** The same schema without what a structural one may not hold, its keys in one order. */
function structural(node: JsonSchema): SchemaNode {
  const {
    $schema,
    propertyNames,
    type,
    description,
    default: fallback,
    required,
    properties,
    items,
    additionalProperties,
    ...others
  } = node;
  const values = others.enum;
  return {
    type: type === 'number' && Array.isArray(values) && values.every(Number.isInteger) ? 'integer' : String(type),
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
    ...withoutSafeIntegers(others),
    ...(required === undefined ? {} : { required }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties as Record<string, JsonSchema>).map(([name, child]) => [name, structural(child)]),
          ),
        }),
    ...(isSchema(additionalProperties) ? { additionalProperties: structural(additionalProperties) } : {}),
    ...(isSchema(items) ? { items: structural(items) } : {}),
  };
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

/** JavaScript's own limits of whole numbers say nothing here; a slash needs no escape outside of JavaScript. */
function withoutSafeIntegers(node: JsonSchema): JsonSchema {
  const entries = Object.entries(node).filter(
    ([, value]) => typeof value !== 'number' || Math.abs(value) < Number.MAX_SAFE_INTEGER,
  );
  return Object.fromEntries(
    entries.map(([key, value]) => [key, key === 'pattern' ? String(value).replaceAll('\\/', '/') : value]),
  );
}

/** Limits where the schema names none: for the server's estimate of costs, wide enough to be in nobody's way. */
function bounded(node: SchemaNode): SchemaNode {
  const { properties, additionalProperties, items } = node;
  const limit =
    node.type === 'string' && node.enum === undefined
      ? { maxLength: node.maxLength ?? longestText }
      : node.type === 'array'
        ? { maxItems: node.maxItems ?? mostItems }
        : additionalProperties === undefined
          ? {}
          : { maxProperties: node.maxProperties ?? mostItems };
  return {
    ...node,
    ...limit,
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, bounded(child)])) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: bounded(additionalProperties) }),
    ...(items === undefined ? {} : { items: bounded(items) }),
  };
}
