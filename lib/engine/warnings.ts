/**
 * Kubernetes Events for what begins, once: the codes in force stand in an annotation, so that neither a later tick nor
 * another process says it again. The annotation comes first, then the Event.
 */
import type { NodeClaim } from '../domain/cluster/node-claim.ts';
import type { ObjectRef } from '../domain/cluster/object-ref.ts';
import { annotation, refOf } from '../domain/cluster/object-ref.ts';
import type { LightSnapshot } from '../domain/cluster/snapshot.ts';
import { warningsKey } from '../domain/rotation/annotation-keys.ts';
import type { Action, Decision, FindingChange, Notice, StandingFinding } from './decision.ts';
import type { PoolView } from './pool-view.ts';
import { event } from './writes.ts';

/** At most this many claims get their warnings in one tick. @design D6-09 */
const claimsPerTick = 20;

/**
 * The list with its warnings: on a pool patch that is made anyway, else last.
 *
 * @param silent under Observe, which writes no Events: neither of warnings nor of a rotation that it ends
 * @design D11-03, D6-09, D2-08
 */
export function withWarnings(view: PoolView, intended: Decision, silent: boolean): Decision {
  const decision = silent
    ? { ...intended, actions: intended.actions.filter((action) => action.kind !== 'emitEvent') }
    : intended;
  const ofPool = silent
    ? []
    : decision.notices.filter((notice) => notice.severity !== 'info' && notice.claim === undefined);
  const change = changeOf(annotation(view.pool.meta, warningsKey), ofPool);
  const target = refOf('NodePool', view.pool.meta);
  const normal = silent
    ? []
    : decision.notices.filter((notice) => notice.severity === 'info' && notice.claim === undefined);
  const infoEvents = normal.map((notice) => event('Normal', notice.code, notice.message, target));
  const { actions: claims, findings: ofClaims } = claimWarnings(view, silent ? [] : decision.notices);
  const changes = [...(change ? findingsOf(target, change) : []), ...ofClaims];
  const findings = changes.length === 0 ? {} : { findings: changes };
  if (!change) return { ...decision, ...findings, actions: [...decision.actions, ...infoEvents, ...claims] };
  const events = change.begun.map((notice) => event('Warning', notice.code, notice.message, target));
  const index = decision.actions.findLastIndex(
    (action) => action.kind === 'annotate' && action.target.kind === 'NodePool',
  );
  const host = decision.actions[index];
  const patch = { [warningsKey]: change.text };
  if (host?.kind === 'annotate') {
    const merged: Action = { ...host, annotations: { ...host.annotations, ...patch } };
    const before = decision.actions.with(index, merged);
    return { ...decision, ...findings, actions: [...before, ...events, ...infoEvents, ...claims] };
  }
  const own: Action = { kind: 'annotate', target, annotations: patch, whenRefused: 'goOn' };
  return { ...decision, ...findings, actions: [...decision.actions, own, ...events, ...infoEvents, ...claims] };
}

interface Change {
  readonly text: string | null;
  readonly begun: readonly Notice[];
  /** Codes. */
  readonly ended: readonly string[];
}

/** @design D10-02 */
const findingsOf = ({ kind, name }: ObjectRef, { begun, ended }: Change): readonly FindingChange[] => [
  ...begun.map(({ code, severity, message }) => ({
    change: 'opened' as const,
    on: { kind, name },
    code,
    severity,
    message,
  })),
  ...ended.map((code) => ({ change: 'closed' as const, on: { kind, name }, code })),
];

function claimWarnings(
  view: PoolView,
  notices: readonly Notice[],
): { readonly actions: readonly Action[]; readonly findings: readonly FindingChange[] } {
  const byClaim = Map.groupBy(
    notices.filter((notice) => notice.claim !== undefined && notice.severity !== 'info'),
    (notice) => notice.claim as string,
  );
  const changed = view.claims
    // Karpenter copies a claim's annotations to its Node when that registers, and nobody would take them off there.
    .filter((claim) => !claim.meta.deleting && claim.nodeName !== undefined)
    .flatMap((claim) => {
      const change = changeOf(annotation(claim.meta, warningsKey), byClaim.get(claim.meta.name) ?? []);
      return change ? [{ claim, ...change }] : [];
    })
    .slice(0, claimsPerTick);
  return {
    actions: changed.flatMap(({ claim, text, begun }) => claimActions(claim, text, begun)),
    findings: changed.flatMap(({ claim, ...change }) => findingsOf(refOf('NodeClaim', claim.meta), change)),
  };
}

function claimActions(claim: NodeClaim, text: string | null, begun: readonly Notice[]): readonly Action[] {
  const target: ObjectRef = refOf('NodeClaim', claim.meta);
  return [
    { kind: 'annotate', target, annotations: { [warningsKey]: text }, whenRefused: 'goOn' },
    ...begun.map((notice) => event('Warning', notice.code, notice.message, target)),
  ];
}

/** What the `warnings` annotations of a cluster say, as they were seen. @design D10-02 */
export const standingFindings = ({ nodePools, nodeClaims }: LightSnapshot): readonly StandingFinding[] => [
  ...nodePools.flatMap(({ meta }) =>
    codesOf(annotation(meta, warningsKey)).map((code) => ({
      nodePool: meta.name,
      on: { kind: 'NodePool' as const, name: meta.name },
      code,
    })),
  ),
  ...nodeClaims.flatMap(({ meta, nodePool }) =>
    codesOf(annotation(meta, warningsKey)).map((code) => ({
      nodePool,
      on: { kind: 'NodeClaim' as const, name: meta.name },
      code,
    })),
  ),
];

const codesOf = (text: string | undefined): readonly string[] =>
  text === undefined ? [] : text.split(',').filter((code) => code !== '');

function changeOf(present: string | undefined, notices: readonly Notice[]): Change | undefined {
  // So it is with nearly every claim of thousands.
  if (present === undefined && notices.length === 0) return undefined;
  const before = new Set(codesOf(present));
  const now = [...new Set(notices.map((notice) => notice.code))].sort();
  const same = now.length === before.size && now.every((code) => before.has(code));
  if (same) return undefined;
  const begun = now
    .filter((code) => !before.has(code))
    .map((code) => notices.find((notice) => notice.code === code) as Notice);
  const ended = [...before].filter((code) => !now.includes(code)).sort();
  return { text: now.length === 0 ? null : now.join(','), begun, ended };
}
