/**
 * What of an object is not ours: everything but a few annotations, and on Nodes the cordon.
 */
import type { KubeObject } from '../../lib/simulator/kube-object.ts';
import { doNotDisrupt } from './seen-cluster.ts';

const nothingOf = (keys: readonly string[]) => (annotation: string) => keys.includes(annotation);

const ours = {
  NodePool: (annotation: string) =>
    annotation.startsWith('noderotation.io/') && annotation !== 'noderotation.io/freeze',
  NodeClaim: (annotation: string) => annotation.startsWith('noderotation.io/'),
  Node: nothingOf([
    doNotDisrupt,
    'noderotation.io/do-not-disrupt-owned',
    'noderotation.io/surge-for',
    'noderotation.io/cordoned',
  ]),
} as const;

/** Names what a patch of ours changed that is not ours. */
export function foreignChanges(
  kind: keyof typeof ours,
  before: KubeObject | undefined,
  after: KubeObject | undefined,
): readonly { rule: string; message: string }[] {
  if (!before || !after) return [{ rule: 'foreign', message: `a ${kind} was made or removed` }];
  const rest = ({ metadata, spec, ...object }: KubeObject) => {
    const { annotations = {}, resourceVersion: _version, generation: _generation, ...meta } = metadata;
    const foreign = Object.entries(annotations)
      .filter(([annotation]) => !ours[kind](annotation))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const { unschedulable: _cordon, ...others } = (spec ?? {}) as { unschedulable?: boolean };
    return { foreign, meta, spec: kind === 'Node' ? others : spec, status: object.status };
  };
  const [was, is] = [rest(before), rest(after)];
  return (Object.keys(was) as (keyof typeof was)[])
    .filter((part) => JSON.stringify(was[part]) !== JSON.stringify(is[part]))
    .map((part) => ({
      rule: 'foreign',
      message: `${kind} ${after.metadata.name}: ${part} changed from ${JSON.stringify(was[part])} to ${JSON.stringify(is[part])}`,
    }));
}
