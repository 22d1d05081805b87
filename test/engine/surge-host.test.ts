/**
 * The node under the placeholder, to its boundaries: what makes it unfit, what makes it ready, how its surge came about.
 */
import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../lib/domain/cluster/snapshot.ts';
import { add, days, hours, minutes, seconds, subtract, sum } from '../../lib/domain/time.ts';
import { aClaim, aNode, type aPod, aPolicy, aSnapshot, at } from '../support/builders.ts';
import {
  aPlaceholder,
  decisionOn,
  due,
  firstOf,
  inWords,
  looked,
  surgeIsReady,
  windowOpens,
} from '../support/rotations.ts';

interface Affinity {
  readonly nodeAffinity: {
    readonly preferredDuringSchedulingIgnoredDuringExecution: readonly {
      readonly preference: { readonly matchExpressions: readonly { readonly values: readonly string[] }[] };
    }[];
  };
}

const frozen = { 'noderotation.io/freeze': '2027-01-01T00:00:00Z' };
const now = at('2026-06-09T17:05:00Z');

/** A host whose deadline is so long after this tick. */
const expiresIn = (more: number) => ({
  created: subtract(add(now, seconds(more)), days(14)),
  expireAfter: days(14),
});
const withOld = (snapshot: ClusterSnapshot, over: Parameters<typeof due>[1]): ClusterSnapshot => ({
  ...snapshot,
  nodeClaims: snapshot.nodeClaims.map((claim) =>
    claim.meta.name === 'old' ? due('old', { meta: { annotations: claim.meta.annotations }, ...over }) : claim,
  ),
});

describe('a host that expires', () => {
  // A drain may take the grace of the claim that goes, 1h, and two minutes more.
  const bound = 62 * 60;

  it.each([
    ['exactly when a drain may still be going on', bound, 'leaveBadHost'],
    ['a second after the longest drain', bound + 1, 'handOver'],
  ])('%s (D7-03, D7-02, R3.3-22)', (_, left, step) => {
    expect(decisionOn(surgeIsReady({ host: expiresIn(left) }).snapshot).step).toBe(step);
  });

  it.each([
    ['of the old claim, not of the host', minutes(10), 12 * 60],
    ['of one hour where the old claim has none', undefined, bound],
  ])('is measured by the grace %s (D7-03, R3.2-16)', (_, terminationGracePeriod, left) => {
    const stepWith = (more: number) => {
      const { snapshot } = surgeIsReady({ host: { ...expiresIn(more), terminationGracePeriod: hours(5) } });
      return decisionOn(withOld(snapshot, { terminationGracePeriod })).step;
    };
    expect([stepWith(left), stepWith(left + 1)]).toEqual(['leaveBadHost', 'handOver']);
  });
});

describe('a placeholder on a node that cannot be the surge host', () => {
  it.each([
    ['has no labels at all', { hostNode: { meta: { labels: {} } } }],
    ['has a NodeClaim that is being deleted', { host: { meta: { deleting: true } } }],
  ])('that %s is moved (D7-02, R3.3-22)', (_, over) => {
    expect(decisionOn(surgeIsReady(over as never).snapshot).step).toBe('leaveBadHost');
  });

  it('that is gone is moved, with no node left to unprotect (D7-02)', () => {
    const { snapshot, host } = surgeIsReady();
    const gone = {
      ...snapshot,
      nodeClaims: snapshot.nodeClaims.filter((claim) => claim !== host),
      nodes: snapshot.nodes.filter(({ meta }) => meta.name !== 'node-host'),
      inspected: {
        ...snapshot.inspected,
        nodes: new Map([...snapshot.inspected.nodes, ['node-host', 'gone' as const]]),
      },
    };
    expect(inWords(decisionOn(gone).actions)).toEqual(['deletePlaceholder Pod/noderotation-surge-old']);
  });

  it('is moved under a freeze, too, for a freeze holds only what comes after (D7-02, R3.1-07)', () => {
    expect(decisionOn(surgeIsReady({ hostNode: { unschedulable: true }, pool: frozen }).snapshot).step).toBe(
      'leaveBadHost',
    );
  });

  it('is moved up to the instant of readyTimeout; later the attempt ends instead (D7-02, R3.8-01)', () => {
    const stepAt = (observedAt: string) =>
      decisionOn(surgeIsReady({ hostNode: { unschedulable: true }, observedAt }).snapshot).step;
    expect([stepAt('2026-06-09T17:15:00Z'), stepAt('2026-06-09T17:15:01Z')]).toEqual(['leaveBadHost', 'rollBack']);
  });

  it('is not looked at once somebody else has decided about the candidate (D7-02)', () => {
    const { snapshot } = surgeIsReady({ hostNode: { unschedulable: true } });
    expect(decisionOn(withOld(snapshot, { disruptionReason: 'Drifted' })).step).toBe('abort');
  });
});

describe('the path of a surge', () => {
  const pathOf = (created: string | undefined) => {
    const { snapshot, host } = surgeIsReady(created === undefined ? {} : { host: { created: at(created) } });
    const nodeClaims = snapshot.nodeClaims.filter((claim) => created !== undefined || claim !== host);
    const decision = decisionOn({ ...snapshot, nodeClaims });
    return [decision.step, decision.transition?.surgePath];
  };

  it.each([
    ['a host born at the instant of the start', '2026-06-09T17:00:00Z', 'provisioned'],
    ['a host born a second before', '2026-06-09T16:59:59Z', 'absorbed'],
    ['a host whose NodeClaim cannot be found is no guess', undefined, undefined],
  ])('%s (R3.3-10, R3.3-09, R3.3-08)', (_, created, path) => {
    expect(pathOf(created)).toEqual(['handOver', path]);
  });
});

describe('a placeholder that does not run', () => {
  const awaiting = (placeholder: Parameters<typeof aPod>[1], pool: Record<string, string> = {}) =>
    decisionOn(surgeIsReady({ placeholder, pool }).snapshot);

  it('because no node takes it is told in the words of the scheduler (D7-02)', () => {
    const message = '0/3 nodes are available: 3 Insufficient cpu.';
    const { snapshot, old } = surgeIsReady();
    const { nodeName: _, ...unbound } = aPlaceholder(old, {
      phase: 'Pending',
      unschedulable: { reason: 'Unschedulable', message },
    });
    const decision = decisionOn({ ...snapshot, placeholders: [unbound] });
    expect(decision).toMatchObject({
      step: 'awaitSurge',
      blocked: { reason: 'SurgeUnschedulable', message: `no node takes the placeholder of old yet: ${message}` },
    });
    expect(decision.notices.map(({ code }) => code)).toEqual(['SurgeUnschedulable']);
  });

  it.each(['Failed', 'Succeeded'] as const)(
    'because it has %s is removed, and under a freeze left (D7-02, R3.3-21)',
    (phase) => {
      const decision = awaiting({ phase });
      expect([decision.step, inWords(decision.actions)]).toEqual([
        'recreatePlaceholder',
        ['deletePlaceholder Pod/noderotation-surge-old'],
      ]);
      expect(awaiting({ phase }, frozen)).toMatchObject({ step: 'hold', actions: [] });
    },
  );

  it('because it was preempted and is still going is waited for, running or not (R3.3-22, R3.3-21)', () => {
    for (const phase of ['Running', 'Pending'] as const) {
      const decision = awaiting({ phase, meta: { deleting: true } });
      expect([decision.step, inWords(decision.actions)]).toEqual(['awaitSurge', []]);
    }
  });
});

describe('the hosts that a placeholder avoids', () => {
  // Due from 142h43m before its deadline: two periods of 96h, and 1h17m.
  const threshold = sum(days(14), hours(-192), hours(-1), minutes(-17));
  const claims = [
    due('old'),
    aClaim('past', { created: subtract(subtract(windowOpens, threshold), seconds(1)) }),
    aClaim('at', { created: subtract(windowOpens, threshold) }),
    aClaim('young', { created: at('2026-06-08T00:00:00Z') }),
    due('elsewhere', { nodePool: 'batch' }),
  ];
  const nodes = claims.map((claim) => aNode(claim));
  const avoided = (snapshot: ClusterSnapshot): readonly string[] => {
    const pod = firstOf(decisionOn(snapshot).actions, 'createPlaceholder')?.pod;
    const terms = (pod?.spec.affinity as Affinity | undefined)?.nodeAffinity
      .preferredDuringSchedulingIgnoredDuringExecution;
    return terms?.[0]?.preference.matchExpressions[0]?.values ?? [];
  };
  const starting = aSnapshot({
    observedAt: windowOpens,
    policies: [{ valid: true, policy: aPolicy() }],
    nodeClaims: claims,
    inspected: looked({ nodes, pods: Object.fromEntries(nodes.map(({ meta }) => [meta.name, []])) }),
  });

  it('are the candidate and the pool’s other nodes past their own trigger (R3.3-07, R3.3-04, D8-07)', () => {
    expect(avoided(starting)).toEqual(['node-old', 'node-past']);
  });

  it('are found anew when the placeholder is made again (R3.3-07, R3.3-21, D7-02)', () => {
    const { snapshot, old, oldNode } = surgeIsReady();
    const later = {
      ...snapshot,
      observedAt: at('2026-06-09T17:01:00Z'),
      nodeClaims: [old, ...claims.slice(1)],
      nodes: [{ meta: oldNode.meta }, ...nodes.slice(1).map(({ meta }) => ({ meta }))],
      placeholders: [],
      inspected: looked({ nodes: [oldNode], pods: { 'node-old': [] } }),
    };
    expect(decisionOn(later).step).toBe('recreatePlaceholder');
    expect(avoided(later)).toEqual(['node-old', 'node-at', 'node-past']);
  });
});
