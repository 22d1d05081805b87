import { expect, test } from 'vitest';
import { trimmed } from '../../functions/reconcile/trimmed-plan.ts';
import { outlookOf } from '../../lib/engine/outlook.ts';
import { poolDocument } from '../../lib/engine/plan-document.ts';
import { aClaim, aSnapshot } from '../support/builders.ts';

function planOf(claims: number) {
  const nodeClaims = Array.from({ length: claims }, (_, n) => aClaim(`claim-${n}`));
  const [pool] = outlookOf(aSnapshot({ nodeClaims })).pools;
  if (pool === undefined) throw new Error('no pool');
  return poolDocument(pool);
}

test('a plan that fits is whole (D12-02)', () => {
  const plan = planOf(3);
  expect(JSON.parse(trimmed(plan))).toEqual(JSON.parse(JSON.stringify(plan)));
});

test('a plan of many claims keeps those that go first, fills its 16 KB, and says what is missing (D12-02)', () => {
  const plan = planOf(500);
  const text = trimmed(plan);
  const kept = JSON.parse(text);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(16 * 1024);
  expect(Buffer.byteLength(text)).toBeGreaterThan(15 * 1024);
  expect(kept.trimmed).toEqual(['claims']);
  expect(kept.claims).toEqual(JSON.parse(JSON.stringify(plan.claims.slice(0, kept.claims.length))));
});

test('what does not fit without claims loses its writes, then all but its head (D12-02)', () => {
  const plan = planOf(3);
  const long = { kind: 'annotate', target: { kind: 'NodePool', name: 'api' }, annotations: { x: 'x'.repeat(20_000) } };
  const actions = [long] as unknown as typeof plan.actions;
  expect(JSON.parse(trimmed({ ...plan, actions })).trimmed).toEqual(['claims', 'actions']);
  const findings = [{ code: 'X', severity: 'warn' as const, message: 'x'.repeat(20_000) }];
  expect(JSON.parse(trimmed({ ...plan, findings }))).toMatchObject({ name: 'api', trimmed: ['everything else'] });
});
