/**
 * AWS on this machine, as far as the deployment needs it: CloudFormation, Lambda, SQS, DynamoDB, EventBridge and more.
 *
 * It is reached by TLS, because the deployment's own policies deny everything else. It runs the deployed bundles with
 * the Node that is first on its PATH, which is this one; what it passes on to them of its environment is how they trust
 * it, and how they find EKS through `EksCompletion`.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:https';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { Tell } from '../harness/build.ts';
import { makeAuthority } from '../harness/certificates.ts';
import { type Guard, guard } from '../harness/guard.ts';
import { freePorts } from '../harness/ports.ts';
import { Processes } from '../harness/processes.ts';
import { EksCompletion } from './eks-completion.ts';
import { pythonEnvironment } from './python-environment.ts';

export const account = '123456789012';
export const region = 'eu-west-1';

/** An access key whose id is an account is that account's. */
const credentials = { accessKeyId: account, secretAccessKey: 'not-a-secret' };

interface Ground {
  readonly folder: string;
  readonly url: string;
  /** PEM. */
  readonly authority: string;
  readonly eks: EksCompletion;
  readonly processes: Processes;
  readonly guarded: Guard;
}

export class AwsEmulator {
  /** For whatever a test keeps; it goes with the emulator. */
  readonly folder: string;
  readonly url: string;
  readonly eks: EksCompletion;
  readonly agent: Agent;
  /** What a program needs to come here instead of AWS: our own, the CDK, and each function. */
  readonly environment: Readonly<Record<string, string>>;
  readonly #ground: Ground;

  constructor(ground: Ground) {
    const { folder, url, authority, eks } = ground;
    this.#ground = ground;
    this.folder = folder;
    this.url = url;
    this.eks = eks;
    this.agent = new Agent({ ca: authority });
    this.environment = {
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_REGION: region,
      AWS_DEFAULT_REGION: region,
      AWS_ENDPOINT_URL: url,
      AWS_ENDPOINT_URL_S3: url,
      AWS_ENDPOINT_URL_EKS: eks.url,
      NODE_EXTRA_CA_CERTS: tlsFile(folder, 'authority.crt'),
      // Whatever they put down for a while goes with the folder.
      TMPDIR: join(folder, 'tmp'),
    };
  }

  /** For a client of the AWS SDK in this process. */
  get client() {
    return { region, credentials, endpoint: this.url, requestHandler: { httpsAgent: this.agent } };
  }

  /** A program that works here, in that folder, until its end. @returns as `Processes.run` */
  run(...program: Parameters<Processes['run']>): Promise<string | undefined> {
    return this.#ground.processes.run(...program);
  }

  logOf(program: string): string {
    return this.#ground.processes.logOf(program);
  }

  /** Also of one that did not start, of which the logs can be kept. */
  async stop({ keepLogs = false } = {}): Promise<void> {
    const { folder, processes, guarded, eks } = this.#ground;
    await processes.stopAll();
    guarded.release();
    this.agent.destroy();
    await eks.stop();
    for (const name of readdirSync(folder)) {
      if (!keepLogs || name !== 'logs') rmSync(join(folder, name), { recursive: true, force: true });
    }
    if (!keepLogs) rmdirSync(folder);
  }
}

/**
 * Signatures are verified and policies evaluated.
 *
 * @throws Failure; what had been started is stopped then, and the logs are kept
 */
export async function startAwsEmulator(tell: Tell = () => {}): Promise<AwsEmulator> {
  const python = await pythonEnvironment(tell);
  const [port] = await freePorts(1);
  const url = `https://127.0.0.1:${port}`;
  const folder = mkdtempSync(join(tmpdir(), 'node-rotation-aws-'));
  const authority = await writeCertificates(folder);
  const processes = new Processes(folder);
  const eks = await EksCompletion.start(url, authority);
  const emulator = new AwsEmulator({ folder, url, authority, eks, processes, guarded: guard(folder) });
  try {
    await processes.start({
      name: 'aws-emulator',
      file: python,
      arguments: ['-m', 'ministack'],
      environment: {
        ...emulator.environment,
        PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
        GATEWAY_PORT: String(port),
        BIND_HOST: '127.0.0.1',
        // Queues are known by it; a name would be looked up.
        MINISTACK_HOST: '127.0.0.1',
        MINISTACK_REGION: region,
        USE_SSL: '1',
        MINISTACK_SSL_CERT: tlsFile(folder, 'server.crt'),
        MINISTACK_SSL_KEY: tlsFile(folder, 'server.key'),
        AUTH: 'true',
        // It would take a fixed port.
        IOT_MTLS_ENABLED: '0',
      },
      healthy: () => answers(`${url}/_ministack/health`, emulator.agent),
    });
  } catch (error) {
    await emulator.stop({ keepLogs: true });
    throw error;
  }
  return emulator;
}

const tlsFile = (folder: string, name: string): string => join(folder, 'tls', name);

/** @returns the authority's certificate */
async function writeCertificates(folder: string): Promise<string> {
  const authority = await makeAuthority(new Date());
  const server = await authority.server();
  mkdirSync(join(folder, 'tls'), { mode: 0o700 });
  mkdirSync(join(folder, 'tmp'));
  const contents = {
    'authority.crt': authority.certificate,
    'server.crt': server.certificate,
    'server.key': server.key,
  };
  for (const [name, text] of Object.entries(contents)) writeFileSync(tlsFile(folder, name), text, { mode: 0o600 });
  return authority.certificate;
}

const answers = (url: string, agent: Agent): Promise<boolean> =>
  new Promise((resolve) => {
    const outgoing = get(url, { agent, timeout: 2_000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    outgoing.on('timeout', () => outgoing.destroy());
    outgoing.on('error', () => resolve(false));
  });
