/**
 * The clusters that are ticked: what identifies one, and how it is reached.
 */
import * as z from 'zod';

const name = z.string().regex(/^[0-9A-Za-z][\w-]{0,99}$/, 'expected the name of an EKS cluster');
const account = z.string().regex(/^\d{12}$/, 'expected an account id of 12 digits');
const region = z.string().regex(/^[a-z]{2,}(-[a-z]+)+-\d+$/, 'expected a region such as ap-northeast-1');
const endpoint = z.string().regex(/^https:\/\/[^\s/]+/, 'expected an https address');
const certificateAuthority = z.base64('expected the base64 of a PEM certificate').min(1);
const roleArn = z.string().regex(/^arn:aws[\w-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/, 'expected the ARN of an IAM role');
const externalId = z.string().regex(/^[\w+=,.@:/-]{2,1224}$/, 'expected the external id of a role');
const network = z.string().regex(/^[A-Za-z][\w-]{0,39}$/, 'expected the name of a network');

/** How the cluster's account and network are entered; absent means our own account, and no private network. */
const entrance = { roleArn: roleArn.optional(), externalId: externalId.optional(), network: network.optional() };

export const clusterTargetSchema = z.strictObject({
  account,
  region,
  name,
  endpoint,
  certificateAuthority,
  ...entrance,
  /** Endpoint and certificate authority come from the configuration: EKS is not asked for them. */
  configured: z.boolean().optional(),
  /** It left the configuration: what is in flight is ended, nothing starts. */
  retired: z.boolean().optional(),
});

/** A cluster with everything that a tick needs to reach it. @design D9-02, D9-03 */
export type ClusterTarget = z.output<typeof clusterTargetSchema>;

/** `account/region/name`. @design D1-01 */
export const clusterKey = (cluster: Pick<ClusterTarget, 'account' | 'region' | 'name'>): string =>
  `${cluster.account}/${cluster.region}/${cluster.name}`;

export const clusterKeySchema = z
  .string()
  .regex(/^\d{12}\/[a-z]{2,}(-[a-z]+)+-\d+\/[0-9A-Za-z][\w-]{0,99}$/, 'expected account/region/name of a cluster');

/** A cluster as it is listed. Without an endpoint, EKS is asked for it. */
export interface ListedCluster {
  readonly account: string;
  readonly region: string;
  readonly name: string;
  readonly roleArn?: string | undefined;
  readonly externalId?: string | undefined;
  readonly network?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly certificateAuthority?: string | undefined;
}

/** A region of an account whose tagged clusters are ticked. */
export type DiscoveryScope = Omit<ListedCluster, 'name' | 'endpoint' | 'certificateAuthority'>;

export interface FleetConfig {
  readonly clusters: readonly ListedCluster[];
  readonly discovery: readonly DiscoveryScope[];
}

export type FleetReading =
  | { readonly valid: true; readonly fleet: FleetConfig }
  | { readonly valid: false; readonly problems: readonly { readonly path: string; readonly problem: string }[] };

const place = { account: account.optional(), region, ...entrance };
const listedSchema = z
  .strictObject({
    ...place,
    name,
    endpoint: endpoint.optional(),
    certificateAuthority: certificateAuthority.optional(),
  })
  .refine((cluster) => (cluster.endpoint === undefined) === (cluster.certificateAuthority === undefined), {
    message: 'expected endpoint and certificateAuthority together, or neither',
  });
const fleetSchema = z.strictObject({
  clusters: z.array(listedSchema).default([]),
  discovery: z.array(z.strictObject(place)).default([]),
});

/**
 * Reads what is configured, a list of clusters or clusters and discovery, and names every problem in it.
 *
 * @param ownAccount the account of whatever names neither an account nor a role
 * @design D9-03
 */
export function readFleet(json: unknown, ownAccount: string): FleetReading {
  const result = fleetSchema.safeParse(Array.isArray(json) ? { clusters: json } : json);
  if (!result.success) {
    const problems = result.error.issues.map(({ path, message }) => ({ path: path.join('.'), problem: message }));
    return { valid: false, problems };
  }
  const { clusters, discovery } = result.data;
  const fleet = {
    clusters: clusters.map((cluster) => ({ ...cluster, account: accountOf(cluster, ownAccount) })),
    discovery: discovery.map((scope) => ({ ...scope, account: accountOf(scope, ownAccount) })),
  };
  const problems = [
    ...[...clusters, ...discovery].flatMap(foreignRole),
    ...twice(fleet.clusters.map(clusterKey), 'this cluster is listed twice'),
    ...twice(fleet.discovery.map(scopeKey), 'this region is listed twice'),
  ];
  return problems.length > 0 ? { valid: false, problems } : { valid: true, fleet };
}

/** `account/region`. */
export const scopeKey = (scope: Pick<DiscoveryScope, 'account' | 'region'>): string =>
  `${scope.account}/${scope.region}`;

type Placed = { readonly account?: string | undefined; readonly roleArn?: string | undefined };

const accountOf = ({ account: named, roleArn: role }: Placed, own: string): string =>
  named ?? role?.split(':')[4] ?? own;

const foreignRole = ({ account: named, roleArn: role }: Placed) =>
  named !== undefined && role !== undefined && role.split(':')[4] !== named
    ? [{ path: role, problem: `this role belongs to another account than ${named}` }]
    : [];

const twice = (keys: readonly string[], problem: string) =>
  [...new Set(keys.filter((key, index) => keys.indexOf(key) !== index))].map((key) => ({ path: key, problem }));
