import { expect, test } from 'vitest';
import { eventManifest } from '../../lib/adapters/kubernetes/events.ts';
import type { EventDraft } from '../../lib/engine/decision.ts';
import { at } from '../support/builders.ts';

const draft = (over: Partial<EventDraft> = {}): EventDraft => ({
  type: 'Warning',
  reason: 'RotationFailed',
  note: 'it took too long',
  regarding: { kind: 'NodeClaim', name: 'api-1', uid: 'uid-1' },
  ...over,
});
const when = at('2026-06-09T17:00:00.25Z');

test('the same Event twice has the same name, another has another (D11-03)', () => {
  const name = (over: Partial<EventDraft>, time = when): string => eventManifest(draft(over), time, 'x').metadata.name;
  expect(name({})).toBe(name({}));
  const others = [name({ note: 'else' }), name({ reason: 'RotationExpired' }), name({}, at('2026-06-09T17:01:00Z'))];
  expect(new Set([name({}), ...others]).size).toBe(4);
});

test('its time has six digits (D11-03)', () => {
  expect(eventManifest(draft(), when, 'x').eventTime).toBe('2026-06-09T17:00:00.250000Z');
});

test('an Event of a namespaced object lies beside it, as the API demands (D11-03)', () => {
  const regarding = { kind: 'Pod', name: 'surge', namespace: 'node-rotation', uid: 'u' } as const;
  const event = eventManifest(draft({ regarding }), when, 'x');
  expect(event.metadata.namespace).toBe('node-rotation');
  expect(event.regarding).toEqual({
    apiVersion: 'v1',
    kind: 'Pod',
    name: 'surge',
    namespace: 'node-rotation',
    uid: 'u',
  });
});

test('what is related is named with its version (D11-03)', () => {
  const related = { kind: 'RotationPolicy', name: 'api', uid: 'u' } as const;
  expect(eventManifest(draft({ related }), when, 'x').related).toMatchObject({
    apiVersion: 'noderotation.io/v1alpha1',
  });
});

test.each(['x'.repeat(5_000), '窓'.repeat(2_000), '🪟'.repeat(1_000)])(
  'names, notes and reporters keep to the limits of the API (D11-03)',
  (note) => {
    const regarding = { kind: 'NodeClaim', name: 'n'.repeat(253), uid: 'u' } as const;
    const event = eventManifest(draft({ note, regarding }), when, 'i'.repeat(300));
    expect(event.metadata.name).toMatch(/^n+\.[0-9a-f]{16}$/);
    expect(event.metadata.name.length).toBeLessThanOrEqual(253);
    expect(Buffer.byteLength(event.note)).toBeLessThanOrEqual(1_024);
    expect(event.note.isWellFormed()).toBe(true);
    expect(event.note.endsWith('…')).toBe(true);
    expect(event.reportingInstance).toHaveLength(128);
  },
);
