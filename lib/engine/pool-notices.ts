/**
 * What is true of a pool and its claims whatever step it takes: the findings and warnings that people should see.
 */
import type { NodeMetadata } from '../domain/cluster/node.ts';
import { poolFindings } from '../domain/schedule/feasibility.ts';
import { optedOutWithoutChance } from '../domain/schedule/lead-time.ts';
import type { Assessment } from './candidates.ts';
import { assess, findingsOf } from './candidates.ts';
import type { Notice } from './decision.ts';
import type { PoolView } from './pool-view.ts';
import { governanceLost, indexed } from './pool-view.ts';
import { isOptedOut } from './protect.ts';
import { unreadableInClaim, unreadableInPool } from './unreadable.ts';

const warn = (code: string, message: string): Notice => ({ code, severity: 'warn', message });

/**
 * On a retired cluster only what became of its rotation: the warnings are ours, too, and have to go.
 *
 * @design D11-03, D4-01, D4-03, D9-03
 */
export function poolNotices(view: PoolView): readonly Notice[] {
  const notices = [...stateNotices(view), ...governedNotices(view)];
  return view.snapshot.retired ? notices.filter(({ code }) => code === 'GovernanceLost') : notices;
}

/** Claims that their operator has taken out, by name. */
function optedOutClaims({ claims, snapshot }: PoolView): ReadonlySet<string> {
  const nodes = optedOutNodes(snapshot.nodes);
  if (nodes.size === 0) return nodes;
  return new Set(
    claims.filter(({ nodeName }) => nodeName !== undefined && nodes.has(nodeName)).map((claim) => claim.meta.name),
  );
}

const optedOutNodes = indexed(
  (nodes: readonly NodeMetadata[]): ReadonlySet<string> =>
    new Set(nodes.filter(isOptedOut).map(({ meta }) => meta.name)),
);

function stateNotices({ pool, governance, freeze, history, rotation, ...view }: PoolView): readonly Notice[] {
  const name = pool.meta.name;
  const lost = governanceLost({ pool, governance, freeze, history, rotation, ...view });
  return [
    ...(governance.kind === 'conflict'
      ? [warn('PolicyConflict', `${lost}. Give one of them a more specific selector.`)]
      : []),
    ...(rotation.phase !== 'none' && lost !== undefined
      ? [warn('GovernanceLost', `The rotation of ${rotation.claim} has lost its policy: ${lost}.`)]
      : []),
    ...(freeze.frozen && freeze.malformed
      ? [
          warn(
            'FreezeMalformed',
            `The freeze on ${freeze.malformed.on} is no RFC 3339 time, so it holds: ${JSON.stringify(freeze.malformed.text)}.`,
          ),
        ]
      : []),
    ...(rotation.phase === 'malformed' ? [stateMalformed(`NodePool ${name}`, rotation)] : []),
    ...history.unreadable.map((unreadable) => stateMalformed(`NodePool ${name}`, unreadable)),
  ];
}

const stateMalformed = (on: string, { key, text }: { readonly key: string; readonly text: string }): Notice =>
  warn('StateMalformed', `Annotation ${key} of ${on} cannot be read: ${JSON.stringify(text)}.`);

function governedNotices(view: PoolView): readonly Notice[] {
  const { pool, policy, claims } = view;
  if (!policy) return [];
  const name = pool.meta.name;
  const optedOut = optedOutClaims(view);
  return [
    ...(pool.replicas === undefined
      ? []
      : [
          warn(
            'StaticNodePool',
            `NodePool ${name} has spec.replicas and is not rotated. Move its workload to a dynamic NodePool, or leave it out of the RotationPolicy selector.`,
          ),
        ]),
    ...unreadableInPool(pool),
    ...(optedOut.size === 0 ? findingsOf(view, policy) : poolFindings(policy, pool, claims, view.at, optedOut)),
    ...assess(view, policy).flatMap((assessment) => claimNotices(assessment, optedOut.has(assessment.claim.meta.name))),
  ];
}

function claimNotices({ claim, state, dueness }: Assessment, optedOut: boolean): readonly Notice[] {
  if (claim.meta.deleting) return [];
  const found: Notice[] = [...(dueness?.notices ?? [])];
  const noChance = optedOut && dueness ? optedOutWithoutChance(claim, dueness) : undefined;
  if (noChance && !found.some((notice) => notice.code === noChance.code)) found.push(noChance);
  if (state.state === 'malformed') found.push(stateMalformed(`NodeClaim ${claim.meta.name}`, state));
  found.push(...unreadableInClaim(claim));
  return found.map((notice) => ({ ...notice, claim: claim.meta.name }));
}
