/**
 * What `validate` says of policy files, alone and beside NodePools.
 */
import { describe, expect, test } from 'vitest';
import { run } from '../support/command.ts';
import { rawList, rawPolicy, rawPool } from '../support/raw-objects.ts';

type Raw = Record<string, unknown>;

async function validated(...objects: Raw[]) {
  const ran = await run('validate', JSON.stringify(rawList(...objects)));
  return { ...ran, document: JSON.parse(ran.out) };
}

const window = { timezone: 'Asia/Tokyo', days: ['Wed', 'Sat'], start: '02:00', end: '06:00' };
const exclusion = { timezone: 'Asia/Tokyo', from: '2026-12-29', to: '2027-01-04' };
const windowWith = (over: Raw): Raw => ({ maintenanceWindows: [window, { ...window, ...over }] });
const exclusionWith = (over: Raw): Raw => ({ exclusions: [{ ...exclusion, ...over }] });

test('a sound policy has nothing to report and ends with 0 (D13-01)', async () => {
  const { code, document, err } = await validated(rawPolicy());
  expect(document.policies).toEqual([{ name: 'api', status: 'Accepted', problems: [], findings: [], nodePools: [] }]);
  expect({ code, err, pools: document.nodePools }).toEqual({ code: 0, err: '', pools: [] });
});

describe('a malformed field is named by its path, and the command ends with 1', () => {
  test.each<[string, Raw, string]>([
    ['an unknown zone', windowWith({ timezone: 'Asia/Tokio' }), 'spec.maintenanceWindows[1].timezone'],
    ['an offset for a zone', windowWith({ timezone: '+09:00' }), 'spec.maintenanceWindows[1].timezone'],
    ['an empty zone', windowWith({ timezone: '' }), 'spec.maintenanceWindows[1].timezone'],
    ['no zone', windowWith({ timezone: undefined }), 'spec.maintenanceWindows[1].timezone'],
    ['an empty list of days', windowWith({ days: [] }), 'spec.maintenanceWindows[1].days'],
    ['an unknown day', windowWith({ days: ['Wednesday'] }), 'spec.maintenanceWindows[1].days[0]'],
    ['an hour that is none', windowWith({ start: '25:00' }), 'spec.maintenanceWindows[1].start'],
    ['a time as a number', windowWith({ start: 120 }), 'spec.maintenanceWindows[1].start'],
    ['a start at 24:00', windowWith({ start: '24:00' }), 'spec.maintenanceWindows[1].start'],
    ['an end equal to the start', windowWith({ end: '02:00' }), 'spec.maintenanceWindows[1].end'],
    ['windows that are no list', { maintenanceWindows: window }, 'spec.maintenanceWindows'],
    ['no windows field', { maintenanceWindows: undefined }, 'spec.maintenanceWindows'],
    ['an unknown zone of an exclusion', exclusionWith({ timezone: 'JST+9' }), 'spec.exclusions[0].timezone'],
    ['a date that does not exist', exclusionWith({ from: '2026-02-30' }), 'spec.exclusions[0].from'],
    ['a date in another form', exclusionWith({ to: '4 January 2027' }), 'spec.exclusions[0].to'],
    ['an exclusion that ends before it begins', exclusionWith({ to: '2026-12-01' }), 'spec.exclusions[0].to'],
    ['an unknown mode', { mode: 'Dry' }, 'spec.mode'],
    ['a threshold in days', { ageThreshold: '10d' }, 'spec.ageThreshold'],
    ['a K that is no whole number', { minRotationChances: 1.5 }, 'spec.minRotationChances'],
    ['a duration in words', { surge: { readyTimeout: '15 minutes' } }, 'spec.surge.readyTimeout'],
    ['a readyTimeout of nothing', { surge: { readyTimeout: '0s' } }, 'spec.surge.readyTimeout'],
    ['a failurePause of nothing', { surge: { failurePause: '0s' } }, 'spec.surge.failurePause'],
    ['a negative cooldown', { surge: { cooldownAfter: '-10m' } }, 'spec.surge.cooldownAfter'],
    ['a retryBackoff as a number', { surge: { retryBackoff: 30 } }, 'spec.surge.retryBackoff'],
    ['two nodes at once', { surge: { maxUnavailable: 2 } }, 'spec.surge.maxUnavailable'],
    ['a flag in words', { surge: { wholeNodeReservation: 'yes' } }, 'spec.surge.wholeNodeReservation'],
    [
      'a key that Karpenter refuses',
      { surge: { matchNodeRequirements: { required: ['kubernetes.io/hostname'] } } },
      'spec.surge.matchNodeRequirements.required[0]',
    ],
    ['no selector', { nodePoolSelector: undefined }, 'spec.nodePoolSelector'],
    [
      'a label value that is no text',
      { nodePoolSelector: { matchLabels: { team: 7 } } },
      'spec.nodePoolSelector.matchLabels.team',
    ],
    [
      'an unknown operator',
      { nodePoolSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } },
      'spec.nodePoolSelector.matchExpressions[0].operator',
    ],
    [
      'In without values',
      { nodePoolSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
      'spec.nodePoolSelector.matchExpressions[0].values',
    ],
  ])('%s (D2-03, D2-04, D2-05, D13-01)', async (_, spec, path) => {
    const { code, document } = await validated(rawPolicy(spec));
    const [policy] = document.policies;
    expect(policy.status).toBe('Invalid');
    expect(policy.problems.map((problem: { path: string }) => problem.path)).toEqual([path]);
    expect(code).toBe(1);
  });

  test('all of them at once (D2-03)', async () => {
    const { document } = await validated(
      rawPolicy({
        ...windowWith({ timezone: 'X', days: [] }),
        mode: 'Dry',
        surge: { readyTimeout: '0s', retryBackoff: 'soon' },
      }),
    );
    expect(document.policies[0].problems).toHaveLength(5);
  });

  test('and the other policies of the files are judged all the same (D2-03)', async () => {
    const { document } = await validated(
      rawPolicy({ mode: 'Dry' }, 'bad'),
      rawPolicy({ minRotationChances: 1 }, 'good'),
    );
    expect(document.policies).toMatchObject([
      { name: 'bad', status: 'Invalid' },
      { name: 'good', status: 'Accepted', findings: [{ code: 'KBelowTwo' }] },
    ]);
  });
});

test('a field that no policy has is named in a notice, for it would do nothing (D2-03)', async () => {
  const { code, err, document } = await validated(rawPolicy({ surge: { readyTimout: '20m' } }));
  expect(err).toBe('Notice: RotationPolicy api: spec.surge.readyTimout is no field of a policy and does nothing\n');
  expect({ code, status: document.policies[0].status }).toEqual({ code: 0, status: 'Accepted' });
});

describe('without NodePools', () => {
  test.each<[string, Raw, string, number]>([
    ['NoWindows', { maintenanceWindows: [] }, 'fatal', 1],
    ['KBelowOne', { minRotationChances: 0 }, 'fatal', 1],
    ['KBelowTwo', { minRotationChances: 1 }, 'warn', 0],
    ['OverrideNonPositive', { ageThreshold: '0s' }, 'fatal', 1],
    ['RetryBackoffShort', { surge: { retryBackoff: '14m' } }, 'warn', 0],
    ['ReadyTimeoutShort', { surge: { readyTimeout: '59s' } }, 'warn', 0],
    ['ProvisioningEstimateAboveReadyTimeout', { surge: { provisioningEstimate: '16m' } }, 'warn', 0],
    ['ZoneNotPinned', { surge: { matchNodeRequirements: { required: [] } } }, 'warn', 0],
  ])('%s is said of the policy alone (D4-03, D13-01)', async (code, spec, severity, exit) => {
    const ran = await validated(rawPolicy(spec));
    expect(ran.document.policies[0].findings).toContainEqual(expect.objectContaining({ code, severity }));
    expect(ran.code).toBe(exit);
  });
});

describe('beside NodePools', () => {
  test('their lifetimes are held against the policy: {Sat} and E 14d leave no time (R3.2-23, D4-03)', async () => {
    const { document, code } = await validated(
      rawPolicy({ maintenanceWindows: [{ ...window, days: ['Sat'] }] }),
      rawPool(),
    );
    expect(document.nodePools).toMatchObject([
      {
        name: 'api',
        governedBy: 'api',
        conflict: [],
        schedule: { A: '-1h17m' },
        findings: [{ code: 'ANonPositive', severity: 'fatal' }],
      },
    ]);
    expect(Object.keys(document.nodePools[0])).toEqual(['name', 'governedBy', 'conflict', 'schedule', 'findings']);
    expect(code).toBe(1);
  });

  test('two policies of equal weight are in conflict (D2-06, D13-01)', async () => {
    const { document, code } = await validated(rawPolicy({}, 'a'), rawPolicy({}, 'b'), rawPool());
    expect(document.policies.map(({ status }: { status: string }) => status)).toEqual(['Conflict', 'Conflict']);
    expect(code).toBe(1);
  });

  test('a template that cannot be read is an unreadable object (D13-01)', async () => {
    const { document, code } = await validated(rawPolicy(), rawPool({ lifetime: { expireAfter: '30d' } }));
    expect(document.nodePools[0]).toMatchObject({ schedule: null, findings: [{ code: 'Unreadable' }] });
    expect(code).toBe(1);
  });
});

test('files without a policy end with 2 (D13-01)', async () => {
  expect(await run('validate', JSON.stringify(rawPool()))).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringContaining('no RotationPolicy'),
  });
});

test('the text names policy, path and remedy line by line (D13-01)', async () => {
  const text = JSON.stringify(
    rawList(rawPolicy({ mode: 'Dry' }, 'bad'), rawPolicy({ minRotationChances: 1 }, 'good'), rawPolicy({}, 'plain')),
  );
  const { out } = await run('validate', text, { output: 'text' });
  expect(out.split('\n')).toEqual([
    'RotationPolicy bad is invalid and blocks no NodePool',
    expect.stringMatching(/^ {2}spec\.mode must be Rotate or Observe/),
    'RotationPolicy good governs no NodePool',
    expect.stringMatching(/^ {2}WARN {2}KBelowTwo: /),
    'RotationPolicy plain governs no NodePool',
    '  nothing to report',
    '',
  ]);
});
