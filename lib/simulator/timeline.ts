/**
 * What happened in a simulated cluster, as plain data: claims that came and went, rotations, forceful expirations.
 *
 * It is read off the objects by somebody who only watches, so it is independent of what the controller says it did.
 */
import { readPoolHistory, readRotation } from '../domain/rotation/rotation.ts';
import type { RotationStep } from '../domain/rotation/unrecorded.ts';
import type { Duration, Instant } from '../domain/time.ts';
import { add, between } from '../domain/time.ts';
import type { ClaimObject, KubeObject } from './kube-object.ts';
import { createdAt, isDeleting, objectMetaOf, readDuration } from './kube-object.ts';
import { poolOf } from './node-claims.ts';
import type { StoreEvent } from './object-store.ts';
import type { World } from './world.ts';
import type { ForcefulExpiration } from './world-state.ts';

export interface ClaimLife {
  readonly nodeClaim: string;
  readonly nodePool: string;
  readonly uid: string;
  readonly created: Instant;
  /** When Karpenter ends it by force; absent when it never expires. */
  readonly deadline?: Instant;
  readonly node?: string;
  /** When the delete came. */
  readonly deletedAt?: Instant;
  /** When the object was gone. */
  readonly goneAt?: Instant;
}

export interface RotationLife {
  readonly nodePool: string;
  readonly nodeClaim: string;
  readonly claimUid: string;
  readonly node?: string;
  readonly startedAt: Instant;
  readonly mode: 'surge' | 'forceful-fallback';
  readonly drainingAt?: Instant;
  readonly surgeClaim?: string;
  readonly surgePath?: 'provisioned' | 'absorbed';
  readonly surgeWait?: Duration;
  /** When the anchor was cleared. */
  readonly endedAt?: Instant;
  /** As the pool's last-ended names it. */
  readonly outcome?: RotationStep;
  readonly deadline?: Instant;
  /** From the old claim's delete until it was gone. */
  readonly drain?: Duration;
  /** From the end until the deadline; how much time was left. */
  readonly margin?: Duration;
  /** NodeClaims of the pool created between start and end. */
  readonly claimsCreated: number;
}

export interface Timeline {
  readonly from: Instant;
  readonly to: Instant;
  readonly nodeClaims: readonly ClaimLife[];
  readonly rotations: readonly RotationLife[];
  readonly forcefulExpirations: readonly ForcefulExpiration[];
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Watches a world from the moment at which it is made. */
export class TimelineWatcher {
  readonly #world: World;
  readonly #from: Instant;
  readonly #expirationsBefore: number;
  readonly #claims = new Map<string, Writable<ClaimLife>>();
  readonly #running = new Map<string, Writable<RotationLife>>();
  readonly #rotations: Writable<RotationLife>[] = [];

  constructor(world: World) {
    this.#world = world;
    this.#from = world.now;
    this.#expirationsBefore = world.forcefulExpirations.length;
    for (const claim of world.store.all<ClaimObject>('NodeClaim')) this.#seeClaim(claim, world.now);
    for (const pool of world.store.all('NodePool')) this.#seePool(pool, world.now);
    world.store.onChange((event, at) => this.#see(event, at));
  }

  timeline(): Timeline {
    return {
      from: this.#from,
      to: this.#world.now,
      nodeClaims: [...this.#claims.values()].map((life) => ({ ...life })),
      rotations: this.#rotations.map((rotation) => this.#finished(rotation)),
      forcefulExpirations: this.#world.forcefulExpirations.slice(this.#expirationsBefore),
    };
  }

  /** NodePools whose anchor is set. */
  get inFlight(): number {
    return this.#running.size;
  }

  #see(event: StoreEvent, at: Instant): void {
    const { object } = event;
    if (object.kind === 'NodePool' && event.type !== 'deleted') this.#seePool(object, at);
    if (object.kind === 'NodeClaim') this.#seeClaim(object as ClaimObject, at, event.type === 'deleted');
  }

  #seeClaim(claim: ClaimObject, at: Instant, gone = false): void {
    const { uid, name } = claim.metadata;
    const expireAfter = readDuration(claim.spec.expireAfter);
    const created = createdAt(claim);
    const life: Writable<ClaimLife> = this.#claims.get(uid) ?? {
      nodeClaim: name,
      nodePool: poolOf(claim),
      uid,
      created,
      ...(expireAfter === undefined ? {} : { deadline: add(created, expireAfter) }),
    };
    this.#claims.set(uid, life);
    if (claim.status.nodeName !== undefined) life.node = claim.status.nodeName;
    if (isDeleting(claim) || gone) life.deletedAt ??= at;
    if (gone) life.goneAt = at;
  }

  #seePool(pool: KubeObject, at: Instant): void {
    const name = pool.metadata.name;
    const meta = objectMetaOf(pool);
    const rotation = readRotation(meta);
    const running = this.#running.get(name);
    if (rotation.phase === 'none' || rotation.phase === 'malformed') {
      if (!running || rotation.phase === 'malformed') return;
      running.endedAt = at;
      const ended = readPoolHistory(meta).lastEnded;
      if (ended?.claimUid === running.claimUid) running.outcome = ended.step;
      this.#running.delete(name);
      return;
    }
    const same = running?.claimUid === rotation.claimUid && running.startedAt === rotation.startedAt;
    const life: Writable<RotationLife> = same
      ? running
      : {
          nodePool: name,
          nodeClaim: rotation.claim,
          claimUid: rotation.claimUid,
          startedAt: rotation.startedAt,
          mode: rotation.mode,
          claimsCreated: 0,
        };
    if (!same) {
      this.#running.set(name, life);
      this.#rotations.push(life);
    }
    if (rotation.surgeClaim !== undefined) life.surgeClaim = rotation.surgeClaim;
    if (rotation.phase !== 'draining') return;
    if (rotation.drainingAt !== undefined) life.drainingAt = rotation.drainingAt;
    if (rotation.surgePath !== undefined) life.surgePath = rotation.surgePath;
    if (rotation.surgeWait !== undefined) life.surgeWait = rotation.surgeWait;
  }

  #finished(rotation: RotationLife): RotationLife {
    const old = this.#claims.get(rotation.claimUid);
    const until = rotation.endedAt ?? this.#world.now;
    const claimsCreated = [...this.#claims.values()].filter(
      (life) => life.nodePool === rotation.nodePool && life.created >= rotation.startedAt && life.created <= until,
    ).length;
    return {
      ...rotation,
      claimsCreated,
      ...(old?.node === undefined ? {} : { node: old.node }),
      ...(old?.deadline === undefined ? {} : { deadline: old.deadline }),
      ...(old?.deletedAt !== undefined && old.goneAt !== undefined
        ? { drain: between(old.deletedAt, old.goneAt) }
        : {}),
      ...(old?.deadline !== undefined && rotation.endedAt !== undefined
        ? { margin: between(rotation.endedAt, old.deadline) }
        : {}),
    };
  }
}
