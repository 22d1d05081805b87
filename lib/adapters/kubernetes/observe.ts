/**
 * The light, complete look at a cluster that every tick begins with.
 *
 * NodePools and policies are asked for first and everything else after their answers, so that a rotation begun by
 * somebody else in between shows as a changed NodePool and not as marks without a rotation.
 */

import { ObservationFailed, type Reread } from '../../controller/ports.ts';
import type { Node, NodeMetadata } from '../../domain/cluster/node.ts';
import type { NodeClaim } from '../../domain/cluster/node-claim.ts';
import type { NodePool } from '../../domain/cluster/node-pool.ts';
import type { ObjectRef } from '../../domain/cluster/object-ref.ts';
import type { Pod } from '../../domain/cluster/pod.ts';
import type { LightSnapshot, PlaceholderSettings, Sought } from '../../domain/cluster/snapshot.ts';
import { surgeForLabel } from '../../domain/rotation/annotation-keys.ts';
import type { ApiClient } from './api-client.ts';
import { ApiStatusError, outcomeOf, saysGone, TransportError } from './api-error.ts';
import { type Decoded, decodeNode, decodeNodeClaim, decodeNodeMetadata, decodeNodePool } from './decode.ts';
import { decodePod } from './decode-pod.ts';
import { readPolicy } from './policy-document.ts';
import { pathOf, type Resource, resources } from './resources.ts';
import { type ListQuery, readWholeList, type WholeList } from './whole-list.ts';

export interface Looking {
  readonly client: ApiClient;
  /** Receives what was refused, such as an object without a name. */
  readonly refused: (problem: string) => void;
}

export interface Installation {
  readonly settings: PlaceholderSettings;
  /** The cluster left the configuration. @design D9-03 */
  readonly retired: boolean;
}

/** @design D15-03, D1-04 */
export async function observe(looking: Looking, installation: Installation): Promise<LightSnapshot> {
  const { client } = looking;
  const [pools, policies] = await settled([
    readKept<NodePool>(looking, resources.nodePools, {}, decodeNodePool),
    readWholeList(client, resources.rotationPolicies, {}, readPolicy),
  ]);
  if (pools.date === undefined) {
    throw new ObservationFailed(
      'Unreachable',
      'the answer to the list of nodepools has no readable Date: the time is unknown',
    );
  }
  const placeholders = { namespace: installation.settings.namespace, labelSelector: surgeForLabel };
  const [claims, nodes, pods] = await settled([
    readKept<NodeClaim>(looking, resources.nodeClaims, {}, decodeNodeClaim),
    readKept<NodeMetadata>(looking, resources.nodes, { metadataOnly: true }, decodeNodeMetadata),
    readKept<Pod>(looking, resources.pods, placeholders, decodePod),
  ]);
  return {
    observedAt: pools.date,
    policies: policies.items,
    nodePools: pools.items,
    nodeClaims: claims.items,
    nodes: nodes.items,
    placeholders: pods.items,
    settings: installation.settings,
    retired: installation.retired,
  };
}

/** The pool once more, and the old Node where a hand-over asks for it. @design D5-08 */
export async function reread(looking: Looking, nodePool: ObjectRef, node?: ObjectRef): Promise<Reread> {
  const [pool, oldNode] = await settled([
    seek(looking, resources.nodePools, nodePool.name, decodeNodePool),
    node === undefined ? undefined : readNode(looking, node.name),
  ]);
  return oldNode === undefined ? { nodePool: pool } : { nodePool: pool, node: oldNode };
}

export const readNode = (looking: Looking, name: string): Promise<Sought<Node>> =>
  seek(looking, resources.nodes, name, decodeNode);

async function seek<T>(
  { client }: Looking,
  resource: Resource,
  name: string,
  decode: (raw: unknown) => Decoded<T>,
): Promise<Sought<T>> {
  try {
    const answer = await client.request({ verb: 'get', resource: resource.plural, path: pathOf(resource, { name }) });
    const found = decode(answer.body);
    if (!found.ok) throw new ObservationFailed('Unreachable', found.problem);
    return found.value;
  } catch (error) {
    if (saysGone(error, name)) return 'gone';
    throw error;
  }
}

/** A whole list without the refused objects, which are handed over. */
export async function readKept<T>(
  { client, refused }: Looking,
  resource: Resource,
  query: ListQuery,
  decode: (raw: unknown) => Decoded<T>,
): Promise<WholeList<T>> {
  const { items, ...list } = await readWholeList(client, resource, query, decode);
  const kept: T[] = [];
  for (const found of items) {
    if (found.ok) kept.push(found.value);
    else refused(found.problem);
  }
  return { items: kept, ...list };
}

/**
 * All answers, or the first failure once all requests have ended: nothing of a failed look is still under way later.
 *
 * @throws ObservationFailed for everything that the server or the network can answer
 */
export async function settled<T extends readonly unknown[]>(
  requests: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const answers = await Promise.allSettled(requests);
  const failed = answers.find((answer) => answer.status === 'rejected');
  if (failed) throw observationFailed(failed.reason);
  return answers.map((answer) => (answer as PromiseFulfilledResult<unknown>).value) as {
    -readonly [K in keyof T]: Awaited<T[K]>;
  };
}

function observationFailed(error: unknown): unknown {
  if (error instanceof ApiStatusError || error instanceof TransportError) {
    return new ObservationFailed(outcomeOf(error), error.message, { cause: error });
  }
  return error;
}
