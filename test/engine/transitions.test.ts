import { expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../lib/domain/cluster/snapshot.ts';
import { viewOf } from '../../lib/engine/pool-view.ts';
import { phaseAfter, transitions } from '../../lib/engine/transitions.ts';
import { aNode, aPolicy, aPool, aSnapshot, at } from '../support/builders.ts';
import { decisionOn, due, looked, surgeIsReady } from '../support/rotations.ts';

const state = (value: string, over: Record<string, string> = {}) => ({
  pool: { 'noderotation.io/active-rotation-state': value, ...over },
});
const unread = (snapshot: ClusterSnapshot): ClusterSnapshot => ({
  ...snapshot,
  inspected: { nodes: new Map(), podsOnNode: new Map(), dryRuns: new Map() },
});
const withOld = (snapshot: ClusterSnapshot, over: object): ClusterSnapshot => ({
  ...snapshot,
  nodeClaims: snapshot.nodeClaims.map((claim) =>
    claim.meta.name === 'old' ? { ...claim, meta: { ...claim.meta, ...over } } : claim,
  ),
});
const withoutOld = (snapshot: ClusterSnapshot): ClusterSnapshot => ({
  ...snapshot,
  nodeClaims: snapshot.nodeClaims.filter((claim) => claim.meta.name !== 'old'),
});
const going = { deleting: true, deletionTimestamp: at('2026-06-09T17:04:00Z') };
const unmarked = { hostNode: { meta: { annotations: {} } } };
const broken = { 'noderotation.io/started-at': 'x' };
const unstuck = (snapshot: ClusterSnapshot): ClusterSnapshot => ({ ...snapshot, placeholders: [] });

const pending = (over = {}) => surgeIsReady(over).snapshot;
const draining = (over = {}) => surgeIsReady({ ...over, ...state('draining') }).snapshot;
const malformed = (value?: string) => surgeIsReady(value ? state(value, broken) : { pool: broken }).snapshot;
const mirror = { 'noderotation.io/draining-at': '2026-06-09T17:03:00Z' };
const drainingCopy = {
  'noderotation.io/state': 'draining',
  'noderotation.io/started-at': '2026-06-09T17:00:00Z',
};
const byForce = { 'noderotation.io/rotation-mode': 'forceful-fallback' };
const ofFallback = (snapshot: ClusterSnapshot): ClusterSnapshot =>
  withOld(snapshot, {
    annotations: { ...byForce, ...drainingCopy },
  });
const bare = (snapshot: ClusterSnapshot): ClusterSnapshot => ({ ...snapshot, nodePools: [aPool()] });

const claim = due('old');
const idle = aSnapshot({ nodeClaims: [claim], inspected: looked({ nodes: [aNode(claim)], pods: { 'node-old': [] } }) });
const late = due('old', { created: at('2026-05-26T17:30:00Z') });
const fallback = aSnapshot({
  policies: [{ valid: true, policy: aPolicy({ surge: { forcefulFallback: true } }) }],
  nodeClaims: [late],
});

/** One snapshot for every way that the table declares. */
const shown: readonly ClusterSnapshot[] = [
  aSnapshot(),
  { ...idle, policies: [] },
  idle,
  fallback,
  bare(pending()),
  bare(withOld(pending(), { annotations: drainingCopy })),
  pending({ pool: { 'noderotation.io/freeze': '2027-01-01T00:00:00Z' } }),
  pending(unmarked),
  {
    ...unstuck(pending()),
    inspected: looked({ nodes: [surgeIsReady().oldNode, surgeIsReady().hostNode], pods: { 'node-old': [] } }),
  },
  pending({ hostNode: { unschedulable: true } }),
  unread(pending()),
  pending(),
  pending({ observedAt: '2026-06-09T17:16:00Z', placeholder: { phase: 'Pending' } }),
  { ...pending(), policies: [] },
  withOld(pending(), going),
  withOld(draining(), going),
  draining(),
  unread(draining()),
  draining(unmarked),
  withoutOld(draining()),
  { ...draining(), policies: [] },
  { ...ofFallback(surgeIsReady(state('draining', byForce)).snapshot), policies: [] },
  surgeIsReady(state('failing')).snapshot,
  withOld(surgeIsReady(state('failing')).snapshot, going),
  unread(surgeIsReady(state('failing')).snapshot),
  withoutOld(surgeIsReady(state('failing', mirror)).snapshot),
  withOld(surgeIsReady(state('failing', mirror)).snapshot, { ...going, annotations: drainingCopy }),
  surgeIsReady(state('aborting')).snapshot,
  withOld(surgeIsReady(state('aborting')).snapshot, going),
  unread(surgeIsReady(state('aborting')).snapshot),
  malformed(),
  withOld(malformed(), going),
  unread(malformed()),
  withOld(malformed('draining'), going),
  malformed('draining'),
  surgeIsReady({ ...unmarked, ...state('draining', broken) }).snapshot,
  withoutOld(malformed('draining')),
  { ...malformed('draining'), policies: [] },
  { ...ofFallback(malformed('draining')), policies: [] },
];

const inWords = ({ from, step, to }: { from: string; step: string; to: string }): string => `${from} ${step} ${to}`;

it('the code takes every transition that the table declares, and no other (D7-10, D5-01)', () => {
  const taken = shown.map((snapshot) => {
    const decision = decisionOn(snapshot);
    const view = viewOf(snapshot, snapshot.nodePools[0] as never);
    return inWords({ from: view.rotation.phase, step: decision.step, to: phaseAfter(view, decision) });
  });
  expect([...new Set(taken)].sort()).toEqual(transitions.map(inWords).sort());
});

it('the drawing in the documents is the table (D7-10)', async () => {
  const name = {
    none: '[*]',
    pending: 'pending',
    draining: 'draining',
    failing: 'failing',
    aborting: 'aborting',
    malformed: 'malformed',
  };
  const edges = Map.groupBy(transitions, ({ from, to }) => `${name[from]} --> ${name[to]}`);
  const lines = [...edges].map(([edge, ways]) => `    ${edge}: ${ways.map(({ step }) => step).join(', ')}`);
  const text = [
    '# The states of a rotation',
    '',
    'The phase is read from the annotations of the NodePool. Each edge names the steps that a tick may take along it. The',
    'drawing is made from the table in `lib/engine/transitions.ts`, and every list of writes is held against that table',
    'before it is carried out. `[*]` is a pool without a rotation.',
    '',
    '```mermaid',
    'stateDiagram-v2',
    ...lines,
    '```',
    '',
    '| from | step | to |',
    '| --- | --- | --- |',
    ...transitions.map(({ from, step, to }) => `| ${from} | ${step} | ${to} |`),
    '',
  ].join('\n');
  await expect(text).toMatchFileSnapshot('../../docs/reference/states.md');
});
