/**
 * What people write into the spec of a policy, right and wrong: one list for the decoder, the CRD and a real API server.
 *
 * A wrong spec is stopped by one of three: the structural schema, a rule of it in CEL, or only by whoever reads the
 * policy. What just the API server refuses stands apart: the decoder takes it as a value.
 */
export type Spec = Readonly<Record<string, unknown>>;

export interface WrongSpec {
  readonly what: string;
  readonly spec: Spec;
  /** Where the decoder sees the problems. */
  readonly paths: readonly string[];
  /** What its words show of the value. */
  readonly shown: string;
  /** The first of the three that stops it. */
  readonly stoppedBy: 'schema' | 'rule' | 'reader';
  /** Where the API server sees the problems, if elsewhere. */
  readonly serverPaths?: readonly string[];
}

export const window = { timezone: 'Asia/Tokyo', days: ['Wed', 'Sat'], start: '02:00', end: '06:00' };
/** The least that one can say. */
export const minimalSpec = { nodePoolSelector: { matchLabels: { workload: 'api' } }, maintenanceWindows: [window] };

type Stop = WrongSpec['stoppedBy'];

const inWindow = (over: object): Spec => ({ ...minimalSpec, maintenanceWindows: [window, { ...window, ...over }] });
const windowRows: readonly [string, Spec, string, string, Stop, string?][] = [
  ['an unknown zone', { timezone: 'Asia/Tokio' }, 'timezone', '"Asia/Tokio"', 'reader'],
  ['an offset', { timezone: '+09:00' }, 'timezone', '"+09:00"', 'reader'],
  ['no zone', { timezone: undefined }, 'timezone', 'required', 'schema'],
  ['an empty zone', { timezone: '' }, 'timezone', '""', 'schema'],
  ['no days', { days: [] }, 'days', '[]', 'schema'],
  ['missing days', { days: undefined }, 'days', 'required', 'schema'],
  ['an unknown day', { days: ['Wedn'] }, 'days[0]', '"Wedn"', 'schema'],
  ['24:01', { end: '24:01' }, 'end', '"24:01"', 'schema'],
  ['7:5', { start: '7:5' }, 'start', '"7:5"', 'schema'],
  ['a time of one digit', { start: '2:00' }, 'start', '"2:00"', 'schema'],
  ['25:00', { end: '25:00' }, 'end', '"25:00"', 'schema'],
  ['24:00 as a start', { start: '24:00' }, 'start', '"24:00"', 'schema'],
  ['seconds', { start: '02:00:00' }, 'start', '"02:00:00"', 'schema'],
  ['an unquoted time, which YAML reads as a number', { start: 120 }, 'start', '120', 'schema'],
  ['an end equal to the start', { end: '02:00' }, 'end', '"02:00"', 'rule', 'spec.maintenanceWindows[1]'],
];
export const wrongWindows: readonly WrongSpec[] = windowRows.map(([what, over, field, shown, stoppedBy, server]) => ({
  what: `a window with ${what}`,
  spec: inWindow(over),
  paths: [`spec.maintenanceWindows[1].${field}`],
  shown,
  stoppedBy,
  ...(server === undefined ? {} : { serverPaths: [server] }),
}));

const exclusionRows: readonly [string, Spec, string, string, Stop, string?][] = [
  ['a day that does not exist', { from: '2026-02-30', to: '2026-03-01' }, 'from', '"2026-02-30"', 'reader'],
  ['the wrong order', { from: '2026-03-02', to: '2026-03-01' }, 'to', '"2026-03-01"', 'rule', 'spec.exclusions[0]'],
  ['another form', { from: '1 March', to: '2026-03-01' }, 'from', '"1 March"', 'schema'],
  ['an unknown zone', { timezone: 'Mars/Base' }, 'timezone', '"Mars/Base"', 'reader'],
  ['a reason that is too long', { reason: 'x'.repeat(201) }, 'reason', '"xxx', 'schema'],
];
export const wrongExclusions: readonly WrongSpec[] = exclusionRows.map(
  ([what, over, field, shown, stoppedBy, server]) => ({
    what: `an exclusion with ${what}`,
    spec: { ...minimalSpec, exclusions: [{ timezone: 'UTC', from: '2026-03-01', to: '2026-03-01', ...over }] },
    paths: [`spec.exclusions[0].${field}`],
    shown,
    stoppedBy,
    ...(server === undefined ? {} : { serverPaths: [server] }),
  }),
);

const surgeRows: readonly [string, unknown, Stop][] = [
  ['readyTimeout', '0s', 'rule'],
  ['failurePause', '0m', 'rule'],
  ['retryBackoff', '0h0m', 'rule'],
  ['provisioningEstimate', '0s', 'rule'],
  ['drainEstimate', '0ms', 'rule'],
  ['readyTimeout', '30d', 'schema'],
  ['readyTimeout', '1hr', 'schema'],
  ['readyTimeout', '1.5h', 'schema'],
  ['readyTimeout', '-1h', 'schema'],
  ['readyTimeout', '', 'schema'],
  ['readyTimeout', 15, 'schema'],
  ['cooldownAfter', '10', 'schema'],
  ['cooldownAfter', 'Never', 'schema'],
  ['cooldownAfter', '9999999999999999h', 'reader'],
  ['maxUnavailable', 2, 'schema'],
  ['maxUnavailable', 0, 'schema'],
  ['wholeNodeReservation', 'yes', 'schema'],
  ['deferBlockedDrains', 1, 'schema'],
];
export const wrongSurges: readonly WrongSpec[] = surgeRows.map(([field, value, stoppedBy]) => ({
  what: `surge.${field} ${JSON.stringify(value)}`,
  spec: { ...minimalSpec, surge: { [field]: value } },
  paths: [`spec.surge.${field}`],
  shown: `not ${JSON.stringify(value)}`,
  stoppedBy,
}));

const fieldRows: readonly [string, unknown, Stop][] = [
  ['ageThreshold', 'soon', 'schema'],
  ['ageThreshold', 240, 'schema'],
  ['ageThreshold', '10d', 'schema'],
  ['minRotationChances', 1.5, 'schema'],
  ['minRotationChances', '2', 'schema'],
  ['minRotationChances', 1001, 'schema'],
  ['mode', 'rotate', 'schema'],
  ['mode', 'Off', 'schema'],
  ['maintenanceWindows', 'always', 'schema'],
  ['exclusions', {}, 'schema'],
];
export const wrongFields: readonly WrongSpec[] = fieldRows.map(([field, value, stoppedBy]) => ({
  what: `${field} ${JSON.stringify(value)}`,
  spec: { ...minimalSpec, [field]: value },
  paths: [`spec.${field}`],
  shown: `not ${typeof value === 'string' ? JSON.stringify(value) : ''}`,
  stoppedBy,
}));

/** Keys of a replacement's requirements: whether they are taken, and what stops them otherwise. */
const keyRows: readonly [string, Stop | undefined][] = [
  ['kubernetes.io/hostname', 'rule'],
  ['karpenter.sh/registered', 'rule'],
  ['karpenter.sh/initialized', 'rule'],
  ['node.karpenter.sh/x', 'rule'],
  ['karpenter.sh/nodepool', undefined],
  ['karpenter.sh/capacity-type', undefined],
  ['node.kubernetes.io/instance-type', undefined],
  ['eks.amazonaws.com/instance-family', undefined],
  ['notkarpenter.sh/x', undefined],
  ['no key', 'schema'],
];
const requirementLists = ['required', 'preferred'] as const;
const requiring = (list: string, key: string): Spec => ({
  ...minimalSpec,
  surge: { matchNodeRequirements: { [list]: [key] } },
});
export const wrongKeys: readonly WrongSpec[] = keyRows.flatMap(([key, stoppedBy]) =>
  stoppedBy === undefined
    ? []
    : requirementLists.map((list) => ({
        what: `the ${list} key ${key}`,
        spec: requiring(list, key),
        paths: [`spec.surge.matchNodeRequirements.${list}[0]`],
        shown: JSON.stringify(key),
        stoppedBy,
        ...(stoppedBy === 'rule' ? { serverPaths: [`spec.surge.matchNodeRequirements.${list}`] } : {}),
      })),
);

const selectorRows: readonly [string, unknown, string, Stop, string?][] = [
  ['missing', undefined, '', 'schema'],
  ['text', 'all', '', 'schema'],
  ['a label that is a number', { matchLabels: { a: 1 } }, '.matchLabels.a', 'schema'],
  [
    'an unknown operator',
    { matchExpressions: [{ key: 'a', operator: 'Like', values: ['x'] }] },
    '.matchExpressions[0].operator',
    'schema',
  ],
  [
    'In without values',
    { matchExpressions: [{ key: 'a', operator: 'In' }] },
    '.matchExpressions[0].values',
    'rule',
    '.matchExpressions[0]',
  ],
  [
    'Exists with values',
    { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] },
    '.matchExpressions[0].values',
    'rule',
    '.matchExpressions[0]',
  ],
  ['no key', { matchExpressions: [{ operator: 'Exists' }] }, '.matchExpressions[0].key', 'schema'],
  ['a key of JavaScript itself', { matchLabels: JSON.parse('{"__proto__":"x"}') }, '.matchLabels.__proto__', 'reader'],
];
/** The policy then governs nothing. */
export const wrongSelectors: readonly WrongSpec[] = selectorRows.map(([what, selector, path, stoppedBy, server]) => ({
  what: `a selector: ${what}`,
  spec: { ...minimalSpec, nodePoolSelector: selector },
  paths: [`spec.nodePoolSelector${path}`],
  shown: '',
  stoppedBy,
  ...(server === undefined ? {} : { serverPaths: [`spec.nodePoolSelector${server}`] }),
}));

const numbered = (count: number): string[] => Array.from({ length: count }, (_, place) => `a${place}`);
const longText = (length: number): string => 'x'.repeat(length);
const requiringKeys = (required: unknown): Spec => ({ surge: { matchNodeRequirements: { required } } });
const selecting = (nodePoolSelector: Spec): Spec => ({ nodePoolSelector });
const day = { timezone: 'UTC', from: '2026-01-01', to: '2026-01-01' };
/** Just beyond what the API server counts. */
const boundRows: readonly [string, Spec, string][] = [
  ['a day twice', { maintenanceWindows: [{ ...window, days: ['Wed', 'Wed'] }] }, 'maintenanceWindows[0].days[1]'],
  ['a key twice', requiringKeys(['a', 'b', 'a']), 'surge.matchNodeRequirements.required[2]'],
  ['101 keys', requiringKeys(numbered(101)), 'surge.matchNodeRequirements.required'],
  ['a key of 318', requiringKeys([longText(318)]), 'surge.matchNodeRequirements.required[0]'],
  ['101 windows', { maintenanceWindows: Array(101).fill(window) }, 'maintenanceWindows'],
  ['101 exclusions', { exclusions: Array(101).fill(day) }, 'exclusions'],
  ['a duration of 318', { surge: { readyTimeout: `${'0'.repeat(316)}1m` } }, 'surge.readyTimeout'],
  ['a threshold of 318', { ageThreshold: `${'0'.repeat(316)}1m` }, 'ageThreshold'],
  [
    '101 labels',
    selecting({ matchLabels: Object.fromEntries(numbered(101).map((key) => [key, 'b'])) }),
    'nodePoolSelector.matchLabels',
  ],
  ['a label value of 318', selecting({ matchLabels: { a: longText(318) } }), 'nodePoolSelector.matchLabels.a'],
  [
    '101 expressions',
    selecting({ matchExpressions: numbered(101).map((key) => ({ key, operator: 'Exists' })) }),
    'nodePoolSelector.matchExpressions',
  ],
  [
    'an expression about a key of 318',
    selecting({ matchExpressions: [{ key: longText(318), operator: 'Exists' }] }),
    'nodePoolSelector.matchExpressions[0].key',
  ],
  [
    'an expression of 101 values',
    selecting({ matchExpressions: [{ key: 'a', operator: 'In', values: numbered(101) }] }),
    'nodePoolSelector.matchExpressions[0].values',
  ],
  [
    'a value of 318 in an expression',
    selecting({ matchExpressions: [{ key: 'a', operator: 'In', values: [longText(318)] }] }),
    'nodePoolSelector.matchExpressions[0].values[0]',
  ],
];
/** A null counts as absent, but nothing stands in for an entry of a list. */
const nullRows: readonly [string, Spec, string][] = [
  ['a window', { maintenanceWindows: [null] }, 'maintenanceWindows[0]'],
  ['an exclusion', { exclusions: [null] }, 'exclusions[0]'],
  ['a day', { maintenanceWindows: [{ ...window, days: [null] }] }, 'maintenanceWindows[0].days[0]'],
  ['a key', requiringKeys([null]), 'surge.matchNodeRequirements.required[0]'],
  ['an expression', selecting({ matchExpressions: [null] }), 'nodePoolSelector.matchExpressions[0]'],
  [
    'a value',
    selecting({ matchExpressions: [{ key: 'a', operator: 'In', values: [null] }] }),
    'nodePoolSelector.matchExpressions[0].values[0]',
  ],
  ['everything that is required', { maintenanceWindows: null }, 'maintenanceWindows'],
];
export const wrongAmounts: readonly WrongSpec[] = [
  ...boundRows,
  ...nullRows.map(([what, over, path]) => [`null for ${what}`, over, path] as const),
].map(([what, over, path]) => ({
  what,
  spec: { ...minimalSpec, ...over },
  paths: [`spec.${path}`],
  shown: '',
  stoppedBy: 'schema',
}));

export const wrongSpecs: readonly WrongSpec[] = [
  ...wrongWindows,
  ...wrongExclusions,
  ...wrongSurges,
  ...wrongFields,
  ...wrongKeys,
  ...wrongSelectors,
  ...wrongAmounts,
];

/** Bounds of the CRD that the decoder lets pass, because a finding says more about them. @design D4-01 */
export const valuesForFindings: readonly { readonly what: string; readonly spec: Spec; readonly path: string }[] = [
  { what: 'K of 0', spec: { ...minimalSpec, minRotationChances: 0 }, path: 'spec.minRotationChances' },
  { what: 'K below 0', spec: { ...minimalSpec, minRotationChances: -3 }, path: 'spec.minRotationChances' },
  { what: 'no windows', spec: { ...minimalSpec, maintenanceWindows: [] }, path: 'spec.maintenanceWindows' },
];

/** Every field said, none as its default is. */
export const fullSpec: Spec = {
  nodePoolSelector: {
    matchLabels: { workload: 'api' },
    matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['a', ''] }],
  },
  mode: 'Observe',
  ageThreshold: '240h',
  minRotationChances: 3,
  maintenanceWindows: [window, { timezone: 'UTC', days: ['Sun'], start: '22:00', end: '24:00' }],
  exclusions: [{ timezone: 'Asia/Tokyo', from: '2026-12-29', to: '2027-01-04', reason: 'year end' }],
  surge: {
    maxUnavailable: 1,
    readyTimeout: '1h30m',
    cooldownAfter: '0s',
    failurePause: '1m',
    retryBackoff: '500ms',
    provisioningEstimate: '2h',
    drainEstimate: '3h',
    wholeNodeReservation: true,
    matchNodeRequirements: { required: [], preferred: ['kubernetes.io/arch'] },
    forcefulFallback: { enabled: true },
    deferBlockedDrains: true,
  },
};

const surgeWith = (surge: unknown): Spec => ({ ...minimalSpec, surge });
export const validSpecs: readonly (readonly [string, Spec])[] = [
  ['the least that one can say', minimalSpec],
  ['everything', fullSpec],
  ['an empty selector', { ...minimalSpec, nodePoolSelector: {} }],
  ['an empty surge', surgeWith({})],
  ['empty parts of surge', surgeWith({ matchNodeRequirements: {}, forcefulFallback: {} })],
  ['no surge', surgeWith(null)],
  ['nulls in surge', surgeWith({ readyTimeout: null, drainEstimate: null, matchNodeRequirements: null })],
  ['nulls elsewhere', { ...minimalSpec, mode: null, exclusions: [{ ...day, reason: null }] }],
  ['keys that are deliberately none', surgeWith({ matchNodeRequirements: { required: [] } })],
  [
    'a selector with expressions',
    { ...minimalSpec, nodePoolSelector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } },
  ],
  ['a cooldown longer than 10m', surgeWith({ cooldownAfter: '20m', readyTimeout: '3m' })],
  ['the longest duration', surgeWith({ readyTimeout: '2562047h47m16s' })],
  ['a threshold of nothing', { ...minimalSpec, ageThreshold: '0s' }],
  ['100 windows', { ...minimalSpec, maintenanceWindows: Array(100).fill(window) }],
  [
    'a reason of 200 characters outside the basic plane',
    { ...minimalSpec, exclusions: [{ ...day, reason: '😀'.repeat(200) }] },
  ],
  [
    'a single day, all of it',
    { ...minimalSpec, exclusions: [day], maintenanceWindows: [{ ...window, start: '00:00', end: '24:00' }] },
  ],
  ...keyRows.flatMap(([key, stoppedBy]) =>
    stoppedBy === undefined
      ? requirementLists.map((list) => [`the ${list} key ${key}`, requiring(list, key)] as const)
      : [],
  ),
];
