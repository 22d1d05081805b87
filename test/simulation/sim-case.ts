/**
 * A case of the random simulation as plain data: a world, its policies, what people and the cloud do, what goes wrong.
 *
 * A case can be stored, and shrunk by leaving out elements of its lists: nothing in it refers to a position in time or
 * in a random sequence that would move when something else is left out.
 */
import type { Manifest, Strings } from '../../lib/simulator/kube-object.ts';

export interface NodePlan {
  /** At the start of the case. */
  readonly ageMinutes: number;
  /** Its own, where they differ from the template's. */
  readonly expireAfter?: string;
  readonly terminationGracePeriod?: string;
}

export interface PoolPlan {
  readonly name: string;
  readonly team: string;
  readonly instanceType: string;
  readonly capacityType: 'on-demand' | 'spot';
  readonly zones: readonly string[];
  readonly nodes: readonly NodePlan[];
  readonly expireAfter?: string;
  readonly terminationGracePeriod?: string;
  readonly tainted: boolean;
  readonly limits?: Strings;
  readonly replicas?: number;
  readonly consolidateAfter: string;
  /** WhenEmpty when absent. */
  readonly consolidationPolicy?: 'WhenEmptyOrUnderutilized';
  /** Of Karpenter's own disruption; a tenth when absent. */
  readonly budget?: string;
}

export interface AppPlan {
  readonly name: string;
  readonly pool: string;
  /** `Pod` stands for Pods that nobody makes again. */
  readonly kind: 'Deployment' | 'StatefulSet' | 'Job' | 'Pod';
  readonly replicas: number;
  /** Of a Job: how long a Pod of it runs. */
  readonly runSeconds?: number;
  readonly requests: Strings;
  readonly budget?: { readonly maxUnavailable?: number | string; readonly minAvailable?: number | string };
  /** A second budget over the same Pods: Kubernetes then evicts none of them. */
  readonly twoBudgets?: boolean;
  readonly doNotDisrupt?: boolean;
  readonly graceSeconds: number;
  readonly stopSeconds: number;
}

/** Which node or claim a move is about: of the rotation in flight, or any by its place among all. */
export type Which = 'candidate' | 'host' | number;

export type Move =
  | {
      readonly kind: 'freezePool' | 'freezePolicy';
      readonly of: number;
      readonly minutes: number | 'malformed' | 'never';
    }
  | { readonly kind: 'thawPool' | 'thawPolicy'; readonly of: number }
  | { readonly kind: 'editPolicy'; readonly of: number; readonly spec: object; readonly broken?: 'spec' | 'no' }
  | { readonly kind: 'deletePolicy'; readonly of: number }
  | { readonly kind: 'createPolicy'; readonly manifest: Manifest }
  | { readonly kind: 'optOut' | 'optIn' | 'cordon' | 'uncordon'; readonly pool: number; readonly node: Which }
  | { readonly kind: 'otherMark'; readonly pool: number; readonly node: Which; readonly value: string }
  | { readonly kind: 'revertPool'; readonly of: number }
  | {
      readonly kind: 'clearKey' | 'garbleKey';
      readonly on: 'NodePool' | 'NodeClaim' | 'Node';
      readonly pool: number;
      readonly node: Which;
      readonly nth: number;
      readonly text: string;
    }
  | { readonly kind: 'requestRotation'; readonly claim: number; readonly ignoreWindow: boolean }
  | { readonly kind: 'deletePlaceholder' | 'preempt'; readonly pool: number }
  | { readonly kind: 'deleteClaim' | 'deleteNode'; readonly pool: number; readonly node: Which }
  | { readonly kind: 'editTemplate'; readonly of: number; readonly spec: object }
  | { readonly kind: 'setLimits'; readonly of: number; readonly limits: Strings | null }
  | { readonly kind: 'setReplicas'; readonly of: number; readonly replicas: number | null }
  | { readonly kind: 'deletePool'; readonly of: number; readonly foreground: boolean }
  | { readonly kind: 'retire' }
  | { readonly kind: 'scale'; readonly app: number; readonly replicas: number }
  | {
      readonly kind: 'chosen';
      readonly pool: number;
      readonly node: Which;
      readonly reason: 'Drifted' | 'Underutilized';
    }
  | { readonly kind: 'dies' | 'loseMachine' | 'interruptSpot'; readonly pool: number; readonly node: Which }
  | { readonly kind: 'newImage' }
  | { readonly kind: 'notReady'; readonly pool: number; readonly node: Which; readonly minutes: number };

/** Where a rotation must be for a move to be made; it waits for that, and is made at the first such moment. */
export type Phase = 'pending' | 'hostSeen' | 'draining' | 'none';

export interface TimedMove {
  /** Not before this second of the case. */
  readonly at: number;
  readonly phase?: Phase;
  /** Before this port call of the next tick instead of between ticks. */
  readonly call?: number;
  readonly move: Move;
}

export const callFaults = ['conflict', 'throttled', 'serverError', 'lostRequest', 'lostResponse', 'tornList'] as const;

/** What goes wrong from one second to another, each time with this likelihood. */
export interface Trouble {
  readonly from: number;
  readonly until: number;
  readonly kind:
    | (typeof callFaults)[number]
    /** The delete of a NodeClaim does not arrive, or its answer does not. */
    | 'lostDelete'
    | 'unheardDelete'
    /** The client gives up, and the write lands a few seconds later. */
    | 'lateLanding'
    /** The process stands still before a call. */
    | 'suspended'
    /** The process dies at some call, half of the time after it has landed. */
    | 'crash'
    | 'skippedTick'
    /** Two ticks, one right after the other. */
    | 'doubledTick'
    /** Two or three ticks whose calls are mixed. */
    | 'overlappingTicks'
    | 'clockSkew'
    | 'tableDown'
    /** Rows land, and the client does not hear of it. */
    | 'tableDeaf'
    | 'insufficientCapacity'
    | 'neverRegisters'
    /** 403 for patches of one kind. */
    | 'refusedNodePatch'
    | 'refusedClaimPatch'
    | 'refusedClaimDelete'
    | 'refusedPod';
  readonly chance: number;
  /** Seconds, for what stands still or lands late or is skewed. */
  readonly seconds?: number;
}

export interface SimCase {
  /** Seeds the world and every chance. */
  readonly seed: number;
  readonly startsAt: string;
  /** Moves and troubles happen within; then quiet time is added until everything has ended. */
  readonly minutes: number;
  /** Nothing stands in the way of a graceful rotation of every node, so none may be forced. */
  readonly calm: boolean;
  /** Nodes take minutes to come and Pods long to start and stop, so that more happens in the midst of a rotation. */
  readonly slow: boolean;
  /** Karpenter replaces nodes that have long been NotReady. */
  readonly repairsNodes?: boolean;
  readonly policies: readonly Manifest[];
  readonly pools: readonly PoolPlan[];
  readonly apps: readonly AppPlan[];
  readonly daemons: number;
  readonly moves: readonly TimedMove[];
  readonly troubles: readonly Trouble[];
}
