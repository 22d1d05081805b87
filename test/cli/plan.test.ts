/**
 * What `plan -o json` says, from the worked examples to the sizes of a surge; its shape is what programs rely on.
 */
import { describe, expect, test } from 'vitest';
import { planOf, run } from '../support/command.ts';
import { rawBudget, rawClaim, rawList, rawNode, rawPod, rawPolicy, rawPool } from '../support/raw-objects.ts';

const open = '2026-06-09T18:00:00Z';
const shut = '2026-06-09T12:00:00Z';

/** One claim that is due, with its node, two Pods to move, and one Pod of each kind that stays. */
const due = [
  rawClaim('a'),
  rawNode('a'),
  rawPod('web-1', 'a'),
  rawPod('web-2', 'a', { requests: { cpu: '250m', memory: '512Mi' } }),
  rawPod('agent', 'a', { owner: 'DaemonSet', requests: { cpu: '100m', memory: '128Mi' } }),
  rawPod('proxy', 'a', { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }),
  rawPod('job', 'a', { status: { phase: 'Succeeded' } }),
  rawPod('pinned', 'a', {
    spec: { nodeName: 'node-a', nodeSelector: { 'kubernetes.io/hostname': 'node-a' }, containers: [] },
  }),
];
const whole = [rawPolicy(), rawPool(), ...due];

describe('the worked examples', () => {
  test('Auto Mode, E 14d, tGP 1h, {Wed, Sat} 02:00-06:00: A = 5d22h43m, C = 10 (R3.1-10, R3.2-13, R3.2-14, R3.2-15, R3.2-40)', async () => {
    const { pool, code } = await planOf(whole);
    expect(pool.schedule).toEqual({
      E: '336h',
      tGP: '1h',
      P: '96h',
      D: '4h',
      gap: '68h',
      tRot: '1h17m',
      tRotEst: '15m',
      K: 2,
      A: '142h43m',
      G: 2,
      C: 10,
      N: 1,
    });
    expect(code).toBe(0);
  });

  test('one window a week: P = 7d, A = -1h17m, which is fatal and ends with 1 (R3.2-23, D13-01)', async () => {
    const weekly = rawPolicy({
      maintenanceWindows: [{ timezone: 'Asia/Tokyo', days: ['Sat'], start: '02:00', end: '06:00' }],
    });
    const { pool, code } = await planOf([weekly, rawPool(), ...due]);
    expect(pool.schedule).toMatchObject({ P: '168h', A: '-1h17m' });
    expect(pool.findings).toContainEqual(expect.objectContaining({ code: 'ANonPositive', severity: 'fatal' }));
    expect(pool.blocked.reason).toBe('Infeasible');
    expect(code).toBe(1);
  });

  test('stock tGP 24h: t_rot = 24h17m, t_rot_est and C as before (R3.2-14, R3.2-15)', async () => {
    const { pool } = await planOf([rawPolicy(), rawPool({ lifetime: { terminationGracePeriod: '24h' } }), ...due]);
    expect(pool.schedule).toMatchObject({ tGP: '24h', tRot: '24h17m', tRotEst: '15m', C: 10 });
  });

  test('a claim is due from creation + A, to the minute, by its own lifetime (R3.2-01, R3.2-16)', async () => {
    const { pool } = await planOf([...whole, rawClaim('b', { created: '2026-06-08T00:00:00Z' }), rawNode('b')]);
    expect(pool.claims).toEqual([
      {
        name: 'a',
        node: 'node-a',
        deadline: '2026-06-15T00:00:00Z',
        leadTime: '193h17m',
        candidateFrom: '2026-06-06T22:43:00Z',
        eligible: true,
        disqualifier: null,
        rank: 1,
        shortLead: false,
        backoffUntil: null,
      },
      {
        name: 'b',
        node: 'node-b',
        deadline: '2026-06-22T00:00:00Z',
        leadTime: '193h17m',
        candidateFrom: '2026-06-13T22:43:00Z',
        eligible: false,
        disqualifier: 'NotDue',
        rank: null,
        shortLead: false,
        backoffUntil: null,
      },
    ]);
  });
});

describe('the document', () => {
  test('has exactly the fields that the reference names, whatever the case (D13-02)', async () => {
    const { document, pool } = await planOf(whole);
    expect(Object.keys(document)).toEqual(['at', 'policies', 'nodePools']);
    expect(Object.keys(document.policies[0])).toEqual(['name', 'status', 'problems', 'findings', 'nodePools']);
    const fields =
      'name governedBy conflict schedule findings nextWindow gates blocked claims rotation surge actions placeholder'.split(
        ' ',
      );
    expect(Object.keys(pool)).toEqual(fields);
    const ungoverned = await planOf([
      rawPolicy(),
      rawPool({ name: 'other', metadata: { labels: {} } }),
      rawClaim('o', { pool: 'other' }),
    ]);
    expect(Object.keys(ungoverned.pool)).toEqual(fields);
  });

  test('of a pool that no policy matches says so and lists its claims with their deadlines (R3.2-02, D13-02)', async () => {
    const { pool, code } = await planOf([rawPolicy(), rawPool({ metadata: { labels: {} } }), rawClaim('a')]);
    expect(pool).toMatchObject({
      governedBy: null,
      conflict: [],
      schedule: null,
      gates: [],
      blocked: { reason: 'NotGoverned' },
    });
    expect(pool.claims).toEqual([
      expect.objectContaining({ name: 'a', deadline: '2026-06-15T00:00:00Z', eligible: false, candidateFrom: null }),
    ]);
    expect(code).toBe(0);
  });

  test('does not depend on the order of the objects (D6-05)', async () => {
    const objects = [
      ...whole,
      rawClaim('b'),
      rawNode('b'),
      rawPool({ name: 'web' }),
      rawClaim('w', { pool: 'web' }),
      rawNode('w', { pool: 'web' }),
    ];
    expect((await planOf(objects.toReversed())).document).toEqual((await planOf(objects)).document);
  });

  test('is the same as YAML (D13-01)', async () => {
    const text = JSON.stringify(rawList(...whole));
    const [json, yaml] = [await run('plan', text), await run('plan', text, { output: 'yaml' })];
    const { parse } = await import('yaml');
    expect(parse(yaml.out)).toEqual(JSON.parse(json.out));
  });
});

describe('the gates', () => {
  const gatesOf = (pool: { gates: { gate: string; open: boolean; until: string | null }[] }) =>
    Object.fromEntries(pool.gates.map(({ gate, open: lets, until }) => [gate, lets ? 'open' : until]));

  test('are all listed, in their order, when all are open (D6-04)', async () => {
    const { pool } = await planOf(whole);
    expect(pool.gates.map(({ gate }: { gate: string }) => gate)).toEqual([
      'Infeasible',
      'StaticNodePool',
      'NodePoolNotReady',
      'Frozen',
      'OutOfWindow',
      'CooldownAfter',
      'FailurePause',
    ]);
    expect(pool.gates.every((gate: { open: boolean; until: unknown }) => gate.open && gate.until === null)).toBe(true);
    expect(pool.blocked).toBeNull();
  });

  test('a shut window names the next opening, in the gate and in nextWindow (R3.1-03, D6-04)', async () => {
    const { pool, code } = await planOf(whole, shut);
    expect(gatesOf(pool)).toMatchObject({ OutOfWindow: '2026-06-09T17:00:00Z', Frozen: 'open' });
    expect(pool.nextWindow).toEqual({ start: '2026-06-09T17:00:00Z', end: '2026-06-09T21:00:00Z' });
    expect(pool.blocked).toMatchObject({ reason: 'OutOfWindow', until: '2026-06-09T17:00:00Z' });
    expect(pool.actions).toEqual([]);
    expect(code).toBe(0);
  });

  test('each closed one is shown, not only the first (D6-04, R3.1-05)', async () => {
    const annotations = {
      'noderotation.io/freeze': '2026-06-10T09:00:00+09:00',
      'noderotation.io/last-rotation-at': '2026-06-09T17:55:00Z',
      'noderotation.io/last-failure-at': '2026-06-09T17:58:00Z',
    };
    const { pool } = await planOf([
      rawPolicy(),
      rawPool({ metadata: { annotations }, spec: { replicas: 0 }, status: { conditions: [] } }),
      ...due,
    ]);
    expect(gatesOf(pool)).toEqual({
      Infeasible: 'open',
      StaticNodePool: null,
      NodePoolNotReady: null,
      Frozen: '2026-06-10T00:00:00Z',
      OutOfWindow: 'open',
      CooldownAfter: '2026-06-09T18:05:00Z',
      FailurePause: '2026-06-09T18:08:00Z',
    });
    expect(pool.blocked.reason).toBe('StaticNodePool');
  });
});

describe('the surge', () => {
  test('counts the Pods of each kind and sums those to move (R3.3-05, R3.3-06, D8-03)', async () => {
    const { pool } = await planOf(whole);
    expect(pool.surge).toEqual({
      claim: 'a',
      pods: { counted: 2, daemonSet: 1, mirror: 1, completed: 1, pinned: 1 },
      sum: { cpu: '750m', memory: '1536Mi' },
      limit: { cpu: '3800m', memory: '15232Mi', pods: '58' },
      requests: { cpu: '750m', memory: '1536Mi' },
      clamped: false,
      shortfall: {},
      refused: null,
      bandExceeded: [],
      headroom: { fits: true, remaining: {} },
    });
  });

  test('is clamped to what the claim leaves, and says by how much (R3.3-11, R3.3-15)', async () => {
    const { pool } = await planOf([...whole, rawPod('big', 'a', { requests: { cpu: '3060m' } })]);
    expect(pool.surge).toMatchObject({
      sum: { cpu: '3810m', memory: '1536Mi' },
      requests: { cpu: '3800m', memory: '1536Mi' },
      clamped: true,
      shortfall: { cpu: '10m' },
      bandExceeded: [],
    });
    expect(pool.findings).toContainEqual(expect.objectContaining({ code: 'SurgeClamped', severity: 'info' }));
  });

  test('without room in the limits the claim is refused with the reason, and the next one is examined (R3.3-13, D6-05)', async () => {
    const limited = rawPool({ spec: { limits: { cpu: '8500m' } }, status: { resources: { cpu: '8' } } });
    const small = [
      rawClaim('b', { created: '2026-06-01T01:00:00Z' }),
      rawNode('b'),
      rawPod('small', 'b', { requests: { cpu: '100m' } }),
    ];
    const { pool } = await planOf([rawPolicy(), limited, ...due, ...small]);
    expect(pool.claims).toMatchObject([
      { name: 'b', eligible: true, rank: 1 },
      { name: 'a', eligible: false, disqualifier: 'InsufficientHeadroom', rank: null },
    ]);
    expect(pool.surge).toMatchObject({ claim: 'b', headroom: { fits: true, remaining: { cpu: '500m' } } });
  });

  test('where nobody fits, the sizes of the first one show why (R3.3-20)', async () => {
    const limited = rawPool({ spec: { limits: { cpu: '8' } }, status: { resources: { cpu: '8' } } });
    const { pool } = await planOf([rawPolicy(), limited, ...due]);
    expect(pool.surge).toMatchObject({ claim: 'a', headroom: { fits: false, remaining: { cpu: '0' } } });
    expect(pool.blocked.reason).toBe('InsufficientHeadroom');
    expect(pool.placeholder).toBeNull();
    expect(pool.actions.map(({ kind }: { kind: string }) => kind)).not.toContain('createPlaceholder');
  });

  test('what keeps a drain from ending is a finding of the start (D6-06)', async () => {
    const { pool, code } = await planOf([...whole, rawBudget('none', { selector: {}, maxUnavailable: 0 })]);
    expect(pool.findings).toContainEqual(
      expect.objectContaining({ code: 'DrainBlocked', message: expect.stringContaining('shop/none') }),
    );
    expect(code).toBe(0);
  });
});

describe('the start', () => {
  test('is listed write by write, with the Pod that it would create (D7-01, D13-02)', async () => {
    const { pool } = await planOf(whole);
    const writes = pool.actions.filter(({ kind }: { kind: string }) => kind !== 'emitEvent');
    expect(writes.map(({ kind, target }: { kind: string; target: object }) => ({ kind, target }))).toEqual([
      { kind: 'annotate', target: { kind: 'NodePool', name: 'api' } },
      { kind: 'protect', target: { kind: 'Node', name: 'node-a' } },
      { kind: 'annotate', target: { kind: 'NodeClaim', name: 'a' } },
      { kind: 'createPlaceholder', target: { kind: 'Pod', namespace: 'node-rotation', name: 'noderotation-surge-a' } },
    ]);
    expect(pool.placeholder).toMatchObject({
      kind: 'Pod',
      metadata: { name: 'noderotation-surge-a', namespace: 'node-rotation' },
    });
  });

  test('under Observe writes nothing, and shows what it would have been (D2-08)', async () => {
    const { pool, document } = await planOf([rawPolicy({ mode: 'Observe' }), rawPool(), ...due]);
    expect(pool.actions).toEqual([]);
    expect(pool.blocked).toMatchObject({ reason: 'NotGoverned', message: expect.stringContaining('Observe') });
    expect(pool.claims[0]).toMatchObject({ name: 'a', eligible: true, rank: 1 });
    expect(pool.surge.claim).toBe('a');
    expect(pool.placeholder.metadata.name).toBe('noderotation-surge-a');
    expect(document.policies[0].status).toBe('Accepted');
  });

  test('by force has no surge and no placeholder (R3.6-01, R3.6-06)', async () => {
    const late = '2026-06-14T23:30:00Z';
    const policy = rawPolicy({
      maintenanceWindows: [{ timezone: 'UTC', days: ['Wed', 'Sun'], start: '20:00', end: '24:00' }],
      surge: { forcefulFallback: { enabled: true } },
    });
    const { pool } = await planOf([policy, rawPool(), ...due], late);
    expect(pool.actions).toContainEqual({
      kind: 'deleteNodeClaim',
      target: { kind: 'NodeClaim', name: 'a' },
      because: 'fallback',
    });
    expect(pool).toMatchObject({ surge: null, placeholder: null });
  });

  test('a rotation in flight is shown with its phase and its sizes (D13-02)', async () => {
    const annotations = {
      'noderotation.io/active-rotation': 'a',
      'noderotation.io/rotation-claim-uid': 'uid-a',
      'noderotation.io/started-at': '2026-06-09T17:50:00Z',
    };
    const { pool } = await planOf([rawPolicy(), rawPool({ metadata: { annotations } }), ...due]);
    expect(pool.rotation).toEqual({
      phase: 'pending',
      claim: 'a',
      startedAt: '2026-06-09T17:50:00Z',
      mode: 'surge',
      surgeClaim: null,
      drainingAt: null,
      surgeWait: null,
      surgePath: null,
      lastRefusal: null,
    });
    expect(pool.surge.claim).toBe('a');
  });
});

describe('every claim has its first reason', () => {
  test.each([
    ['OptedOut', rawClaim('x'), rawNode('x', { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } })],
    ['Terminating', rawClaim('x', { metadata: { deletionTimestamp: '2026-06-09T00:00:00Z' } }), rawNode('x')],
    ['NoNode', rawClaim('x'), rawNode('y')],
    ['NotReady', rawClaim('x', { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }), rawNode('x')],
    [
      'Disrupting',
      rawClaim('x', {
        status: {
          conditions: [
            { type: 'Ready', status: 'True' },
            { type: 'DisruptionReason', status: 'True', reason: 'Drifted' },
          ],
        },
      }),
      rawNode('x'),
    ],
    [
      'StateMalformed',
      rawClaim('x', { metadata: { annotations: { 'noderotation.io/state': 'dancing' } } }),
      rawNode('x'),
    ],
    ['NoDeadline', rawClaim('x', { spec: { expireAfter: 'Never' } }), rawNode('x')],
    ['NotReady', rawClaim('x'), rawNode('x', { status: { conditions: [{ type: 'Ready', status: 'False' }] } })],
  ])('%s (D6-05)', async (disqualifier, claim, node) => {
    const { pool } = await planOf([rawPolicy(), rawPool(), claim, node, rawPod('p', 'x')], open);
    expect(pool.claims[0]).toMatchObject({ name: 'x', eligible: false, disqualifier, rank: null });
  });

  test('BackingOff names until when (R3.2-08, D6-05)', async () => {
    const annotations = {
      'noderotation.io/state': 'failed',
      'noderotation.io/failed-at': '2026-06-09T17:45:00Z',
      'noderotation.io/retry-count': '1',
    };
    const { pool } = await planOf([
      rawPolicy(),
      rawPool(),
      rawClaim('x', { metadata: { annotations } }),
      rawNode('x'),
      rawPod('p', 'x'),
    ]);
    expect(pool.claims[0]).toMatchObject({ disqualifier: 'BackingOff', backoffUntil: '2026-06-09T18:15:00Z' });
  });
});

describe('policies', () => {
  test('of equal weight are in conflict, and nothing of theirs is governed (D2-06, D13-01)', async () => {
    const { document, pool, code } = await planOf([rawPolicy({}, 'b'), rawPolicy({}, 'a'), rawPool(), ...due]);
    expect(document.policies).toMatchObject([
      { name: 'a', status: 'Conflict', nodePools: ['api'] },
      { name: 'b', status: 'Conflict', nodePools: ['api'] },
    ]);
    expect(pool).toMatchObject({ governedBy: null, conflict: ['a', 'b'] });
    expect(code).toBe(1);
  });

  test('that are invalid block their pools and name every problem (D2-03, D2-06, D13-01)', async () => {
    const spoiled = rawPolicy({
      ageThreshold: 'soon',
      maintenanceWindows: [{ timezone: 'Mars/Phobos', days: [], start: '2:00', end: '25:00' }],
    });
    const { document, pool, code } = await planOf([spoiled, rawPool(), ...due]);
    expect(document.policies[0]).toMatchObject({ status: 'Invalid', nodePools: ['api'] });
    expect(document.policies[0].problems.map(({ path }: { path: string }) => path).sort()).toEqual([
      'spec.ageThreshold',
      'spec.maintenanceWindows[0].days',
      'spec.maintenanceWindows[0].end',
      'spec.maintenanceWindows[0].start',
      'spec.maintenanceWindows[0].timezone',
    ]);
    expect(pool).toMatchObject({ governedBy: 'api', schedule: null, blocked: { reason: 'NotGoverned' } });
    expect(code).toBe(1);
  });

  test('that are invalid do not touch the pools of others (D2-03)', async () => {
    const other = rawPolicy({ nodePoolSelector: { matchLabels: { workload: 'web' } }, mode: 'Sometimes' }, 'web');
    const { document, pool } = await planOf([...whole, other]);
    expect(document.policies.map(({ status }: { status: string }) => status)).toEqual(['Accepted', 'Invalid']);
    expect(pool.actions.length).toBeGreaterThan(0);
  });
});
