/**
 * Every program of the control plane with its flags: what `kwokctl` and controller-runtime's test environment pass,
 * less what only a cluster of machines needs.
 *
 * The API server keeps the Priority and PodSecurity admission that placeholders meet in production; ServiceAccount
 * admission is off, because nothing here issues tokens to Pods.
 */
import { request } from 'node:http';
import { join } from 'node:path';
import type { Built } from './build.ts';
import type { KubeApi } from './kube-api.ts';
import type { Part } from './processes.ts';

export interface Ports {
  readonly etcd: number;
  readonly etcdPeer: number;
  readonly apiserver: number;
  readonly controllerManager: number;
  readonly scheduler: number;
  readonly kwok: number;
  readonly karpenterMetrics: number;
  readonly karpenterHealth: number;
  readonly tokenWebhook: number;
}

export interface Ground {
  readonly folder: string;
  readonly built: Built;
  readonly ports: Ports;
}

export interface TokenWebhook {
  readonly cluster: string;
  readonly region: string;
  /** URL of the STS that tokens are checked with. */
  readonly sts: string;
  /** Role or user ARN → Kubernetes groups. */
  readonly entries: Readonly<Record<string, readonly string[]>>;
}

export interface KarpenterOptions {
  /** Karpenter's own variables, such as `PREFERENCE_POLICY`. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly featureGates?: Readonly<Record<string, boolean>>;
  /** Replaces the provider's 144 instance types. */
  readonly instanceTypesFile?: string;
}

const answers = (port: number, path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const outgoing = request({ host: '127.0.0.1', port, path, timeout: 2_000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    outgoing.on('timeout', () => outgoing.destroy());
    outgoing.on('error', () => resolve(false));
    outgoing.end();
  });

export function etcd({ folder, built, ports }: Ground): Part {
  const [client, peer] = [`http://127.0.0.1:${ports.etcd}`, `http://127.0.0.1:${ports.etcdPeer}`];
  return {
    name: 'etcd',
    file: built.programs.etcd,
    arguments: [
      `--data-dir=${join(folder, 'etcd')}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
      // What a test writes need not survive a power cut.
      '--unsafe-no-fsync',
    ],
    healthy: () => answers(ports.etcd, '/health'),
  };
}

export function tokenWebhook({ built, ports }: Ground, { cluster, region, sts, entries }: TokenWebhook): Part {
  return {
    name: 'token-webhook',
    file: built.programs['token-webhook'],
    arguments: [
      `--listen=127.0.0.1:${ports.tokenWebhook}`,
      `--cluster=${cluster}`,
      `--region=${region}`,
      `--sts=${sts}`,
      ...Object.entries(entries).map(([arn, groups]) => `--entry=${arn}=${groups.join(',')}`),
    ],
    healthy: () => answers(ports.tokenWebhook, '/healthz'),
  };
}

export interface ApiServerOptions {
  readonly webhookConfig?: string | undefined;
  /** Requests are sorted by flow schemas and counted by them; off unless asked for. */
  readonly fairness?: boolean;
}

export function apiserver(
  { folder, built, ports }: Ground,
  admin: KubeApi,
  { webhookConfig, fairness = false }: ApiServerOptions,
): Part {
  const pki = (name: string): string => join(folder, 'pki', name);
  return {
    name: 'kube-apiserver',
    file: built.programs['kube-apiserver'],
    arguments: [
      `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${ports.apiserver}`,
      `--tls-cert-file=${pki('server.crt')}`,
      `--tls-private-key-file=${pki('server.key')}`,
      `--client-ca-file=${pki('authority.crt')}`,
      `--service-account-key-file=${pki('service-account.pub')}`,
      `--service-account-signing-key-file=${pki('service-account.key')}`,
      '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
      '--service-cluster-ip-range=10.0.0.0/24',
      '--authorization-mode=RBAC',
      '--allow-privileged=true',
      '--endpoint-reconciler-type=none',
      '--disable-admission-plugins=ServiceAccount',
      // One request more or less in flight must not decide a test on a busy machine.
      `--enable-priority-and-fairness=${fairness}`,
      ...(webhookConfig === undefined
        ? []
        : [`--authentication-token-webhook-config-file=${webhookConfig}`, '--authentication-token-webhook-version=v1']),
    ],
    healthy: () => admin.send('GET', '/readyz').then(() => true),
  };
}

export function controllerManager({ folder, built, ports }: Ground, healthy: () => Promise<boolean>): Part {
  const pki = (name: string): string => join(folder, 'pki', name);
  return {
    name: 'kube-controller-manager',
    file: built.programs['kube-controller-manager'],
    arguments: [
      ...controllerFlags(folder, ports.controllerManager),
      `--root-ca-file=${pki('authority.crt')}`,
      `--service-account-private-key-file=${pki('service-account.key')}`,
      '--use-service-account-credentials=false',
      // It deletes a Pod that it sees bound before it sees its Node registered: a matter of milliseconds on a busy machine.
      '--controllers=*,-taint-eviction-controller',
    ],
    healthy,
  };
}

export const scheduler = ({ folder, built, ports }: Ground, healthy: () => Promise<boolean>): Part => ({
  name: 'kube-scheduler',
  file: built.programs['kube-scheduler'],
  arguments: controllerFlags(folder, ports.scheduler),
  healthy,
});

const controllerFlags = (folder: string, port: number): string[] => [
  `--kubeconfig=${join(folder, 'kubeconfig')}`,
  '--leader-elect=false',
  '--bind-address=127.0.0.1',
  `--secure-port=${port}`,
  `--tls-cert-file=${join(folder, 'pki', 'server.crt')}`,
  `--tls-private-key-file=${join(folder, 'pki', 'server.key')}`,
];

/** @param stages one YAML file with every stage that nodes and Pods go through */
export const kwok = ({ folder, built, ports }: Ground, stages: string): Part => ({
  name: 'kwok',
  file: built.programs.kwok,
  arguments: [
    `--kubeconfig=${join(folder, 'kubeconfig')}`,
    `--config=${stages}`,
    '--manage-all-nodes=false',
    '--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake',
    '--manage-nodes-with-label-selector=',
    '--manage-single-node=',
    '--cidr=10.0.0.0/24',
    '--node-ip=10.0.0.1',
    '--node-lease-duration-seconds=40',
    `--server-address=127.0.0.1:${ports.kwok}`,
  ],
  healthy: () => answers(ports.kwok, '/healthz'),
});

export function karpenter({ folder, built, ports }: Ground, options: KarpenterOptions): Part {
  const { environment, featureGates = {}, instanceTypesFile } = options;
  const gates = Object.entries({ NodeRepair: false, ...featureGates }).map(([gate, open]) => `${gate}=${open}`);
  return {
    name: 'karpenter',
    file: built.programs.karpenter,
    arguments: [],
    environment: {
      KUBECONFIG: join(folder, 'kubeconfig'),
      DISABLE_LEADER_ELECTION: 'true',
      METRICS_PORT: String(ports.karpenterMetrics),
      HEALTH_PROBE_PORT: String(ports.karpenterHealth),
      BATCH_IDLE_DURATION: '200ms',
      BATCH_MAX_DURATION: '1s',
      FEATURE_GATES: gates.join(','),
      ...(instanceTypesFile !== undefined && { INSTANCE_TYPES_FILE_PATH: instanceTypesFile }),
      ...environment,
    },
    healthy: () => answers(ports.karpenterHealth, '/healthz'),
  };
}
