/**
 * The real stack on the emulator, by the real CDK: bootstrapped, deployed, updated and destroyed as a user would.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes, Failure } from '../../../lib/cli/failure.ts';
import { cacheFolder } from '../harness/built.ts';
import { type AwsEmulator, account, region } from './aws-emulator.ts';
import { askByQuery } from './aws-requests.ts';

const project = join(import.meta.dirname, '..', '..', '..');
const longest = 300_000;

/** Of the service's stack, by the names it gives them. */
export interface Outputs {
  readonly AuditTableName: string;
  readonly EventBusName: string;
  readonly AlarmTopicArn: string;
  readonly ReconcileRoleArn: string;
  readonly DispatchRoleArn: string;
}

export class DeployedStack {
  readonly #emulator: AwsEmulator;
  readonly #folder: string;

  constructor(emulator: AwsEmulator) {
    this.#emulator = emulator;
    this.#folder = join(emulator.folder, 'cdk');
    mkdirSync(this.#folder, { recursive: true });
  }

  async bootstrap(): Promise<void> {
    await this.#cdk('bootstrap', `aws://${account}/${region}`);
  }

  /** Also an update. @param config as in docs/deployment.md */
  async deploy(config: object): Promise<Outputs> {
    const outputs = join(this.#folder, 'outputs.json');
    await this.#cdk('deploy', '--all', '--require-approval', 'never', '--outputs-file', outputs, ...this.#told(config));
    const { NodeRotation } = JSON.parse(readFileSync(outputs, 'utf8')) as { NodeRotation: Outputs };
    return NodeRotation;
  }

  /** Physical ids of the service's stack by their logical ids. */
  async resources(): Promise<ReadonlyMap<string, string>> {
    const xml = await askByQuery(this.#emulator, 'cloudformation', {
      Action: 'DescribeStackResources',
      Version: '2010-05-15',
      StackName: 'NodeRotation',
    });
    const of = (member: string, name: string): string =>
      new RegExp(`<${name}>([^<]*)</${name}>`).exec(member)?.[1] ?? '';
    return new Map(
      xml
        .split('<member>')
        .slice(1)
        .map((member) => [of(member, 'LogicalResourceId'), of(member, 'PhysicalResourceId')]),
    );
  }

  async destroy(config: object): Promise<void> {
    await this.#cdk('destroy', '--all', '--force', ...this.#told(config));
  }

  #told(config: object): string[] {
    const file = join(this.#folder, 'config.json');
    writeFileSync(file, JSON.stringify(config, undefined, 2));
    return ['-c', 'target=emulator', '-c', `config=${file}`];
  }

  /** The cdk of this project, under the Node that runs this. */
  async #cdk(command: string, ...args: string[]): Promise<void> {
    const cdk = join(project, 'node_modules', 'aws-cdk', 'bin', 'cdk');
    const { environment } = this.#emulator;
    const name = `cdk-${command}`;
    const program = {
      name,
      file: process.execPath,
      arguments: [cdk, command, ...args, '--output', join(this.#folder, 'assembly'), '--no-color', '--no-notices'],
      environment: {
        ...environment,
        CDK_DEFAULT_ACCOUNT: account,
        CDK_DEFAULT_REGION: region,
        CDK_DISABLE_CLI_TELEMETRY: 'true',
        CDK_DISABLE_VERSION_CHECK: 'true',
        CDK_HOME: this.#folder,
        // It does not look at Node's variable.
        AWS_CA_BUNDLE: environment.NODE_EXTRA_CA_CERTS ?? '',
        CI: 'true',
      },
    };
    const failure = await this.#emulator.run(program, project, longest);
    if (failure === undefined) return;
    // The emulator's folder goes with it.
    const [printed = '', ofEmulator = ''] = [name, 'aws-emulator'].map((log) =>
      readFileSync(this.#emulator.logOf(log), 'utf8'),
    );
    const log = join(cacheFolder(), 'aws-emulator-cdk.log');
    writeFileSync(log, [`cdk ${command} ${args.join(' ')}`, printed, 'The emulator:', ofEmulator].join('\n'));
    throw new Failure(
      exitCodes.notAsItShouldBe,
      `cdk ${command} ${failure} on the AWS emulator (${printed.trim().split('\n').at(-1) ?? ''}). Its output and the emulator's log are in ${log}.`,
    );
  }
}
