/**
 * What one tick costs in units that are billed, read off the calls that it made and the lines that it logged.
 */
import type { MetricFigures, TickFigures } from './cost.ts';
import type { Calls } from './ticks.ts';

type Item = Readonly<Record<string, { readonly S?: string }>>;

export function tickFigures(calls: Calls, lines: readonly string[], cpuMs: number): TickFigures {
  const bodies = (operation: string): readonly Record<string, unknown>[] =>
    calls.aws.filter(({ target }) => target.endsWith(`.${operation}`)).map(({ body }) => JSON.parse(body));
  const puts = bodies('PutItem').map(({ Item }) => writeUnits(Item as Item));
  return {
    cpuMs,
    calls: calls.kubernetes + calls.aws.length,
    logBytes: lines.reduce((total, line) => total + Buffer.byteLength(line), 0),
    logLines: lines.length,
    writeUnits: puts.reduce((total, units) => total + units, bodies('UpdateItem').length),
    readUnits: bodies('GetItem').length,
    events: bodies('PutEvents').reduce((total, { Entries }) => total + (Entries as readonly unknown[]).length, 0),
  };
}

/** Of a new row: a unit for each KB, in the table and in each index that takes it. */
export function writeUnits(item: Item): number {
  const indexes = ['cluster', 'pool'].filter((key) => item.time !== undefined && item[key] !== undefined).length;
  return Math.ceil(Buffer.byteLength(JSON.stringify(item)) / 1_024) * (1 + indexes);
}

/** CloudWatch bills each name with each set of dimensions. @param lines those of ticks, one object of JSON each */
export function metricFigures(lines: readonly string[]): MetricFigures {
  const known = new Map<string, readonly string[]>();
  for (const line of lines) {
    const fields = JSON.parse(line) as Record<string, unknown> & { _aws?: { CloudWatchMetrics: readonly Emitted[] } };
    for (const { Dimensions, Metrics } of fields._aws?.CloudWatchMetrics ?? []) {
      for (const dimensions of Dimensions) {
        const where = dimensions.map((name) => `${name}=${String(fields[name])}`);
        for (const { Name } of Metrics) known.set(JSON.stringify([Name, ...where]), dimensions);
      }
    }
  }
  const all = [...known.values()];
  const ofPools = all.filter((dimensions) => dimensions.includes('nodePool'));
  const pools = new Set(lines.flatMap((line) => (JSON.parse(line) as { nodePool?: string }).nodePool ?? [])).size;
  const ofCluster = all.filter((dimensions) => dimensions.includes('cluster') && !dimensions.includes('nodePool'));
  return {
    fleet: all.length - ofPools.length - ofCluster.length,
    cluster: ofCluster.length,
    nodePool: pools === 0 ? 0 : Math.ceil(ofPools.length / pools),
  };
}

interface Emitted {
  readonly Dimensions: readonly (readonly string[])[];
  readonly Metrics: readonly { readonly Name: string }[];
}
