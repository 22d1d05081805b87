/**
 * Instance types of Karpenter's kwok provider as its `INSTANCE_TYPES_FILE_PATH` takes them: the four-core ones, on offer
 * in one zone only. Their names are the provider's own, so that nodes that run already are still of a known type.
 */
export function fourCoreTypesIn(zone: string): string {
  const types = Object.entries({ c: '8Gi', s: '16Gi', m: '32Gi' }).map(([family, memory]) => ({
    name: `${family}-4x-amd64-linux`,
    offerings: [
      {
        Price: 0.1,
        Available: true,
        Requirements: [
          { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
          { key: 'topology.kubernetes.io/zone', operator: 'In', values: [zone] },
        ],
      },
    ],
    architecture: 'amd64',
    operatingSystems: ['linux'],
    resources: { cpu: '4', memory, 'ephemeral-storage': '20Gi', pods: '64' },
  }));
  return JSON.stringify(types);
}
