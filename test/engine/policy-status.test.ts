/**
 * The status of a policy: what it says in each case, and that it is written only where it says something else.
 */
import { describe, expect, it } from 'vitest';
import { readPolicy } from '../../lib/adapters/kubernetes/policy-document.ts';
import type { ClusterSnapshot } from '../../lib/domain/cluster/snapshot.ts';
import type { PolicyStatus } from '../../lib/domain/policy/policy-status.ts';
import type { PolicyReading } from '../../lib/domain/policy/rotation-policy.ts';
import { decide } from '../../lib/engine/decide.ts';
import { violations } from '../../lib/engine/invariants.ts';
import { aClaim, aPolicy, aPool, aSnapshot, at, meta } from '../support/builders.ts';
import { rawPolicy } from '../support/raw-objects.ts';

const shut = at('2026-06-09T12:00:00Z');

function writes(over: Partial<ClusterSnapshot> = {}) {
  const actions = decide(aSnapshot({ observedAt: shut, ...over })).flatMap((decision) => decision.actions);
  return actions.flatMap((action) => (action.kind === 'writeStatus' ? [action] : []));
}

/** The one status that these objects lead to. */
function statusOf(over: Partial<ClusterSnapshot> = {}): PolicyStatus {
  const [write] = writes(over);
  if (!write) throw new Error('no status is written');
  return write.status;
}

const sound: PolicyReading = { valid: true, policy: aPolicy() };
const invalid: PolicyReading = {
  valid: false,
  meta: meta('api'),
  generation: 3,
  nodePoolSelector: { matchLabels: { workload: 'api' }, matchExpressions: [] },
  problems: [{ path: 'spec.mode', problem: 'must be Rotate or Observe, not "Off"' }],
};
const verdicts = ({ conditions }: PolicyStatus) =>
  conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);

describe('the status', () => {
  it('of a sound policy has both conditions, counts and the figures of its pools (D2-07)', () => {
    const claims = [
      aClaim('due'),
      aClaim('young', { created: at('2026-06-08T00:00:00Z') }),
      aClaim('short', { expireAfter: 60_000 as never }),
    ];
    const [write] = writes({ nodeClaims: claims });
    expect(write?.target).toEqual({ kind: 'RotationPolicy', name: 'api', uid: 'uid-api', resourceVersion: '1' });
    const since = { observedGeneration: 1, lastTransitionTime: '2026-06-09T12:00:00Z' };
    expect(write?.status).toEqual({
      observedGeneration: 1,
      conditions: [
        { type: 'Ready', status: 'True', reason: 'Accepted', message: expect.any(String), ...since },
        { type: 'Feasible', status: 'True', reason: 'Feasible', message: expect.any(String), ...since },
      ],
      matchedNodePools: 1,
      rotatingNodePools: 0,
      nodePools: [
        {
          name: 'api',
          ageThreshold: '142h43m',
          worstCasePeriod: '96h',
          guaranteedChances: 2,
          capacity: 10,
          candidates: 2,
          shortLead: 1,
          nextWindow: { start: '2026-06-09T17:00:00Z', end: '2026-06-09T21:00:00Z' },
          findings: ['ShortLead', 'WillExpireForcefully'],
        },
      ],
    });
  });

  it('of an invalid policy names what is wrong, and its pools without figures (D2-07, D2-03)', () => {
    const status = statusOf({ policies: [invalid] });
    expect(verdicts(status)).toEqual(['Ready False Invalid', 'Feasible Unknown Invalid']);
    expect(status.conditions[0]?.message).toBe('spec.mode must be Rotate or Observe, not "Off"');
    expect(status).toMatchObject({
      observedGeneration: 3,
      matchedNodePools: 1,
      nodePools: [{ name: 'api', candidates: 0, shortLead: 0 }],
    });
  });

  it('of policies in conflict names the others, on each of them (D2-07, D2-06)', () => {
    const both = ['a', 'b'].map((name): PolicyReading => ({ valid: true, policy: aPolicy({ name }) }));
    const found = writes({ policies: both });
    expect(found.map(({ target }) => target.name)).toEqual(['a', 'b']);
    for (const { status } of found) {
      expect(verdicts(status)).toEqual(['Ready False Conflict', 'Feasible True Feasible']);
      expect(status.conditions[0]?.message).toBe('NodePool api is matched equally by a, b');
      expect(status.nodePools).toMatchObject([{ name: 'api', findings: ['PolicyConflict'] }]);
    }
  });

  it('is not feasible with the codes of every fatal finding, of any pool (D2-07, R3.2-23)', () => {
    const weekly = aPolicy({
      windows: [{ timezone: 'Asia/Tokyo', days: ['Sat'], start: 120, end: 360 }],
      minRotationChances: 0,
    });
    expect(verdicts(statusOf({ policies: [{ valid: true, policy: weekly }] }))[1]).toBe('Feasible False KBelowOne');
    const strict = aPolicy({ windows: weekly.windows });
    const status = statusOf({ policies: [{ valid: true, policy: strict }] });
    expect(verdicts(status)[1]).toBe('Feasible False ANonPositive');
    expect(status.conditions[1]?.message).toContain('NodePool api');
    expect(status.nodePools[0]).toMatchObject({ ageThreshold: '-1h17m', findings: ['ANonPositive'] });
  });

  it('of a policy without a pool can still be infeasible by itself (D2-07)', () => {
    const none: PolicyReading = { valid: true, policy: aPolicy({ windows: [] }) };
    expect(statusOf({ policies: [none], nodePools: [] })).toMatchObject({
      conditions: [{ status: 'True' }, { status: 'False', reason: 'NoWindows' }],
      matchedNodePools: 0,
      nodePools: [],
    });
  });

  it('lists 50 pools by name and counts them all, those with a rotation too (D2-07)', () => {
    const anchor = {
      'noderotation.io/active-rotation': 'x',
      'noderotation.io/rotation-claim-uid': 'u',
      'noderotation.io/started-at': '2026-06-09T11:59:00Z',
    };
    const pools = Array.from({ length: 51 }, (_, index) =>
      aPool({
        name: `p${String(50 - index).padStart(2, '0')}`,
        meta: { labels: { workload: 'api' }, annotations: index === 0 ? anchor : {} },
      }),
    );
    const status = statusOf({ nodePools: pools });
    expect(status).toMatchObject({ matchedNodePools: 51, rotatingNodePools: 1 });
    expect(status.nodePools.map(({ name }) => name)).toEqual(
      pools
        .map(({ meta: { name } }) => name)
        .sort()
        .slice(0, 50),
    );
  });
});

describe('the write', () => {
  const written = (over: Partial<ClusterSnapshot> = {}) => ({ ...sound, status: statusOf(over) });

  it('does not come again while nothing has changed, however much later (D2-07)', () => {
    expect(writes({ policies: [written()] })).toEqual([]);
    expect(writes({ policies: [written()], observedAt: at('2026-06-09T16:59:00Z') })).toEqual([]);
  });

  it('does not depend on the order in which the server prints the keys (D2-07)', () => {
    const turned = (value: unknown): unknown =>
      Array.isArray(value)
        ? value.map(turned)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(
              Object.entries(value)
                .toReversed()
                .map(([key, member]) => [key, turned(member)]),
            )
          : value;
    expect(writes({ policies: [{ ...sound, status: turned(statusOf()) as PolicyStatus }] })).toEqual([]);
  });

  it('keeps the transition time of a condition whose status stays, and renews the other (D2-07)', () => {
    const later = at('2026-06-09T13:00:00.500Z');
    const worse = aPolicy({ windows: [], meta: {}, generation: 2 });
    const [write] = writes({ observedAt: later, policies: [{ valid: true, policy: worse, status: statusOf() }] });
    expect(write?.status.conditions).toMatchObject([
      { type: 'Ready', status: 'True', observedGeneration: 2, lastTransitionTime: '2026-06-09T12:00:00Z' },
      { type: 'Feasible', status: 'False', observedGeneration: 2, lastTransitionTime: '2026-06-09T13:00:00Z' },
    ]);
  });

  it('comes under Observe, too: it is where its findings are (D2-08)', () => {
    const observing = aPolicy({ mode: 'Observe' });
    expect(
      statusOf({ policies: [{ valid: true, policy: observing }], nodeClaims: [aClaim('due')] }).nodePools[0],
    ).toMatchObject({ candidates: 1 });
  });

  it.each([
    ['a policy that is being deleted', { policies: [{ valid: true, policy: aPolicy({ meta: { deleting: true } }) }] }],
    [
      'a policy without a version, as out of a file',
      { policies: [{ valid: true, policy: aPolicy({ meta: { uid: '', resourceVersion: '' } }) }] },
    ],
    ['a cluster that has left the configuration', { retired: true }],
  ] satisfies [string, Partial<ClusterSnapshot>][])('is left out for %s (D2-07)', (_, over) => {
    expect(writes(over)).toEqual([]);
  });

  it('belongs to no pool, and is refused there (D7-10)', () => {
    const rest = decide(aSnapshot({ observedAt: shut })).find(({ nodePool }) => nodePool === '');
    expect(rest && violations(undefined, rest)).toEqual([]);
    const [write] = writes();
    if (!rest || !write) throw new Error('no status is written');
    const onNode = { ...write, target: { ...write.target, kind: 'Node' as const } };
    expect(violations(undefined, { ...rest, actions: [onNode] })).toHaveLength(1);
  });
});

describe('the status that the cluster has', () => {
  it('is read as it was written (D2-07)', () => {
    const status = statusOf({ nodeClaims: [aClaim('due')] });
    expect(readPolicy({ ...rawPolicy(), status }).status).toEqual(status);
  });

  it.each([
    ['none', undefined],
    ['an empty one', {}],
    ['one of another form', { conditions: 'Ready' }],
    [
      'a condition of somebody else',
      {
        observedGeneration: 1,
        conditions: [{ type: 'Loved', status: 'True' }],
        matchedNodePools: 0,
        rotatingNodePools: 0,
        nodePools: [],
      },
    ],
  ])('is written anew where there is %s (D2-07)', (_, status) => {
    const reading = readPolicy({ ...rawPolicy(), status });
    expect(reading.valid).toBe(true);
    expect(reading.status).toBeUndefined();
    expect(writes({ policies: [reading] })).toHaveLength(1);
  });
});
