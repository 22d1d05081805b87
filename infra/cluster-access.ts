/**
 * What lets the service reach clusters: its rights in AWS, by exact ARN as far as clusters are listed, and the access
 * entries that make its role a member of one Kubernetes group. What that group may do is in kubernetes/rbac.yaml.
 */
import { ArnFormat, Stack, Validations } from 'aws-cdk-lib';
import { CfnAccessEntry } from 'aws-cdk-lib/aws-eks';
import { Effect, PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { accountOf, type Config, type ListedCluster } from './config.ts';

/** As kubernetes/rbac.yaml binds it. @design D9-04 */
const kubernetesGroup = 'node-rotation';

/** The region is in it: roles belong to no region, and two deployments may be in one account. @design D9-05 */
export const reconcileRoleName = ({ name, region }: Config): string => `${name}-reconcile-${region}`;

/** To ask EKS where a cluster is, and to enter other accounts. @design D9-02, D9-03 */
export function allowClusters(role: Role, config: Config): void {
  const described = describedClusters(role, config);
  if (described.length > 0) allow(role, 'eks:DescribeCluster', described);
  const roles = [...config.clusters, ...config.discovery].flatMap(({ roleArn }) => roleArn ?? []);
  if (roles.length > 0) allow(role, 'sts:AssumeRole', [...new Set(roles)].sort());
}

/** To find clusters by their tag. @design D9-03 */
export function allowDiscovery(role: Role, config: Config): void {
  if (config.discovery.every(({ roleArn }) => roleArn !== undefined)) return;
  allow(role, 'tag:GetResources', ['*']);
  Validations.of(role).acknowledge({
    id: 'AwsSolutions-IAM5[Resource::*]',
    reason: 'The tagging API knows no resources in policies: it answers with ARNs and tags, and nothing else.',
  });
}

/** Of our own account; one whose address is configured is never asked for. */
function describedClusters(role: Role, { clusters, discovery }: Config): string[] {
  const arn = (region: string, name: string): string =>
    Stack.of(role).formatArn({
      service: 'eks',
      region,
      resource: 'cluster',
      resourceName: name,
      arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
    });
  const everywhere = discovery.filter(({ roleArn }) => roleArn === undefined).map(({ region }) => region);
  for (const region of everywhere) {
    Validations.of(role).acknowledge({
      id: `AwsSolutions-IAM5[Resource::${nagged(arn(region, '*'))}]`,
      reason:
        'Clusters of this region are found by their tag, and one that has lost it is still ticked until it is clean.',
    });
  }
  const listed = clusters.filter(
    ({ roleArn, endpoint, region }) => roleArn === undefined && endpoint === undefined && !everywhere.includes(region),
  );
  return [...everywhere.map((region) => arn(region, '*')), ...listed.map(({ region, name }) => arn(region, name))];

  /** An ARN as cdk-nag writes it. */
  function nagged(text: string): string {
    const stack = Stack.of(role);
    return text.replace(stack.partition, '<AWS::Partition>').replace(stack.account, accountAsNagged(stack));
  }
}

const accountAsNagged = ({ account }: Stack): string => (/^\d{12}$/.test(account) ? account : '<AWS::AccountId>');

function allow(role: Role, action: string, resources: string[]): void {
  role.addToPolicy(new PolicyStatement({ effect: Effect.ALLOW, actions: [action], resources }));
}

export interface PlaceWithEntries {
  readonly account: string;
  readonly region: string;
  readonly clusters: readonly ListedCluster[];
}

/** Where access entries are wanted, in order. @design D9-05 */
export function placesWithEntries(config: Config): readonly PlaceWithEntries[] {
  const wanted = config.clusters.filter(({ manageAccessEntry }) => manageAccessEntry);
  const byPlace = Map.groupBy(wanted, (cluster) => `${accountOf(config, cluster)}/${cluster.region}`);
  return [...byPlace]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([place, clusters]) => {
      const [account = '', region = ''] = place.split('/');
      return { account, region, clusters };
    });
}

export class AccessEntries extends Construct {
  /** @design D9-05 */
  constructor(
    scope: Construct,
    id: string,
    { config, clusters }: { readonly config: Config; readonly clusters: readonly ListedCluster[] },
  ) {
    super(scope, id);
    for (const { name, roleArn } of clusters) {
      new CfnAccessEntry(this, name, {
        clusterName: name,
        // Its full ARN: a session's, or one without its path, is not let in.
        principalArn: roleArn ?? this.#reconcileRole(config),
        type: 'STANDARD',
        kubernetesGroups: [kubernetesGroup],
      });
    }
  }

  /** By name, because a reference does not reach over regions. */
  #reconcileRole(config: Config): string {
    return Stack.of(this).formatArn({
      service: 'iam',
      region: '',
      account: config.account ?? '',
      resource: 'role',
      resourceName: reconcileRoleName(config),
    });
  }
}
