/**
 * The stacks of a deployment: the service itself, and one small stack for each account and region in which it makes
 * access entries, because CloudFormation makes an entry only where the cluster is.
 *
 * Every synth is held against the rules of cdk-nag; what is acknowledged is acknowledged beside the thing itself.
 */
import { type App, PermissionsBoundary, Stack, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { AccessEntries, placesWithEntries } from './cluster-access.ts';
import type { Config } from './config.ts';
import { NodeRotationStack } from './node-rotation-stack.ts';
import type { Target } from './target.ts';

export interface Deployment {
  readonly service: NodeRotationStack;
  readonly access: readonly Stack[];
}

export function buildDeployment(app: App, config: Config, target: Target): Deployment {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const boundary = boundaryOf(config);
  const id = stackId(config.name);
  const service = new NodeRotationStack(app, id, {
    config,
    target,
    env: { region: config.region, ...(config.account === undefined ? {} : { account: config.account }) },
    description: 'Replaces Karpenter nodes inside maintenance windows',
    ...(boundary === undefined ? {} : { permissionsBoundary: boundary }),
  });
  const places = target === 'emulator' ? [] : placesWithEntries(config);
  const access = places.map(({ account, region, clusters }) => {
    const stack = new Stack(app, `${id}Access-${account}-${region}`, {
      env: { account, region },
      description: `Lets ${config.name} into the EKS clusters of this account and region`,
    });
    new AccessEntries(stack, 'Entries', { config, clusters });
    // An entry names a role, and EKS refuses one for a role that does not exist.
    stack.addStackDependency(service);
    return stack;
  });
  return { service, access };
}

/** `node-rotation` is `NodeRotation`. */
const stackId = (name: string): string =>
  name
    .split('-')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');

function boundaryOf({ permissionsBoundary }: Config): PermissionsBoundary | undefined {
  if (permissionsBoundary === undefined) return undefined;
  return permissionsBoundary.startsWith('arn:')
    ? PermissionsBoundary.fromArn(permissionsBoundary)
    : PermissionsBoundary.fromName(permissionsBoundary);
}
