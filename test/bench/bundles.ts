/**
 * The bundles as the deployment makes them: their size, and what it costs a fresh process to load them.
 */
import { copyFileSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';
import { build, ofType, smallest } from '../support/deployment.ts';
import type { Loaded } from './load-process.ts';
import { asShipped, run } from './processes.ts';
import { type Spread, spreadOf } from './statistics.ts';

export type FunctionName = 'reconcile' | 'dispatch' | 'widget';
const functionNames: readonly FunctionName[] = ['reconcile', 'dispatch', 'widget'];

export interface Bundle {
  readonly file: string;
  /** Bytes. */
  readonly size: number;
  readonly gzipped: number;
}

/** What the template of one cluster bills for by the month. */
export interface Standing {
  readonly alarms: number;
  readonly compositeAlarms: number;
  readonly dashboards: number;
  /** Megabytes of the reconcile and the dispatch function. */
  readonly memory: number;
  readonly tableIndexes: number;
}

export interface Synthesised {
  readonly bundles: Readonly<Record<FunctionName, Bundle>>;
  readonly standing: Standing;
}

/** As `cdk synth` does it, for one cluster. */
export function synthesise(): Synthesised {
  const built = build(smallest, { bundle: true });
  const functions = Object.entries(ofType(built, 'AWS::Lambda::Function'));
  const keep = mkdtempSync(join(tmpdir(), 'node-rotation-bundles-'));
  const bundleOf = (name: FunctionName): Bundle => {
    const [, resource] = functions.find(([id]) => id.toLowerCase().startsWith(name)) as (typeof functions)[number];
    const { S3Key } = resource.Properties.Code as { S3Key: string };
    const file = join(keep, `${name}.js`);
    copyFileSync(join(built.app.outdir, `asset.${S3Key.replace(/\.zip$/, '')}`, 'index.js'), file);
    return { file, size: statSync(file).size, gzipped: gzipSync(readFileSync(file)).length };
  };
  const count = (type: string): number => Object.keys(ofType(built, type)).length;
  const [table] = Object.values(ofType(built, 'AWS::DynamoDB::GlobalTable'));
  const [, reconcile] = functions.find(([id]) => id.startsWith('Reconcile')) ?? [];
  return {
    bundles: Object.fromEntries(functionNames.map((name) => [name, bundleOf(name)])) as Synthesised['bundles'],
    standing: {
      alarms: count('AWS::CloudWatch::Alarm'),
      compositeAlarms: count('AWS::CloudWatch::CompositeAlarm'),
      dashboards: count('AWS::CloudWatch::Dashboard'),
      memory: Number(reconcile?.Properties.MemorySize),
      tableIndexes: ((table?.Properties.GlobalSecondaryIndexes ?? []) as unknown[]).length,
    },
  };
}

/** The reconcile function's client library as it would be used with its own API classes, bundled in the same way. */
export function bundleOfApiClasses(): string {
  const outfile = join(mkdtempSync(join(tmpdir(), 'node-rotation-bench-')), 'api-classes.js');
  buildSync({ ...asShipped, entryPoints: [join(import.meta.dirname, 'api-classes.ts')], outfile });
  return outfile;
}

export interface Load {
  /** CPU ms. */
  readonly cpu: Spread;
  /** Wall ms. */
  readonly wall: Spread;
  /** MB held afterwards. */
  readonly rss: Spread;
}

/** Each file in turn, `runs` times, every time in a fresh process. */
export async function measureLoads<N extends string>(
  files: Readonly<Record<N, string>>,
  runs: number,
): Promise<Readonly<Record<N, Load>>> {
  const names = Object.keys(files) as N[];
  const found = new Map<N, Loaded[]>(names.map((name) => [name, []]));
  for (let round = 0; round < runs; round += 1) {
    for (const name of names) {
      const loaded = await run<Loaded>('load-process.ts', { file: files[name] }, { env: { AWS_REGION: 'eu-west-1' } });
      found.get(name)?.push(loaded);
    }
  }
  const loadOf = (all: readonly Loaded[]): Load => ({
    cpu: spreadOf(all.map(({ cpu }) => cpu)),
    wall: spreadOf(all.map(({ wall }) => wall)),
    rss: spreadOf(all.map(({ rss }) => rss)),
  });
  return Object.fromEntries([...found].map(([name, all]) => [name, loadOf(all)])) as Readonly<Record<N, Load>>;
}
