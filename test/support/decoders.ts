/**
 * The Kubernetes adapter's own decoders and its form of an Event, for the simulated cluster.
 */
import type { Decoded } from '../../lib/adapters/kubernetes/decode.ts';
import {
  decodeNode,
  decodeNodeClaim,
  decodeNodeMetadata,
  decodeNodePool,
} from '../../lib/adapters/kubernetes/decode.ts';
import { decodeDisruptionBudget } from '../../lib/adapters/kubernetes/decode-disruption-budget.ts';
import { decodePod } from '../../lib/adapters/kubernetes/decode-pod.ts';
import { eventManifest } from '../../lib/adapters/kubernetes/events.ts';
import { readPolicy } from '../../lib/adapters/kubernetes/policy-document.ts';
import type { Manifest } from '../../lib/simulator/kube-object.ts';
import type { Decoders } from '../../lib/simulator/simulated-cluster.ts';

const sound =
  <T>(decode: (raw: unknown) => Decoded<T>) =>
  (raw: unknown): T => {
    const read = decode(raw);
    if (!read.ok) throw new Error(read.problem);
    return read.value;
  };

export const decoders: Decoders = {
  policy: readPolicy,
  nodePool: sound(decodeNodePool),
  nodeClaim: sound(decodeNodeClaim),
  node: sound(decodeNode),
  nodeMetadata: sound(decodeNodeMetadata),
  pod: sound(decodePod),
  disruptionBudget: sound(decodeDisruptionBudget),
  event: (draft, at) => eventManifest(draft, at, '123456789012/ap-northeast-1/simulated') as unknown as Manifest,
};
