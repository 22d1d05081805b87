/**
 * A request to rotate one NodeClaim now: what it waives, and what became of it.
 *
 * It waives that the claim is due and that the pool has settled, and the window where it says so. Everything else holds,
 * and the first thing that holds is the answer.
 */
import type { NodeClaim } from '../domain/cluster/node-claim.ts';
import type { LightSnapshot, RotateRequest } from '../domain/cluster/snapshot.ts';
import { readRotation } from '../domain/rotation/rotation.ts';
import { formatInstant, type Instant } from '../domain/time.ts';
import type { Assessment } from './candidates.ts';
import type { Decision } from './decision.ts';
import type { GateVerdict } from './gates.ts';
import type { PoolView } from './pool-view.ts';

export interface Asked {
  readonly request: RotateRequest;
  readonly claim: NodeClaim;
}

/** The claim that is asked for, when it is one of this pool. */
export function askedOf(view: PoolView): Asked | undefined {
  const { request } = view.snapshot;
  if (request === undefined) return undefined;
  if (request.nodePool !== undefined && request.nodePool !== view.pool.meta.name) return undefined;
  const claim = view.claims.find(({ meta }) => meta.name === request.nodeClaim);
  return claim && { request, claim };
}

const waivedGates = new Set(['CooldownAfter', 'FailurePause']);

/** Whether the gate holds a request, too. @design D12-02 */
export const holdsRequest = ({ request }: Asked, { gate }: GateVerdict): boolean =>
  !waivedGates.has(gate) && !(gate === 'OutOfWindow' && request.ignoreWindow);

const waivedDisqualifiers = new Set<string>(['BackingOff', 'NoDeadline', 'NotDue']);

/** The disqualifier that holds a request, too: those that are waived come after all others. @design D12-02, D6-05 */
export const disqualifierOfRequest = ({ disqualifier }: Assessment): Assessment['disqualifier'] =>
  disqualifier && waivedDisqualifiers.has(disqualifier.code) ? undefined : disqualifier;

/** Whether a start of this claim may ignore the window. @design D7-10 */
export const waivesWindow = ({ request }: LightSnapshot, claim: string): boolean =>
  request?.ignoreWindow === true && request.nodeClaim === claim;

export type RequestAnswer =
  | { readonly outcome: 'started'; readonly message: string }
  | { readonly outcome: 'refused'; readonly reason: string; readonly message: string; readonly until?: Instant };

interface CarriedOut {
  readonly decision: Decision;
  readonly landed: boolean;
  readonly stopped?: string;
}

/** What became of a request in a tick. @design D12-02 */
export function answerRequest(
  snapshot: LightSnapshot,
  request: RotateRequest,
  records: readonly CarriedOut[],
): RequestAnswer {
  const no = (reason: string, message: string, until?: Instant): RequestAnswer => ({
    outcome: 'refused',
    reason,
    message,
    ...(until === undefined ? {} : { until }),
  });
  const name = request.nodeClaim;
  const claim = snapshot.nodeClaims.find(({ meta }) => meta.name === name);
  if (!claim) return no('UnknownNodeClaim', `the cluster has no NodeClaim ${name}`);
  if (request.nodePool !== undefined && request.nodePool !== claim.nodePool) {
    return no('OtherNodePool', `NodeClaim ${name} is of NodePool ${claim.nodePool}, not of ${request.nodePool}`);
  }
  const pool = snapshot.nodePools.find(({ meta }) => meta.name === claim.nodePool);
  const record = records.find(({ decision }) => decision.nodePool === claim.nodePool);
  if (!pool || !record) return no('UnknownNodePool', `NodePool ${claim.nodePool} of NodeClaim ${name} is gone`);
  const { decision, landed, stopped } = record;
  const { step, transition, blocked } = decision;
  if ((step === 'start' || step === 'startFallback') && transition?.claim === name) {
    return landed
      ? { outcome: 'started', message: `the rotation of NodeClaim ${name} has begun` }
      : no('NotWritten', `the start could not be written: ${stopped ?? 'nothing was written'}`);
  }
  const rotation = readRotation(pool.meta);
  // The tick that began it may have died before it could answer.
  if ('startedAt' in rotation && rotation.claim === name && rotation.startedAt >= request.requestedAt) {
    return {
      outcome: 'started',
      message: `the rotation of NodeClaim ${name} began at ${formatInstant(rotation.startedAt)}`,
    };
  }
  if (rotation.phase !== 'none') {
    return no('InProgress', `NodePool ${pool.meta.name} is rotating NodeClaim ${rotation.claim} (${rotation.phase})`);
  }
  if (!blocked) return no('InProgress', `NodePool ${pool.meta.name} has other work in hand (${step})`);
  return no(blocked.reason, blocked.message, blocked.until);
}
