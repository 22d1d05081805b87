import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { concurrencyOf, readConfig, readConfigFile } from '../../infra/config.ts';
import { readFleet } from '../../lib/adapters/aws/cluster-registry.ts';
import { account, configOf, everything, foreignRole, otherAccount, region, smallest } from '../support/deployment.ts';

const problemsOf = (json: unknown): readonly string[] => {
  const reading = readConfig(json);
  return reading.valid ? [] : reading.problems.map(({ path, problem }) => `${path}: ${problem}`);
};
const withClusters = (...clusters: readonly object[]) => ({ account, region, clusters });

describe('a configuration is refused, naming the path (D9-03)', () => {
  test.each<readonly [string, unknown, readonly RegExp[]]>([
    ['nothing to rotate', { account, region }, [/^clusters: nothing would be rotated/]],
    ['no region', { account, clusters: [{ name: 'a' }] }, [/^region: /]],
    ['an account as a number', { ...smallest, account: 111122223333 }, [/^account: /]],
    ['an unknown key', { ...smallest, cluster: [] }, [/^the configuration: .*cluster/]],
    [
      'a wrong region',
      withClusters({ name: 'a', region: 'eu-west-11' }),
      [/^clusters\[0\]\.region: expected a region/],
    ],
    ['a wrong name', withClusters({ name: 'a b' }), [/^clusters\[0\]\.name: /]],
    [
      'a cluster twice',
      withClusters({ name: 'a' }, { name: 'a', region, account }),
      [/^clusters\[1\]: .*as clusters\[0\]/],
    ],
    [
      'a region twice',
      { ...smallest, discovery: [{}, { region }] },
      [/^discovery\[1\]: this region is listed already, as discovery\[0\]/],
    ],
    [
      'another account without a role',
      withClusters({ name: 'a', account: otherAccount }),
      [/^clusters\[0\]\.roleArn: .*needed/],
    ],
    [
      'a role of another account',
      withClusters({ name: 'a', account, roleArn: foreignRole }),
      [/^clusters\[0\]\.roleArn: this role is in account 444455556666/],
    ],
    [
      'a role of another partition',
      withClusters({ name: 'a', roleArn: foreignRole.replace('arn:aws:', 'arn:aws-cn:') }),
      [/^clusters\[0\]\.roleArn: .*partition aws-cn/],
    ],
    [
      'a region of another partition',
      withClusters({ name: 'a', region: 'cn-north-1' }),
      [/^clusters\[0\]\.region: .*partition/],
    ],
    [
      'an external id without a role',
      withClusters({ name: 'a', externalId: 'ours' }),
      [/^clusters\[0\]\.externalId: /],
    ],
    [
      'a network that is not there',
      withClusters({ name: 'a', network: 'b' }),
      [/^clusters\[0\]\.network: there is no network b/],
    ],
    ['half an address', withClusters({ name: 'a', endpoint: 'https://a' }), [/^clusters\[0\]: .*together/]],
    [
      'a network that nothing uses',
      { ...smallest, networks: everything.networks },
      [/^networks\.vpc-a: no cluster and no region uses/],
    ],
    [
      'a network without subnets',
      { ...withClusters({ name: 'a', network: 'b' }), networks: { b: { subnetIds: [], securityGroupIds: ['sg-1'] } } },
      [/^networks\.b\.subnetIds: /, /^networks\.b\.securityGroupIds\[0\]: /],
    ],
    [
      'less reserved than runs at a time',
      { ...smallest, reconcile: { reservedConcurrency: 4 } },
      [/^reconcile\.reservedConcurrency: 5 clusters/],
    ],
    [
      'a retention that CloudWatch has not',
      { ...smallest, retention: { logDays: 31 } },
      [/^retention\.logDays: expected one of 1, 3/],
    ],
    ['an address that is none', { ...smallest, alarms: { email: ['me'] } }, [/^alarms\.email\[0\]: /]],
    ['a level that is none', { ...smallest, metrics: { detail: 'node' } }, [/^metrics\.detail: /]],
    [
      'an entry in an account that is not known',
      { region, clusters: [{ name: 'a', manageAccessEntry: true }] },
      [/^clusters\[0\]\.manageAccessEntry: /],
    ],
    [
      'a named account where our own is not known',
      { region, clusters: [{ name: 'a', account }] },
      [/^clusters\[0\]\.roleArn: .*not known/],
    ],
  ])('%s', (_, json, expected) => {
    const problems = problemsOf(json);
    expect(problems).toHaveLength(expected.length);
    for (const [index, pattern] of expected.entries()) expect(problems[index]).toMatch(pattern);
  });

  test('and every problem is named at once', () => {
    const json = withClusters({ name: 'a', region: 'moon-1' }, { name: '' }, { name: 'c', network: 7 });
    expect(problemsOf(json).map((line) => line.split(':')[0])).toEqual([
      'clusters[0].region',
      'clusters[1].name',
      'clusters[2].network',
    ]);
  });
});

test('what is not said has a default, and regions are the deployment’s own (D1-02, D10-01, D11-02)', () => {
  expect(configOf(smallest)).toMatchObject({
    name: 'node-rotation',
    clusters: [{ name: 'prod', region, manageAccessEntry: false }],
    reconcile: { memory: 512 },
    placeholder: { namespace: 'node-rotation', image: 'registry.k8s.io/pause:3.10' },
    metrics: { detail: 'fleet' },
    retention: { logDays: 90, auditDays: 400 },
  });
  const around = readConfig({ discovery: [{}] }, { region });
  expect(around).toMatchObject({ valid: true, config: { region, discovery: [{ region }] } });
});

test('as many clusters are ticked at a time as max(5, clusters / 20), unless said (D1-02)', () => {
  const many = (count: number, reconcile = {}) =>
    configOf({ ...withClusters(...Array.from({ length: count }, (_, index) => ({ name: `c${index}` }))), reconcile });
  expect([1, 100, 101, 500].map((count) => concurrencyOf(many(count), ''))).toEqual([5, 5, 6, 25]);
  expect(concurrencyOf(many(500, { maxConcurrency: 40 }), '')).toBe(40);
});

test('what is configured is what dispatch reads (D9-03)', () => {
  const { clusters, discovery } = configOf(everything);
  const file = { clusters: clusters.map(({ manageAccessEntry: _, ...cluster }) => cluster), discovery };
  const reading = readFleet(JSON.parse(JSON.stringify(file)), account);
  expect(reading).toMatchObject({ valid: true });
});

test('a file is YAML or JSON, and one that is neither is told by name (D9-03)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'node-rotation-config-'));
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  expect(readConfigFile(write('a.yaml', 'clusters: [{ name: prod }]\n'))).toEqual({ clusters: [{ name: 'prod' }] });
  expect(readConfigFile(write('a.json', JSON.stringify(smallest)))).toEqual(smallest);
  expect(() => readConfigFile(write('b.yaml', 'a: 1\na: 2\n'))).toThrow(/b\.yaml cannot be read: .*unique/);
  expect(() => readConfigFile(join(folder, 'none.yaml'))).toThrow(/none\.yaml cannot be read/);
});

test('a synth with problems names them, builds nothing and fails (D9-03, D13-01)', () => {
  const context = JSON.stringify({ 'node-rotation': withClusters({ name: 'a', network: 'b' }), target: 'moon' });
  const { status, stderr } = spawnSync(process.execPath, ['infra/app.ts'], {
    cwd: join(import.meta.dirname, '..', '..'),
    env: { PATH: process.env.PATH, CDK_CONTEXT_JSON: context },
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect(stderr).toContain('target: expected one of aws, emulator');
  expect(stderr).toContain('clusters[0].network: there is no network b under networks');
  expect(status).toBe(1);
}, 60_000);
