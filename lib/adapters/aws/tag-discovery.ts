/**
 * The clusters of a region that carry our tag. The tagging API is asked, because a list of clusters does not tell their
 * tags.
 */
import { GetResourcesCommand, ResourceGroupsTaggingAPIClient } from '@aws-sdk/client-resource-groups-tagging-api';
import { clientConfig, type EksClustersOptions, kept, limited, type Place } from './eks-clusters.ts';

/** @design D9-03 */
const discoveryTag = { key: 'noderotation.io/enabled', value: 'true' } as const;

/** Throws what AWS answers. */
export interface TagSource {
  /** Names of the tagged clusters; complete, or it throws. */
  discover(scope: Place, signal?: AbortSignal): Promise<readonly string[]>;
}

export class TagDiscovery implements TagSource {
  readonly #options: EksClustersOptions;
  readonly #clients = new Map<string, ResourceGroupsTaggingAPIClient>();

  constructor(options: EksClustersOptions) {
    this.#options = options;
  }

  /** @design D9-03 */
  async discover(scope: Place, signal?: AbortSignal): Promise<readonly string[]> {
    const client = kept(
      this.#clients,
      scope,
      () => new ResourceGroupsTaggingAPIClient(clientConfig(scope, this.#options)),
    );
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
}
