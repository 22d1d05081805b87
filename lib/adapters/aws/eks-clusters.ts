/**
 * What EKS says of a cluster: whether it is there, and where it is reached. Clients are kept per account and region.
 */
import { DescribeClusterCommand, EKSClient, type EKSClientConfig } from '@aws-sdk/client-eks';
import type { AccountRoles } from './account-roles.ts';
import type { ListedCluster } from './cluster-registry.ts';

export interface Described {
  /** As EKS calls it, or `NOT_FOUND`. */
  readonly status: string;
  readonly endpoint?: string;
  readonly certificateAuthority?: string;
}

export type Place = Pick<ListedCluster, 'account' | 'region' | 'roleArn' | 'externalId'>;

/** Throws what AWS answers. */
export interface ClusterSource {
  describe(cluster: Place & { readonly name: string }, signal?: AbortSignal): Promise<Described>;
}

export interface EksClustersOptions {
  readonly roles: AccountRoles;
  /** Names the sessions in other accounts. */
  readonly work: string;
  /** For both clients, such as another endpoint. */
  readonly client?: Pick<EKSClientConfig, 'endpoint' | 'credentials' | 'maxAttempts'>;
}

const longestCall = 5_000;

export class EksClusters implements ClusterSource {
  readonly #options: EksClustersOptions;
  readonly #eks = new Map<string, EKSClient>();

  constructor(options: EksClustersOptions) {
    this.#options = options;
  }

  /** @design D9-02 */
  async describe(cluster: Place & { readonly name: string }, signal?: AbortSignal): Promise<Described> {
    const client = kept(this.#eks, cluster, () => new EKSClient(clientConfig(cluster, this.#options)));
    try {
      const { cluster: found } = await client.send(new DescribeClusterCommand({ name: cluster.name }), limited(signal));
      const certificateAuthority = found?.certificateAuthority?.data;
      return {
        status: found?.status ?? 'NOT_FOUND',
        ...(found?.endpoint ? { endpoint: found.endpoint } : {}),
        ...(certificateAuthority ? { certificateAuthority } : {}),
      };
    } catch (error) {
      if (error instanceof Error && error.name === 'ResourceNotFoundException') return { status: 'NOT_FOUND' };
      throw error;
    }
  }
}

/** For a client of this account and region. */
export function clientConfig(
  { region, roleArn, externalId }: Place,
  { roles, work, client }: EksClustersOptions,
): EKSClientConfig {
  return {
    region,
    maxAttempts: 3,
    ...client,
    ...(roleArn === undefined ? {} : { credentials: roles.provider({ roleArn, externalId }, work) }),
  };
}

/** The client of an account and region, made once. */
export function kept<T>(clients: Map<string, T>, { region, roleArn, externalId }: Place, make: () => T): T {
  const key = JSON.stringify([region, roleArn, externalId]);
  const client = clients.get(key) ?? make();
  clients.set(key, client);
  return client;
}

/** A call ends after five seconds, or with the look that it is part of. */
export const limited = (signal: AbortSignal | undefined): { abortSignal: AbortSignal } => {
  const own = AbortSignal.timeout(longestCall);
  return { abortSignal: signal === undefined ? own : AbortSignal.any([own, signal]) };
};

/** Whether AWS asked to be left alone for a while. */
export const isThrottling = (error: unknown): boolean =>
  error instanceof Error &&
  (/Throttl|TooManyRequests|RequestLimitExceeded|SlowDown/.test(error.name) ||
    (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === 429);
