/**
 * The outlook for a reader with ten seconds: per pool one line of verdict, then why, then every claim.
 */

import { formatResourceList } from '../domain/cluster/resource-list.ts';
import type { Schedule } from '../domain/schedule/feasibility.ts';
import type { Finding } from '../domain/schedule/finding.ts';
import type { Duration } from '../domain/time.ts';
import { formatDuration, formatInstant } from '../domain/time.ts';
import type { Action, Notice } from '../engine/decision.ts';
import type { ClaimOutlook, Outlook, PolicyOutlook, PoolOutlook } from '../engine/outlook.ts';
import type { Column } from './text-table.ts';
import { textTable } from './text-table.ts';

/** @design D13-02 */
export function planText({ at, policies, pools }: Outlook): string {
  const head = [`Plan for ${formatInstant(at)}`, '', ...policies.flatMap(policyLines)];
  return `${[...head, ...pools.flatMap((pool) => ['', ...poolLines(pool)])].join('\n')}\n`;
}

/** @design D2-03 */
export function policyLines({ name, status, problems, findings, nodePools }: PolicyOutlook): string[] {
  const about = nodePools.length === 0 ? 'no NodePool' : nodePools.join(', ');
  const verb = { Accepted: 'governs', Invalid: 'is invalid and blocks', Conflict: 'is in conflict about' }[status];
  return [
    `RotationPolicy ${name || '(without a name)'} ${verb} ${about}`,
    ...problems.map(({ path, problem }) => `  ${path || '(document)'} ${problem}`),
    // What a governed pool says again is not said twice.
    ...(nodePools.length === 0 || status === 'Conflict' ? findings.map(findingLine) : []),
  ];
}

export const findingLine = ({ code, severity, message, claim }: Finding | Notice): string =>
  `  ${severity.toUpperCase().padEnd(5)} ${code}${claim === undefined ? '' : ` (${claim})`}: ${message}`;

function poolLines(pool: PoolOutlook): string[] {
  return [
    `NodePool ${pool.name}: ${verdictOf(pool)}`,
    ...detail('why', reasonOf(pool)),
    ...detail('window', windowOf(pool)),
    ...detail('closed', closedGates(pool)),
    ...(pool.schedule ? detail('schedule', scheduleText(pool.schedule)) : []),
    ...detail('surge', surgeText(pool)),
    ...detail('writes', writesText(pool)),
    ...pool.findings.map(findingLine),
    ...claimTable(pool.claims),
  ];
}

const detail = (title: string, text: string | undefined): string[] =>
  text === undefined || text === '' ? [] : [`  ${title.padEnd(8)} ${text}`];

/** One line that says what happens to the pool. */
function verdictOf(pool: PoolOutlook): string {
  const { decision, rotation, mode, next, view } = pool;
  if (view.governance.kind === 'none' && rotation === undefined) return 'left alone, no RotationPolicy matches it';
  if (rotation !== undefined) {
    const since = rotation.phase === 'malformed' ? '' : ` since ${formatInstant(rotation.startedAt)}`;
    return `${rotation.phase} ${rotation.claim}${since}, next step ${decision.step}`;
  }
  switch (decision.step) {
    case 'start':
      return `starts ${decision.transition?.claim} now`;
    case 'startFallback':
      return `drains ${decision.transition?.claim} now, without a surge`;
    case 'restore':
      return 'takes up a rotation whose anchor was lost';
    case 'nothing':
      return nothingDue(pool);
  }
  if (mode === 'Observe' && next && pool.gates.every(({ open }) => open))
    return `would start ${next.claim} now, but the policy only observes`;
  const { reason = 'Blocked', until } = decision.blocked ?? {};
  if (reason === 'NotInspected')
    return `${pool.claims.find(({ rank }) => rank === 1)?.name ?? 'a claim'} is next in turn, but too little is known to say whether it can start`;
  return `starts nothing (${reason}${until === undefined ? '' : ` until ${formatInstant(until)}`})`;
}

function nothingDue({ claims }: PoolOutlook): string {
  const dates = claims.flatMap(({ candidateFrom, disqualifier }) =>
    candidateFrom !== undefined && disqualifier?.reason === 'NotDue' ? [candidateFrom] : [],
  );
  const [first] = dates.toSorted((a, b) => a - b);
  return first === undefined ? 'nothing is due' : `nothing is due before ${formatInstant(first)}`;
}

function reasonOf({ decision, next, mode }: PoolOutlook): string | undefined {
  const { blocked } = decision;
  if (!blocked || blocked.reason === 'NoCandidate') return undefined;
  const follows = next && mode === 'Rotate' ? `; first in turn is ${next.claim}` : '';
  return `${blocked.message}${follows}`;
}

function windowOf({ occurrence, nextWindow }: PoolOutlook): string | undefined {
  const open =
    occurrence && (occurrence.end === 'never' ? 'open without end' : `open until ${formatInstant(occurrence.end)}`);
  const later =
    nextWindow &&
    `next ${formatInstant(nextWindow.start)}${nextWindow.end === 'never' ? '' : ` to ${formatInstant(nextWindow.end)}`}`;
  return [open, later].filter((part) => part !== undefined).join(', ');
}

const closedGates = ({ gates }: PoolOutlook): string =>
  gates
    .filter(({ open }) => !open)
    .map(({ gate, until }) => `${gate}${until === undefined ? '' : ` until ${formatInstant(until)}`}`)
    .join(', ');

function scheduleText(schedule: Schedule): string {
  const { expireAfter, ageThreshold, guaranteedChances } = schedule;
  const text = (length: Duration | 'Never' | null | undefined): string =>
    length === null || length === undefined ? 'none' : length === 'Never' ? 'Never' : formatDuration(length);
  return [
    `E ${text(expireAfter)}`,
    `tGP ${text(schedule.terminationGracePeriod)}`,
    `K ${schedule.minRotationChances}`,
    `P ${text(schedule.worstCasePeriod)}`,
    `t_rot ${text(schedule.rotationBound)}`,
    `due from age A ${text(ageThreshold)}`,
    `chances G ${guaranteedChances ?? 'none'}`,
    `starts per window C ${schedule.capacity}`,
    `nodes N ${schedule.nodes}`,
  ].join(', ');
}

function surgeText({ surge }: PoolOutlook): string | undefined {
  if (!surge) return undefined;
  const { claim, census, footprint, headroom } = surge;
  const requests = Object.entries(formatResourceList(footprint.requests)).map(([name, amount]) => `${name} ${amount}`);
  const room = headroom.fits ? '' : `, no room for ${headroom.lacking.join(', ')}`;
  return `for ${claim.meta.name}: ${census.counted.length} Pods to move, ${requests.join(', ') || 'no requests'}${footprint.clamped ? ' (clamped)' : ''}${room}`;
}

const writesText = ({ decision }: PoolOutlook): string =>
  decision.actions
    .filter(({ kind }) => kind !== 'emitEvent')
    .map((action) => `${action.kind} ${targetOf(action)}`)
    .join(', ');

function targetOf(action: Action): string {
  if (action.kind === 'emitEvent') return action.event.regarding.name;
  return action.kind === 'createPlaceholder' ? action.pod.metadata.name : `${action.target.kind} ${action.target.name}`;
}

const columns: readonly Column<ClaimOutlook>[] = [
  { title: '  CLAIM', of: ({ name }) => `  ${name}` },
  { title: 'NODE', of: ({ node }) => node ?? '-' },
  { title: 'DEADLINE', of: ({ deadline }) => (deadline === undefined ? 'none' : formatInstant(deadline)) },
  { title: 'DUE FROM', of: ({ candidateFrom }) => (candidateFrom === undefined ? '-' : formatInstant(candidateFrom)) },
  { title: 'VERDICT', of: claimVerdict },
];

function claimVerdict({ rank, disqualifier, shortLead, eligible }: ClaimOutlook): string {
  const verdict = disqualifier
    ? `${disqualifier.reason}: ${disqualifier.message}`
    : eligible
      ? `candidate ${rank ?? ''}`.trim()
      : 'not governed';
  return shortLead ? `${verdict} (short lead)` : verdict;
}

const claimTable = (claims: readonly ClaimOutlook[]): string[] =>
  claims.length === 0 ? ['  no claims'] : textTable(columns, claims);
