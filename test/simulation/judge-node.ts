/**
 * Marks and cordons: R3.4-01 to R3.4-08 for every single write on a Node.
 */
import type { NodeObject } from '../../lib/simulator/kube-object.ts';
import { foreignChanges } from './foreign-parts.ts';
import type { Landed, Sight } from './safety.ts';
import { sometimes } from './safety.ts';
import type { SeenCluster } from './seen-cluster.ts';
import { anchorOf, claimOfNode, doNotDisrupt, isOperators, isPlaceholder, key, named, note } from './seen-cluster.ts';

export function judgeNode({ before, after, sight, now }: Landed): readonly { rule: string; message: string }[] {
  const found = [...foreignChanges('Node', before, after)];
  if (!before || !after) return found;
  const name = after.metadata.name;
  const no = (rule: string, message: string): void => void found.push({ rule, message: `node ${name}: ${message}` });
  const [was, is] = [before as NodeObject, after as NodeObject];
  const [dndBefore, dndAfter] = [note(was, doNotDisrupt), note(is, doNotDisrupt)];
  const [ownedBefore, ownedAfter] = [note(was, owned) === 'true', note(is, owned) === 'true'];

  if (dndBefore !== dndAfter) {
    if (isOperators(was)) no('operatorsMark', `the operator's do-not-disrupt became ${dndAfter}`);
    if (dndAfter === undefined && !ownedBefore)
      no('operatorsMark', `do-not-disrupt ${dndBefore} was not ours to remove`);
    if (dndAfter !== undefined && dndAfter !== 'true') no('mark', `do-not-disrupt became ${dndAfter}`);
  }
  if (ownedAfter && !ownedBefore && isOperators(was)) no('operatorsMark', "the operator's do-not-disrupt was adopted");
  if (ownedAfter && dndAfter !== 'true') no('mark', 'owned without do-not-disrupt');
  if (ownedBefore && !ownedAfter && dndAfter === 'true') no('mark', 'our do-not-disrupt stayed without its marker');

  const [cordonBefore, cordonAfter] = [was.spec.unschedulable === true, is.spec.unschedulable === true];
  const [oursBefore, oursAfter] = [note(was, key('cordoned')) === 'true', note(is, key('cordoned')) === 'true'];
  if (!cordonBefore && cordonAfter && !oursAfter) no('cordon', 'cordoned without our marker');
  if (cordonBefore && !cordonAfter && !oursBefore) no('operatorsCordon', "an operator's cordon was undone");
  if (!oursBefore && oursAfter && cordonBefore) no('operatorsCordon', "an operator's cordon was adopted");
  if (oursBefore && !oursAfter && cordonAfter) no('cordon', 'our cordon stayed without its marker');
  if (!cordonBefore && cordonAfter && !sometimesOrNow(sight, now, (seen) => isCandidate(seen, name)))
    no('cordon', 'cordoned without being the candidate of a rotation');

  const marked = note(is, key('surge-for'));
  if (marked !== undefined && (marked !== note(was, key('surge-for')) || (ownedAfter && !ownedBefore))) {
    if (!sometimesOrNow(sight, now, (seen) => seen.pools.some((pool) => anchorOf(pool)?.claim === marked)))
      no('mark', `marked for ${marked}, which no pool rotates`);
    else if (!sometimesOrNow(sight, now, (seen) => belongs(seen, name, marked)))
      no('mark', `marked for ${marked}, though it is neither its node nor its surge host`);
  }
  return found;
}

const owned = key('do-not-disrupt-owned');

/** What the tick itself wrote on a pool it knows, too, even when somebody has taken it off since. */
const sometimesOrNow = (sight: Sight, now: SeenCluster, holds: (seen: SeenCluster) => boolean): boolean =>
  holds(now) || sometimes(sight, holds) || holds({ ...now, pools: [...sight.written.values()] });

const isCandidate = (seen: SeenCluster, node: string): boolean =>
  seen.pools.some((pool) => {
    const anchor = anchorOf(pool);
    return anchor !== undefined && named(seen.claims, anchor.claim)?.status.nodeName === node;
  });

/** The node of the old claim, of the surge claim, or under the placeholder. */
function belongs(seen: SeenCluster, node: string, claim: string): boolean {
  const surgeClaims = seen.pools.flatMap((pool) => {
    const anchor = anchorOf(pool);
    return anchor?.claim === claim ? [anchor.surgeClaim] : [];
  });
  const on = claimOfNode(seen, node)?.metadata.name;
  return (
    on === claim ||
    (on !== undefined && surgeClaims.includes(on)) ||
    seen.pods.some((pod) => isPlaceholder(pod, claim) && pod.spec.nodeName === node)
  );
}
