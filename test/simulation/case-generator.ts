/**
 * Draws a case from a seed: most small, some large; most troubled, some calm.
 */
import type { KubeObject } from '../../lib/simulator/kube-object.ts';
import { at } from '../support/builders.ts';
import { Dice } from './dice.ts';
import { drawMoves } from './draw-moves.ts';
import { calmPolicies, drawPolicies } from './draw-policies.ts';
import { drawTroubles, lightTroubles } from './draw-troubles.ts';
import { boundOf, capacityOf, leadOf, readGo, termsOf } from './policy-terms.ts';
import type { AppPlan, NodePlan, PoolPlan, SimCase } from './sim-case.ts';

export function caseOf(seed: number): SimCase {
  const dice = new Dice(seed);
  // Some begin near the shifts of summer time in Europe, America and Australia.
  const startsAt = dice.of([
    '2026-06-08T00:00:00Z',
    '2026-03-07T12:00:00Z',
    '2026-03-28T00:00:00Z',
    '2026-10-24T18:00:00Z',
    '2026-11-01T00:00:00Z',
    '2026-10-03T10:00:00Z',
  ]);
  return dice.chance(0.15) ? calmCase(seed, dice, startsAt) : troubledCase(seed, dice, startsAt);
}

const cores: Readonly<Record<string, number>> = {
  'm7g.large': 1920,
  'm7g.xlarge': 3920,
  'm7g.2xlarge': 7920,
  'm7i.xlarge': 3920,
  'g5.xlarge': 3920,
};

function troubledCase(seed: number, dice: Dice, startsAt: string): SimCase {
  const pools = Array.from({ length: dice.small(8) }, (_, index) => drawPool(dice, index));
  const policies = drawPolicies(dice, pools, startsAt);
  const minutes = dice.of([240, 480, 720, 1440]);
  return {
    seed,
    startsAt,
    minutes,
    calm: false,
    slow: dice.chance(0.5),
    repairsNodes: dice.chance(0.3),
    policies,
    pools: pools.map((pool) => ({ ...pool, nodes: drawNodes(dice, pool, nodeCount(dice)) })),
    apps: pools.flatMap((pool) => drawApps(dice, pool)),
    daemons: dice.below(3),
    moves: drawMoves(dice, minutes, startsAt),
    troubles: drawTroubles(dice, minutes),
  };
}

/** One to four as a rule, up to eight; a few pools are large. */
const nodeCount = (dice: Dice): number => {
  if (dice.chance(0.005)) return 60 + dice.below(141);
  return dice.chance(0.025) ? 20 + dice.below(40) : 1 + dice.small(7);
};

function drawPool(dice: Dice, index: number): PoolPlan {
  const name = ['api', 'batch', 'gpu', 'web', 'data', 'ml', 'edge', 'infra'][index] as string;
  const gpu = name === 'gpu';
  const instanceType = gpu
    ? 'g5.xlarge'
    : dice.of(['m7g.large', 'm7g.xlarge', 'm7g.xlarge', 'm7g.2xlarge', 'm7i.xlarge']);
  const zones = ['ap-northeast-1a', 'ap-northeast-1c', 'ap-northeast-1d'].slice(0, 1 + dice.below(3));
  const expireAfter = dice.of(['96h', '96h', '120h', '168h', '336h', 'Never', undefined]);
  const terminationGracePeriod = dice.of(['5m', '10m', '30m', '1h', '2h', undefined]);
  const limits = dice.of([
    undefined,
    undefined,
    { cpu: '64' },
    { cpu: '16', memory: '64Gi' },

    { nodes: '12' },
  ]);
  return {
    name,
    team: dice.of(['red', 'blue']),
    instanceType,
    capacityType: dice.chance(0.25) ? 'spot' : 'on-demand',
    zones,
    nodes: [],
    ...(expireAfter === undefined ? {} : { expireAfter }),
    ...(terminationGracePeriod === undefined ? {} : { terminationGracePeriod }),
    tainted: dice.chance(0.3),
    ...(limits === undefined ? {} : { limits }),
    ...(dice.chance(0.03) ? { replicas: dice.below(4) } : {}),
    consolidateAfter: dice.of(['0s', '30s', '5m', '10m', 'Never']),
    ...(dice.chance(0.3) ? { consolidationPolicy: 'WhenEmptyOrUnderutilized' as const } : {}),
    ...(dice.chance(0.3) ? { budget: dice.of(['0', '1', '50%', '100%']) } : {}),
  };
}

function drawNodes(dice: Dice, pool: PoolPlan, count: number): readonly NodePlan[] {
  return Array.from({ length: count }, () => {
    const expireAfter = dice.chance(0.2) ? dice.of(['24h', '72h', '336h', 'Never']) : undefined;
    const grace = dice.chance(0.2) ? dice.of(['1m', '15m', '3h', '24h0m0s']) : undefined;
    const life = (readGo(expireAfter ?? pool.expireAfter ?? '720h') ?? 30 * 86_400_000) / 60_000;
    // Most of them in the days before their deadline, where something can happen.
    const left = dice.chance(0.7) ? dice.next() * 60 * 60 : dice.next() * life;
    return {
      ageMinutes: Math.max(0, Math.floor(life - left)),
      ...(expireAfter === undefined ? {} : { expireAfter }),
      ...(grace === undefined ? {} : { terminationGracePeriod: grace }),
    };
  });
}

function drawApps(dice: Dice, pool: PoolPlan): readonly AppPlan[] {
  return Array.from({ length: dice.below(4) }, (_, index): AppPlan => {
    const gpu = pool.instanceType === 'g5.xlarge' && dice.chance(0.6);
    const budget = dice.of([
      undefined,
      undefined,
      { maxUnavailable: 1 },
      { maxUnavailable: 0 },
      { minAvailable: 1 },
      { minAvailable: '80%' },
      { maxUnavailable: '50%' },
    ]);
    const graceSeconds = dice.of([0, 5, 30, 30, 120, 600]);
    const kind = dice.of(['Deployment', 'Deployment', 'Deployment', 'StatefulSet', 'Job', 'Pod'] as const);
    return {
      name: `${pool.name}-app${index}`,
      pool: pool.name,
      kind,
      replicas: 1 + dice.below(6),
      ...(kind === 'Job' || kind === 'Pod' ? { runSeconds: dice.of([600, 3600, 4 * 3600]) } : {}),
      requests: {
        cpu: dice.of(['100m', '500m', '900m', '1500m', '0']),
        memory: dice.of(['128Mi', '1Gi', '3Gi']),
        ...(gpu ? { 'nvidia.com/gpu': '1' } : {}),
      },
      ...(budget === undefined ? {} : { budget, twoBudgets: dice.chance(0.1) }),
      ...(dice.chance(0.08) ? { doNotDisrupt: true } : {}),
      graceSeconds,
      stopSeconds: Math.min(graceSeconds, dice.of([1, 5, 20, 90])),
    };
  });
}

/** Daily windows, room in every limit, no budget that blocks, N within K·C, and nothing due before the case begins. */
function calmCase(seed: number, dice: Dice, startsAt: string): SimCase {
  const shapes = Array.from({ length: dice.small(3) }, (_, index) => ({
    ...drawPool(dice, index === 2 ? 3 : index),
    team: 'red',
    expireAfter: dice.of(['96h', '120h', '168h']),
    terminationGracePeriod: dice.of(['30m', '1h', '2h']),
    consolidateAfter: dice.of(['5m', '10m', 'Never']),
  }));
  const policies = calmPolicies(dice);
  const terms = termsOf(policies[0] as KubeObject);
  const pools = shapes.map(({ limits: _limits, replicas: _replicas, consolidationPolicy: _policy, ...pool }) => {
    const grace = readGo(pool.terminationGracePeriod) as number;
    const life = readGo(pool.expireAfter) as number;
    const lead = leadOf(terms, grace, at(startsAt));
    const most = Math.min(terms.chances * capacityOf(terms, grace, at(startsAt)), dice.chance(0.1) ? 30 : 8);
    // Those already due would have had their chances before the case began.
    const oldest = life - lead - boundOf(terms, grace);
    return {
      ...pool,
      nodes: Array.from({ length: 1 + dice.below(most) }, () => ({
        ageMinutes: Math.floor((dice.next() * oldest) / 60_000),
      })),
    };
  });
  const minutes = 1440 * (3 + dice.below(4));
  return {
    seed,
    startsAt,
    minutes,
    calm: true,
    slow: false,
    policies,
    pools,
    apps: pools.flatMap((pool) => calmApps(dice, pool)),
    daemons: dice.below(3),
    moves: [],
    troubles: dice.chance(0.5) ? [] : lightTroubles(dice, minutes),
  };
}

/** Together at most six tenths of the pool's CPU, in Pods of which four fit on a node. */
function calmApps(dice: Dice, pool: PoolPlan): readonly AppPlan[] {
  const each = Math.floor((cores[pool.instanceType] as number) / 5);
  const replicas = Math.max(1, Math.floor(pool.nodes.length * (1 + dice.below(3))));
  return [
    {
      name: `${pool.name}-app`,
      pool: pool.name,
      kind: dice.of(['Deployment', 'StatefulSet']),
      replicas,
      requests: { cpu: `${each}m`, memory: '256Mi' },
      budget: dice.of([{ maxUnavailable: 1 }, { maxUnavailable: '50%' }, { maxUnavailable: 2 }]),
      graceSeconds: 30,
      stopSeconds: dice.of([1, 5, 20]),
    },
  ];
}
