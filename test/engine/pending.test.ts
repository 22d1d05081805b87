import { describe, expect, it } from 'vitest';
import { amounts, aNode, aPod, aPolicy, aPool, at } from '../support/builders.ts';
import { decisionOn, events, inWords, looked, marks, surgeIsReady } from '../support/rotations.ts';

describe('a surge that is ready', () => {
  it('hands over: claim, mirror, placeholder, NodeClaim (D7-04, D5-03, PR-03, PR-18)', () => {
    const { snapshot } = surgeIsReady();
    const decision = decisionOn(snapshot);
    expect(decision.step).toBe('handOver');
    expect(inWords(decision.actions)).toEqual([
      'annotate NodeClaim/old',
      'annotate NodePool/api',
      'deletePlaceholder Pod/noderotation-surge-old',
      'deleteNodeClaim NodeClaim/old',
    ]);
    expect(decision.transition).toMatchObject({ step: 'draining', surgePath: 'provisioned', surgeWait: 120_000 });
    expect(decision.actions.find((action) => action.kind === 'deletePlaceholder')).toMatchObject({
      mustExist: true,
      whenRefused: 'stop',
    });
    expect(decision.rereadNode?.name).toBe('node-old');
  });

  it('on a host that was there before counts as absorbed (R3.3-08, R3.3-09, R3.3-10)', () => {
    const { snapshot } = surgeIsReady({ host: { created: at('2026-06-09T16:59:59Z') } });
    expect(decisionOn(snapshot).transition).toMatchObject({ surgePath: 'absorbed' });
    const born = surgeIsReady({ host: { created: at('2026-06-09T17:00:00Z') } });
    expect(decisionOn(born.snapshot).transition).toMatchObject({ surgePath: 'provisioned' });
  });

  it.each([
    ['the placeholder is terminating', { placeholder: { meta: { deleting: true } } }],
    ['the placeholder does not run', { placeholder: { phase: 'Pending' as const } }],
    ['the host is not Ready', { hostNode: { ready: false } }],
    ['the host is not protected yet', { hostNode: { meta: { annotations: {} } } }],
  ])('is not ready while %s (R3.3-22, D7-03, PR-47)', (_why, over) => {
    const decision = decisionOn(surgeIsReady(over as never).snapshot);
    expect(decision.step).toBe('awaitSurge');
    expect(inWords(decision.actions)).not.toContain('deleteNodeClaim NodeClaim/old');
  });

  it('counts an operator’s own protection of the host (D7-03)', () => {
    const { snapshot } = surgeIsReady({
      hostNode: {
        meta: { annotations: { 'karpenter.sh/do-not-disrupt': 'true', 'noderotation.io/surge-for': 'old' } },
      },
    });
    expect(decisionOn(snapshot).step).toBe('handOver');
  });

  it.each([
    ['is cordoned', { hostNode: { unschedulable: true } }],
    ['is being deleted', { hostNode: { meta: { deleting: true } } }],
    ['belongs to another pool', { hostNode: { meta: { labels: { 'karpenter.sh/nodepool': 'batch' } } } }],
    ['was chosen by Karpenter', { host: { disruptionReason: 'Underutilized' } }],
    ['expires within the drain', { host: { created: at('2026-05-26T18:06:00Z') } }],
  ])('on a host that %s moves its placeholder away (D7-02, R3.3-22)', (_why, over) => {
    const decision = decisionOn(surgeIsReady(over as never).snapshot);
    expect(decision.step).toBe('leaveBadHost');
    expect(inWords(decision.actions)[0]).toBe('deletePlaceholder Pod/noderotation-surge-old');
    expect(inWords(decision.actions)).toContain('unprotect Node/node-host');
  });

  it('on the candidate itself moves away, and the candidate stays protected (D7-02)', () => {
    const decision = decisionOn(surgeIsReady({ placeholder: { nodeName: 'node-old' } }).snapshot);
    expect(decision.step).toBe('leaveBadHost');
    expect(inWords(decision.actions)).not.toContain('unprotect Node/node-old');
  });

  it('waits under a freeze with its marks kept (R3.1-06, R3.1-07)', () => {
    const { snapshot } = surgeIsReady({
      pool: { 'noderotation.io/freeze': '2026-06-09T18:00:00Z' },
      hostNode: { meta: { annotations: {} } },
    });
    const decision = decisionOn(snapshot);
    expect(decision.step).toBe('hold');
    expect(inWords(decision.actions)).toEqual(['protect Node/node-host']);
  });

  it('is handed over after the window has closed, as it had begun inside it (R3.1-04)', () => {
    const { snapshot } = surgeIsReady({
      startedAt: '2026-06-09T20:55:00Z',
      observedAt: '2026-06-09T21:05:00Z',
      placeholder: { ready: { status: true, since: at('2026-06-09T20:58:00Z') } },
    });
    expect(decisionOn(snapshot).step).toBe('handOver');
  });

  it('is refused by a dry run with the server’s words (D7-04)', () => {
    const { snapshot } = surgeIsReady();
    const inspected = {
      ...snapshot.inspected,
      dryRuns: new Map([['old', { outcome: 'refused' as const, detail: 'denied by policy guard' }]]),
    };
    const decision = decisionOn({ ...snapshot, inspected });
    expect(decision.step).toBe('rollBack');
    expect(decision.transition).toMatchObject({ step: 'failed', refusal: 'denied by policy guard' });
  });
});

describe('readyTimeout', () => {
  const since = (text: string) => ({ placeholder: { ready: { status: true, since: at(text) } } });

  it('does not count at its own instant (D7-02, R3.8-01)', () => {
    expect(
      decisionOn(surgeIsReady({ observedAt: '2026-06-09T17:15:00Z', ...since('2026-06-09T17:14:59Z') }).snapshot).step,
    ).toBe('handOver');
  });

  it('judges readiness by when it happened, not by when a tick looks (D7-02)', () => {
    expect(
      decisionOn(surgeIsReady({ observedAt: '2026-06-09T17:16:00Z', ...since('2026-06-09T17:15:00Z') }).snapshot).step,
    ).toBe('handOver');
    expect(
      decisionOn(surgeIsReady({ observedAt: '2026-06-09T17:16:00Z', ...since('2026-06-09T17:15:01Z') }).snapshot).step,
    ).toBe('rollBack');
  });

  it('lets a ready surge go long after it only while the window is open (D7-02)', () => {
    const late = { startedAt: '2026-06-09T20:40:00Z', ...since('2026-06-09T20:50:00Z') };
    expect(decisionOn(surgeIsReady({ ...late, observedAt: '2026-06-09T20:59:00Z' }).snapshot).step).toBe('handOver');
    expect(
      decisionOn(
        surgeIsReady({ ...late, startedAt: '2026-06-09T20:45:00Z', observedAt: '2026-06-09T21:02:00Z' }).snapshot,
      ).step,
    ).toBe('handOver');
    expect(
      decisionOn(
        surgeIsReady({ ...late, startedAt: '2026-06-09T20:45:00Z', observedAt: '2026-06-09T21:02:01Z' }).snapshot,
      ).step,
    ).toBe('rollBack');
  });

  it('ends a freeze that outlasts it (R3.1-08)', () => {
    const decision = decisionOn(
      surgeIsReady({ observedAt: '2026-06-09T17:15:01Z', pool: { 'noderotation.io/freeze': '2026-06-10T00:00:00Z' } })
        .snapshot,
    );
    expect(decision.step).toBe('rollBack');
  });

  it('rolls back in order: failing, reap, placeholder, marks, claim, anchor (D7-07, R3.8-01, R3.8-06, PR-66)', () => {
    const { snapshot } = surgeIsReady({ observedAt: '2026-06-09T17:16:00Z', placeholder: { phase: 'Pending' } });
    const decision = decisionOn(snapshot);
    expect(inWords(decision.actions)).toEqual([
      'annotate NodePool/api',
      'deleteNodeClaim NodeClaim/host',
      'deletePlaceholder Pod/noderotation-surge-old',
      'unprotect Node/node-old',
      'unprotect Node/node-host',
      'annotate NodeClaim/old',
      'annotate NodePool/api',
    ]);
    expect(decision.actions[0]).toMatchObject({
      annotations: { 'noderotation.io/active-rotation-state': 'failing' },
      whenRefused: 'stop',
    });
    expect(
      decision.actions.find((action) => action.kind === 'annotate' && action.target.kind === 'NodeClaim'),
    ).toMatchObject({
      annotations: {
        'noderotation.io/state': 'failed',
        'noderotation.io/retry-count': '1',
        'noderotation.io/failed-at': '2026-06-09T17:16:00Z',
      },
    });
    expect(events(decision.actions)).toContain('RotationFailed');
  });

  it('reaps no host that was there before, nor one that got another Pod (R3.8-06, D7-11)', () => {
    const before = surgeIsReady({
      observedAt: '2026-06-09T17:16:00Z',
      placeholder: { phase: 'Pending' },
      host: { created: at('2026-06-09T16:59:59Z') },
    });
    expect(inWords(decisionOn(before.snapshot).actions)).not.toContain('deleteNodeClaim NodeClaim/host');
    const shared = surgeIsReady({ observedAt: '2026-06-09T17:16:00Z', placeholder: { phase: 'Pending' } });
    const foreign = { ...shared.placeholder, meta: { ...shared.placeholder.meta, name: 'web-1', labels: {} } };
    const inspected = {
      ...shared.snapshot.inspected,
      podsOnNode: new Map([['node-host', [shared.placeholder, foreign]]]),
    };
    expect(inWords(decisionOn({ ...shared.snapshot, inspected }).actions)).not.toContain(
      'deleteNodeClaim NodeClaim/host',
    );
  });
});

describe('a rotation that others end', () => {
  it('expires with its claim: no reap, no cooldown (D7-02, R3.2-52, R3.4-10, PR-43)', () => {
    const { snapshot, old, host } = surgeIsReady();
    const going = { ...old, meta: { ...old.meta, deleting: true, deletionTimestamp: at('2026-06-09T17:04:00Z') } };
    const decision = decisionOn({ ...snapshot, nodeClaims: [going, host] });
    expect(decision.step).toBe('expire');
    expect(inWords(decision.actions)).toEqual([
      'deletePlaceholder Pod/noderotation-surge-old',
      'unprotect Node/node-old',
      'unprotect Node/node-host',
      'annotate NodeClaim/old',
      'annotate NodePool/api',
    ]);
    expect(decision.actions.at(-2)).not.toHaveProperty(['annotations', 'noderotation.io/last-rotation-at']);
    expect(decisionOn({ ...snapshot, nodeClaims: [host] }).step).toBe('expire');
  });

  it('is aborted without a failure when an operator opts out (D7-02, D7-08, D7-12, PR-48)', () => {
    const { snapshot, oldNode, hostNode } = surgeIsReady();
    const annotations = {
      'karpenter.sh/do-not-disrupt': 'true',
      'noderotation.io/surge-for': 'old',
      'noderotation.io/cordoned': 'true',
    };
    const optedOut = { ...oldNode, meta: { ...oldNode.meta, annotations } };
    const decision = decisionOn({
      ...snapshot,
      nodes: [{ meta: optedOut.meta }, { meta: hostNode.meta }],
      inspected: looked({ nodes: [optedOut, hostNode], pods: { 'node-host': [] }, dryRun: 'old' }),
    });
    expect(decision.step).toBe('abort');
    const undone = decision.actions.find((action) => action.kind === 'unprotect' && action.target.name === 'node-old');
    expect(undone).toMatchObject({
      unschedulable: null,
      annotations: { 'noderotation.io/surge-for': null, 'noderotation.io/cordoned': null },
    });
    expect(undone?.kind === 'unprotect' && undone.annotations).not.toHaveProperty('karpenter.sh/do-not-disrupt');
    expect(
      decision.actions.flatMap((action) => (action.kind === 'annotate' ? Object.keys(action.annotations) : [])),
    ).not.toContain('noderotation.io/retry-count');
  });

  it.each([
    ['the policy is gone', { policies: [] }],
    ['the policy only observes', { policies: [{ valid: true as const, policy: aPolicy({ mode: 'Observe' }) }] }],
    ['the cluster is retired', { retired: true }],
  ])('is aborted when %s (D6-01, D2-08)', (_why, over) => {
    const decision = decisionOn({ ...surgeIsReady().snapshot, ...over });
    expect(decision.step).toBe('abort');
    expect(decision.transition?.reason).toContain('GovernanceLost');
  });

  it('is undone without Events under Observe, with them otherwise (D2-08, D11-03)', () => {
    const { snapshot } = surgeIsReady();
    expect(
      events(decisionOn({ ...snapshot, policies: [{ valid: true, policy: aPolicy({ mode: 'Observe' }) }] }).actions),
    ).toEqual([]);
    expect(events(decisionOn({ ...snapshot, policies: [] }).actions)).toEqual(['RotationAborted', 'GovernanceLost']);
  });

  it('is aborted when Karpenter chose the candidate (D7-02)', () => {
    const { snapshot, old, host } = surgeIsReady();
    expect(decisionOn({ ...snapshot, nodeClaims: [{ ...old, disruptionReason: 'Drifted' }, host] }).step).toBe('abort');
  });
});

describe('an end that died half-way', () => {
  it.each([
    ['failing', 'rollBack'],
    ['aborting', 'abort'],
  ])('goes on from %s whatever else is true (D7-02, D7-07, D7-08)', (state, step) => {
    const { snapshot } = surgeIsReady({
      pool: { 'noderotation.io/active-rotation-state': state, 'noderotation.io/freeze': '2027-01-01T00:00:00Z' },
    });
    const decision = decisionOn({ ...snapshot, policies: [] });
    expect(decision.step).toBe(step);
    expect(decision.actions[0]).not.toMatchObject({ annotations: { 'noderotation.io/active-rotation-state': state } });
  });
});

describe('what each tick puts back', () => {
  it('is a cordon that somebody undid (D7-01, PR-65)', () => {
    const { snapshot, oldNode, hostNode } = surgeIsReady({ hostNode: { ready: false } });
    const uncordoned = aNode(snapshot.nodeClaims[0] as never, { unschedulable: false, meta: oldNode.meta });
    const decision = decisionOn({ ...snapshot, inspected: looked({ nodes: [uncordoned, hostNode] }) });
    expect(decision.actions).toContainEqual(expect.objectContaining({ kind: 'protect', unschedulable: true }));
  });

  it('is the identity of a surge claim that was replaced, its former host first (D7-02, R3.8-05, PR-45)', () => {
    const { snapshot } = surgeIsReady({ pool: { 'noderotation.io/surge-claim': 'nc-9' } });
    const former = { meta: { ...snapshot.nodes[1]?.meta, name: 'node-nc-9', annotations: marks('old') } } as never;
    const decision = decisionOn({ ...snapshot, nodes: [...snapshot.nodes, former] });
    expect(inWords(decision.actions).slice(0, 2)).toEqual(['unprotect Node/node-nc-9', 'annotate NodePool/api']);
    expect(decision.actions[1]).toMatchObject({ annotations: { 'noderotation.io/surge-claim': 'host' } });
  });

  it('warns once when the new host has fewer Pod slots than Pods to move (D4-03, PR-57)', () => {
    const many = Array.from({ length: 50 }, (_, index) => aPod(`web-${index}`, { requests: { cpu: '10m' } }));
    const daemons = Array.from({ length: 6 }, (_, index) => aPod(`agent-${index}`, { controllerKind: 'DaemonSet' }));
    const { snapshot, oldNode, hostNode, placeholder } = surgeIsReady({
      pool: { 'noderotation.io/surge-claim': '' },
      hostNode: { allocatable: amounts({ cpu: '4', pods: '8' }) },
    });
    const seen = (moving: typeof many) =>
      decisionOn({
        ...snapshot,
        inspected: looked({
          nodes: [oldNode, hostNode],
          pods: { 'node-old': moving, 'node-host': [...daemons, placeholder] },
          dryRun: 'old',
        }),
      });
    expect(seen(many).notices.map((notice) => notice.code)).not.toContain('PodSlotsShort');
    const first = { ...snapshot, nodes: [snapshot.nodes[0] as never, { meta: { ...hostNode.meta, annotations: {} } }] };
    const bare = { ...hostNode, meta: { ...hostNode.meta, annotations: {} } };
    const atFirst = (moving: typeof many) =>
      decisionOn({
        ...first,
        inspected: looked({
          nodes: [oldNode, bare],
          pods: { 'node-old': moving, 'node-host': [...daemons, placeholder] },
        }),
      });
    expect(events(atFirst(many).actions)).toContain('PodSlotsShort');
    expect(events(atFirst(many.slice(0, 2)).actions)).not.toContain('PodSlotsShort');
    expect(events(atFirst(many.slice(0, 3)).actions)).toContain('PodSlotsShort');
  });

  it('is a placeholder that was preempted, made anew once it is gone (R3.3-21, D7-02)', () => {
    const { snapshot, oldNode, hostNode } = surgeIsReady();
    const decision = decisionOn({
      ...snapshot,
      placeholders: [],
      inspected: looked({ nodes: [oldNode, hostNode], pods: { 'node-old': [] } }),
    });
    expect(decision.step).toBe('recreatePlaceholder');
    expect(inWords(decision.actions)).toEqual(['createPlaceholder noderotation-surge-old']);
  });
});

describe('a malformed anchor', () => {
  it('is rolled back, and reaps nothing (D5-06)', () => {
    const { snapshot } = surgeIsReady({ pool: { 'noderotation.io/started-at': 'yesterday' } });
    const bare = snapshot.nodeClaims.map((claim) => ({ ...claim, meta: { ...claim.meta, annotations: {} } }));
    const decision = decisionOn({
      ...snapshot,
      nodeClaims: bare,
      nodePools: [aPool({ meta: { annotations: snapshot.nodePools[0]?.meta.annotations as never } })],
    });
    expect(decision.step).toBe('rollBack');
    expect(inWords(decision.actions)).not.toContain('deleteNodeClaim NodeClaim/host');
    expect(events(decision.actions)).toContain('StateMalformed');
  });
});
