/**
 * What stands between the deployment and a cluster on the side of AWS: how the cluster lets anybody in, from where, and
 * whether it knows the role.
 */
import {
  DescribeAccessEntryCommand,
  DescribeClusterCommand,
  EKSClient,
  type EKSClientConfig,
} from '@aws-sdk/client-eks';

/** As of the Kubernetes side. */
interface Check {
  readonly check: string;
  readonly verdict: 'ok' | 'missing' | 'unknown';
  readonly message: string;
}

export interface EksPreflightOptions {
  readonly name: string;
  /** The role of reconcile, when its access entry is to be looked at. */
  readonly roleArn?: string | undefined;
  readonly group: string;
  readonly client: EKSClientConfig;
}

const limited = () => ({ abortSignal: AbortSignal.timeout(5_000) });

/** Never throws for an answer of AWS. @design D9-06 */
export async function eksPreflight(options: EksPreflightOptions): Promise<readonly Check[]> {
  const { name, roleArn } = options;
  const client = new EKSClient({ maxAttempts: 3, ...options.client });
  try {
    const { cluster } = await client.send(new DescribeClusterCommand({ name }), limited());
    const { accessConfig, resourcesVpcConfig } = cluster ?? {};
    return [
      authentication(accessConfig?.authenticationMode),
      exposure(resourcesVpcConfig?.endpointPublicAccess === true, resourcesVpcConfig?.publicAccessCidrs ?? []),
      ...(roleArn === undefined ? [] : [await accessEntry(client, { ...options, roleArn })]),
    ];
  } catch (error) {
    return [{ check: 'eks', verdict: 'unknown', message: `EKS says nothing of cluster ${name}: ${String(error)}` }];
  } finally {
    client.destroy();
  }
}

function authentication(mode: string | undefined): Check {
  const check = 'authentication mode';
  if (mode === 'API' || mode === 'API_AND_CONFIG_MAP') return { check, verdict: 'ok', message: mode };
  const message = `${mode ?? 'unknown'} knows no access entries: set it to API_AND_CONFIG_MAP, which cannot be undone`;
  return { check, verdict: 'missing', message };
}

function exposure(isPublic: boolean, cidrs: readonly string[]): Check {
  const check = 'endpoint access';
  if (isPublic && (cidrs.length === 0 || cidrs.includes('0.0.0.0/0'))) {
    return { check, verdict: 'ok', message: 'public' };
  }
  const why = isPublic ? `public for ${cidrs.join(', ')} only` : 'private';
  return { check, verdict: 'unknown', message: `${why}: configure a network whose address the endpoint lets in` };
}

async function accessEntry(
  client: EKSClient,
  { name, roleArn, group }: EksPreflightOptions & { readonly roleArn: string },
): Promise<Check> {
  const check = 'access entry';
  const wanted = `one of type STANDARD with kubernetesGroups [${group}]`;
  try {
    const command = new DescribeAccessEntryCommand({ clusterName: name, principalArn: roleArn });
    const { accessEntry: entry } = await client.send(command, limited());
    const groups = entry?.kubernetesGroups ?? [];
    return groups.includes(group)
      ? { check, verdict: 'ok', message: `${roleArn} is in group ${group}` }
      : { check, verdict: 'missing', message: `${roleArn} is in [${groups.join(', ')}]: make it ${wanted}` };
  } catch (error) {
    if (error instanceof Error && error.name === 'ResourceNotFoundException') {
      return { check, verdict: 'missing', message: `there is none for ${roleArn}: make ${wanted}` };
    }
    return { check, verdict: 'unknown', message: String(error) };
  }
}
