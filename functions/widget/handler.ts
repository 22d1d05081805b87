/**
 * The last rotations, drawn for a custom widget of a CloudWatch dashboard from the rows of the audit table.
 *
 * CloudWatch shows the HTML that this answers and strips what could act in it. What it sends is only believed as far as
 * it can be read: any other shape gets the default.
 */
import { AuditTable, dynamoDbClient } from '../../lib/adapters/aws/audit-table.ts';
import { inParallel } from '../../lib/adapters/aws/in-parallel.ts';
import { ClusterRegistry } from '../../lib/adapters/aws/registry-table.ts';
import { type DrawnRotation, rotationChart } from '../../lib/report/rotation-chart.ts';
import { tellRotations } from '../../lib/report/rotation-story.ts';
import { readWidgetRequest } from '../../lib/report/widget-request.ts';
import { readEnvironment } from './environment.ts';

export interface WidgetDependencies {
  readonly registry: Pick<ClusterRegistry, 'all'>;
  readonly table: Pick<AuditTable, 'byCluster'>;
  readonly now?: () => number;
}

const queriesAtATime = 10;
const mostRotations = 40;

const documentation = `### The last rotations
Drawn from the audit table: yellow waits for the replacement, blue drains, green ended well, red did not.
The dashboard's time range is taken, at most 31 days of it. There are no parameters.`;

/** @design D11-05, D10-05 */
export function createHandler({ registry, table, now = Date.now }: WidgetDependencies) {
  return async (event: unknown): Promise<string> => {
    const request = readWidgetRequest(event, now());
    if (request.describe) return documentation;
    const { range, theme, width } = request;
    const rotations: DrawnRotation[] = [];
    await inParallel(await registry.all(), queriesAtATime, async ({ key }) => {
      const rows = [];
      for await (const { nodePool, entry } of table.byCluster(key, { from: range.start, to: range.end })) {
        rows.push({ nodePool, ...entry });
      }
      rotations.push(...tellRotations(rows).map((story) => ({ cluster: key, story })));
    });
    const newestFirst = rotations.sort(
      (a, b) => b.story.startedAt - a.story.startedAt || (a.cluster < b.cluster ? -1 : 1),
    );
    const drawn = newestFirst.slice(0, mostRotations);
    return rotationChart({ rotations: drawn, leftOut: rotations.length - drawn.length, range, theme, width }).markup;
  };
}

let inLambda: ReturnType<typeof createHandler> | undefined;

/** The Lambda entry point. */
export const handler = async (event: unknown): Promise<string> => {
  if (inLambda === undefined) {
    const { tableName } = readEnvironment();
    const client = dynamoDbClient();
    inLambda = createHandler({
      registry: new ClusterRegistry({ client, tableName }),
      table: new AuditTable({ tableName, client }),
    });
  }
  return await inLambda(event);
};
