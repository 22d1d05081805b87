/**
 * Small cases of the random simulation, each of which puts one thing in the way that some broken version trips over.
 *
 * A node that is older than an hour is due, and the window is always open, so things happen in the first minutes.
 */
import type { Manifest } from '../../../lib/simulator/kube-object.ts';
import type { AppPlan, Move, PoolPlan, SimCase, TimedMove, Trouble } from '../sim-case.ts';

const everyDay = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const always = { timezone: 'UTC', days: everyDay, start: '00:00', end: '24:00' };
/** From one hour after the start of a case. */
const later = { timezone: 'UTC', days: everyDay, start: '01:00', end: '03:00' };
const surge = { readyTimeout: '15m', cooldownAfter: '0s', failurePause: '1m', retryBackoff: '10m' };

const policy = (spec: object = {}): Manifest => ({
  apiVersion: 'noderotation.io/v1alpha1',
  kind: 'RotationPolicy',
  metadata: { name: 'all' },
  spec: {
    nodePoolSelector: {},
    ageThreshold: '1h',
    minRotationChances: 1,
    maintenanceWindows: [always],
    surge,
    ...spec,
  },
});

const old = { ageMinutes: 600 };
const young = { ageMinutes: 10 };

const pool = (over: Partial<PoolPlan> = {}): PoolPlan => ({
  name: 'api',
  team: 'red',
  instanceType: 'm7g.xlarge',
  capacityType: 'on-demand',
  zones: ['ap-northeast-1a'],
  nodes: [old],
  expireAfter: '96h',
  terminationGracePeriod: '1h',
  tainted: false,
  consolidateAfter: 'Never',
  ...over,
});

/** Two of its Pods fill a node, and each takes its time to stop. */
const app: AppPlan = {
  name: 'web',
  pool: 'api',
  kind: 'Deployment',
  replicas: 2,
  requests: { cpu: '1500m', memory: '1Gi' },
  graceSeconds: 300,
  stopSeconds: 200,
};
/** Fits beside anything. */
const small: AppPlan = { ...app, name: 'small', replicas: 1, requests: { cpu: '100m', memory: '128Mi' } };
/** No node can take it, so its Pod waits and nothing is launched for it. */
const huge: AppPlan = { ...app, name: 'huge', replicas: 1, requests: { cpu: '100', memory: '1Gi' } };

const plain: SimCase = {
  seed: 1,
  startsAt: '2026-06-08T00:00:00Z',
  minutes: 20,
  calm: false,
  slow: false,
  policies: [policy()],
  pools: [pool()],
  apps: [app],
  daemons: 0,
  moves: [],
  troubles: [],
};

const at = (second: number, move: Move): TimedMove => ({ at: second, move });
const once = (phase: NonNullable<TimedMove['phase']>, move: Move): TimedMove => ({ at: 0, phase, move });
const trouble = (kind: Trouble['kind'], from = 0, until = 3600, chance = 1): Trouble => ({ kind, from, until, chance });
const fallbackWhenAsked = policy({
  maintenanceWindows: [later],
  surge: { ...surge, forcefulFallback: { enabled: true } },
});
const spareNode = {
  apps: [{ ...app, replicas: 1, requests: { cpu: '3', memory: '1Gi' } }],
  pools: [pool({ nodes: [old, young] })],
};
/** In seconds. */
const forEver = 1e9;
const candidate = { pool: 0, node: 'candidate' } as const;
const host = { pool: 0, node: 'host' } as const;

/** By what is in the way. */
export const cases = {
  'nothing is in the way': plain,
  'a node comes due in peace': {
    ...plain,
    minutes: 300,
    calm: true,
    policies: [policy({ ageThreshold: 'auto' })],
    pools: [pool({ nodes: [{ ageMinutes: 93 * 60 }] })],
  },
  'two nodes are due': { ...plain, pools: [pool({ nodes: [old, { ageMinutes: 700 }] })] },
  'the window opens in an hour': { ...plain, policies: [policy({ maintenanceWindows: [later] })] },
  'the pool is frozen': { ...plain, moves: [at(0, { kind: 'freezePool', of: 0, minutes: 300 })] },
  'a freeze cannot be read': { ...plain, moves: [at(0, { kind: 'freezePool', of: 0, minutes: 'malformed' })] },
  'the operator has cordoned the node': { ...plain, moves: [at(0, { kind: 'cordon', pool: 0, node: 0 })] },
  'the operator has opted the node out': { ...plain, moves: [at(0, { kind: 'optOut', pool: 0, node: 0 })] },
  'the operator opts the candidate out': { ...plain, moves: [once('pending', { kind: 'optOut', ...candidate })] },
  'the operator protects the surge host': { ...plain, moves: [once('hostSeen', { kind: 'optOut', ...host })] },
  'the surge host is cordoned': { ...plain, slow: true, moves: [once('hostSeen', { kind: 'cordon', ...host })] },
  'the surge host is being deleted': {
    ...plain,
    slow: true,
    moves: [once('hostSeen', { kind: 'deleteNode', ...host })],
  },
  'the policy is deleted': { ...plain, moves: [once('pending', { kind: 'deletePolicy', of: 0 })] },
  'no capacity comes': { ...plain, minutes: 120, troubles: [trouble('insufficientCapacity', 0, forEver)] },
  'nodes never register': { ...plain, minutes: 60, troubles: [trouble('neverRegisters')] },
  'the table is down': { ...plain, troubles: [trouble('tableDown', 0, 600)] },
  'writes meet conflicts': { ...plain, seed: 3, minutes: 60, troubles: [trouble('conflict', 0, 3600, 0.3)] },
  'the process stands still': {
    ...plain,
    seed: 2,
    minutes: 60,
    troubles: [{ ...trouble('suspended', 0, 3600, 0.3), seconds: 90 }],
  },
  'the operator has cordoned the node, and the policy is deleted': {
    ...plain,
    moves: [at(0, { kind: 'cordon', pool: 0, node: 0 }), once('pending', { kind: 'deletePolicy', of: 0 })],
  },
  'everything takes minutes': { ...plain, seed: 3, slow: true },
  'placeholders are refused for good': { ...plain, troubles: [trouble('refusedPod', 0, forEver)] },
  'nodes never register, and another Pod waits': {
    ...plain,
    apps: [app, huge],
    minutes: 60,
    troubles: [trouble('neverRegisters')],
  },
  'a freeze outlasts the surge, and another Pod runs on its host': {
    ...plain,
    apps: [app, small],
    minutes: 60,
    moves: [
      once('hostSeen', { kind: 'freezePool', of: 0, minutes: 30 }),
      once('hostSeen', { kind: 'scale', app: 1, replicas: 3 }),
    ],
  },
  'a freeze outlasts a surge on a spare node': {
    ...plain,
    ...spareNode,
    minutes: 60,
    moves: [once('hostSeen', { kind: 'freezePool', of: 0, minutes: 30 })],
  },
  'the start of a surge on a spare node cannot be read': {
    ...plain,
    ...spareNode,
    moves: [once('hostSeen', { kind: 'garbleKey', on: 'NodePool', ...candidate, nth: 2, text: 'yesterday' })],
  },
  'a rotation of a node near its end is asked for before the window opens': {
    ...plain,
    policies: [fallbackWhenAsked],
    pools: [pool({ nodes: [{ ageMinutes: 96 * 60 - 30 }] })],
    moves: [at(0, { kind: 'requestRotation', claim: 0, ignoreWindow: true })],
  },
  'the policy is deleted, and GitOps reverts the pool': {
    ...plain,
    moves: [once('pending', { kind: 'deletePolicy', of: 0 }), once('pending', { kind: 'revertPool', of: 0 })],
  },
} as const satisfies Readonly<Record<string, SimCase>>;

export type CaseName = keyof typeof cases;
