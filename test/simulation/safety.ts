/**
 * The safety oracle: after every write of ours that lands, is it one that the rules allow?
 *
 * It knows the rules from the papers, not from the engine, and judges each write by the objects in the store before
 * and after it. What a tick could not know is not held against it: a condition about objects that the write names no
 * version of counts as kept when it held at any look of that tick (its list, its closer looks, its second reading),
 * since that is all the product promises (D5-08). Everything about the written object itself has no such slack, because
 * every write names the version it was decided on (D5-05).
 */
import type { Cluster, TickRecord } from '../../lib/controller/ports.ts';
import type { RotateRequest } from '../../lib/domain/cluster/snapshot.ts';
import type { Action } from '../../lib/engine/decision.ts';
import type { KubeObject, PoolObject } from '../../lib/simulator/kube-object.ts';
import type { StoreEvent } from '../../lib/simulator/object-store.ts';
import type { World } from '../../lib/simulator/world.ts';
import { AuditTrail } from './audit-trail.ts';
import { debrisOf, overdueAborts } from './debris.ts';
import { judgeClaimDelete, judgeClaimPatch } from './judge-claim.ts';
import { judgeNode } from './judge-node.ts';
import { judgePlaceholder } from './judge-placeholder.ts';
import { judgePool } from './judge-pool.ts';
import type { SeenCluster } from './seen-cluster.ts';
import { isGoing, key, lookAt, note } from './seen-cluster.ts';

export interface Violation {
  /** A short code, the same for the same kind of violation. */
  readonly rule: string;
  readonly message: string;
  readonly at: number;
}

/** What one tick has seen so far. */
export interface Sight {
  /** The API server's clock as the tick read it; its only time. */
  readonly observedAt: number;
  readonly retired: boolean;
  readonly request: RotateRequest | undefined;
  /** The list first, then the closer looks and second readings in order. */
  readonly looks: readonly SeenCluster[];
  /** By NodePool: the looks made right before its first write. */
  readonly rereads: ReadonlyMap<string, SeenCluster>;
  /** By name: NodePools as the last write of this tick left them, which its answer told. */
  readonly written: ReadonlyMap<string, PoolObject>;
  /** A write of this tick was refused by the server. */
  readonly refused: boolean;
  /** The server refused a dry-run delete of this tick. */
  readonly refusedDryRun: boolean;
}

interface OwnSight extends Sight {
  readonly written: Map<string, PoolObject>;
}

/** One write of ours that has landed. */
export interface Landed {
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
  readonly action: Action;
  readonly sight: Sight;
  /** Everything as it is right after the write. */
  readonly now: SeenCluster;
  /** Somebody meddled with what is ours in the pool, maybe in the midst of this tick. */
  readonly tampered: (pool: string) => boolean;
}

export interface TickWatch {
  readonly guard: (inner: Cluster) => Cluster;
  /** To be called when the tick's list of this kind is taken, where others may act between its lists. */
  readonly listed: (kind: string) => void;
}

const partOf: Readonly<Record<string, Exclude<keyof SeenCluster, 'at'>>> = {
  RotationPolicy: 'policies',
  NodePool: 'pools',
  NodeClaim: 'claims',
  Node: 'nodes',
  Pod: 'pods',
};

type Judge = (landed: Landed) => readonly { readonly rule: string; readonly message: string }[];

/** Whether the condition held at some look of the tick. */
export const sometimes = ({ looks }: Sight, holds: (seen: SeenCluster) => boolean): boolean => looks.some(holds);

/** A patch that takes rows off the outbox, or that tells the server's words. */
const isAccount = (action: Action): boolean =>
  action.kind === 'annotate' &&
  (Object.hasOwn(action.annotations, key('last-refusal')) ||
    Object.keys(action.annotations).join() === key('unrecorded'));

export class SafetyOracle {
  readonly violations: Violation[] = [];
  readonly trail: AuditTrail;
  readonly #world: World;
  #acting: { action: Action; sight: OwnSight } | undefined;
  /** Pools, or all of them (''), in which somebody tampered with our annotations; forgotten after two good ticks. */
  #tampered = new Set<string>();
  #goodTicks = 0;

  constructor(world: World) {
    this.#world = world;
    this.trail = new AuditTrail((rule, message) => this.#report(rule, message));
    world.store.onChange((event) => this.#see(event));
  }

  /** Somebody changed, took or spoilt an annotation, object or permission of ours; '' stands for every pool. */
  tamper(pool: string): void {
    this.#tampered.add(pool);
    this.#goodTicks = 0;
    this.trail.tamper(pool);
  }

  /** Follows one tick: what it sees, and which writes are its own. */
  watch(options: { retired?: boolean; request?: RotateRequest } = {}): TickWatch {
    const looks: SeenCluster[] = [];
    let observed = false;
    const sight = {
      observedAt: this.#world.now as number,
      retired: options.retired ?? false,
      request: options.request,
      looks,
      rereads: new Map<string, SeenCluster>(),
      written: new Map<string, PoolObject>(),
      refused: false,
      refusedDryRun: false,
    };
    const look = (): SeenCluster => {
      const seen = lookAt(this.#world);
      looks.push(seen);
      return seen;
    };
    const guard = (inner: Cluster): Cluster => ({
      observe: async () => {
        look();
        const snapshot = await inner.observe();
        observed = true;
        sight.observedAt = snapshot.observedAt;
        return snapshot;
      },
      inspect: async (need) => {
        look();
        const inspected = await inner.inspect(need);
        look();
        if ([...inspected.dryRuns.values()].some(({ outcome }) => outcome === 'refused')) sight.refusedDryRun = true;
        return inspected;
      },
      reread: async (pool, node) => {
        const reread = await inner.reread(pool, node);
        sight.rereads.set(pool.name, look());
        return reread;
      },
      // What happens inside `apply` before its first await is the write itself.
      apply: async (action) => {
        const result = await this.#as({ action, sight }, () => inner.apply(action));
        if (result.outcome === 'rejected') {
          sight.refused = true;
          // A cordon that the server does not let us undo is left to the next sweep (D6-08).
          if ('target' in action && action.target.kind === 'Node') this.#refusedOn(action.target.name);
        }
        return result;
      },
    });
    const listed = (kind: string): void => {
      // A closer look lists Pods, too; what the tick saw at first it has seen all the same.
      if (observed) return void look();
      const part = partOf[kind];
      const [list] = looks;
      if (part && list) looks[0] = { ...list, [part]: lookAt(this.#world)[part] };
    };
    return { guard, listed };
  }

  /** D5-08: no step is written on a look that is older than a minute. Rows and refusals are accounts of what has been. */
  begins(action: Action, sinceLook: number): void {
    if (sinceLook > 60_000 && !isAccount(action))
      this.#report('staleWrite', `${action.kind} on a look that is ${sinceLook / 1000} s old`);
  }

  #isTampered(pool: string): boolean {
    return this.#tampered.has(pool) || this.#tampered.has('');
  }

  #refusedOn(node: string): void {
    const pool = this.#world.store.get('Node', node)?.metadata.labels?.['karpenter.sh/nodepool'];
    this.#tampered.add(pool ?? '');
    this.#goodTicks = 0;
  }

  /** What others do while a call of ours is under way is not ours. */
  aside<T>(others: () => T): T {
    return this.#as(undefined, others);
  }

  #as<T>(acting: { action: Action; sight: OwnSight } | undefined, act: () => T): T {
    const outer = this.#acting;
    this.#acting = acting;
    try {
      return act();
    } finally {
      this.#acting = outer;
    }
  }

  /** @param good whether the tick saw and wrote all that it wanted, and nobody meddled meanwhile */
  afterTick(record: TickRecord | undefined, good: boolean, retired: boolean): void {
    for (const pool of record?.pools ?? []) {
      if (pool.stopped?.startsWith('InvariantViolated'))
        this.#report('invariant', `${pool.decision.nodePool} ${pool.decision.step}: ${pool.stopped}`);
    }
    const whole = record?.outcome === 'Ok' && record.pools.every(({ stopped }) => stopped === undefined);
    this.#goodTicks = good && whole ? this.#goodTicks + 1 : 0;
    if (this.#goodTicks < 2) return;
    this.#tampered.clear();
    const seen = lookAt(this.#world);
    for (const line of debrisOf(seen)) this.#report('debris', `after two good ticks nothing is behind: ${line}`);
    for (const line of overdueAborts(seen, retired)) this.#report('notAborted', line);
  }

  #see(event: StoreEvent): void {
    if (!this.#acting || event.object.kind === 'Event') return;
    const landed: Landed = {
      before: event.type === 'modified' ? event.before : event.type === 'deleted' ? event.object : undefined,
      after: event.type === 'deleted' ? undefined : event.object,
      now: lookAt(this.#world),
      tampered: (pool) => this.#isTampered(pool),
      ...this.#acting,
    };
    for (const { rule, message } of judgeOf(event)(landed)) this.#report(rule, message);
    if (event.object.kind === 'NodePool') {
      this.trail.see(landed);
      this.#acting.sight.written.set(event.object.metadata.name, event.object as PoolObject);
    }
    if (event.object.kind === 'Node') this.#countCordons(landed);
  }

  /** At most one node of a pool is cordoned by us, unless somebody took the anchor from under a cordon. */
  #countCordons({ now, after }: Landed): void {
    if (note(after, key('cordoned')) !== 'true') return;
    const pool = after?.metadata.labels?.['karpenter.sh/nodepool'] ?? '';
    const cordoned = now.nodes.filter(
      (node) =>
        node.metadata.labels?.['karpenter.sh/nodepool'] === pool &&
        note(node, key('cordoned')) === 'true' &&
        node.spec.unschedulable === true &&
        !isGoing(node),
    );
    if (cordoned.length > 1 && !this.#isTampered(pool))
      this.#report('twoCordons', `pool ${pool}: ${cordoned.map((node) => node.metadata.name).join(', ')}`);
  }

  #report(rule: string, message: string): void {
    this.violations.push({ rule, message, at: this.#world.now });
  }
}

function judgeOf(event: StoreEvent): Judge {
  switch (event.object.kind) {
    case 'NodePool':
      return judgePool;
    case 'Node':
      return judgeNode;
    case 'NodeClaim':
      return (landed) =>
        landed.action.kind === 'deleteNodeClaim' ? judgeClaimDelete(landed) : judgeClaimPatch(landed);
    case 'Pod':
      return judgePlaceholder;
    case 'RotationPolicy':
      return ({ before, after }) =>
        JSON.stringify([before?.spec, before?.metadata.annotations, before?.metadata.labels]) ===
        JSON.stringify([after?.spec, after?.metadata.annotations, after?.metadata.labels])
          ? []
          : [
              {
                rule: 'foreign',
                message: `RotationPolicy ${event.object.metadata.name} was changed beyond its status`,
              },
            ];
    default:
      return () => [{ rule: 'foreign', message: `${event.object.kind} ${event.object.metadata.name} was written` }];
  }
}
