/**
 * Pods: we make and remove placeholders and nothing else.
 */
import type { PoolObject } from '../../lib/simulator/kube-object.ts';
import { groundsOf } from './grounds.ts';
import type { Landed } from './safety.ts';
import { sometimes } from './safety.ts';
import { anchorOf, isPlaceholder, poolOfClaim } from './seen-cluster.ts';

export function judgePlaceholder({
  before,
  after,
  action,
  sight,
  now,
}: Landed): readonly { rule: string; message: string }[] {
  const pod = after ?? before;
  if (!pod) return [];
  const name = pod.metadata.name;
  const no = (message: string) => [{ rule: 'placeholder', message: `Pod ${name}: ${message}` }];
  if (!isPlaceholder(pod)) return no('is not a placeholder of ours');
  if (action.kind === 'deletePlaceholder') return [];
  if (before !== undefined) return no('was changed');
  const pool = now.pools.find((each) => {
    const anchor = anchorOf(each);
    return anchor !== undefined && isPlaceholder(pod, anchor.claim);
  });
  // Between this tick's last word with the pool and the create others may end the attempt (D5-08).
  const stands = (each: PoolObject): boolean => isPlaceholder(pod, anchorOf(each)?.claim ?? '-');
  const anchored = sometimes(sight, (seen) => seen.pools.some(stands)) || [...sight.written.values()].some(stands);
  if (!pool) return anchored ? [] : no('stands for a claim that no pool rotates');
  const { terms, frozen } = groundsOf(sight, pool.metadata.name);
  if (typeof terms === 'string') return no(`was made although ${terms}`);
  if (frozen) return no('was made during a freeze');
  const claims = now.claims.filter((claim) => isPlaceholder(pod, claim.metadata.name));
  return claims.every((claim) => poolOfClaim(claim) === pool.metadata.name)
    ? []
    : no('stands for a claim of another pool');
}
