/**
 * The bundles as they ship: made without Docker and network, of bounded size, and loading in a Node process that has
 * nothing else.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { readEnvironment } from '../../functions/dispatch/environment.ts';
import { readFleet } from '../../lib/adapters/aws/cluster-registry.ts';
import { account, build, everything, ofType, type Resource } from '../support/deployment.ts';

vi.setConfig({ testTimeout: 120_000 });

const megabyte = 1_000_000;
const limits = { reconcile: 2.5 * megabyte, dispatch: 1.0 * megabyte, widget: 1.0 * megabyte } as const;

/** Only what bundling itself runs is on the path. */
function synthesised(): ReturnType<typeof build> {
  const emptyPath = mkdtempSync(join(tmpdir(), 'node-rotation-path-'));
  vi.stubEnv('PATH', [join(process.execPath, '..'), '/usr/bin', '/bin', emptyPath].join(':'));
  vi.stubEnv('CDK_DOCKER', join(emptyPath, 'docker-is-not-here'));
  try {
    return build(everything, { bundle: true });
  } finally {
    vi.unstubAllEnvs();
  }
}

describe('the bundle of', () => {
  const built = synthesised();
  const assetsOf = (name: string): readonly string[] =>
    Object.entries(ofType(built, 'AWS::Lambda::Function'))
      .filter(([id]) => id.toLowerCase().startsWith(name))
      .map(([, { Properties }]) => (Properties.Code as { S3Key: string }).S3Key.replace(/\.zip$/, ''));
  const folderOf = (name: string): string => join(built.app.outdir, `asset.${assetsOf(name)[0]}`);

  test.each(Object.entries(limits))(
    '%s is small enough, and loads where nothing is installed (D1-07, D15-04, D15-05, PR-116, PR-117, PR-118)',
    (name, limit) => {
      const file = join(folderOf(name), 'index.js');
      const { size } = statSync(file);
      console.log(`${name}: ${(size / megabyte).toFixed(2)} MB of at most ${(limit / megabyte).toFixed(1)} MB`);
      expect(size).toBeLessThanOrEqual(limit);

      const alone = mkdtempSync(join(tmpdir(), 'node-rotation-bundle-'));
      cpSync(folderOf(name), alone, { recursive: true });
      const script = 'process.stdout.write(typeof require("./index.js").handler)';
      const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', script], {
        cwd: alone,
        env: { AWS_REGION: 'eu-west-1' },
        encoding: 'utf8',
        timeout: 60_000,
      });
      expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'function', stderr: '' });
    },
  );

  test.each(Object.keys(limits))('%s has nothing of the kubeconfig library in it (D15-04)', (name) => {
    const text = readFileSync(join(folderOf(name), 'index.js'), 'utf8');
    expect(text).toContain('exports');
    expect(text).not.toMatch(/loadFromClusterAndUser|applyToHTTPSOptions/);
  });

  test('reconcile is the same in every network (D1-07)', () => {
    expect(assetsOf('reconcile')).toHaveLength(2);
    expect(new Set(assetsOf('reconcile')).size).toBe(1);
  });

  test('dispatch has the fleet beside it, as it reads it (D9-03, PR-91)', () => {
    expect(readdirSync(folderOf('dispatch')).sort()).toEqual(['fleet.json', 'index.js']);
    const dispatch = ofType(built, 'AWS::Lambda::Function');
    const [, { Properties }] = Object.entries(dispatch).find(([id]) => id.startsWith('Dispatch')) as [string, Resource];
    const { Variables } = Properties.Environment as { Variables: Record<string, string> };
    const { clusters } = readEnvironment({
      ...Variables,
      TICK_QUEUE_URL: 'https://queue.example',
      TABLE_NAME: 'table',
      EVENT_BUS_NAME: 'bus',
      NETWORK_QUEUE_URLS: '{}',
      LAMBDA_TASK_ROOT: folderOf('dispatch'),
    });
    const reading = readFleet(clusters, account);
    expect(reading).toMatchObject({
      valid: true,
      fleet: {
        clusters: everything.clusters.map(({ name }) => ({ name })),
        discovery: [{ region: 'eu-central-1' }, { network: 'vpc-a' }],
      },
    });
  });
});
