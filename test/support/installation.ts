/**
 * A whole installation in this process: dispatch and reconcile with every client that they have in Lambda, a FIFO queue
 * and a database of their own, stand-ins for the rest of AWS, and one simulated cluster behind an HTTPS API.
 *
 * Tests break one thing in it and compare the account of what happened with that of an undisturbed run.
 */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { STSClient } from '@aws-sdk/client-sts';
import { createHandler as createDispatch } from '../../functions/dispatch/handler.ts';
import { defaultPlaceholder } from '../../functions/reconcile/environment.ts';
import { createHandler as createReconcile } from '../../functions/reconcile/handler.ts';
import type { ReconcileDependencies } from '../../functions/reconcile/tick.ts';
import { AccountRoles } from '../../lib/adapters/aws/account-roles.ts';
import type { AuditNote } from '../../lib/adapters/aws/audit-note.ts';
import { AuditTable, dynamoDbClient } from '../../lib/adapters/aws/audit-table.ts';
import { clusterKey, type FleetConfig } from '../../lib/adapters/aws/cluster-registry.ts';
import { createAuditTable } from '../../lib/adapters/aws/create-audit-table.ts';
import { DomainEvents } from '../../lib/adapters/aws/domain-events.ts';
import { EksClusters } from '../../lib/adapters/aws/eks-clusters.ts';
import { RegisteredFleet } from '../../lib/adapters/aws/fleet.ts';
import { metricNames } from '../../lib/adapters/aws/metric-names.ts';
import { TickMetrics } from '../../lib/adapters/aws/metrics.ts';
import { NoteKeeper } from '../../lib/adapters/aws/note-keeper.ts';
import { ClusterRegistry } from '../../lib/adapters/aws/registry-table.ts';
import { RunDesk } from '../../lib/adapters/aws/run-desk.ts';
import { TagDiscovery } from '../../lib/adapters/aws/tag-discovery.ts';
import type { Log } from '../../lib/adapters/aws/tick-log.ts';
import { SqsTickQueue } from '../../lib/adapters/aws/tick-queue.ts';
import { ToldFindings } from '../../lib/adapters/aws/told-findings.ts';
import { connectToEndpoint } from '../../lib/adapters/kubernetes/connection.ts';
import { type EmbeddedTable, startEmbeddedTable } from '../../lib/cli/embedded-table.ts';
import {
  type EmbeddedCluster,
  type EmbeddedClusterOptions,
  startEmbeddedCluster,
} from '../../lib/cli/local/embedded-cluster.ts';
import { toWire } from '../../lib/domain/rotation/unrecorded.ts';
import { add, formatInstant, type Instant, minutes } from '../../lib/domain/time.ts';
import { AwsFake } from './aws-fake.ts';
import { FifoQueue } from './fifo-queue.ts';
import { leftovers, oneDueNode, opens } from './story.ts';

/** What a call of the database comes to, instead of an answer. */
type DatabaseFault = 'ProvisionedThroughputExceededException' | 'AccessDeniedException' | 'never answers';

export interface DatabaseCall {
  readonly command: string;
  /** As JSON. */
  readonly input: string;
}

/** Long-lived servers; every test has its own table, queue and cluster in them. */
export class Surroundings {
  readonly aws: AwsFake;
  readonly queue: FifoQueue;
  readonly database: EmbeddedTable;
  made = 0;

  private constructor(aws: AwsFake, queue: FifoQueue, database: EmbeddedTable) {
    this.aws = aws;
    this.queue = queue;
    this.database = database;
  }

  static async start(): Promise<Surroundings> {
    return new Surroundings(await AwsFake.start(), await FifoQueue.start(), await startEmbeddedTable());
  }

  async stop(): Promise<void> {
    await this.aws.stop();
    await this.queue.stop();
    await this.database.close();
  }
}

export interface InstallationOptions {
  /** Unset: the simulated cluster, listed. */
  readonly config?: Partial<FleetConfig>;
  readonly cluster?: Partial<EmbeddedClusterOptions>;
  /** Where the functions think their table is. */
  readonly tableName?: string;
}

const context = { getRemainingTimeInMillis: () => 50_000 };

export class Installation {
  readonly aws: AwsFake;
  readonly queue: FifoQueue;
  readonly cluster: EmbeddedCluster;
  readonly registry: ClusterRegistry;
  readonly table: AuditTable;
  /** Lines of the log above info. */
  readonly lines: (readonly [string, Record<string, unknown>])[] = [];
  /** Asked once per call of the database. */
  databaseFault: (call: DatabaseCall) => DatabaseFault | undefined = () => undefined;
  databaseCalls = 0;
  readonly #tableName: string;
  /** The real table, past every fault. */
  readonly #own: { readonly tableName: string; readonly client: DynamoDBClient };
  readonly #options: InstallationOptions;
  readonly #client: DynamoDBClient;
  readonly #sqs;
  #dispatch;
  #reconcile;

  private constructor(around: Surroundings, cluster: EmbeddedCluster, options: InstallationOptions) {
    this.aws = around.aws;
    this.queue = around.queue;
    this.cluster = cluster;
    this.#options = options;
    this.#sqs = this.queue.client();
    around.made += 1;
    const own = `installation-${around.made}`;
    this.#tableName = options.tableName ?? own;
    this.#client = clientOf(around);
    this.#client.middlewareStack.add(
      (next, { commandName = '' }) =>
        async (args) =>
          await this.#called({ command: commandName, input: JSON.stringify(args.input) }, () => next(args)),
      { step: 'finalizeRequest', priority: 'low' },
    );
    this.#own = { tableName: own, client: clientOf(around) };
    this.table = new AuditTable({ ...this.#own, retentionDays: 0 });
    this.registry = new ClusterRegistry(this.#own);
    this.#dispatch = this.#newDispatch();
    this.#reconcile = this.#newReconcile();
  }

  static async start(around: Surroundings, options: InstallationOptions = {}): Promise<Installation> {
    around.aws.reset();
    around.queue.renew();
    const cluster = await startEmbeddedCluster({ startsAt: opens, fleet: oneDueNode, ...options.cluster });
    const { endpoint, certificateAuthority, name } = cluster.target;
    around.aws.clusters.set(name, { endpoint, certificateAuthority });
    const installation = new Installation(around, cluster, options);
    await createAuditTable(installation.#own.client, installation.#own.tableName);
    return installation;
  }

  async stop(): Promise<void> {
    this.#sqs.destroy();
    this.#client.destroy();
    await this.cluster.stop();
  }

  get now(): Instant {
    return this.cluster.world.now;
  }

  get key(): string {
    return clusterKey(this.cluster.target);
  }

  /** Another minute. */
  forward(n = 1): void {
    this.cluster.world.advance(add(this.now, minutes(n)));
  }

  /** From here on other processes serve the functions: what the former ones knew is lost. */
  otherProcesses(over: Partial<ReconcileDependencies> = {}): void {
    this.#dispatch = this.#newDispatch();
    this.#reconcile = this.#newReconcile(over);
  }

  schedule(at: Instant = this.now) {
    return this.#dispatch({ scheduledTime: formatInstant(at) });
  }

  /** Any event, as it is invoked with. */
  event(event: unknown) {
    return this.#dispatch(event);
  }

  /** Takes what the queue gives out now. */
  async receive(): Promise<readonly string[]> {
    const received = await this.queue.receive(this.#sqs);
    for (const message of received) await this.queue.remove(this.#sqs, message);
    return received.map(({ body }) => body);
  }

  async reconcile(body: string) {
    return (await this.#reconcile({ Records: [{ body }] }, context)).ticks[0];
  }

  /** One undisturbed minute, as the schedule makes it. */
  async minute(): Promise<void> {
    await this.schedule();
    for (const body of await this.receive()) await this.reconcile(body);
    this.forward();
  }

  async notes(): Promise<readonly AuditNote[]> {
    return await all(this.table.notesOf(this.key));
  }

  /** What the table has of steps, whole. */
  async steps(): Promise<readonly Record<string, string | number>[]> {
    return (await all(this.table.byCluster(this.key))).map(({ nodePool, entry }) => ({ nodePool, ...toWire(entry) }));
  }

  /** Everything that a fault must not change. */
  async account(emitted: readonly Record<string, unknown>[]) {
    return {
      steps: await this.steps(),
      notes: (await this.notes()).map(({ kind, key, facts }) => ({ kind, key, facts })),
      events: this.aws.events.map(({ DetailType, Detail }) => ({ DetailType, detail: JSON.parse(Detail) as unknown })),
      counted: counted(emitted),
      leftovers: leftovers(this.cluster.world),
      nodes: this.cluster.world.store.all('NodeClaim').map(({ metadata }) => metadata.name),
    };
  }

  async #called<T>(asked: DatabaseCall, call: () => Promise<T>): Promise<T> {
    this.databaseCalls += 1;
    const fault = this.databaseFault(asked);
    if (fault === 'never answers') return await new Promise<never>(() => {});
    if (fault !== undefined) throw Object.assign(new Error('by the test'), { name: fault });
    return await call();
  }

  get #log(): Log {
    const say = (message: string, details: Record<string, unknown>): void => void this.lines.push([message, details]);
    return { info: () => {}, warn: say, error: say };
  }

  get #tables() {
    const at = { client: this.#client, tableName: this.#tableName };
    const { endpoint, credentials } = this.aws.config;
    const roles = new AccountRoles({ client: new STSClient(this.aws.config) });
    return {
      table: new AuditTable({ ...at, retentionDays: 0 }),
      registry: new ClusterRegistry(at),
      told: new ToldFindings(at),
      events: new DomainEvents('bus', new EventBridgeClient(this.aws.config)),
      asked: { roles, work: 'test', client: { endpoint, credentials, maxAttempts: 1 } },
    };
  }

  #newDispatch() {
    const { table, registry, events, asked } = this.#tables;
    const log = this.#log;
    const { account, region, name } = this.cluster.target;
    const config = { clusters: [{ account, region, name }], discovery: [], ...this.#options.config };
    const source = new EksClusters(asked);
    const tags = new TagDiscovery(asked);
    const metrics = new TickMetrics();
    const refused = (error: unknown): void => log.warn('A batch of ticks was not taken', { detail: String(error) });
    return createDispatch({
      fleet: new RegisteredFleet({ config, registry, table, source, tags, log }),
      queues: new Map([['', new SqsTickQueue(this.queue.url, refused, this.#sqs)]]),
      log,
      metrics,
      desk: new RunDesk({ table, log, events, metrics }),
      now: () => this.now,
    });
  }

  #newReconcile(over: Partial<ReconcileDependencies> = {}) {
    const { table, registry, told, events, asked } = this.#tables;
    const log = this.#log;
    const metrics = new TickMetrics();
    return createReconcile({
      connect: (target) => {
        const { token } = this.cluster.access;
        return connectToEndpoint(target, { token: async () => token, renew: async () => token });
      },
      table,
      log,
      metrics,
      events,
      source: new EksClusters(asked),
      registry,
      notes: new NoteKeeper({ table, registry, told, log }),
      desk: new RunDesk({ table, log, events, metrics }),
      placeholder: defaultPlaceholder,
      now: () => this.now,
      ...over,
    });
  }
}

const clientOf = ({ database }: Surroundings): DynamoDBClient =>
  dynamoDbClient({
    endpoint: database.endpoint,
    region: 'local',
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
    maxAttempts: 1,
  });

async function all<T>(rows: AsyncGenerator<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for await (const row of rows) list.push(row);
  return list;
}

const onceEach: readonly string[] = [
  metricNames.completed,
  metricNames.forcefulFallback,
  metricNames.duration,
  metricNames.manualRuns,
  metricNames.auditLost,
];

/** What is counted once per thing that happened, in order of its text. */
const counted = (emitted: readonly Record<string, unknown>[]): readonly string[] =>
  emitted
    .flatMap((line) =>
      onceEach
        .filter((name) => name in line)
        .map((name) => `${name} ${line.outcome ?? line.phase ?? ''} ${line[name]}`),
    )
    .toSorted();
