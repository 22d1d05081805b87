import { expect, it } from 'vitest';
import { Turns } from '../../lib/adapters/kubernetes/turns.ts';

it('one begins when the one before it has ended, in the order of asking (D15-03)', async () => {
  const turns = new Turns();
  const told: string[] = [];
  const work = (name: string) => async (): Promise<string> => {
    told.push(`${name} begins`);
    await Promise.resolve();
    told.push(`${name} ends`);
    return name;
  };
  expect(await Promise.all(['a', 'b', 'c'].map((name) => turns.take(work(name))))).toEqual(['a', 'b', 'c']);
  expect(told).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

it('a failure is that of its own turn alone (D15-03)', async () => {
  const turns = new Turns();
  const failing = turns.take(async () => {
    throw new Error('no answer');
  });
  const next = turns.take(async () => 'goes on');
  await expect(failing).rejects.toThrow('no answer');
  expect(await next).toBe('goes on');
});
