/**
 * The second, narrow look: only the Nodes, Pods, budgets and trial deletes that a step has asked for, side by side.
 */
import type { DisruptionBudget } from '../../domain/cluster/disruption-budget.ts';
import type { ObjectRef } from '../../domain/cluster/object-ref.ts';
import type { Pod } from '../../domain/cluster/pod.ts';
import type { DryRun, Inspected } from '../../domain/cluster/snapshot.ts';
import type { Need } from '../../engine/decision.ts';
import { ApiStatusError } from './api-error.ts';
import { decodeDisruptionBudget } from './decode-disruption-budget.ts';
import { decodePod } from './decode-pod.ts';
import { type Looking, readKept, readNode, settled } from './observe.ts';
import { pathOf, resourceOf, resources } from './resources.ts';

/** @design D15-03 */
export async function inspect(looking: Looking, need: Need): Promise<Inspected> {
  const [nodes, podsOnNode, dryRuns, disruptionBudgets, unscheduledPods] = await settled([
    byName(need.nodes, (name) => readNode(looking, name)),
    byName(need.podsOnNodes, (name) => readPods(looking, `spec.nodeName=${name}`)),
    byName(
      need.dryRunDeletes,
      (target) => dryRunDelete(looking, target),
      ({ name }) => name,
    ),
    need.disruptionBudgets ? readBudgets(looking) : undefined,
    need.unscheduledPods ? readPods(looking, 'spec.nodeName=,status.phase=Pending') : undefined,
  ]);
  return {
    nodes,
    podsOnNode,
    dryRuns,
    ...(disruptionBudgets === undefined ? {} : { disruptionBudgets }),
    ...(unscheduledPods === undefined ? {} : { unscheduledPods }),
  };
}

async function byName<K, T>(
  wanted: readonly K[],
  read: (key: K) => Promise<T>,
  nameOf: (key: K) => string = String,
): Promise<ReadonlyMap<string, T>> {
  const values = await settled(wanted.map(read));
  return new Map(wanted.map((key, index) => [nameOf(key), values[index] as T]));
}

async function readPods(looking: Looking, fieldSelector: string): Promise<readonly Pod[]> {
  const { items } = await readKept<Pod>(looking, resources.pods, { fieldSelector }, decodePod);
  return items;
}

async function readBudgets(looking: Looking): Promise<readonly DisruptionBudget[]> {
  const { items } = await readKept<DisruptionBudget>(looking, resources.disruptionBudgets, {}, decodeDisruptionBudget);
  return items;
}

/**
 * Asks whether the delete would be admitted.
 *
 * That somebody has moved meanwhile (404, 409) refuses nothing: the writes that follow name their versions and find out.
 *
 * @design D7-04
 */
async function dryRunDelete({ client }: Looking, target: ObjectRef): Promise<DryRun> {
  const resource = resourceOf[target.kind];
  try {
    await client.request({
      verb: 'delete',
      resource: resource.plural,
      path: pathOf(resource, { namespace: target.namespace, name: target.name }),
      body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: target.uid }, dryRun: ['All'] },
      metadataOnly: true,
    });
    return { outcome: 'accepted' };
  } catch (error) {
    if (!(error instanceof ApiStatusError)) throw error;
    if (error.code === 404 || error.code === 409 || withoutDryRun(error)) return { outcome: 'accepted' };
    if (refuses(error)) return { outcome: 'refused', detail: error.message };
    throw error;
  }
}

const withoutDryRun = ({ code, message }: ApiStatusError): boolean =>
  code === 400 && /does(n't| not) support dry ?run|dry ?run[^.]* not supported/i.test(message);

// A webhook that cannot be called refuses the real delete in the same way.
const refuses = ({ code, message }: ApiStatusError): boolean =>
  [400, 403, 405, 422].includes(code) || (code === 500 && message.includes('failed calling webhook'));
