/**
 * What EKS says: which clusters of a region carry our tag, and where one is reached.
 *
 * Discovery asks the tagging API, because listing clusters does not tell their tags. Clients are kept per account and
 * region.
 */
import { DescribeClusterCommand, EKSClient, type EKSClientConfig } from '@aws-sdk/client-eks';
import { GetResourcesCommand, ResourceGroupsTaggingAPIClient } from '@aws-sdk/client-resource-groups-tagging-api';
import type { AccountRoles } from './account-roles.ts';
import type { ListedCluster } from './cluster-registry.ts';

/** @design D9-03 */
const discoveryTag = { key: 'noderotation.io/enabled', value: 'true' } as const;

export interface Described {
  /** As EKS calls it, or `NOT_FOUND`. */
  readonly status: string;
  readonly endpoint?: string;
  readonly certificateAuthority?: string;
}

export type Place = Pick<ListedCluster, 'account' | 'region' | 'roleArn' | 'externalId'>;

/** The two questions that are asked of AWS about clusters. Both throw what AWS answers. */
export interface ClusterSource {
  describe(cluster: Place & { readonly name: string }, signal?: AbortSignal): Promise<Described>;
  /** Names of the tagged clusters; complete, or it throws. */
  discover(scope: Place, signal?: AbortSignal): Promise<readonly string[]>;
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
  readonly #tagging = new Map<string, ResourceGroupsTaggingAPIClient>();

  constructor(options: EksClustersOptions) {
    this.#options = options;
  }

  /** @design D9-02 */
  async describe(cluster: Place & { readonly name: string }, signal?: AbortSignal): Promise<Described> {
    const client = kept(this.#eks, cluster, () => new EKSClient(this.#configOf(cluster)));
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

  /** @design D9-03 */
  async discover(scope: Place, signal?: AbortSignal): Promise<readonly string[]> {
    const client = kept(this.#tagging, scope, () => new ResourceGroupsTaggingAPIClient(this.#configOf(scope)));
    const names: string[] = [];
    let next: string | undefined;
    do {
      const { ResourceTagMappingList = [], PaginationToken } = await client.send(
        new GetResourcesCommand({
          ResourceTypeFilters: ['eks:cluster'],
          TagFilters: [{ Key: discoveryTag.key, Values: [discoveryTag.value] }],
          ResourcesPerPage: 100,
          ...(next === undefined ? {} : { PaginationToken: next }),
        }),
        limited(signal),
      );
      for (const { ResourceARN = '' } of ResourceTagMappingList) {
        const [, name] = /:cluster\/([\w-]+)$/.exec(ResourceARN) ?? [];
        if (name !== undefined) names.push(name);
      }
      next = PaginationToken || undefined;
    } while (next !== undefined);
    return names;
  }

  #configOf({ region, roleArn, externalId }: Place): EKSClientConfig {
    const { roles, work, client } = this.#options;
    return {
      region,
      maxAttempts: 3,
      ...client,
      ...(roleArn === undefined ? {} : { credentials: roles.provider({ roleArn, externalId }, work) }),
    };
  }
}

function kept<T>(clients: Map<string, T>, { region, roleArn, externalId }: Place, make: () => T): T {
  const key = JSON.stringify([region, roleArn, externalId]);
  const client = clients.get(key) ?? make();
  clients.set(key, client);
  return client;
}

const limited = (signal: AbortSignal | undefined): { abortSignal: AbortSignal } => {
  const own = AbortSignal.timeout(longestCall);
  return { abortSignal: signal === undefined ? own : AbortSignal.any([own, signal]) };
};

/** Whether AWS asked to be left alone for a while. */
export const isThrottling = (error: unknown): boolean =>
  error instanceof Error &&
  (/Throttl|TooManyRequests|RequestLimitExceeded|SlowDown/.test(error.name) ||
    (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === 429);
