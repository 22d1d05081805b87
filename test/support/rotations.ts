/**
 * Snapshots of a rotation in each of its phases, for tests that look at one decision.
 */

import type { Node } from '../../lib/domain/cluster/node.ts';
import type { NodeClaim } from '../../lib/domain/cluster/node-claim.ts';
import type { Pod } from '../../lib/domain/cluster/pod.ts';
import type { ClusterSnapshot, Inspected } from '../../lib/domain/cluster/snapshot.ts';
import { placeholderName, surgeForValue } from '../../lib/domain/surge/placeholder.ts';
import { decide } from '../../lib/engine/decide.ts';
import type { Action, Decision } from '../../lib/engine/decision.ts';
import { violations } from '../../lib/engine/invariants.ts';
import { viewOf } from '../../lib/engine/pool-view.ts';
import { aClaim, aNode, aPod, aPool, aSnapshot, at } from './builders.ts';

/** The first instant of a Wednesday window, 02:00 in Tokyo. */
export const windowOpens = at('2026-06-09T17:00:00Z');

/** Due since long: created 10 days before, deadline in 4. */
export const due = (name: string, over: Parameters<typeof aClaim>[1] = {}): NodeClaim =>
  aClaim(name, { created: at('2026-05-30T17:00:00Z'), ...over });

export function looked(
  over: { nodes?: readonly Node[]; pods?: Readonly<Record<string, readonly Pod[]>>; dryRun?: string } = {},
): Inspected {
  return {
    nodes: new Map((over.nodes ?? []).map((node) => [node.meta.name, node])),
    podsOnNode: new Map(Object.entries(over.pods ?? {})),
    dryRuns: new Map(over.dryRun === undefined ? [] : [[over.dryRun, { outcome: 'accepted' as const }]]),
    disruptionBudgets: [],
    unscheduledPods: [],
  };
}

export const anchorOf = (
  claim: NodeClaim,
  startedAt: string,
  over: Record<string, string> = {},
): Record<string, string> => ({
  'noderotation.io/active-rotation': claim.meta.name,
  'noderotation.io/rotation-claim-uid': claim.meta.uid,
  'noderotation.io/started-at': startedAt,
  ...over,
});

export const marks = (claimName: string, cordoned = false): Record<string, string> => ({
  'karpenter.sh/do-not-disrupt': 'true',
  'noderotation.io/do-not-disrupt-owned': 'true',
  'noderotation.io/surge-for': claimName,
  ...(cordoned ? { 'noderotation.io/cordoned': 'true' } : {}),
});

export function aPlaceholder(claim: NodeClaim, over: Parameters<typeof aPod>[1] = {}): Pod {
  return aPod(placeholderName(claim.meta.name), {
    priority: -10,
    ...over,
    meta: {
      namespace: 'node-rotation',
      labels: { 'noderotation.io/surge-for': surgeForValue(claim.meta.name) },
      ...over.meta,
    },
  });
}

/** A rotation of `old` five minutes old whose surge is ready on the node of `host`. */
export function surgeIsReady(
  over: {
    host?: Parameters<typeof aClaim>[1];
    hostNode?: Parameters<typeof aNode>[1];
    placeholder?: Parameters<typeof aPod>[1];
    startedAt?: string;
    observedAt?: string;
    pool?: Record<string, string>;
  } = {},
) {
  const startedAt = over.startedAt ?? '2026-06-09T17:00:00Z';
  const state = {
    'noderotation.io/state': 'pending',
    'noderotation.io/started-at': startedAt,
    'noderotation.io/surge-claim': 'host',
  };
  const old = due('old', { meta: { annotations: state } });
  const host = aClaim('host', { created: at('2026-06-09T17:01:00Z'), ...over.host });
  const oldNode = aNode(old, { unschedulable: true, meta: { annotations: marks('old', true) } });
  const hostNode = aNode(host, { ...over.hostNode, meta: { annotations: marks('old'), ...over.hostNode?.meta } });
  const placeholder = aPlaceholder(old, {
    nodeName: 'node-host',
    ready: { status: true, since: at('2026-06-09T17:02:00Z') },
    ...over.placeholder,
  });
  const snapshot: ClusterSnapshot = aSnapshot({
    observedAt: at(over.observedAt ?? '2026-06-09T17:05:00Z'),
    nodePools: [
      aPool({
        meta: { annotations: anchorOf(old, startedAt, { 'noderotation.io/surge-claim': 'host', ...over.pool }) },
      }),
    ],
    nodeClaims: [old, host],
    nodes: [{ meta: oldNode.meta }, { meta: hostNode.meta }],
    placeholders: [placeholder],
    inspected: looked({
      nodes: [oldNode, hostNode],
      pods: { 'node-host': [placeholder], 'node-old': [] },
      dryRun: 'old',
    }),
  });
  return { snapshot, old, host, oldNode, hostNode, placeholder };
}

/** The decision about pool `api`, checked against the invariants. */
export function decisionOn(snapshot: ClusterSnapshot, pool = 'api'): Decision {
  const decision = decide(snapshot).find((each) => each.nodePool === pool);
  if (!decision) throw new Error(`no decision about ${pool}`);
  const nodePool = snapshot.nodePools.find((each) => each.meta.name === pool);
  const broken = violations(nodePool && viewOf(snapshot, nodePool), decision);
  if (broken.length > 0) throw new Error(`invariants: ${broken.join('; ')}`);
  return decision;
}

/** A list as short words, Events left out: `annotate NodePool/api`. */
export const inWords = (actions: readonly Action[]): readonly string[] =>
  actions.flatMap((action) => {
    switch (action.kind) {
      case 'emitEvent':
        return [];
      case 'createPlaceholder':
        return [`createPlaceholder ${action.pod.metadata.name}`];
      default:
        return [`${action.kind} ${action.target.kind}/${action.target.name}`];
    }
  });

export const events = (actions: readonly Action[]): readonly string[] =>
  actions.flatMap((action) => (action.kind === 'emitEvent' ? [action.event.reason] : []));

/** The first action of a kind. */
export const firstOf = <K extends Action['kind']>(
  actions: readonly Action[],
  kind: K,
): (Action & { kind: K }) | undefined => actions.find((action): action is Action & { kind: K } => action.kind === kind);
