/**
 * What Karpenter keeps up to date in status: the pools' counters and conditions, and the claims' last Pod event.
 *
 * Nodes marked for deletion are left out of the counters, so a draining node has already vanished from them.
 */
import { units } from '../domain/cluster/quantity.ts';
import type { ResourceList } from '../domain/cluster/resource-list.ts';
import { formatResourceList, sameAmounts, total } from '../domain/cluster/resource-list.ts';
import type { Instant } from '../domain/time.ts';
import { second } from '../domain/time.ts';
import { amounts } from './instance-types.ts';
import type { ClaimObject, PoolObject } from './kube-object.ts';
import { conditionOf, readStamp, stamp, withCondition } from './kube-object.ts';
import { livingClaims } from './node-claims.ts';
import { capacityOf } from './planning.ts';
import type { Model } from './world-state.ts';
import { nextBeat } from './world-state.ts';

const noticedEvery = 10 * second;

/** Rewrites status.resources every five seconds where it is wrong; nodes marked for deletion are left out. */
export const poolCounter: Model = {
  reads: ['NodePool', 'NodeClaim', 'cloud'],
  run(world) {
    const { store, now } = world;
    let next: Instant | undefined;
    for (const pool of store.all<PoolObject>('NodePool')) {
      if (!conditionOf(pool, 'Ready')) store.update(pool, { status: { conditions: readyPool(pool, now) } });
      const claims = livingClaims(store, pool.metadata.name).filter((claim) => claim.status.capacity !== undefined);
      const resources = total([none, ...claims.map((claim) => capacityOf(world, claim))]);
      if (pool.status?.resources && sameAmounts(amounts(pool.status.resources), resources)) continue;
      if (now % (5 * second) === 0 || !pool.status?.resources) {
        store.update(pool, { status: { resources: formatResourceList(resources), nodes: claims.length } });
      } else {
        next = nextBeat(now, 5);
      }
    }
    return next;
  },
};

const none: ResourceList = new Map(
  ['cpu', 'memory', 'pods', 'ephemeral-storage', 'nodes'].map((resource) => [resource, units(0)]),
);

const readyPool = (pool: PoolObject, now: Instant) =>
  ['ValidationSucceeded', 'NodeClassReady', 'Ready'].reduce(
    (conditions, type) => withCondition(conditions, now, type, 'True', type),
    pool.status?.conditions ?? [],
  );

/** Notes on the claim when a Pod came to its node or left it, at most every ten seconds. */
export function createPodEvents(noticed: Map<string, Instant>): Model {
  const run: Model['run'] = ({ store }) => {
    for (const [nodeName, at] of noticed) {
      noticed.delete(nodeName);
      const claim = store.all<ClaimObject>('NodeClaim').find((candidate) => candidate.status.nodeName === nodeName);
      const last = readStamp(claim?.status.lastPodEventTime);
      if (claim && (last === undefined || at - last >= noticedEvery))
        store.update(claim, { status: { lastPodEventTime: stamp(at) } });
    }
    return undefined;
  };
  return { reads: ['Pod', 'NodeClaim'], run };
}
