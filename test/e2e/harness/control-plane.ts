/**
 * A real Kubernetes control plane on this machine, with or without Karpenter, in a folder of its own.
 *
 * Nodes and Pods are made up by kwok; everything that decides about them is the real program. Without Karpenter only
 * etcd and the API server run, with every definition installed: objects then stay as they were made.
 */
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type Built, build, type Tell } from './build.ts';
import { type Authority, type Client, makeAuthority, makeServiceAccountKeys } from './certificates.ts';
import { type Guard, guard } from './guard.ts';
import { install, readersGroup } from './installed.ts';
import { type Access, KubeApi } from './kube-api.ts';
import type { KubernetesVersion } from './modules.ts';
import * as parts from './parts.ts';
import { freePorts, mustBeFree } from './ports.ts';
import { type Part, Processes } from './processes.ts';

export interface ControlPlaneOptions {
  /** 1.36 unless said otherwise. */
  readonly kubernetes?: KubernetesVersion;
  /** `false` starts etcd and the API server only. */
  readonly karpenter?: parts.KarpenterOptions | false;
  /** Pods take as long to stop as their annotation `pod-delete.stage.kwok.x-k8s.io/delay` says. */
  readonly delayedPodDelete?: boolean;
  readonly tokenWebhook?: parts.TokenWebhook;
  /** The API server sorts requests by flow schemas, and counts them by these. */
  readonly fairness?: boolean;
  /** Of the API server; a free one unless given. */
  readonly port?: number;
  /** Where everything is kept; a new temporary one unless given. */
  readonly folder?: string;
  readonly tell?: Tell;
}

/** The contexts of the kubeconfig, by who they are. */
export const clients = {
  admin: { user: 'admin', group: 'system:masters' },
  'node-rotation': { user: 'node-rotation', group: 'node-rotation' },
  reader: { user: 'reader', group: readersGroup },
  stranger: { user: 'stranger', group: 'strangers' },
} satisfies Readonly<Record<string, Client>>;
export type ContextName = keyof typeof clients;

export type PartName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kwok' | 'karpenter';

export class ControlPlane {
  readonly folder: string;
  /** One context for each of `clients`. */
  readonly kubeconfig: string;
  readonly ports: parts.Ports;
  readonly accesses: Readonly<Record<ContextName, Access>>;
  /** As admin. */
  readonly api: KubeApi;
  readonly #processes: Processes;
  readonly #guard: Guard;
  readonly #parts = new Map<string, Part>();
  readonly #ground: parts.Ground;

  constructor(ground: parts.Ground, accesses: Readonly<Record<ContextName, Access>>) {
    this.#ground = ground;
    this.folder = ground.folder;
    this.ports = ground.ports;
    this.kubeconfig = join(ground.folder, 'kubeconfig');
    this.accesses = accesses;
    this.api = new KubeApi(accesses.admin);
    this.#processes = new Processes(ground.folder);
    this.#guard = guard(ground.folder);
  }

  /** Starts a part that is new, or one that was stopped, as it was. */
  async start(part: Part | PartName): Promise<void> {
    const known = typeof part === 'string' ? this.#parts.get(part) : part;
    if (!known) throw new Error(`${part} never ran here`);
    this.#parts.set(known.name, known);
    await this.#processes.start(known);
  }

  stopPart(name: PartName): Promise<void> {
    return this.#processes.stop(name);
  }

  /** Stops Karpenter and starts it with other options. */
  async restartKarpenter(options: parts.KarpenterOptions): Promise<void> {
    await this.stopPart('karpenter');
    await this.start(parts.karpenter(this.#ground, options));
  }

  logOf(name: PartName): string {
    return this.#processes.logOf(name);
  }

  /** Leaves everything running when this process ends. */
  letGo(): void {
    this.#guard.release();
    this.api.close();
  }

  /** Stops every process that is still running, and removes what it kept; on request all but the logs. */
  async stop({ keepLogs = false } = {}): Promise<void> {
    await this.#processes.stopAll();
    this.letGo();
    for (const name of readdirSync(this.folder)) {
      if (!keepLogs || name !== 'logs') rmSync(join(this.folder, name), { recursive: true, force: true });
    }
    if (!keepLogs) rmdirSync(this.folder);
  }
}

/** @throws Failure; what had been started is stopped then, and the logs are kept */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const { kubernetes = '1.36', tell = () => {}, port } = options;
  const built = await build(kubernetes, tell);
  if (port !== undefined) await mustBeFree(port);
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'node-rotation-e2e-'));
  const ports = await choosePorts(port);
  const authority = await makeAuthority(new Date());
  await writeKeys(folder, authority);
  const accesses = await admit(`https://127.0.0.1:${ports.apiserver}`, authority);
  writeKubeconfig(join(folder, 'kubeconfig'), accesses);
  const plane = new ControlPlane({ folder, built, ports }, accesses);
  try {
    await startParts(plane, { folder, built, ports }, options);
  } catch (error) {
    await plane.stop({ keepLogs: true });
    throw error;
  }
  return plane;
}

async function startParts(plane: ControlPlane, ground: parts.Ground, options: ControlPlaneOptions): Promise<void> {
  const { folder, built, ports } = ground;
  const { karpenter = {}, delayedPodDelete = false, tokenWebhook } = options;
  await plane.start(parts.etcd(ground));
  if (tokenWebhook) await plane.start(parts.tokenWebhook(ground, tokenWebhook));
  const webhookConfig = tokenWebhook && writeWebhookConfig(folder, ports.tokenWebhook);
  await plane.start(parts.apiserver(ground, plane.api, { webhookConfig, fairness: options.fairness ?? false }));
  if (karpenter === false) return install(plane.api, built);
  const authority = readFileSync(join(folder, 'pki', 'authority.crt'), 'utf8');
  const answers = (port: number) => (): Promise<boolean> => isHealthy(port, authority);
  await Promise.all([
    install(plane.api, built),
    plane.start(parts.controllerManager(ground, answers(ports.controllerManager))),
    plane.start(parts.scheduler(ground, answers(ports.scheduler))),
  ]);
  await plane.start(parts.kwok(ground, writeStages(folder, built, delayedPodDelete)));
  await plane.start(parts.karpenter(ground, karpenter));
}

async function choosePorts(wanted: number | undefined): Promise<parts.Ports> {
  const names = [
    'etcd',
    'etcdPeer',
    'apiserver',
    'controllerManager',
    'scheduler',
    'kwok',
    'karpenterMetrics',
    'karpenterHealth',
    'tokenWebhook',
  ] as const satisfies readonly (keyof parts.Ports)[];
  const free = await freePorts(names.length);
  const chosen = Object.fromEntries(names.map((name, place) => [name, free[place]])) as unknown as parts.Ports;
  return wanted === undefined ? chosen : { ...chosen, apiserver: wanted };
}

async function writeKeys(folder: string, authority: Authority): Promise<void> {
  const pki = join(folder, 'pki');
  mkdirSync(pki, { recursive: true, mode: 0o700 });
  const server = await authority.server();
  const serviceAccount = makeServiceAccountKeys();
  const contents = {
    'authority.crt': authority.certificate,
    'server.crt': server.certificate,
    'server.key': server.key,
    'service-account.pub': serviceAccount.publicKey,
    'service-account.key': serviceAccount.privateKey,
  };
  for (const [name, text] of Object.entries(contents)) writeFileSync(join(pki, name), text, { mode: 0o600 });
}

/** How each of `clients` comes in. */
async function admit(server: string, authority: Authority): Promise<Readonly<Record<ContextName, Access>>> {
  const accesses = await Promise.all(
    Object.entries(clients).map(async ([name, client]) => {
      const access: Access = { server, authority: authority.certificate, ...(await authority.client(client)) };
      return [name, access] as const;
    }),
  );
  return Object.fromEntries(accesses) as Record<ContextName, Access>;
}

/** The kubeconfig of people, tests and parts: a context for each client, the admin's being the current one. */
function writeKubeconfig(file: string, accesses: Readonly<Record<ContextName, Access>>): void {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const names = Object.keys(clients) as ContextName[];
  const { server, authority } = accesses.admin;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'e2e', cluster: { server, 'certificate-authority-data': base64(authority) } }],
    users: names.map((name) => {
      const { certificate, key } = accesses[name];
      return { name, user: { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) } };
    }),
    contexts: names.map((name) => ({ name, context: { cluster: 'e2e', user: name } })),
    'current-context': 'admin',
  };
  writeFileSync(file, stringify(config), { mode: 0o600 });
}

function writeWebhookConfig(folder: string, port: number): string {
  const file = join(folder, 'token-webhook.kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'webhook', cluster: { server: `http://127.0.0.1:${port}/authenticate` } }],
    contexts: [{ name: 'webhook', context: { cluster: 'webhook' } }],
    'current-context': 'webhook',
  };
  writeFileSync(file, stringify(config));
  return file;
}

function writeStages(folder: string, { stages, delayedStages }: Built, delayed: boolean): string {
  const read = (from: string): [string, string][] =>
    globSync('*.yaml', { cwd: from }).map((name) => [name, readFileSync(join(from, name), 'utf8')]);
  // A delayed stage takes the place of the plain one of the same name.
  const chosen = new Map([...read(stages), ...(delayed ? read(delayedStages) : [])]);
  const file = join(folder, 'stages.yaml');
  writeFileSync(file, [...chosen.values()].join('\n---\n'));
  return file;
}

const isHealthy = (port: number, ca: string): Promise<boolean> =>
  new Promise((resolve) => {
    const outgoing = get({ host: '127.0.0.1', port, path: '/healthz', ca, timeout: 2_000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    outgoing.on('timeout', () => outgoing.destroy());
    outgoing.on('error', () => resolve(false));
  });
