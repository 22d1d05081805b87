/**
 * One rotation told from its audit rows: when it began, which way it went, how long each part took, how close it came
 * to its deadline.
 */
import type { RotationStep, UnrecordedStep } from '../domain/rotation/unrecorded.ts';
import type { Duration, Instant } from '../domain/time.ts';
import { between } from '../domain/time.ts';

/** A step as it stands in the audit table. */
export interface RecordedStep extends UnrecordedStep {
  readonly nodePool: string;
}

export interface RotationStory {
  readonly nodePool: string;
  readonly nodeClaim: string;
  readonly uid: string;
  readonly node?: string;
  readonly startedAt: Instant;
  readonly drainingAt?: Instant;
  readonly endedAt?: Instant;
  /** The last step on record. */
  readonly outcome: RotationStep;
  readonly reason?: string;
  readonly path?: 'provisioned' | 'absorbed' | 'forceful';
  readonly surgeClaim?: string;
  readonly surgeWait?: Duration;
  readonly drain?: Duration;
  readonly deadline?: Instant;
  /** From the end of the rotation to the deadline; negative when it came too late. */
  readonly margin?: Duration;
}

const ends: readonly RotationStep[] = ['completed', 'failed', 'expired', 'aborted'];

/** The rotations of these rows in the order in which they started. @design D10-03 */
export function tellRotations(rows: readonly RecordedStep[]): readonly RotationStory[] {
  const byRotation = Map.groupBy(rows, ({ uid, startedAt }) => `${uid}@${startedAt}`);
  return [...byRotation.values()]
    .map((steps) => tell(steps.toSorted((a, b) => a.at - b.at || rankOf(a) - rankOf(b))))
    .sort((a, b) => a.startedAt - b.startedAt || (a.nodePool < b.nodePool ? -1 : 1));
}

// Steps of one second keep the order in which a rotation takes them.
const rankOf = ({ step }: RecordedStep): number => (ends.includes(step) ? 2 : step === 'draining' ? 1 : 0);

function tell(steps: readonly RecordedStep[]): RotationStory {
  const last = steps.at(-1) as RecordedStep;
  const fact = <K extends keyof RecordedStep>(key: K): Partial<Pick<RecordedStep, K>> => {
    const value = steps.findLast((step) => step[key] !== undefined)?.[key];
    return (value === undefined ? {} : { [key]: value }) as Partial<Pick<RecordedStep, K>>;
  };
  const end = steps.find(({ step }) => ends.includes(step));
  const drainingAt = steps.find(({ step }) => step === 'draining' || step === 'fallbackStarted')?.at;
  const { deadline } = fact('deadline');
  const path = fact('mode').mode === 'forceful-fallback' ? 'forceful' : fact('surgePath').surgePath;
  return {
    nodePool: last.nodePool,
    nodeClaim: last.claim,
    uid: last.uid,
    ...fact('node'),
    startedAt: last.startedAt,
    ...(drainingAt === undefined ? {} : { drainingAt }),
    ...(end === undefined ? {} : { endedAt: end.at }),
    outcome: last.step,
    ...fact('reason'),
    ...(path === undefined ? {} : { path }),
    ...fact('surgeClaim'),
    ...fact('surgeWait'),
    ...fact('drain'),
    ...(deadline === undefined ? {} : { deadline }),
    ...(deadline === undefined || end === undefined ? {} : { margin: between(end.at, deadline) }),
  };
}
