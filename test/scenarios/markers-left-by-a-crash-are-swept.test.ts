import { expect, it } from 'vitest';
import { days } from '../../lib/domain/time.ts';
import { annotationsOf } from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import {
  annotates,
  became,
  claimsOf,
  eventsOf,
  expectSameEndAfterEveryCrash,
  nodeNow,
  tell,
} from '../support/scenario.ts';
import { leftovers, oneDueNode, settings } from '../support/story.ts';

const [pool] = oneDueNode.pools as [(typeof oneDueNode.pools)[0]];
const [app] = oneDueNode.apps as [(typeof oneDueNode.apps)[0]];
const keep = { 'karpenter.sh/do-not-disrupt': 'true' };
const owned = { ...keep, 'noderotation.io/do-not-disrupt-owned': 'true' };

/** Nothing is due in either pool, and nobody governs `batch`. */
let nodes: Record<'cordonedByUs' | 'keptByOperator' | 'ungoverned' | 'cordonedByOperator', string>;
let before: readonly string[] = [];
const scenario: Scenario = {
  minutes: 3,
  fleet: {
    ...oneDueNode,
    pools: [
      { ...pool, ages: [days(3), days(2)] },
      { ...pool, name: 'batch', ages: [days(3), days(2)] },
    ],
    apps: ['api', 'batch'].map((name) => ({ ...app, name: `${name}-web`, pool: name })),
    policy: {
      ...oneDueNode.policy,
      spec: { ...(oneDueNode.policy['spec'] as object), nodePoolSelector: { matchLabels: { workload: 'api' } } },
    },
  },
  arrange: (stage) => {
    const { store } = stage.world;
    const [api, batch] = [claimsOf(stage, 'api'), claimsOf(stage, 'batch')].map((claims) =>
      claims.map(({ node }) => node),
    );
    const [cordonedByUs = '', keptByOperator = ''] = api ?? [];
    const [ungoverned = '', cordonedByOperator = ''] = batch ?? [];
    nodes = { cordonedByUs, keptByOperator, ungoverned, cordonedByOperator };
    const cordon = (name: string): void => void store.patch({ kind: 'Node', name }, { spec: { unschedulable: true } });
    annotates(stage, 'Node', cordonedByUs, {
      ...owned,
      'noderotation.io/surge-for': 'api-gone',
      'noderotation.io/cordoned': 'true',
    });
    cordon(cordonedByUs);
    annotates(stage, 'Node', keptByOperator, { ...keep, 'noderotation.io/surge-for': 'api-gone' });
    annotates(stage, 'Node', ungoverned, { ...owned, 'noderotation.io/surge-for': 'batch-gone' });
    annotates(stage, 'Node', cordonedByOperator, { ...owned, 'noderotation.io/surge-for': 'batch-gone' });
    cordon(cordonedByOperator);
    annotates(stage, 'NodePool', 'api', {
      'noderotation.io/surge-claim': 'api-gone',
      'noderotation.io/rotation-mode': 'forceful-fallback',
    });
    annotates(stage, 'NodeClaim', claimsOf(stage, 'batch')[0]?.claim ?? '', {
      'noderotation.io/state': 'pending',
      'noderotation.io/started-at': '2026-06-09T16:00:00Z',
    });
    store.create({
      kind: 'Pod',
      metadata: {
        name: 'noderotation-surge-api-gone',
        namespace: settings.namespace,
        labels: { 'noderotation.io/surge-for': 'api-gone' },
      },
      spec: {
        priorityClassName: settings.priorityClassName,
        nodeSelector: { 'karpenter.sh/nodepool': 'api' },
        containers: [{ name: 'pause', image: settings.image }],
      },
    });
    before = leftovers(stage.world);
  },
};

it('what a crash has left is gone after one tick, in pools that nobody governs, too (D6-03, R3.9-02, R3.4-05, R3.4-08)', async () => {
  const told = await tell({ ...scenario, minutes: 1 });
  expect(before.length).toBeGreaterThan(8);
  expect(leftovers(told.world)).toEqual([]);
  expect(became(told)).toMatchObject({ rows: [], events: [] });
  expect(told.world.store.all('NodeClaim').flatMap((claim) => Object.keys(annotationsOf(claim)))).toEqual([]);
});

it('an operator’s own protection and cordon are not ours to sweep (D6-03, R3.4-03, R3.4-05)', async () => {
  const told = await tell(scenario);
  expect(nodeNow(told, nodes.cordonedByUs)).toEqual({ cordoned: false, doNotDisrupt: undefined });
  expect(nodeNow(told, nodes.keptByOperator)).toEqual({ cordoned: false, doNotDisrupt: 'true' });
  expect(nodeNow(told, nodes.ungoverned)).toEqual({ cordoned: false, doNotDisrupt: undefined });
  expect(nodeNow(told, nodes.cordonedByOperator)).toEqual({ cordoned: true, doNotDisrupt: undefined });
  expect(eventsOf(told.world)).toEqual([]);
});

it('whatever action of the sweep the process dies before (D6-03, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
