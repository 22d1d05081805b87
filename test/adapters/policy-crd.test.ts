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
import { minimalSpec, validSpecs, valuesForFindings, window, wrongSpecs } from '../support/policy-specs.ts';
import { misfits, nodesOf, structuralProblems, withDefaults } from '../support/structural-schema.ts';

const crd = policyCrd();
const [version] = crd.spec.versions;
const root = version?.schema.openAPIV3Schema as SchemaNode;
const spec = root.properties?.spec as SchemaNode;

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

  test.each(valuesForFindings)('refuses $what, which the decoder lets through as a value (D4-01, D2-01)', (row) => {
    expect(misfits(spec, row.spec).map((misfit) => misfit.split(' ')[0])).toEqual([row.path.replace(/^spec/, '')]);
    expect(policy(row.spec).valid).toBe(true);
  });
});

describe('the defaults of the API server', () => {
  test.each(validSpecs)('are those of the decoder for %s (D2-01)', (_, written) => {
    const stored = withDefaults(spec, written);
    expect(misfits(spec, stored)).toEqual([]);
    expect(policy(written).valid).toBe(true);
    expect(policy(stored)).toEqual(policy(written));
  });

  test('are filled in at every level (D2-01)', () => {
    expect(withDefaults(spec, minimalSpec)).toEqual({
      nodePoolSelector: { matchLabels: { workload: 'api' }, matchExpressions: [] },
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
  test.each(wrongSpecs)('about $what, as far as a schema can tell (D2-01, D2-04)', ({ spec: given, stoppedBy }) => {
    const written = JSON.parse(JSON.stringify(given));
    expect(misfits(spec, withDefaults(spec, written)).length > 0).toBe(stoppedBy === 'schema');
    expect(policy(written).valid).toBe(false);
  });
});
