/**
 * The generated CRD: equal to the file that is applied, acceptable to an API server, and of one mind with the decoder.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SchemaNode } from '../../lib/adapters/kubernetes/policy-crd.ts';
import { policyCrd } from '../../lib/adapters/kubernetes/policy-crd.ts';
import { readPolicy } from '../../lib/adapters/kubernetes/policy-document.ts';
import { crdFile } from '../../lib/cli/crd-file.ts';
import { misfits, nodesOf, structuralProblems, withDefaults } from '../support/structural-schema.ts';

const crd = policyCrd();
const [version] = crd.spec.versions;
const root = version?.schema.openAPIV3Schema as SchemaNode;
const spec = root.properties?.spec as SchemaNode;

const window = { timezone: 'Asia/Tokyo', days: ['Wed', 'Sat'], start: '02:00', end: '06:00' };
const minimal = { nodePoolSelector: {}, maintenanceWindows: [window] };
const policy = (of: unknown) =>
  readPolicy({ apiVersion: 'noderotation.io/v1alpha1', kind: 'RotationPolicy', metadata: { name: 'api' }, spec: of });

test('the file in infra/kubernetes is what the schema generates; npm run generate:crd makes it so (D2-01)', () => {
  const file = join(import.meta.dirname, '../../infra/kubernetes/crd-rotationpolicy.yaml');
  expect(readFileSync(file, 'utf8')).toBe(crdFile());
});

test('the CRD is cluster-scoped, called rotpol, with a status of its own and columns that say how it stands (D2-01)', () => {
  const { group, scope, names } = crd.spec;
  expect({
    name: crd.metadata.name,
    group,
    scope,
    shortNames: names.shortNames,
    version: version?.name,
    subresources: version?.subresources,
  }).toEqual({
    name: 'rotationpolicies.noderotation.io',
    group: 'noderotation.io',
    scope: 'Cluster',
    shortNames: ['rotpol'],
    version: 'v1alpha1',
    subresources: { status: {} },
  });
  expect(version?.additionalPrinterColumns.map(({ name }) => name)).toEqual([
    'Mode',
    'Ready',
    'Feasible',
    'Pools',
    'Rotating',
    'Age',
  ]);
});

describe('the schema', () => {
  test('is structural: every node typed, no keyword that the API server refuses, defaults valid, rules well-formed (D2-01)', () => {
    expect(nodesOf(root).length).toBeGreaterThan(60);
    expect(structuralProblems(root)).toEqual([]);
  });

  test.each<[string, SchemaNode]>([
    ['an untyped node', { type: 'object', properties: { a: {} as SchemaNode } }],
    ['a keyword of JSON Schema', { type: 'string', const: 'x' }],
    ['a list of anything', { type: 'array' }],
    ['a default that does not fit', { type: 'string', default: 'x', enum: ['y'] }],
    ['a look-ahead', { type: 'string', pattern: '^(?!x)' }],
    [
      'a rule that is never closed',
      { type: 'string', 'x-kubernetes-validations': [{ rule: "size(self > 'x'", message: 'no' }] },
    ],
    ['a rule about nothing', { type: 'string', 'x-kubernetes-validations': [{ rule: '1 == 1', message: 'no' }] }],
  ])('would be refused with %s (D2-01)', (_, node) => {
    expect(structuralProblems(node)).not.toEqual([]);
  });

  test('bounds every text, list and map of the spec, so that the cost of each rule is bounded (D2-01)', () => {
    const unbounded = nodesOf(spec).filter(({ node }) => {
      if (node.type === 'string') return node.enum === undefined && node.maxLength === undefined;
      if (node.type === 'array') return node.maxItems === undefined;
      return node.additionalProperties !== undefined && node.maxProperties === undefined;
    });
    expect(unbounded.map(({ path }) => path)).toEqual([]);
  });

  test('describes every field that a person writes (D2-01)', () => {
    const silent = nodesOf(spec).filter(
      ({ path, node }) => !path.endsWith('[]') && !path.endsWith('.*') && node.description === undefined,
    );
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  test('says in CEL what no pattern can: end and start differ, durations are positive, an exclusion does not end before it begins (D2-01)', () => {
    const rules = nodesOf(spec).flatMap(({ path, node }) => {
      const found = (node['x-kubernetes-validations'] ?? []) as { rule: string }[];
      return found.map(({ rule }) => `${path}: ${rule}`);
    });
    const positive = "duration(self) > duration('0s')";
    expect(rules).toEqual(
      expect.arrayContaining([
        '.maintenanceWindows[]: self.start != self.end',
        '.exclusions[]: self.from <= self.to',
        `.surge.readyTimeout: ${positive}`,
        `.surge.failurePause: ${positive}`,
        `.surge.retryBackoff: ${positive}`,
        `.surge.provisioningEstimate: ${positive}`,
        `.surge.drainEstimate: ${positive}`,
      ]),
    );
    // Cooldown may be nothing at all.
    expect(rules.some((rule) => rule.startsWith('.surge.cooldownAfter'))).toBe(false);
  });

  test('refuses an empty list of windows and K below 1, which the decoder lets through as values (D4-01, D2-01)', () => {
    expect(misfits(spec, { nodePoolSelector: {}, maintenanceWindows: [], minRotationChances: 0 })).toEqual([
      '.maintenanceWindows has a wrong number of items',
      '.minRotationChances is out of range',
    ]);
    expect(policy({ nodePoolSelector: {}, maintenanceWindows: [], minRotationChances: 0 }).valid).toBe(true);
  });
});

describe('the defaults of the API server', () => {
  test.each<[string, Record<string, unknown>]>([
    ['a minimal policy', minimal],
    ['an empty surge', { ...minimal, surge: {} }],
    ['an empty matchNodeRequirements', { ...minimal, surge: { matchNodeRequirements: {}, forcefulFallback: {} } }],
    ['keys that are deliberately none', { ...minimal, surge: { matchNodeRequirements: { required: [] } } }],
    [
      'a selector with expressions',
      { ...minimal, nodePoolSelector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } },
    ],
    ['a cooldown longer than 10m', { ...minimal, surge: { cooldownAfter: '20m', readyTimeout: '3m' } }],
  ])('are those of the decoder for %s (D2-01)', (_, written) => {
    const stored = withDefaults(spec, written);
    expect(misfits(spec, stored)).toEqual([]);
    expect(policy(written).valid).toBe(true);
    expect(policy(stored)).toEqual(policy(written));
  });

  test('are filled in at every level (D2-01)', () => {
    expect(withDefaults(spec, minimal)).toEqual({
      nodePoolSelector: { matchLabels: {}, matchExpressions: [] },
      mode: 'Rotate',
      ageThreshold: 'auto',
      minRotationChances: 2,
      maintenanceWindows: [window],
      exclusions: [],
      surge: {
        maxUnavailable: 1,
        readyTimeout: '15m',
        cooldownAfter: '10m',
        retryBackoff: '30m',
        wholeNodeReservation: false,
        matchNodeRequirements: {
          required: ['topology.kubernetes.io/zone', 'kubernetes.io/arch', 'karpenter.sh/capacity-type'],
          preferred: [],
        },
        forcefulFallback: { enabled: false },
        deferBlockedDrains: false,
      },
    });
  });
});

describe('the schema and the decoder agree', () => {
  test.each<[string, Record<string, unknown>]>([
    ['an unknown mode', { mode: 'Off' }],
    ['a day that is none', { maintenanceWindows: [{ ...window, days: ['Funday'] }] }],
    ['no days', { maintenanceWindows: [{ ...window, days: [] }] }],
    ['a start at 24:00', { maintenanceWindows: [{ ...window, start: '24:00' }] }],
    ['a time of one digit', { maintenanceWindows: [{ ...window, start: '2:00' }] }],
    ['a duration in days', { surge: { readyTimeout: '1d' } }],
    ['a duration without unit', { surge: { cooldownAfter: '10' } }],
    ['two at once', { surge: { maxUnavailable: 2 } }],
    [
      'a reason that is too long',
      { exclusions: [{ timezone: 'UTC', from: '2026-01-01', to: '2026-01-01', reason: 'x'.repeat(201) }] },
    ],
    ['a key that is none', { surge: { matchNodeRequirements: { required: ['a b'] } } }],
    ['a threshold that is none', { ageThreshold: 'soon' }],
    [
      'an operator that is none',
      { nodePoolSelector: { matchExpressions: [{ key: 'a', operator: 'Is', values: ['b'] }] } },
    ],
  ])('about %s: both refuse it (D2-01, D2-04)', (_, over) => {
    const written = { ...minimal, ...over };
    expect(misfits(spec, withDefaults(spec, written))).not.toEqual([]);
    expect(policy(written).valid).toBe(false);
  });
});
