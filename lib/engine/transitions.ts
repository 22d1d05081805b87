/**
 * The state machine as a table: which step may take a pool's rotation from which phase to which.
 *
 * Every list is held against it before it is carried out, so the table cannot drift from the code.
 */
import { own } from '../domain/cluster/object-ref.ts';
import type { Rotation } from '../domain/rotation/rotation.ts';
import { readRotation } from '../domain/rotation/rotation.ts';
import type { Decision, Step } from './decision.ts';
import type { PoolView } from './pool-view.ts';

export type Phase = Rotation['phase'];

export interface Transition {
  readonly from: Phase;
  readonly step: Step;
  readonly to: Phase;
}

const stays = (phase: Phase, ...steps: readonly Step[]): readonly Transition[] =>
  steps.map((step) => ({ from: phase, step, to: phase }));
const ends = (step: Step, ...phases: readonly Phase[]): readonly Transition[] =>
  phases.map((from) => ({ from, step, to: 'none' }));

export const transitions: readonly Transition[] = [
  ...stays('none', 'nothing', 'blocked'),
  { from: 'none', step: 'start', to: 'pending' },
  { from: 'none', step: 'startFallback', to: 'draining' },
  { from: 'none', step: 'restore', to: 'pending' },
  { from: 'none', step: 'restore', to: 'draining' },
  ...stays('pending', 'hold', 'awaitSurge', 'recreatePlaceholder', 'leaveBadHost', 'blocked'),
  { from: 'pending', step: 'handOver', to: 'draining' },
  ...stays('draining', 'awaitDrain', 'repeatDelete', 'blocked'),
  { from: 'draining', step: 'leaveDraining', to: 'pending' },
  ...ends('finish', 'draining', 'failing', 'malformed'),
  ...ends('rollBack', 'pending', 'failing', 'malformed'),
  ...ends('abort', 'pending', 'aborting', 'draining', 'malformed'),
  ...ends('expire', 'pending', 'failing', 'aborting', 'malformed'),
  ...stays('failing', 'blocked', 'awaitDrain'),
  ...stays('aborting', 'blocked'),
  ...stays('malformed', 'blocked', 'awaitDrain'),
  { from: 'malformed', step: 'repeatDelete', to: 'draining' },
  { from: 'malformed', step: 'leaveDraining', to: 'pending' },
];

/** The phase that the pool is in once the whole list has landed. */
export function phaseAfter(view: PoolView, decision: Decision): Phase {
  let annotations: Record<string, string> = { ...view.pool.meta.annotations };
  for (const action of decision.actions) {
    if (action.kind !== 'annotate' || action.target.kind !== 'NodePool') continue;
    annotations = Object.fromEntries(
      Object.keys({ ...annotations, ...action.annotations }).flatMap((key) => {
        const patched = own(action.annotations, key);
        const value = patched === undefined ? own(annotations, key) : patched;
        return typeof value === 'string' ? [[key, value]] : [];
      }),
    );
  }
  return readRotation({ ...view.pool.meta, annotations }).phase;
}

export const isDeclared = ({ from, step, to }: Transition): boolean =>
  transitions.some((each) => each.from === from && each.step === step && each.to === to);
