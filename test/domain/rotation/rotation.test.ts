import { describe, expect, it } from 'vitest';
import { readFreeze, strictest } from '../../../lib/domain/rotation/freeze.ts';
import {
  readClaimState,
  readPoolHistory,
  readRotation,
  writeLastEnded,
} from '../../../lib/domain/rotation/rotation.ts';
import { readOutbox } from '../../../lib/domain/rotation/unrecorded.ts';
import { at, meta } from '../../support/builders.ts';

const anchor = {
  'noderotation.io/active-rotation': 'nc-1',
  'noderotation.io/rotation-claim-uid': 'uid-nc-1',
  'noderotation.io/started-at': '2026-06-09T17:00:00Z',
};
const pool = (annotations: Record<string, string>) => meta('api', { annotations });

describe('the anchor', () => {
  it('is absent without a claim name, even when fragments are left (D5-01)', () => {
    expect(readRotation(pool({ 'noderotation.io/started-at': 'x' }))).toEqual({ phase: 'none' });
    expect(readRotation(pool({ 'noderotation.io/active-rotation': '' }))).toEqual({ phase: 'none' });
  });

  it.each([
    ['noderotation.io/started-at', 'yesterday'],
    ['noderotation.io/started-at', ''],
    ['noderotation.io/rotation-claim-uid', ''],
    ['noderotation.io/active-rotation-state', 'drainin'],
  ])('with an unreadable %s is malformed and names key and text (D5-06)', (key, text) => {
    expect(readRotation(pool({ ...anchor, [key]: text }))).toMatchObject({
      phase: 'malformed',
      claim: 'nc-1',
      draining: false,
      key,
      text,
    });
  });

  it('that drains keeps draining when its extras cannot be read (D5-06)', () => {
    const annotations = {
      ...anchor,
      'noderotation.io/active-rotation-state': 'draining',
      'noderotation.io/draining-at': 'soon',
      'noderotation.io/surge-wait': 'long',
      'noderotation.io/surge-path': 'sideways',
    };
    expect(readRotation(pool(annotations))).toEqual({
      phase: 'draining',
      claim: 'nc-1',
      claimUid: 'uid-nc-1',
      startedAt: at('2026-06-09T17:00:00Z'),
      mode: 'surge',
    });
  });
});

describe('what outlives a rotation', () => {
  it('is read where it can be and named where it cannot (D5-06)', () => {
    const ended = { claimUid: 'a@b=c', startedAt: at('2026-06-09T17:00:00Z'), step: 'failed' as const };
    const annotations = {
      'noderotation.io/last-rotation-at': 'never',
      'noderotation.io/last-failure-at': '2026-06-09T17:15:00Z',
      'noderotation.io/last-ended': writeLastEnded(ended),
    };
    expect(readPoolHistory(pool(annotations))).toEqual({
      lastFailureAt: at('2026-06-09T17:15:00Z'),
      lastEnded: ended,
      unreadable: [{ key: 'noderotation.io/last-rotation-at', text: 'never' }],
    });
  });
});

describe("the claim's copy", () => {
  it.each([
    [{}, { state: 'none', retryCount: 0 }],
    [
      { 'noderotation.io/state': 'expired', 'noderotation.io/retry-count': '2' },
      { state: 'expired', retryCount: 2 },
    ],
    [
      {
        'noderotation.io/state': 'failed',
        'noderotation.io/failed-at': '2026-06-09T17:15:00Z',
        'noderotation.io/retry-count': '1',
      },
      { state: 'failed', failedAt: at('2026-06-09T17:15:00Z'), retryCount: 1 },
    ],
    [{ 'noderotation.io/state': 'failed' }, { state: 'malformed', key: 'noderotation.io/failed-at', text: '' }],
    [
      { 'noderotation.io/state': 'pending', 'noderotation.io/started-at': 'x' },
      { state: 'malformed', key: 'noderotation.io/started-at', text: 'x' },
    ],
    [{ 'noderotation.io/state': 'paused' }, { state: 'malformed', key: 'noderotation.io/state', text: 'paused' }],
    [{ 'noderotation.io/retry-count': '-1' }, { state: 'malformed', key: 'noderotation.io/retry-count', text: '-1' }],
    [{ 'noderotation.io/retry-count': 'NaN' }, { state: 'malformed', key: 'noderotation.io/retry-count', text: 'NaN' }],
  ])('%j reads as %j (D5-06, R3.2-05)', (annotations, expected) => {
    expect(readClaimState(meta('nc-1', { annotations: annotations as Record<string, string> }))).toEqual(expected);
  });
});

describe('a freeze', () => {
  const frozenUntil = (text: string) => meta('api', { annotations: { 'noderotation.io/freeze': text } });

  it.each([
    ['2026-06-19T16:15:11Z', true],
    ['2026-06-19T18:16:59Z', true],
    ['2026-06-19T18:17:00Z', false],
  ])('with an offset at %s holds: %s (R3.1-05, PR-78)', (now, frozen) => {
    expect(readFreeze(frozenUntil('2026-06-19T14:17:00-04:00'), 'NodePool api', at(now)).frozen).toBe(frozen);
  });

  it('that cannot be read holds without end (D5-06)', () => {
    const now = at('2026-06-19T00:00:00Z');
    const malformed = { frozen: true, malformed: { on: 'NodePool api', text: 'tomorrow' } };
    expect(readFreeze(frozenUntil('tomorrow'), 'NodePool api', now)).toEqual(malformed);
    expect(
      strictest(readFreeze(frozenUntil('tomorrow'), 'NodePool api', now), {
        frozen: true,
        until: at('2027-01-01T00:00:00Z'),
      }),
    ).toEqual(malformed);
  });

  it('on policy and pool ends with the later one (D5-07)', () => {
    const sooner = { frozen: true, until: at('2026-06-20T00:00:00Z') } as const;
    const later = { frozen: true, until: at('2026-06-21T00:00:00Z') } as const;
    expect(strictest(sooner, later)).toEqual(later);
    expect(strictest(later, sooner)).toEqual(later);
    expect(strictest({ frozen: false }, sooner)).toEqual(sooner);
  });
});

describe('the outbox', () => {
  it.each(['{}', 'not json', '42'])('%j is kept as unreadable text, never lost silently (D10-04)', (text) => {
    expect(readOutbox(text)).toEqual({ entries: [], unreadable: [text] });
  });

  it('keeps its good elements beside a bad one (D10-04)', () => {
    const good = {
      step: 'started',
      at: '2026-06-09T17:00:00Z',
      claim: 'nc-1',
      uid: 'u',
      startedAt: '2026-06-09T17:00:00Z',
    };
    const { entries, unreadable } = readOutbox(JSON.stringify([good, { step: 'jumped' }, null]));
    expect(entries).toHaveLength(1);
    expect(unreadable).toEqual(['{"step":"jumped"}', 'null']);
  });
});
