/**
 * What operators, the cloud and the clock do between two calls of a tick, each at most a few times in one exploration.
 */

import { readOutbox } from '../../../lib/domain/rotation/unrecorded.ts';
import type { Instant } from '../../../lib/domain/time.ts';
import { add, minutes, parseInstant, seconds } from '../../../lib/domain/time.ts';
import type { Manifest, NodeObject } from '../../../lib/simulator/kube-object.ts';
import { isDeleting, withCondition } from '../../../lib/simulator/kube-object.ts';
import { rawPod, rawPolicy } from '../../support/raw-objects.ts';
import { bind } from './cluster-steps.ts';
import { stepName } from './port.ts';
import {
  claimBehind,
  claimIn,
  claimsIn,
  doNotDisrupt,
  hostIn,
  isChosen,
  isCordoned,
  marksOf,
  nodeBehind,
  oldClaim,
  placeholderIn,
  policyIn,
  poolIn,
  windowCloses,
} from './small-cluster.ts';
import type { Stage } from './stage.ts';

interface Move {
  /** Whether it would change anything now. */
  readonly possible: (stage: Stage) => boolean;
  readonly make: (stage: Stage) => void;
}

const annotates = (stage: Stage, kind: 'NodePool' | 'Node', name: string, annotations: object): void =>
  void stage.store.patch({ kind, name }, { metadata: { annotations } });
const freezeUntil = (stage: Stage, until: string | null): void =>
  annotates(stage, 'NodePool', 'api', { 'noderotation.io/freeze': until });
const setsMode = (stage: Stage, mode: string): void =>
  void stage.store.patch({ kind: 'RotationPolicy', name: 'api' }, { spec: { mode } });
const modeOf = (stage: Stage): string | undefined => (policyIn(stage)?.spec as { mode?: string } | undefined)?.mode;

/** The node that the placeholder is on, else the one that is marked as host. */
function surgeHost(stage: Stage): NodeObject | undefined {
  const bound = placeholderIn(stage)?.spec.nodeName;
  const node = bound === undefined ? hostIn(stage) : (stage.store.get('Node', bound) as NodeObject | undefined);
  return node?.metadata.name === nodeBehind(stage, oldClaim)?.metadata.name ? undefined : node;
}

const nameOf = (node: NodeObject | undefined): string => node?.metadata.name ?? '';
const candidate = (stage: Stage): string => nameOf(nodeBehind(stage, oldClaim));
const isLive = (stage: Stage, claim: string): boolean => {
  const object = claimIn(stage, claim);
  return object !== undefined && !isDeleting(object);
};

function deletes(stage: Stage, claim: string): void {
  stage.store.delete({ kind: 'NodeClaim', name: claim }, {});
}

function chooses(stage: Stage, name: string): void {
  const claim = claimIn(stage, name);
  if (claim)
    stage.store.update(claim, {
      status: { conditions: withCondition(claim.status.conditions, stage.now, 'DisruptionReason', 'True', 'Drifted') },
    });
}

/** Another Pod of this size comes to the host; a large one preempts the placeholder. */
const podComes = (cpu: string): Move => ({
  possible: (stage) => {
    const host = surgeHost(stage);
    return host !== undefined && !isCordoned(host) && stage.store.get('Pod', `other-${cpu}`, 'shop') === undefined;
  },
  make: (stage) => {
    const host = nameOf(surgeHost(stage));
    const raw = rawPod(`other-${cpu}`, '', { requests: { cpu } }) as unknown as Manifest;
    const { nodeName: _nodeName, ...spec } = raw.spec as { nodeName?: string };
    const pod = stage.store.adopt({ ...raw, spec, status: { phase: 'Pending' } });
    bind(stage, pod as Parameters<typeof bind>[1], host);
    const bound = stage.store.get('Pod', `other-${cpu}`, 'shop');
    if (bound) stage.store.update(bound, { status: { phase: 'Running' } });
  },
});

/** Somebody's Git puts the NodePool back; what only the pool knew is lost with it. */
function reverts(stage: Stage): void {
  const pool = marksOf(poolIn(stage));
  for (const entry of readOutbox(pool['unrecorded']).entries) stage.remember({ lost: stepName(entry) });
  const copy = marksOf(claimIn(stage, oldClaim));
  const uid = claimIn(stage, oldClaim)?.metadata.uid;
  const known = copy['state'] === 'pending' || copy['state'] === 'draining';
  if (pool['active-rotation'] !== undefined && !(known && copy['started-at'] === pool['started-at'])) {
    stage.remember({ forgotten: `${pool['rotation-claim-uid']}@${pool['started-at']}` });
  }
  // What has ended and is still on the claim's copy will be taken for one in flight, and ends once more.
  if (pool['active-rotation'] === undefined && known) stage.remember({ forgotten: `${uid}@${copy['started-at']}` });
  const ours = Object.keys(pool).filter((key) => key !== 'freeze');
  annotates(stage, 'NodePool', 'api', Object.fromEntries(ours.map((key) => [`noderotation.io/${key}`, null])));
}

/** The moment just after readyTimeout has passed for what is in flight. */
function pastReadyTimeout(stage: Stage): Instant | undefined {
  const startedAt = parseInstant(marksOf(poolIn(stage))['started-at'] ?? '');
  return startedAt === undefined ? undefined : add(startedAt, minutes(16));
}

export const moves = {
  freeze: {
    possible: (stage) => poolIn(stage) !== undefined && marksOf(poolIn(stage))['freeze'] === undefined,
    make: (stage) => freezeUntil(stage, '2027-01-01T00:00:00Z'),
  },
  // Nobody takes back what he did within a second.
  unfreeze: {
    possible: (stage) => marksOf(poolIn(stage))['freeze'] !== undefined,
    make: (stage) => {
      freezeUntil(stage, null);
      stage.now = add(stage.now, seconds(1));
    },
  },
  observe: {
    possible: (stage) => policyIn(stage) !== undefined && modeOf(stage) !== 'Observe',
    make: (stage) => setsMode(stage, 'Observe'),
  },
  rotateAgain: {
    possible: (stage) => modeOf(stage) === 'Observe',
    make: (stage) => {
      setsMode(stage, 'Rotate');
      stage.now = add(stage.now, minutes(1));
    },
  },
  policyDeleted: {
    possible: (stage) => policyIn(stage) !== undefined,
    make: (stage) => void stage.store.delete({ kind: 'RotationPolicy', name: 'api' }, {}),
  },
  policyBack: {
    possible: (stage) => policyIn(stage) === undefined,
    make: (stage) => {
      stage.store.adopt(rawPolicy() as unknown as Manifest);
      stage.now = add(stage.now, minutes(1));
    },
  },
  poolReverted: {
    possible: (stage) => Object.keys(marksOf(poolIn(stage))).some((key) => key !== 'freeze'),
    make: reverts,
  },
  optOut: {
    possible: (stage) => {
      const node = nodeBehind(stage, oldClaim);
      return (
        node !== undefined && !(doNotDisrupt(node) === 'true' && marksOf(node)['do-not-disrupt-owned'] === undefined)
      );
    },
    make: (stage) =>
      annotates(stage, 'Node', candidate(stage), {
        'karpenter.sh/do-not-disrupt': 'true',
        'noderotation.io/do-not-disrupt-owned': null,
      }),
  },
  uncordon: {
    possible: (stage) => isCordoned(nodeBehind(stage, oldClaim)),
    make: (stage) =>
      void stage.store.patch({ kind: 'Node', name: candidate(stage) }, { spec: { unschedulable: null } }),
  },
  karpenterChooses: {
    possible: (stage) => isLive(stage, oldClaim) && !isChosen(claimIn(stage, oldClaim)),
    make: (stage) => chooses(stage, oldClaim),
  },
  candidateDeleted: {
    possible: (stage) => isLive(stage, oldClaim),
    make: (stage) => deletes(stage, oldClaim),
  },
  hostDeleted: {
    possible: (stage) => isLive(stage, claimBehind(stage, nameOf(surgeHost(stage)))?.metadata.name ?? ''),
    make: (stage) => deletes(stage, claimBehind(stage, nameOf(surgeHost(stage)))?.metadata.name ?? ''),
  },
  hostChosen: {
    possible: (stage) => {
      const claim = claimBehind(stage, nameOf(surgeHost(stage)))?.metadata.name ?? '';
      return isLive(stage, claim) && !isChosen(claimIn(stage, claim));
    },
    make: (stage) => chooses(stage, claimBehind(stage, nameOf(surgeHost(stage)))?.metadata.name ?? ''),
  },
  hostCordoned: {
    possible: (stage) => surgeHost(stage) !== undefined && !isCordoned(surgeHost(stage)),
    make: (stage) =>
      void stage.store.patch({ kind: 'Node', name: nameOf(surgeHost(stage)) }, { spec: { unschedulable: true } }),
  },
  hostProtected: {
    possible: (stage) => surgeHost(stage) !== undefined && doNotDisrupt(surgeHost(stage)) === undefined,
    make: (stage) => annotates(stage, 'Node', nameOf(surgeHost(stage)), { 'karpenter.sh/do-not-disrupt': 'true' }),
  },
  podComes: podComes('1500m'),
  largePodComes: podComes('3'),
  launchFails: {
    possible: (stage) => claimsIn(stage).some(({ status }) => status.nodeName === undefined),
    make: (stage) => {
      for (const claim of claimsIn(stage)) if (claim.status.nodeName === undefined) stage.store.remove(claim);
    },
  },
  placeholderPreempted: {
    possible: (stage) => placeholderIn(stage) !== undefined,
    make: (stage) => {
      const placeholder = placeholderIn(stage);
      if (placeholder) stage.store.remove(placeholder);
    },
  },
  readyTimeoutPasses: {
    possible: (stage) => (pastReadyTimeout(stage) ?? stage.now) > stage.now,
    make: (stage) => {
      stage.now = pastReadyTimeout(stage) ?? stage.now;
    },
  },
  /** Past failurePause, cooldown and backoff, inside the same window. */
  hourPasses: {
    possible: (stage) => add(stage.now, minutes(60)) < windowCloses,
    make: (stage) => {
      stage.now = add(stage.now, minutes(60));
    },
  },
  windowCloses: {
    possible: (stage) => stage.now < windowCloses,
    make: (stage) => {
      stage.now = windowCloses;
    },
  },
} satisfies Readonly<Record<string, Move>>;

export type MoveName = keyof typeof moves;
export const allMoves = Object.keys(moves) as readonly MoveName[];
