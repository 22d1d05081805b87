import { describe, expect, it } from 'vitest';
import type { ActionResult, Budget, Cluster } from '../../lib/controller/ports.ts';
import { ObservationFailed } from '../../lib/controller/ports.ts';
import { runTick } from '../../lib/controller/run-tick.ts';
import { seconds, zero } from '../../lib/domain/time.ts';
import type { Action } from '../../lib/engine/decision.ts';
import { SimulatedCluster } from '../../lib/simulator/simulated-cluster.ts';
import { decoders } from '../support/decoders.ts';
import { inWords } from '../support/rotations.ts';
import { aWorld, MemoryTable, namesOf, settings, stateOf, tickMinutes, tickOn, unhurried } from '../support/story.ts';

/** The simulated cluster with a hand in between: it sees every call and may answer an action itself. */
class Watched implements Cluster {
  readonly applied: Action[] = [];
  readonly inner: Cluster;
  answer: (action: Action, index: number) => ActionResult | undefined = () => undefined;
  beforeReread: () => void = () => undefined;
  constructor(world: ReturnType<typeof aWorld>) {
    this.inner = new SimulatedCluster({ world, decoders, settings });
  }
  observe: Cluster['observe'] = () => this.inner.observe();
  inspect: Cluster['inspect'] = (need) => this.inner.inspect(need);
  reread: Cluster['reread'] = (pool, node) => {
    this.beforeReread();
    return this.inner.reread(pool, node);
  };
  apply: Cluster['apply'] = async (action) => {
    const given = this.answer(action, this.applied.length);
    this.applied.push(action);
    return given ?? this.inner.apply(action);
  };
}

const refuse = (detail: string): ActionResult => ({ outcome: 'rejected', detail });

describe('a tick', () => {
  it('starts the due node, and its next patch of an object names the version its own write returned (D5-05, D7-01)', async () => {
    const world = aWorld();
    const cluster = new Watched(world);
    const tick = await runTick({ cluster, recorder: new MemoryTable(), budget: unhurried });
    expect(tick.outcome).toBe('Ok');
    const [first] = cluster.applied;
    const last = cluster.applied.at(-1);
    expect(first?.kind === 'annotate' && first.target.resourceVersion).not.toBe(
      last?.kind === 'annotate' && last.target.resourceVersion,
    );
    expect(stateOf(world)).not.toHaveProperty('unrecorded');
    expect(tick.pools[0]).toMatchObject({ landed: true });
  });

  it('drops a list when the pool was moved since the snapshot (D5-08)', async () => {
    const world = aWorld();
    const cluster = new Watched(world);
    cluster.beforeReread = () =>
      void world.store.patch(
        { kind: 'NodePool', name: 'api' },
        { metadata: { annotations: { 'noderotation.io/freeze': '2027-01-01T00:00:00Z' } } },
      );
    const tick = await runTick({ cluster, recorder: new MemoryTable(), budget: unhurried });
    expect(tick.pools[0]?.stopped).toBe('Moved: NodePool api');
    expect(cluster.applied.filter(({ kind }) => kind !== 'writeStatus')).toEqual([]);
  });

  it('is not disturbed by what others write on the pool (D5-08)', async () => {
    const world = aWorld();
    const cluster = new Watched(world);
    cluster.beforeReread = () =>
      void world.store.patch({ kind: 'NodePool', name: 'api' }, { metadata: { annotations: { team: 'shop' } } });
    const tick = await runTick({ cluster, recorder: new MemoryTable(), budget: unhurried });
    expect(tick.pools[0]?.stopped).toBeUndefined();
    expect(stateOf(world)).toHaveProperty('active-rotation');
  });

  it('takes an outbox that cannot be read off a pool where nothing happens, and tells its text (D10-04, D5-06)', async () => {
    const world = aWorld();
    const annotations = { 'noderotation.io/freeze': '2099-01-01T00:00:00Z', 'noderotation.io/unrecorded': 'yesterday' };
    world.store.patch({ kind: 'NodePool', name: 'api' }, { metadata: { annotations } });
    expect((await tickOn(world, new MemoryTable())).unreadable).toEqual(['yesterday']);
    expect(stateOf(world)).not.toHaveProperty('unrecorded');
    expect((await tickOn(world, new MemoryTable())).unreadable).toEqual([]);
  });

  it('two at once: one start, one cordon, one placeholder (D1-03, D5-05, PR-36, PR-38)', async () => {
    const world = aWorld();
    const table = new MemoryTable();
    const ticks = await Promise.all([tickOn(world, table), tickOn(world, table), tickOn(world, table)]);
    expect(ticks.flatMap((tick) => tick.pools).filter((pool) => pool.landed)).toHaveLength(1);
    expect(namesOf(world, 'Pod').filter((name) => name.startsWith('noderotation-surge-'))).toHaveLength(1);
    expect(table.trail()).toHaveLength(1);
  });

  it('ends a list at the first conflict, and the next tick goes on from there (D5-05)', async () => {
    const world = aWorld();
    const cluster = new Watched(world);
    cluster.answer = (action) => (action.kind === 'protect' ? { outcome: 'conflict', detail: 'modified' } : undefined);
    const tick = await runTick({ cluster, recorder: new MemoryTable(), budget: unhurried });
    expect(tick.pools[0]?.stopped).toBe('conflict: modified');
    expect(namesOf(world, 'Pod').some((name) => name.startsWith('noderotation-surge-'))).toBe(false);
    await tickOn(world, new MemoryTable());
    expect(namesOf(world, 'Pod').some((name) => name.startsWith('noderotation-surge-'))).toBe(true);
  });

  it('keeps the server’s words when a start is refused, fails at readyTimeout, and leaves nothing (D8-09, D7-01)', async () => {
    const world = aWorld();
    const cluster = new Watched(world);
    cluster.answer = (action) => (action.kind === 'createPlaceholder' ? refuse('exceeded quota: pods') : undefined);
    const table = new MemoryTable();
    await runTick({ cluster, recorder: table, budget: unhurried });
    expect(stateOf(world)['last-refusal']).toBe('exceeded quota: pods');
    for (let minute = 1; minute <= 17; minute += 1) {
      world.advance((world.now + 60_000) as never);
      await runTick({ cluster, recorder: table, budget: unhurried });
    }
    expect(table.wire().at(-1)).toMatchObject({ step: 'failed', refusal: 'exceeded quota: pods' });
    expect(stateOf(world)).not.toHaveProperty('active-rotation');
  });

  it('turns a refused delete of the hand-over into a rollback with the server’s words (D7-04)', async () => {
    const world = aWorld();
    const table = new MemoryTable();
    const cluster = new Watched(world);
    cluster.answer = (action) =>
      action.kind === 'deleteNodeClaim' && action.because === 'drain' ? refuse('denied by guard') : undefined;
    for (let minute = 0; minute < 6; minute += 1) {
      await runTick({ cluster, recorder: table, budget: unhurried });
      world.advance((world.now + 60_000) as never);
    }
    expect(table.wire().map((row) => row['step'])).toEqual(['started', 'draining', 'failed']);
    expect(table.wire().at(-1)).toMatchObject({ refusal: 'denied by guard' });
    expect(stateOf(world)).not.toHaveProperty('active-rotation');
  });

  it('goes on past the refusal of single objects when it cleans up (D6-08)', async () => {
    const world = aWorld();
    const table = new MemoryTable();
    const cluster = new Watched(world);
    cluster.answer = (action) =>
      action.kind === 'deletePlaceholder' && action.mustExist
        ? refuse('no deletes today')
        : action.kind === 'unprotect'
          ? refuse('nodes are read-only')
          : undefined;
    for (let minute = 0; minute < 5; minute += 1) {
      await runTick({ cluster, recorder: table, budget: unhurried });
      world.advance((world.now + 60_000) as never);
    }
    expect(table.trail().map((row) => row.split(' ')[0])).toEqual(['started', 'draining', 'failed']);
    cluster.answer = () => undefined;
    cluster.applied.length = 0;
    await runTick({ cluster, recorder: table, budget: unhurried });
    expect(inWords(cluster.applied).filter((words) => words.startsWith('unprotect'))).not.toEqual([]);
  });

  it('begins no list without ten seconds left, and abandons one whose snapshot is a minute old (D1-06, D5-08, D7-04)', async () => {
    const hurried: Budget = { left: () => seconds(9), sinceSnapshot: () => zero };
    const cluster = new Watched(aWorld());
    expect((await runTick({ cluster, recorder: new MemoryTable(), budget: hurried })).pools[0]?.stopped).toBe(
      'OutOfTime',
    );
    let age = 0;
    const suspended: Budget = {
      left: () => seconds(30),
      sinceSnapshot: () => {
        // The policy's status is a list of its own, of one write.
        age += 25;
        return seconds(age);
      },
    };
    const late = await runTick({ cluster, recorder: new MemoryTable(), budget: suspended });
    expect(late.pools[0]).toMatchObject({ stopped: 'Suspended', results: [{ outcome: 'applied' }] });
  });

  it('is abandoned with nothing written when the cluster cannot be looked at (R3.8-03, D11-07)', async () => {
    const cluster = new Watched(aWorld());
    cluster.observe = async () => {
      throw new ObservationFailed('Unreachable', 'connection refused');
    };
    const table = new MemoryTable();
    expect(await runTick({ cluster, recorder: table, budget: unhurried })).toMatchObject({
      outcome: 'Unreachable',
      pools: [],
    });
    expect(table.ticks).toHaveLength(1);
    expect(cluster.applied).toEqual([]);
  });
});

describe('the outbox', () => {
  it('keeps every step while the table is down, and empties when it is back (D10-04)', async () => {
    const world = aWorld();
    const table = new MemoryTable();
    table.down = true;
    await tickMinutes(world, table, 10);
    expect(JSON.parse(stateOf(world)['unrecorded'] ?? '[]').map((entry: { step: string }) => entry.step)).toEqual([
      'started',
      'draining',
      'completed',
    ]);
    expect(table.rows.size).toBe(0);
    table.down = false;
    await tickOn(world, table);
    expect(table.trail().map((row) => row.split(' ')[0])).toEqual(['started', 'draining', 'completed']);
    expect(stateOf(world)).not.toHaveProperty('unrecorded');
  });
});
