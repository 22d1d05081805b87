/**
 * What a deployment is told: one section of cdk.json, or a file of one's own. Everything wrong with it is named at once,
 * each with its path, before anything is built.
 *
 * The account may be left to CDK; then what depends on it (access entries, clusters of a named account) is refused.
 */
import { readFileSync } from 'node:fs';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Fact, FactName } from 'aws-cdk-lib/region-info';
import { parse } from 'yaml';
import * as z from 'zod';
import { defaultPlaceholder } from '../functions/reconcile/environment.ts';
import { metricDetails } from '../lib/adapters/aws/metric-names.ts';

const text = (pattern: RegExp, expected: string) => z.string().regex(pattern, `expected ${expected}`);
const account = text(/^\d{12}$/, 'an account id of 12 digits, in quotes');
const region = z.string().refine((name) => Fact.regions.includes(name), 'expected a region of AWS, such as eu-west-1');
const roleArn = text(/^arn:aws[\w-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/, 'the ARN of an IAM role');
const whole = (least: number, most: number) => z.int().min(least).max(most);
const logDays = Object.values(RetentionDays).filter((days): days is number => typeof days === 'number' && days < 9999);

const entrance = {
  account: account.optional(),
  region: region.optional(),
  roleArn: roleArn.optional(),
  externalId: text(/^[\w+=,.@:/-]{2,1224}$/, 'the external id of a role').optional(),
  network: z.string().optional(),
};
const clusterSchema = z
  .strictObject({
    name: text(/^[0-9A-Za-z][\w-]{0,99}$/, 'the name of an EKS cluster'),
    ...entrance,
    endpoint: text(/^https:\/\/[^\s/]+$/, 'an https address').optional(),
    certificateAuthority: z.base64('expected the base64 of a PEM certificate').min(1).optional(),
    /** Makes the access entry; leave it out for a cluster that has one already. @design D9-05 */
    manageAccessEntry: z.boolean().default(false),
  })
  .refine((cluster) => (cluster.endpoint === undefined) === (cluster.certificateAuthority === undefined), {
    message: 'expected endpoint and certificateAuthority together, or neither',
  });
const networkSchema = z.strictObject({
  subnetIds: z.array(text(/^subnet-[0-9a-f]{8,17}$/, 'the id of a subnet')).min(1),
  securityGroupIds: z.array(text(/^sg-[0-9a-f]{8,17}$/, 'the id of a security group')).min(1),
});

const configSchema = z.strictObject({
  /** Begins the names that are fixed; a second deployment in a region needs one of its own. */
  name: text(/^[a-z][a-z0-9-]{1,23}$/, 'at most 24 small letters, digits and hyphens').default('node-rotation'),
  account: account.optional(),
  region: region.optional(),
  clusters: z.array(clusterSchema).default([]),
  discovery: z.array(z.strictObject(entrance)).default([]),
  networks: z.record(text(/^[A-Za-z][\w-]{0,39}$/, 'a name'), networkSchema).default({}),
  reconcile: z
    .strictObject({
      memory: whole(256, 10_240).default(512),
      maxConcurrency: whole(2, 1000).optional(),
      /** Off unless wanted: a young account has little to reserve. */
      reservedConcurrency: whole(2, 1000).optional(),
    })
    .prefault({}),
  placeholder: z
    .strictObject({
      namespace: text(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'the name of a namespace').default(
        defaultPlaceholder.namespace,
      ),
      image: text(/^\S+$/, 'an image without blanks').default(defaultPlaceholder.image),
    })
    .prefault({}),
  metrics: z.strictObject({ detail: z.enum(metricDetails).default('fleet') }).prefault({}),
  alarms: z
    .strictObject({
      email: z.array(z.email()).default([]),
      /** Where the composite alarm goes; without it, where all the others go. */
      pageTopicArn: text(/^arn:aws[\w-]*:sns:[\w-]+:\d{12}:[\w-]+$/, 'the ARN of an SNS topic').optional(),
    })
    .prefault({}),
  manualRuns: z.strictObject({ fromAccounts: z.array(account).default([]) }).prefault({}),
  retention: z
    .strictObject({
      logDays: z
        .int()
        .refine((days) => logDays.includes(days), `expected one of ${logDays.join(', ')}`)
        .default(90),
      /** 0 keeps audit rows for ever. */
      auditDays: whole(0, 36_500).default(400),
    })
    .prefault({}),
  /** Name or ARN of a policy that bounds every role of the deployment. */
  permissionsBoundary: text(/^(arn:aws[\w-]*:iam::\d{12}:policy\/)?[\w+=,.@/-]+$/, 'a policy').optional(),
});

type Read = z.output<typeof configSchema>;
type Placed<T> = Omit<T, 'region'> & { readonly region: string };

/** Regions filled in: whatever names none is in the deployment's own. */
export type Config = Placed<Omit<Read, 'clusters' | 'discovery'>> & {
  readonly clusters: readonly Placed<Read['clusters'][number]>[];
  readonly discovery: readonly Placed<Read['discovery'][number]>[];
};
export type ListedCluster = Config['clusters'][number];
export type DiscoveryScope = Config['discovery'][number];

export interface Problem {
  readonly path: string;
  readonly problem: string;
}

export type ConfigReading =
  | { readonly valid: true; readonly config: Config }
  | { readonly valid: false; readonly problems: readonly Problem[] };

/** Where CDK would deploy to, as far as it knows. */
export interface Surroundings {
  readonly account?: string | undefined;
  readonly region?: string | undefined;
}

/** @design D9-03 */
export function readConfig(json: unknown, around: Surroundings = {}): ConfigReading {
  const result = configSchema.safeParse(json ?? {});
  if (!result.success) {
    return {
      valid: false,
      problems: result.error.issues.map(({ path, message }) => ({ path: pathOf(path), problem: message })),
    };
  }
  const read = result.data;
  const own = { account: read.account ?? around.account, region: read.region ?? around.region };
  if (own.region === undefined) {
    return { valid: false, problems: [{ path: 'region', problem: 'expected the region to deploy to' }] };
  }
  const placed = <T extends { region?: string | undefined }>(at: T) => ({ ...at, region: at.region ?? own.region });
  const config = {
    ...read,
    ...own,
    clusters: read.clusters.map(placed),
    discovery: read.discovery.map(placed),
  } as Config;
  const problems = [
    ...nothingToDo(config),
    ...config.clusters.flatMap((cluster, index) => misplaced(config, cluster, `clusters[${index}]`)),
    ...config.discovery.flatMap((scope, index) => misplaced(config, scope, `discovery[${index}]`)),
    ...repeated(config, config.clusters, 'clusters', 'this cluster is listed already'),
    ...repeated(config, config.discovery, 'discovery', 'this region is listed already'),
    ...unusedNetworks(config),
    ...tooLittleReserved(config),
  ];
  return problems.length > 0 ? { valid: false, problems } : { valid: true, config };
}

/** @throws Error when the file cannot be read or parsed */
export function readConfigFile(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new Error(`the configuration ${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

/** Clusters in this network; the name of none is the empty text. */
const clustersIn = ({ clusters }: Config, network: string): readonly ListedCluster[] =>
  clusters.filter((cluster) => (cluster.network ?? '') === network);

/** How many clusters of a network are ticked at a time. @design D1-02 */
export const concurrencyOf = (config: Config, network: string): number =>
  config.reconcile.maxConcurrency ?? Math.max(5, Math.ceil(clustersIn(config, network).length / 20));

/** The account that a cluster or a region is in; undefined when it is the deployment's own and that is not known. */
export const accountOf = (config: Pick<Config, 'account'>, at: Pick<DiscoveryScope, 'account' | 'roleArn'>) =>
  at.account ?? at.roleArn?.split(':')[4] ?? config.account;

const pathOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((before, key) => {
    if (typeof key === 'number') return `${before}[${key}]`;
    return before === '' ? String(key) : `${before}.${String(key)}`;
  }, '') || 'the configuration';

const nothingToDo = ({ clusters, discovery }: Config): Problem[] =>
  clusters.length === 0 && discovery.length === 0
    ? [{ path: 'clusters', problem: 'nothing would be rotated: list clusters, or regions under discovery' }]
    : [];

function misplaced(config: Config, at: ListedCluster | DiscoveryScope, path: string): Problem[] {
  const problems: Problem[] = [];
  const wrong = (key: string, problem: string): unknown => problems.push({ path: `${path}.${key}`, problem });
  const { roleArn: role, network } = at;
  const [, partition, , , ofRole] = role?.split(':') ?? [];
  if (role !== undefined && at.account !== undefined && ofRole !== at.account)
    wrong('roleArn', `this role is in account ${ofRole}, not in ${at.account}`);
  if (role === undefined && at.account !== undefined && at.account !== config.account)
    wrong(
      'roleArn',
      config.account === undefined
        ? `whether ${at.account} is the deployment's own account is not known: set account, or a role to assume there`
        : `account ${at.account} is not the deployment's own: a role to assume there is needed`,
    );
  if (partition !== undefined && partition !== partitionOf(at.region))
    wrong('roleArn', `this role is in partition ${partition}, region ${at.region} in ${partitionOf(at.region)}`);
  if (partitionOf(at.region) !== partitionOf(config.region))
    wrong('region', `${at.region} cannot be reached from ${config.region}: it is in another partition`);
  if (at.externalId !== undefined && role === undefined) wrong('externalId', 'an external id belongs to a roleArn');
  if (network !== undefined && !Object.hasOwn(config.networks, network))
    wrong('network', `there is no network ${network} under networks`);
  if ('manageAccessEntry' in at && at.manageAccessEntry && accountOf(config, at) === undefined)
    wrong('manageAccessEntry', "an access entry names accounts: set the deployment's account");
  return problems;
}

const partitionOf = (name: string): string | undefined => Fact.find(name, FactName.PARTITION);

function repeated(
  config: Config,
  list: readonly (DiscoveryScope & { readonly name?: string })[],
  path: string,
  problem: string,
): Problem[] {
  const keys = list.map((at) => [accountOf(config, at), at.region, at.name].join('/'));
  return keys.flatMap((key, index) => {
    const first = keys.indexOf(key);
    return first < index ? [{ path: `${path}[${index}]`, problem: `${problem}, as ${path}[${first}]` }] : [];
  });
}

function unusedNetworks({ networks, clusters, discovery }: Config): Problem[] {
  const used = new Set([...clusters, ...discovery].map(({ network }) => network));
  return Object.keys(networks)
    .filter((name) => !used.has(name))
    .map((name) => ({ path: `networks.${name}`, problem: 'no cluster and no region uses this network' }));
}

function tooLittleReserved(config: Config): Problem[] {
  const { reservedConcurrency } = config.reconcile;
  const needed = Math.max(...['', ...Object.keys(config.networks)].map((network) => concurrencyOf(config, network)));
  return reservedConcurrency === undefined || reservedConcurrency >= needed
    ? []
    : [
        {
          path: 'reconcile.reservedConcurrency',
          problem: `${needed} clusters are ticked at a time: with less reserved, ticks are throttled`,
        },
      ];
}
