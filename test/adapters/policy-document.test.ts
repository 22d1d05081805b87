import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readPolicy } from '../../lib/adapters/kubernetes/policy-document.ts';
import { specSchema } from '../../lib/adapters/kubernetes/policy-schema.ts';
import type { PolicyReading, RotationPolicy } from '../../lib/domain/policy/rotation-policy.ts';
import { hours, minutes } from '../../lib/domain/time.ts';
import { at } from '../support/builders.ts';
import {
  fullSpec,
  minimalSpec,
  validSpecs,
  valuesForFindings,
  type WrongSpec,
  window,
  wrongAmounts,
  wrongExclusions,
  wrongFields,
  wrongKeys,
  wrongSelectors,
  wrongSurges,
  wrongWindows,
} from '../support/policy-specs.ts';

const document = (spec: object = {}, over: object = {}): unknown => ({
  apiVersion: 'noderotation.io/v1alpha1',
  kind: 'RotationPolicy',
  metadata: { name: 'api', uid: 'u', resourceVersion: '7', generation: 3, creationTimestamp: '2026-06-01T00:00:00Z' },
  spec: { ...minimalSpec, ...spec },
  ...over,
});

function policyOf(json: unknown): RotationPolicy {
  const reading = readPolicy(json);
  if (!reading.valid) throw new Error(JSON.stringify(reading.problems));
  return reading.policy;
}
const invalid = (json: unknown): Extract<PolicyReading, { valid: false }> => {
  const reading = readPolicy(json);
  if (reading.valid) throw new Error('valid');
  return reading;
};
const paths = (json: unknown): string[] => {
  const reading = readPolicy(json);
  return reading.valid ? [] : reading.problems.map(({ path }) => path);
};
const problemOf = (json: unknown): string =>
  invalid(json)
    .problems.map(({ path, problem }) => `${path} ${problem}`)
    .join('; ');

describe('a policy with its defaults applied (D2-01)', () => {
  it('the least that one can say (D2-01)', () => {
    expect(readPolicy(document())).toEqual({
      valid: true,
      policy: {
        meta: {
          name: 'api',
          uid: 'u',
          resourceVersion: '7',
          created: at('2026-06-01T00:00:00Z'),
          deleting: false,
          labels: {},
          annotations: {},
          finalizers: [],
        },
        generation: 3,
        nodePoolSelector: { matchLabels: { workload: 'api' }, matchExpressions: [] },
        mode: 'Rotate',
        ageThreshold: 'auto',
        minRotationChances: 2,
        windows: [{ timezone: 'Asia/Tokyo', days: ['Wed', 'Sat'], start: 120, end: 360 }],
        exclusions: [],
        surge: {
          maxUnavailable: 1,
          readyTimeout: minutes(15),
          cooldownAfter: minutes(10),
          failurePause: minutes(10),
          retryBackoff: minutes(30),
          provisioningEstimate: minutes(5),
          wholeNodeReservation: false,
          matchNodeRequirements: {
            required: ['topology.kubernetes.io/zone', 'kubernetes.io/arch', 'karpenter.sh/capacity-type'],
            preferred: [],
          },
          forcefulFallback: false,
          deferBlockedDrains: false,
        },
      },
    });
  });

  it('everything said is kept (D2-01)', () => {
    const policy = policyOf(document(fullSpec));
    expect(policy).toMatchObject({
      mode: 'Observe',
      ageThreshold: hours(240),
      minRotationChances: 3,
      nodePoolSelector: fullSpec.nodePoolSelector,
      windows: [
        { start: 120, end: 360 },
        { start: 1320, end: 1440 },
      ],
      exclusions: [{ timezone: 'Asia/Tokyo', from: '2026-12-29', to: '2027-01-04', reason: 'year end' }],
      surge: {
        maxUnavailable: 1,
        readyTimeout: minutes(90),
        cooldownAfter: 0,
        failurePause: minutes(1),
        retryBackoff: 500,
        provisioningEstimate: hours(2),
        drainEstimate: hours(3),
        wholeNodeReservation: true,
        matchNodeRequirements: { required: [], preferred: ['kubernetes.io/arch'] },
        forcefulFallback: true,
        deferBlockedDrains: true,
      },
    });
  });

  it.each([
    [{ cooldownAfter: '9m' }, { failurePause: minutes(10) }],
    [{ cooldownAfter: '20m' }, { failurePause: minutes(20) }],
    [{ readyTimeout: '3m' }, { provisioningEstimate: minutes(3) }],
    [{ readyTimeout: '5m1s' }, { provisioningEstimate: minutes(5) }],
    [null, { readyTimeout: minutes(15) }],
    [{ readyTimeout: null, matchNodeRequirements: null }, { readyTimeout: minutes(15) }],
  ])('defaults that depend on others, and nulls: %j (D2-01, R3.2-15)', (surge, expected) => {
    expect(policyOf(document({ surge })).surge).toMatchObject(expected);
  });

  it('K below one and an empty list of windows are values, not problems (D4-01)', () => {
    expect(policyOf(document({ minRotationChances: 0, maintenanceWindows: [] }))).toMatchObject({
      minRotationChances: 0,
      windows: [],
    });
    expect(policyOf(document({ minRotationChances: -3 })).minRotationChances).toBe(-3);
  });

  it.each([
    ['02:00', '01:00', { start: 120, end: 60 }],
    ['22:00', '24:00', { start: 1320, end: 1440 }],
    ['22:00', '00:00', { start: 1320, end: 1440 }],
    ['00:00', '24:00', { start: 0, end: 1440 }],
    ['23:59', '00:01', { start: 1439, end: 1 }],
  ])('a window from %s to %s (D3-02, PR-73, PR-74)', (start, end, expected) => {
    expect(policyOf(document({ maintenanceWindows: [{ ...window, start, end }] })).windows[0]).toMatchObject(expected);
  });

  it('a field that the schema does not know is ignored, as the API server prunes it (D2-03)', () => {
    expect(readPolicy(document({ future: 1 })).valid).toBe(true);
  });
});

describe('fields that no policy has (D2-03)', () => {
  it('are named with their paths, the outermost only, wherever they are (D2-03)', () => {
    const json = document(
      {
        future: null,
        nodePoolSelector: { matchLabels: { workload: 'api' }, matchLabel: {}, matchExpressions: [] },
        maintenanceWindows: [window, { ...window, timeZone: 'UTC' }],
        exclusions: [{ timezone: 'UTC', from: '2026-12-29', to: '2027-01-04', until: { year: 2027 } }],
        surge: { readyTimout: '15m', matchNodeRequirements: { requires: [] }, forcefulFallback: { enable: true } },
      },
      { spek: {}, status: { anything: 1 }, metadata: { name: 'api', managedFields: [] } },
    );
    const reading = readPolicy(json);
    expect(reading.valid).toBe(true);
    expect(reading.unknownFields).toEqual([
      'spec.nodePoolSelector.matchLabel',
      'spec.maintenanceWindows[1].timeZone',
      'spec.future',
      'spec.exclusions[0].until',
      'spec.surge.readyTimout',
      'spec.surge.matchNodeRequirements.requires',
      'spec.surge.forcefulFallback.enable',
      'spek',
    ]);
  });

  it('are named beside the problems of an invalid policy (D2-03)', () => {
    const reading = readPolicy(document({ mode: 'Go', maintenanceWindow: [window], surge: { x: 1 } }));
    expect(reading).toMatchObject({ valid: false, unknownFields: ['spec.maintenanceWindow', 'spec.surge.x'] });
  });

  it.each([
    ['labels are free', { nodePoolSelector: { matchLabels: { any: 'x' } } }],
    ['every field said', { mode: 'Rotate', exclusions: [], surge: { drainEstimate: '10m', failurePause: '10m' } }],
    ['parts of the wrong shape have their problem', { surge: [{ x: 1 }], exclusions: { x: 1 }, maintenanceWindows: 7 }],
  ])('do not include what there is: %s (D2-03)', (_, spec) => {
    expect('unknownFields' in readPolicy(document(spec))).toBe(false);
  });

  it('include names of JavaScript’s own machinery (D2-03)', () => {
    const spec = JSON.parse('{"constructor": 1, "__proto__": {"x": 1}, "toString": 2}');
    expect(readPolicy(document({}, { spec })).unknownFields).toEqual([
      'spec.constructor',
      'spec.__proto__',
      'spec.toString',
    ]);
  });
});

describe('problems of single fields (D2-03, D2-04)', () => {
  /** The document as it comes over the wire. */
  const sent = ({ spec }: WrongSpec): unknown => document({}, { spec: JSON.parse(JSON.stringify(spec)) });
  const wrong = (row: WrongSpec): void => {
    expect(paths(sent(row))).toEqual(row.paths);
    expect(problemOf(sent(row))).toContain(row.shown);
  };

  it.each(wrongWindows)('$what (D2-04, PR-74, PR-80, PR-81)', wrong);
  it.each(wrongExclusions)('$what (D2-04, D3-06)', wrong);
  it.each(wrongSurges)('$what (D2-02, D2-03, PR-119)', wrong);
  it.each(wrongFields)('$what (D2-03)', wrong);
  it.each(wrongKeys)('$what (D2-05)', wrong);
  it.each(wrongAmounts)('$what (D2-01, D2-03)', wrong);
  it.each(wrongSelectors)('$what: the policy governs nothing (D2-09)', (row) => {
    wrong(row);
    expect('nodePoolSelector' in invalid(sent(row))).toBe(false);
  });

  it.each(validSpecs)('there are none in %s (D2-03, D2-05)', (_, spec) => {
    expect(paths(document({}, { spec }))).toEqual([]);
  });

  it.each(valuesForFindings)('$what is none: there is a finding for it (D4-01)', ({ spec }) => {
    expect(paths(document({}, { spec }))).toEqual([]);
  });

  it('an explicit ageThreshold of zero is a value that gets its finding (D4-03)', () => {
    expect(policyOf(document({ ageThreshold: '0s' })).ageThreshold).toBe(0);
  });
});

describe('the selector (D2-06, D2-09)', () => {
  const selecting = (nodePoolSelector: unknown): unknown => document({ nodePoolSelector });
  const expression = { key: 'tier', operator: 'In', values: ['a'] };

  it('an empty one matches every pool and is valid (D2-06)', () => {
    expect(policyOf(selecting({})).nodePoolSelector).toEqual({ matchLabels: {}, matchExpressions: [] });
  });

  it('expressions without values get an empty list (D2-06)', () => {
    const { nodePoolSelector } = policyOf(
      selecting({ matchExpressions: [expression, { key: 'x', operator: 'Exists' }] }),
    );
    expect(nodePoolSelector.matchExpressions).toEqual([expression, { key: 'x', operator: 'Exists', values: [] }]);
  });

  it('one with a label without a value is refused: the API server drops the label in silence (D2-09)', () => {
    const json = selecting({ matchLabels: { workload: null, tier: 'a' } });
    expect(problemOf(json)).toBe(
      'spec.nodePoolSelector.matchLabels.workload must have a value ("" for an empty one), not null',
    );
    expect('nodePoolSelector' in invalid(json)).toBe(false);
  });

  it('a readable one is kept by an otherwise invalid policy (D2-06)', () => {
    expect(invalid(document({ mode: 'Go' })).nodePoolSelector).toEqual({
      matchLabels: { workload: 'api' },
      matchExpressions: [],
    });
  });
});

describe('every problem at once, and never a crash (D2-03)', () => {
  it('all are named with path and value (D2-03)', () => {
    const json = document({
      mode: 'Go',
      minRotationChances: 'two',
      maintenanceWindows: [{ timezone: 4, days: ['Wed', 'x'], start: '02:00', end: '02:00' }, 7],
      exclusions: [{ timezone: '+01:00', from: '2026-02-02', to: '2026-02-01', reason: 5 }],
      surge: { readyTimeout: '0s', retryBackoff: 'soon' },
    });
    expect(paths(json).sort()).toEqual([
      'spec.exclusions[0].reason',
      'spec.exclusions[0].timezone',
      'spec.exclusions[0].to',
      'spec.maintenanceWindows[0].days[1]',
      'spec.maintenanceWindows[0].end',
      'spec.maintenanceWindows[0].timezone',
      'spec.maintenanceWindows[1]',
      'spec.minRotationChances',
      'spec.mode',
      'spec.surge.readyTimeout',
      'spec.surge.retryBackoff',
    ]);
    expect(invalid(json)).toMatchObject({ meta: { name: 'api', uid: 'u' }, generation: 3 });
  });

  it.each([
    [null],
    [undefined],
    [7],
    ['text'],
    [[]],
    [{}],
    [{ spec: null }],
    [{ metadata: 5, spec: 5 }],
    [{ metadata: { name: 5 } }],
    [{ spec: [] }],
  ])('%j is refused with a name for what is wrong (D2-03)', (json) => {
    const reading = invalid(json);
    expect(reading.problems.length).toBeGreaterThan(0);
    expect(reading.meta.name).toBe('');
    expect('nodePoolSelector' in reading).toBe(false);
  });

  it('a file that was never applied has neither uid nor version (D13-01)', () => {
    expect(policyOf(document({}, { metadata: { name: 'api' } }))).toMatchObject({
      generation: 0,
      meta: { name: 'api', uid: '', resourceVersion: '' },
    });
  });

  it('metadata that cannot be read is a problem: a hold in it must not be overlooked (D5-06, D5-07)', () => {
    expect(paths(document({}, { metadata: { name: 'api', annotations: 'frozen' } }))).toEqual(['metadata.annotations']);
    const odd = policyOf(document({}, { metadata: { name: 'api', annotations: { 'noderotation.io/freeze': 2027 } } }));
    expect(odd.meta.annotations).toEqual({ 'noderotation.io/freeze': '2027' });
  });

  it('another version of the API is not guessed at (D5-06)', () => {
    expect(paths(document({}, { apiVersion: 'noderotation.io/v2' }))).toEqual(['apiVersion']);
  });

  it('a very long value is cut in the message (D2-03)', () => {
    expect(problemOf(document({ mode: 'x'.repeat(5_000) })).length).toBeLessThan(400);
  });
});

describe('the schema as the source of the CRD (D2-01)', () => {
  const json = z.toJSONSchema(specSchema, { io: 'input' }) as {
    properties: Record<string, Record<string, unknown>>;
    required: string[];
  };

  it('states what is required, the defaults, and the bounds that only the CRD has (D2-01, D4-01)', () => {
    expect(json.required).toEqual(['nodePoolSelector', 'maintenanceWindows']);
    expect(json.properties.minRotationChances).toMatchObject({ type: 'integer', minimum: 1, default: 2 });
    expect(json.properties.maintenanceWindows).toMatchObject({ minItems: 1 });
    expect(json.properties.mode).toMatchObject({ enum: ['Rotate', 'Observe'], default: 'Rotate' });
  });

  it('describes every field of the first level, and carries the rules across fields (D2-01)', () => {
    for (const [name, property] of Object.entries(json.properties))
      expect(property.description, name).toBeTypeOf('string');
    expect(json.properties.maintenanceWindows?.items).toMatchObject({
      'x-kubernetes-validations': [{ rule: 'self.start != self.end' }],
    });
  });

  it('a policy of the defaults it states reads like one that leaves them out (D2-01)', () => {
    const stated = Object.fromEntries(
      Object.entries(json.properties).flatMap(([name, { default: value }]) =>
        value === undefined ? [] : [[name, value]],
      ),
    );
    expect(policyOf(document(stated))).toEqual(policyOf(document()));
    expect(Object.keys(stated)).toContain('surge');
  });
});
