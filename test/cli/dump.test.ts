/**
 * Files as people have them: in every form kubectl prints, with parts missing, odd or cut off.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { planOf, run } from '../support/command.ts';
import { rawClaim, rawList, rawNode, rawPod, rawPolicy, rawPool } from '../support/raw-objects.ts';

const folder = mkdtempSync(join(tmpdir(), 'node-rotation-dump-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const policy = rawPolicy();
const pool = rawPool();
const nodes = [rawClaim('a'), rawNode('a'), rawPod('web', 'a')];
const all = [policy, pool, ...nodes];
const json = (...objects: Record<string, unknown>[]): string => JSON.stringify(rawList(...objects), null, 2);
const documents = (...objects: Record<string, unknown>[]): string =>
  objects.map((object) => stringify(object)).join('---\n');

describe('one cluster in every form', async () => {
  const expected = (await run('plan', json(...all))).out;

  test.each<[string, string]>([
    ['a List in JSON', json(...all)],
    ['a List in YAML', stringify(rawList(...all))],
    ['several YAML documents', documents(...all)],
    [
      'documents with comments, empty ones and an end mark',
      `# kept by hand\n---\n${documents(...all)}\n---\n# nothing here\n...\n`,
    ],
    ['JSON values one after another', all.map((object) => JSON.stringify(object)).join('\n')],
    ['a bare array', JSON.stringify(all)],
    ['Lists of each kind, whose items do not repeat it', documents(...typedLists())],
    ['a List within a List', json(rawList(policy, pool), rawList(...nodes))],
    [
      'flow YAML that is no JSON',
      `{apiVersion: v1, kind: List, items: [${all.map((object) => JSON.stringify(object)).join(', ')},]}`,
    ],
    ['a byte order mark in front', `\uFEFF${json(...all)}`],
    ['Windows line ends', stringify(rawList(...all)).replaceAll('\n', '\r\n')],
  ])('%s (D13-02)', async (_, text) => {
    expect((await run('plan', text)).out).toBe(expected);
  });

  test('several files, and UTF-16 as PowerShell writes it (D13-02)', async () => {
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(stringify(policy), 'utf16le')]);
    const files = [file('policy.yaml', utf16), file('pool.yaml', stringify(pool)), '-'];
    expect((await run('plan', json(...nodes), { files })).out).toBe(expected);
  });
});

/** As `kubectl get --raw` and clients answer: the kind stands on the list only. */
function typedLists(): Record<string, unknown>[] {
  return all.map(({ apiVersion, kind, ...item }) => ({ apiVersion, kind: `${kind}List`, items: [item] }));
}

describe('what is missing', () => {
  test.each([
    ['RotationPolicy', [pool, ...nodes]],
    ['NodePool', [policy, ...nodes]],
    ['NodeClaim', [policy, pool, rawNode('a')]],
  ])('a dump without %s ends with 2 and says how to get it (D13-01, D13-02)', async (kind, objects) => {
    const { code, out, err } = await run('plan', json(...objects));
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(`The files hold no ${kind}`);
    expect(err).toContain(`kubectl get ${kind.toLowerCase()} -o yaml`);
  });

  test('a list that is empty is not missing: a pool may have no nodes (D13-02)', async () => {
    for (const empty of [{ apiVersion: 'karpenter.sh/v1', kind: 'NodeClaimList', items: [] }, rawList()]) {
      const { code, out } = await run('plan', json(policy, pool, empty));
      expect(code).toBe(0);
      expect(JSON.parse(out).nodePools[0]).toMatchObject({ claims: [], schedule: { N: 0 } });
    }
  });

  test('without Nodes claims are still judged; what needs Nodes is null, with a notice (D13-02)', async () => {
    const { pool: planned, err, code } = await planOf([policy, pool, rawClaim('a'), rawPod('web', 'a')]);
    expect(planned).toMatchObject({ surge: null, placeholder: null, blocked: { reason: 'NotInspected' } });
    expect(planned.claims[0]).toMatchObject({
      name: 'a',
      node: 'node-a',
      eligible: true,
      rank: 1,
      candidateFrom: '2026-06-06T22:43:00Z',
    });
    expect(err).toMatch(/^Notice: No Nodes /m);
    expect(code).toBe(0);
  });

  test('without Pods sizes are null, with a notice (D13-02)', async () => {
    const { pool: planned, err } = await planOf([policy, pool, rawClaim('a'), rawNode('a')]);
    expect(planned).toMatchObject({ surge: null, placeholder: null });
    expect(err).toMatch(/^Notice: No Pods /m);
  });

  test('an empty list of Pods says that there are none: the placeholder asks for nothing (D13-02)', async () => {
    const { pool: planned } = await planOf([
      policy,
      pool,
      rawClaim('a'),
      rawNode('a'),
      { apiVersion: 'v1', kind: 'PodList', items: [] },
    ]);
    expect(planned.surge).toMatchObject({ claim: 'a', pods: { counted: 0 }, sum: {} });
  });

  test('without PodDisruptionBudgets drains are judged as if there were none, with a notice (D13-02)', async () => {
    const { pool: planned, err } = await planOf(all);
    expect(planned.surge.claim).toBe('a');
    expect(err).toMatch(/^Notice: No PodDisruptionBudgets /m);
  });
});

describe('what does not belong there', () => {
  test('kinds that say nothing about rotation are named once and ignored (D13-02)', async () => {
    const strangers = [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'y' } },
      { apiVersion: 'eks.amazonaws.com/v1', kind: 'NodeClass', metadata: { name: 'default' } },
      // The same word in another group is another kind.
      { apiVersion: 'example.com/v1', kind: 'NodePool', metadata: { name: 'api' } },
    ];
    const { err, document, code } = await planOf([...all, ...strangers]);
    expect(err).toMatch(/^Notice: 2 of kind ConfigMap ignored/m);
    expect(err).toMatch(/^Notice: 1 of kind NodeClass\.eks\.amazonaws\.com ignored/m);
    expect(err).toMatch(/^Notice: 1 of kind NodePool\.example\.com ignored/m);
    expect(document.nodePools).toHaveLength(1);
    expect(code).toBe(0);
  });

  test('of an object that stands there twice the last one counts, and both places are named (D13-02)', async () => {
    const files = [
      file('first.yaml', documents(...all)),
      file('second.yaml', stringify(rawPool({ lifetime: { expireAfter: '480h' } }))),
    ];
    const { out, err } = await run('plan', '', { files });
    expect(JSON.parse(out).nodePools).toMatchObject([{ name: 'api', schedule: { E: '480h' } }]);
    expect(err).toMatch(
      /^Notice: NodePool api stands in .*first\.yaml:\d+ and in .*second\.yaml:1; the latter is used$/m,
    );
  });

  test('managed fields and unknown fields change nothing (D5-04, D13-02)', async () => {
    const bare = structuredClone(all) as { metadata: Record<string, unknown> }[];
    for (const { metadata } of bare) delete metadata.managedFields;
    expect((await run('plan', json(...bare))).out).toBe((await run('plan', json(...all))).out);
  });
});

describe('what cannot be parsed ends with 2 and names file and line', () => {
  // kubectl writes the keys in order of the alphabet.
  const whole = stringify(rawList(...all), { sortMapEntries: true });
  test.each<[string, string, RegExp]>([
    [
      'a JSON file that is cut off',
      json(...all).slice(0, 900),
      /^standard input:\d+ cannot be parsed: .*Is the file complete\?$/,
    ],
    [
      'a YAML list that is cut off before its kind',
      whole.slice(0, whole.lastIndexOf('kind: List')),
      /^standard input:1 cannot be read: this is a list without its kind/,
    ],
    ['a YAML file that is cut off within a string', 'apiVersion: v1\nkind: "Lis', /^standard input:2 cannot be parsed/],
    ['a tab where YAML has none', 'kind: Node\nmetadata:\n\tname: x\n', /^standard input:3 cannot be parsed/],
    ['an alias that leads nowhere', 'kind: Node\nmetadata: *lost\n', /^standard input:\d+ cannot be parsed/],
    [
      'a document without kind',
      `${stringify(policy)}---\na: 1\n`,
      /^standard input:\d+ cannot be read: this is no Kubernetes object/,
    ],
    ['plain prose', 'Error from server (Forbidden)', /^standard input:1 cannot be read: this is no Kubernetes object/],
    ['nothing at all', '', /^standard input holds no objects/],
    ['a number', '42', /^standard input:1 cannot be read/],
  ])('%s (D13-01)', async (_, text, message) => {
    const { code, out, err } = await run('plan', text);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(message);
  });

  test('the line is that of the fault (D13-01)', async () => {
    const broken = file(
      'broken.json',
      '{\n  "kind": "List",\n  "items": [\n    {"kind": "Node" "metadata": {}}\n  ]\n}\n',
    );
    const { code, err } = await run('plan', '', { files: [broken] });
    expect(code).toBe(2);
    expect(err).toContain(`${broken}:4 `);
  });

  test('a file that is not there, and standard input asked for twice (D13-01)', async () => {
    expect(await run('plan', '', { files: [join(folder, 'none.yaml')] })).toMatchObject({
      code: 2,
      err: expect.stringContaining('Cannot read'),
    });
    expect(await run('plan', '', { files: ['-', '-'] })).toMatchObject({
      code: 2,
      err: expect.stringContaining('only once'),
    });
  });
});

describe('what cannot be read is named with its path, the rest is planned, and the command ends with 1', () => {
  const healthy = [rawClaim('ok'), rawNode('ok'), rawPod('ok', 'ok')];
  test.each<[string, Record<string, unknown>, string, string]>([
    ['a lifetime in days', rawClaim('x', { spec: { expireAfter: '30d' } }), 'spec.expireAfter', '30d'],
    [
      'a grace with a unit that is none',
      rawClaim('x', { spec: { terminationGracePeriod: '1hr' } }),
      'spec.terminationGracePeriod',
      '1hr',
    ],
    ['a lifetime that is a number', rawClaim('x', { spec: { expireAfter: 336 } }), 'spec.expireAfter', '336'],
    [
      'a date that does not exist',
      rawClaim('x', { created: '2026-02-30T00:00:00Z' }),
      'metadata.creationTimestamp',
      '2026-02-30T00:00:00Z',
    ],
    ['a date without a time', rawClaim('x', { created: '2026-06-01' }), 'metadata.creationTimestamp', '2026-06-01'],
    ['no date at all', rawClaim('x', { created: null }), 'metadata.creationTimestamp', ''],
  ])('%s (D6-05, D5-06, PR-119)', async (_, claim, path, text) => {
    const { pool: planned, code } = await planOf([policy, pool, ...healthy, claim, rawNode('x')]);
    const odd = planned.claims.find(({ name }: { name: string }) => name === 'x');
    expect(odd).toMatchObject({ eligible: false, disqualifier: 'Unreadable', deadline: null, candidateFrom: null });
    const [finding] = planned.findings.filter(
      ({ code: of, claim: about }: { code: string; claim?: string }) => of === 'Unreadable' && about === 'x',
    );
    expect(finding.message).toContain(`${path} ${JSON.stringify(text)}: `);
    expect(planned.claims[0]).toMatchObject({ name: 'ok', eligible: true, rank: 1 });
    expect(code).toBe(1);
  });

  test('a template that cannot be read leaves the schedule out, not the claims (D4-02, D5-06)', async () => {
    const { pool: planned, code } = await planOf([policy, rawPool({ lifetime: { expireAfter: '30d' } }), ...healthy]);
    expect(planned.schedule).toBeNull();
    expect(planned.findings).toContainEqual(
      expect.objectContaining({
        code: 'Unreadable',
        message: expect.stringContaining('spec.template.spec.expireAfter "30d"'),
      }),
    );
    expect(planned.claims[0]).toMatchObject({ name: 'ok', eligible: true });
    expect(code).toBe(1);
  });

  test('an object without a name (D2-03)', async () => {
    const { document, err, code } = await planOf([
      ...all,
      { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', metadata: {} },
    ]);
    expect(err).toMatch(/^Unreadable: standard input:1: NodeClaim without a readable metadata\.name/m);
    expect(document.nodePools[0].claims).toHaveLength(1);
    expect(code).toBe(1);
  });

  test('an amount of a Pod that is to move (D8-01)', async () => {
    const { pool: planned, code } = await planOf([
      policy,
      pool,
      rawClaim('a'),
      rawNode('a'),
      rawPod('odd', 'a', { requests: { cpu: 'two' } }),
    ]);
    expect(planned.findings).toContainEqual(
      expect.objectContaining({ code: 'Unreadable', message: expect.stringContaining('shop/odd') }),
    );
    expect(code).toBe(1);
  });
});
