import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AnchoredRotation } from '../../../lib/domain/rotation/rotation.ts';
import { anchorFragments, readRotation, writeRotation } from '../../../lib/domain/rotation/rotation.ts';
import type { UnrecordedStep } from '../../../lib/domain/rotation/unrecorded.ts';
import { readOutbox, steps, writeOutbox } from '../../../lib/domain/rotation/unrecorded.ts';
import type { Duration, Instant } from '../../../lib/domain/time.ts';
import { instant, seconds } from '../../../lib/domain/time.ts';
import { meta } from '../../support/builders.ts';

const anInstant: fc.Arbitrary<Instant> = fc.integer({ min: 0, max: 4_000_000_000 }).map((s) => instant(s * 1000));
const aDuration: fc.Arbitrary<Duration> = fc.integer({ min: 0, max: 10_000_000 }).map(seconds);
const aName = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/);
const withoutAbsent = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T;

const attempt = fc.record({
  claim: aName,
  claimUid: fc.uuid(),
  startedAt: anInstant,
  mode: fc.constantFrom('surge' as const, 'forceful-fallback' as const),
  surgeClaim: fc.option(aName, { nil: undefined }),
  lastRefusal: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
});
const mirror = fc.record({
  drainingAt: fc.option(anInstant, { nil: undefined }),
  surgeWait: fc.option(aDuration, { nil: undefined }),
  surgePath: fc.constantFrom(undefined, 'provisioned' as const, 'absorbed' as const),
});
const aRotation: fc.Arbitrary<AnchoredRotation> = fc
  .tuple(
    attempt,
    mirror,
    fc.constantFrom('pending' as const, 'failing' as const, 'aborting' as const, 'draining' as const),
  )
  .map(
    ([parts, extras, phase]) =>
      withoutAbsent(phase === 'pending' ? { phase, ...parts } : { phase, ...parts, ...extras }) as AnchoredRotation,
  );

/** Annotations after a merge patch. */
const merged = (
  before: Record<string, string>,
  patch: Readonly<Record<string, string | null>>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ ...before, ...patch }).filter((entry): entry is [string, string] => entry[1] !== null),
  );

it('an anchor reads as it was written, whatever stood there before (D5-01)', () => {
  fc.assert(
    fc.property(aRotation, aRotation, (before, rotation) => {
      const annotations = merged(merged({}, writeRotation(before)), writeRotation(rotation));
      expect(readRotation(meta('api', { annotations }))).toEqual(rotation);
    }),
  );
});

it('clearing an anchor leaves no fragment (D5-01, D6-03)', () => {
  fc.assert(
    fc.property(aRotation, (rotation) => {
      const annotations = merged(
        merged({ foreign: 'kept' }, writeRotation(rotation)),
        writeRotation({ phase: 'none' }),
      );
      expect(annotations).toEqual({ foreign: 'kept' });
      expect(anchorFragments(annotations)).toEqual([]);
    }),
  );
});

it('an outbox reads as it was written (D10-04)', () => {
  const anEntry = fc
    .record({
      step: fc.constantFrom(...steps),
      at: anInstant,
      claim: aName,
      uid: fc.uuid(),
      startedAt: anInstant,
      node: fc.option(aName, { nil: undefined }),
      deadline: fc.option(anInstant, { nil: undefined }),
      drain: fc.option(aDuration, { nil: undefined }),
      reason: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
      retryCount: fc.option(fc.nat(), { nil: undefined }),
      surgePath: fc.constantFrom(undefined, 'provisioned' as const, 'absorbed' as const),
    })
    .map((entry) => withoutAbsent(entry) as UnrecordedStep);
  fc.assert(
    fc.property(fc.array(anEntry, { maxLength: 5 }), (entries) => {
      expect(readOutbox(writeOutbox(entries) ?? undefined)).toEqual({ entries, unreadable: [] });
    }),
  );
});
