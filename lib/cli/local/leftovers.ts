/**
 * What of ours is left on the embedded cluster, read off its objects by somebody who only looks.
 */
import {
  claimKeys,
  keyPrefix,
  nodeKeys,
  poolKeys,
  surgeForLabel,
  warningsKey,
} from '../../domain/rotation/annotation-keys.ts';
import type { KubeObject } from '../../simulator/kube-object.ts';
import { isDeleting, labelOf } from '../../simulator/kube-object.ts';
import type { ObjectStore } from '../../simulator/object-store.ts';

/** What outlives a rotation by design: the memory of the last one, counts of failures, warnings that go on. */
const remembered = new Set<string>([
  poolKeys.lastEnded,
  poolKeys.lastRotationAt,
  poolKeys.lastFailureAt,
  claimKeys.failedAt,
  claimKeys.retryCount,
  warningsKey,
]);

/** Marks, cordons and placeholders, as `Kind name: what`; none when every rotation was cleared away. @design D6-03 */
export function leftovers(store: ObjectStore): readonly string[] {
  const objects = (['NodePool', 'NodeClaim', 'Node'] as const).flatMap((kind) => store.all(kind));
  const placeholders = store.all('Pod').filter((pod) => labelOf(pod, surgeForLabel) !== undefined);
  return [
    ...objects
      .filter((object) => !isDeleting(object))
      .flatMap((object) => marksOn(object).map((mark) => `${object.kind} ${object.metadata.name}: ${mark}`)),
    ...placeholders.map((pod) => `Pod ${pod.metadata.name}: placeholder`),
  ];
}

function marksOn({ kind, metadata, spec }: KubeObject): readonly string[] {
  const marks = Object.keys(metadata.annotations ?? {}).filter(
    (key) => (key.startsWith(keyPrefix) && !remembered.has(key)) || (kind === 'Node' && key === nodeKeys.doNotDisrupt),
  );
  const cordoned = kind === 'Node' && spec !== undefined && 'unschedulable' in spec && spec.unschedulable === true;
  return cordoned ? [...marks, 'cordon'] : marks;
}
