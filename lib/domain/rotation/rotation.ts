/**
 * The rotation of one NodePool, read once from its annotations into a union, and written back by the same file.
 *
 * The anchor on the NodePool is the truth. Everything that is needed to end a rotation is on it, because the old
 * NodeClaim may already be gone.
 */
import type { ObjectMeta, StringMap } from '../cluster/object-ref.ts';
import { annotation } from '../cluster/object-ref.ts';
import type { Duration, Instant } from '../time.ts';
import { formatDuration, formatInstant, parseGoDuration, parseInstant } from '../time.ts';
import { anchorKeys, claimKeys, poolKeys } from './annotation-keys.ts';
import type { RotationStep } from './unrecorded.ts';
import { steps } from './unrecorded.ts';

export type SurgePath = 'provisioned' | 'absorbed';
export type RotationMode = 'surge' | 'forceful-fallback';

/** One attempt to rotate one NodeClaim: uid and start identify it for ever. @design D10-03 */
export interface Attempt {
  readonly claim: string;
  readonly claimUid: string;
  readonly startedAt: Instant;
  readonly surgeClaim?: string;
  readonly mode: RotationMode;
  readonly lastRefusal?: string;
}

/** The mirror: written just before the old claim is deleted. Unreadable extras are left out. @design D5-06 */
export interface Mirror {
  readonly drainingAt?: Instant;
  readonly surgeWait?: Duration;
  readonly surgePath?: SurgePath;
}

export type Rotation =
  | { readonly phase: 'none' }
  | (Attempt & { readonly phase: 'pending' })
  | (Attempt & { readonly phase: 'failing' | 'aborting' } & Mirror)
  | (Attempt & { readonly phase: 'draining' } & Mirror)
  /** An anchor that names a claim but whose attempt cannot be read; `draining` tells how it has to end. */
  | {
      readonly phase: 'malformed';
      readonly claim: string;
      readonly claimUid?: string;
      readonly surgeClaim?: string;
      readonly draining: boolean;
      readonly key: string;
      readonly text: string;
    };

export type AnchoredRotation = Exclude<Rotation, { phase: 'none' } | { phase: 'malformed' }>;

const phases = ['draining', 'failing', 'aborting'] as const;

/** Reads the anchor. @design D5-01, D5-06 */
export function readRotation(meta: ObjectMeta): Rotation {
  const text = (key: string): string | undefined => annotation(meta, key);
  const claim = text(anchorKeys.claim);
  if (claim === undefined || claim === '') return { phase: 'none' };
  const state = text(anchorKeys.state);
  const surgeClaim = text(anchorKeys.surgeClaim);
  const claimUid = text(anchorKeys.claimUid);
  const startedAt = parseInstant(text(anchorKeys.startedAt) ?? '');
  const phase = state === undefined ? 'pending' : phases.find((name) => name === state);
  const malformed = (key: string): Rotation => ({
    phase: 'malformed',
    claim,
    ...(claimUid ? { claimUid } : {}),
    ...(surgeClaim ? { surgeClaim } : {}),
    draining: state === 'draining',
    key,
    text: text(key) ?? '',
  });
  if (!claimUid) return malformed(anchorKeys.claimUid);
  if (startedAt === undefined) return malformed(anchorKeys.startedAt);
  if (phase === undefined) return malformed(anchorKeys.state);
  const lastRefusal = text(anchorKeys.lastRefusal);
  const attempt: Attempt = {
    claim,
    claimUid,
    startedAt,
    mode: text(anchorKeys.mode) === 'forceful-fallback' ? 'forceful-fallback' : 'surge',
    ...(surgeClaim ? { surgeClaim } : {}),
    ...(lastRefusal ? { lastRefusal } : {}),
  };
  return phase === 'pending' ? { phase, ...attempt } : { phase, ...attempt, ...readMirror(text) };
}

function readMirror(text: (key: string) => string | undefined): Mirror {
  const drainingAt = parseInstant(text(anchorKeys.drainingAt) ?? '');
  const surgeWait = parseGoDuration(text(anchorKeys.surgeWait) ?? '');
  const surgePath = (['provisioned', 'absorbed'] as const).find((path) => path === text(anchorKeys.surgePath));
  return {
    ...(drainingAt !== undefined ? { drainingAt } : {}),
    ...(surgeWait !== undefined ? { surgeWait } : {}),
    ...(surgePath !== undefined ? { surgePath } : {}),
  };
}

/** A merge patch of annotations: null removes a key. */
export type AnnotationPatch = Readonly<Record<string, string | null>>;

/** The annotations of an anchor, the whole of them: keys that do not belong to its phase are removed. */
export function writeRotation(rotation: { phase: 'none' } | AnchoredRotation): AnnotationPatch {
  if (rotation.phase === 'none') return Object.fromEntries(Object.values(anchorKeys).map((key) => [key, null]));
  const mirror: Mirror = rotation.phase === 'pending' ? {} : rotation;
  return {
    [anchorKeys.claim]: rotation.claim,
    [anchorKeys.claimUid]: rotation.claimUid,
    [anchorKeys.startedAt]: formatInstant(rotation.startedAt),
    [anchorKeys.state]: rotation.phase === 'pending' ? null : rotation.phase,
    [anchorKeys.surgeClaim]: rotation.surgeClaim ?? null,
    [anchorKeys.drainingAt]: mirror.drainingAt === undefined ? null : formatInstant(mirror.drainingAt),
    [anchorKeys.surgeWait]: mirror.surgeWait === undefined ? null : formatDuration(mirror.surgeWait),
    [anchorKeys.surgePath]: mirror.surgePath ?? null,
    [anchorKeys.mode]: rotation.mode === 'surge' ? null : rotation.mode,
    [anchorKeys.lastRefusal]: rotation.lastRefusal ?? null,
  };
}

/** Anchor keys left on a pool that has no anchor: debris for the sweep. @design D6-03 */
export const anchorFragments = (annotations: StringMap): readonly string[] =>
  Object.values(anchorKeys).filter((key) => Object.hasOwn(annotations, key));

/** What outlives a rotation on the NodePool. Unreadable times are left out and named. */
export interface PoolHistory {
  readonly lastRotationAt?: Instant;
  readonly lastFailureAt?: Instant;
  readonly lastEnded?: LastEnded;
  readonly unreadable: readonly { readonly key: string; readonly text: string }[];
}

/** How the latest attempt ended: `claim uid @ started-at = step`. @design D5-02 */
export interface LastEnded {
  readonly claimUid: string;
  readonly startedAt: Instant;
  readonly step: RotationStep;
}

export const writeLastEnded = (ended: LastEnded): string =>
  `${ended.claimUid}@${formatInstant(ended.startedAt)}=${ended.step}`;

export function readPoolHistory(meta: ObjectMeta): PoolHistory {
  const unreadable: { key: string; text: string }[] = [];
  const read = <T>(key: string, parse: (text: string) => T | undefined): T | undefined => {
    const text = annotation(meta, key);
    if (text === undefined) return undefined;
    const value = parse(text);
    if (value === undefined) unreadable.push({ key, text });
    return value;
  };
  const lastRotationAt = read(poolKeys.lastRotationAt, parseInstant);
  const lastFailureAt = read(poolKeys.lastFailureAt, parseInstant);
  const lastEnded = read(poolKeys.lastEnded, parseLastEnded);
  return {
    ...(lastRotationAt !== undefined ? { lastRotationAt } : {}),
    ...(lastFailureAt !== undefined ? { lastFailureAt } : {}),
    ...(lastEnded !== undefined ? { lastEnded } : {}),
    unreadable,
  };
}

function parseLastEnded(text: string): LastEnded | undefined {
  const match = /^(.+)@([^@=]+)=([A-Za-z]+)$/.exec(text);
  const startedAt = parseInstant(match?.[2] ?? '');
  const step = steps.find((name) => name === match?.[3]);
  return match?.[1] && startedAt !== undefined && step ? { claimUid: match[1], startedAt, step } : undefined;
}

/** The claim's own copy of its state. @design R3.2-05, D5-02 */
export type ClaimState =
  | { readonly state: 'none'; readonly retryCount: number }
  | {
      readonly state: 'pending' | 'draining';
      readonly startedAt: Instant;
      readonly surgeClaim?: string;
      readonly mode: RotationMode;
      readonly retryCount: number;
    }
  | { readonly state: 'failed'; readonly failedAt: Instant; readonly startedAt?: Instant; readonly retryCount: number }
  | { readonly state: 'expired'; readonly retryCount: number }
  | { readonly state: 'malformed'; readonly key: string; readonly text: string };

const untouched: ClaimState = { state: 'none', retryCount: 0 };

/** Whether the claim carries anything that `readClaimState` reads as other than untouched. */
export const hasClaimState = (meta: ObjectMeta): boolean =>
  Boolean(annotation(meta, claimKeys.state)) || annotation(meta, claimKeys.retryCount) !== undefined;

/** Reads the claim's copy; an unreadable part makes it malformed, never a default. @design D5-06 */
export function readClaimState(meta: ObjectMeta): ClaimState {
  if (!hasClaimState(meta)) return untouched;
  const text = (key: string): string | undefined => annotation(meta, key);
  const malformed = (key: string): ClaimState => ({ state: 'malformed', key, text: text(key) ?? '' });
  const count = text(claimKeys.retryCount);
  if (count !== undefined && !/^\d{1,9}$/.test(count)) return malformed(claimKeys.retryCount);
  const retryCount = Number(count ?? 0);
  const startedAt = parseInstant(text(claimKeys.startedAt) ?? '');
  const surgeClaim = text(claimKeys.surgeClaim);
  const state = text(claimKeys.state);
  switch (state) {
    case undefined:
    case '':
      return { state: 'none', retryCount };
    case 'pending':
    case 'draining':
      if (startedAt === undefined) return malformed(claimKeys.startedAt);
      return {
        state,
        startedAt,
        ...(surgeClaim ? { surgeClaim } : {}),
        mode: text(claimKeys.mode) === 'forceful-fallback' ? 'forceful-fallback' : 'surge',
        retryCount,
      };
    case 'failed': {
      const failedAt = parseInstant(text(claimKeys.failedAt) ?? '');
      if (failedAt === undefined) return malformed(claimKeys.failedAt);
      return { state, failedAt, ...(startedAt !== undefined ? { startedAt } : {}), retryCount };
    }
    case 'expired':
      return { state, retryCount };
    default:
      return malformed(claimKeys.state);
  }
}
