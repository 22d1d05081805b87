/**
 * A pool's plan that fits into an answer. What is left out is named in it, so that nobody takes the rest for the whole.
 */
import type { poolDocument } from '../../lib/engine/plan-document.ts';

type Plan = ReturnType<typeof poolDocument>;

const mostBytes = 16 * 1024;

/** @returns JSON of at most 16 KB: the last claims go first, then writes, then the placeholder, then findings @design D12-02 */
export function trimmed(plan: Plan): string {
  const whole = JSON.stringify(plan);
  if (fits(whole)) return whole;
  const claims = mostClaims(plan);
  const shorter: readonly (Partial<Plan> & { trimmed: readonly string[] })[] = [
    { claims: plan.claims.slice(0, claims), trimmed: ['claims'] },
    { claims: [], actions: [], trimmed: ['claims', 'actions'] },
    { claims: [], actions: [], placeholder: null, trimmed: ['claims', 'actions', 'placeholder'] },
  ];
  for (const part of shorter) {
    const text = JSON.stringify({ ...plan, ...part });
    if (fits(text)) return text;
  }
  const { name, governedBy, schedule, nextWindow, gates, rotation } = plan;
  return JSON.stringify({ name, governedBy, schedule, nextWindow, gates, rotation, trimmed: ['everything else'] });
}

const fits = (text: string): boolean => Buffer.byteLength(text) <= mostBytes;

/** How many claims, in the order in which they go, leave it small enough. */
function mostClaims(plan: Plan): number {
  let [fitting, tooMany] = [0, plan.claims.length];
  while (tooMany - fitting > 1) {
    const tried = Math.floor((fitting + tooMany) / 2);
    const text = JSON.stringify({ ...plan, claims: plan.claims.slice(0, tried), trimmed: ['claims'] });
    if (fits(text)) fitting = tried;
    else tooMany = tried;
  }
  return fitting;
}
