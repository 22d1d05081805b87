/**
 * EKS clusters of the emulator, which are a name and an address: what answers there is somebody else's.
 */
import { CreateClusterCommand, EKSClient } from '@aws-sdk/client-eks';
import { type AwsEmulator, account } from './aws-emulator.ts';
import { askByQuery } from './aws-requests.ts';
import type { ClusterAddress } from './eks-completion.ts';

/** Clusters have a role, and the emulator looks whether it exists. */
const roleName = 'eks-cluster';

export async function makeClusters(
  emulator: AwsEmulator,
  clusters: Readonly<Record<string, ClusterAddress>>,
): Promise<void> {
  const eks = new EKSClient(emulator.client);
  await askByQuery(emulator, 'iam', {
    Action: 'CreateRole',
    Version: '2010-05-08',
    RoleName: roleName,
    AssumeRolePolicyDocument: JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Principal: { Service: 'eks.amazonaws.com' }, Action: 'sts:AssumeRole' }],
    }),
  });
  for (const [name, address] of Object.entries(clusters)) {
    emulator.eks.addresses.set(name, address);
    const roleArn = `arn:aws:iam::${account}:role/${roleName}`;
    await eks.send(new CreateClusterCommand({ name, roleArn, resourcesVpcConfig: {} }));
  }
}
