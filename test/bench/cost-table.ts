/**
 * The costs as Markdown, for the terminal, the README and the page about performance alike.
 */
import { assumptions, type CostFigures, monthlyCost, rotationsPerMonth } from './cost.ts';
import { type Table, tableInMarkdown } from './markdown.ts';
import { pricesAsOf } from './prices.ts';

const fleets = [1, 10, 100, 500] as const;

const usd = (amount: number): string => (amount < 100 ? amount.toFixed(2) : Math.round(amount).toLocaleString('en-US'));

export function costTable(figures: CostFigures): string {
  const table: Table = {
    header: [
      'clusters',
      'ticks',
      'queue',
      'table',
      'logs',
      'metrics',
      'alarms',
      'dispatch',
      'total',
      'by cluster',
      'by NodePool',
    ],
    rows: fleets.map((clusters) => {
      const {
        ticks,
        queue,
        table: rows,
        logs,
        metrics,
        alarms,
        dispatch,
        total,
      } = monthlyCost(figures, clusters, 'fleet');
      const finer = (['cluster', 'nodePool'] as const).map((detail) => monthlyCost(figures, clusters, detail).total);
      return [
        String(clusters),
        ...[ticks, queue, rows, logs, metrics, alarms, dispatch].map(usd),
        `**${usd(total)}**`,
        ...finer.map(usd),
      ];
    }),
  };
  return tableInMarkdown(table);
}

/** The table, and what it rests on. */
export function costInMarkdown(figures: CostFigures): string {
  const { nodes, nodePools, memory } = figures;
  return [
    `USD a month, list prices of us-east-1 (${pricesAsOf}) without free tiers, for clusters of ${nodes} nodes in ${nodePools} NodePools,`,
    `each with about ${Math.round(rotationsPerMonth(figures))} rotations a month, and ${memory} MB for a tick. The last two columns are the totals with metrics by`,
    `cluster and by NodePool (\`metrics.detail\`). Calls and bytes are measured; the wait for the network is taken to be ${assumptions.roundTripMs} ms`,
    'for every call.',
    '',
    costTable(figures),
  ].join('\n');
}
