/**
 * Lambda may freeze or end a process at any call it makes. Rows that are no steps have no outbox on an object, so every
 * such call is tried: whatever was lost with the process has to be told by the next one.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type DatabaseCall, Installation, Surroundings } from '../support/installation.ts';

let around: Surroundings;
const made: Installation[] = [];

beforeAll(async () => {
  around = await Surroundings.start();
});

beforeEach(() => {
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'true');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const installation of made.splice(0)) await installation.stop();
});

afterAll(async () => {
  await around.stop();
});

type At = (call: DatabaseCall, nth: number) => boolean;

/** The n-th call of the database, from 0, and all after it. */
const from =
  (nth: number): At =>
  (_, n) =>
    n >= nth;

/** A minute whose process ends at a call of the database. @returns whether it came to that call */
async function cutOff(installation: Installation, at: At): Promise<boolean> {
  await installation.schedule();
  const [body = ''] = await installation.receive();
  let calls = 0;
  const ended = new Promise<'ended'>((resolve) => {
    installation.databaseFault = (call) => {
      calls += 1;
      if (!at(call, calls - 1)) return undefined;
      resolve('ended');
      return 'never answers';
    };
  });
  const cut = (await Promise.race([installation.reconcile(body), ended])) === 'ended';
  installation.databaseFault = () => undefined;
  installation.otherProcesses();
  installation.forward();
  return cut;
}

const freeze = (installation: Installation, text: string | null): void =>
  void installation.cluster.world.store.patch(
    { kind: 'NodePool', name: 'api' },
    { metadata: { annotations: { 'noderotation.io/freeze': text } } },
  );

const inWords = async (installation: Installation, kind: string): Promise<readonly string[]> => [
  ...new Set(
    (await installation.notes())
      .filter((note) => note.kind === kind)
      .map(
        ({ facts }) =>
          `${facts.change ?? facts.status} ${facts.code ?? facts.outcome ?? facts.policy ?? facts.lastOutcome}`,
      ),
  ),
];

/** Tells the story with an end at every call in turn, until a minute gets by without one. @returns at how many calls */
async function atEveryCall(story: (nth: number) => Promise<boolean>): Promise<number> {
  for (let nth = 0; ; nth += 1) if (!(await story(nth))) return nth;
}

test('a finding that opens or closes while the process ends is told by the next (D10-02, D10-04)', async () => {
  const calls = await atEveryCall(async (nth) => {
    const installation = await Installation.start(around);
    made.push(installation);
    freeze(installation, 'soon');
    const first = await cutOff(installation, from(nth));
    await installation.minute();
    freeze(installation, null);
    const second = await cutOff(installation, from(nth));
    await installation.minute();
    const findings = (await inWords(installation, 'finding')).filter((text) => text.includes('FreezeMalformed'));
    expect({ nth, findings }).toEqual({ nth, findings: ['opened FreezeMalformed', 'closed FreezeMalformed'] });
    return first || second;
  });
  expect(calls).toBeGreaterThanOrEqual(5);
}, 120_000);

test('the begin and the end of a streak of failures are told though the process ends (D10-02, D10-04)', async () => {
  const calls = await atEveryCall(async (nth) => {
    const installation = await Installation.start(around);
    made.push(installation);
    await installation.minute();
    installation.cluster.serverFaults({ next: () => 'serverError' });
    const first = await cutOff(installation, from(nth));
    await installation.minute();
    installation.cluster.serverFaults({ next: () => undefined });
    const second = await cutOff(installation, from(nth));
    await installation.minute();
    expect({ nth, ticks: await inWords(installation, 'tick') }).toEqual({
      nth,
      ticks: ['failing Unreachable', 'recovered Unreachable'],
    });
    return first || second;
  });
  expect(calls).toBeGreaterThanOrEqual(3);
}, 120_000);

test('a streak whose end was not told ends before the next one begins (D10-02, D10-04)', async () => {
  const installation = await Installation.start(around);
  made.push(installation);
  const failing = (yes: boolean) =>
    installation.cluster.serverFaults({ next: () => (yes ? 'serverError' : undefined) });
  failing(true);
  await installation.minute();
  failing(false);
  // The outcome has landed and its row has not: the recovery is in the registry only.
  expect(await cutOff(installation, ({ input }) => input.includes('#recovered'))).toBe(true);
  failing(true);
  await installation.minute();
  failing(false);
  await installation.minute();
  const rows = (await installation.notes()).filter(({ kind }) => kind === 'tick');
  expect(rows.map(({ key, facts }) => [key, facts.failures])).toEqual([
    ['TICK#2026-06-09T17:00:00Z#failing', undefined],
    ['TICK#2026-06-09T17:00:00Z#recovered', 1],
    ['TICK#2026-06-09T17:02:00Z#failing', undefined],
    ['TICK#2026-06-09T17:02:00Z#recovered', 1],
  ]);
}, 30_000);

test('a policy first seen while the process ends is one row (D10-02, D10-04)', async () => {
  await atEveryCall(async (nth) => {
    const installation = await Installation.start(around);
    made.push(installation);
    const cut = await cutOff(installation, from(nth));
    await installation.minute();
    expect((await installation.notes()).filter(({ kind }) => kind === 'policy')).toHaveLength(1);
    return cut;
  });
}, 120_000);

test('what comes and goes while the table is down is in the log in full (D10-04)', async () => {
  const installation = await Installation.start(around);
  made.push(installation);
  await installation.minute();
  installation.databaseFault = () => 'ProvisionedThroughputExceededException';
  freeze(installation, 'soon');
  await installation.minute();
  const told = installation.lines.filter(([, { findings }]) => findings !== undefined);
  expect(told).toMatchObject([
    [expect.stringContaining('could not be kept'), { findings: [{ change: 'opened', code: 'FreezeMalformed' }] }],
  ]);
}, 30_000);
