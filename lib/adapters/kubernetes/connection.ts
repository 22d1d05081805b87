/**
 * How a cluster is reached: address, TLS trust and credentials, as the kubeconfig library reads them.
 *
 * A connection lives as long as the process, so that its sockets outlive a tick. TLS verification is never skipped, also
 * where a kubeconfig or the environment asks for it: such a cluster is refused by name.
 */
import { Agent, type RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { TransportError } from './api-error.ts';

/** Bearer tokens that can be made anew once the server has refused one. */
export interface BearerTokens {
  token(): Promise<string>;
  /** A token other than the refused one; several requests refused together share the new one. */
  renew(refused: string): Promise<string>;
}

/** The configuration does not lead to a cluster: something for the person who wrote it. */
export class UnusableConnection extends Error {
  override readonly name = 'UnusableConnection';
}

/** What a single request takes from its connection. */
export interface Prepared {
  readonly agent: Agent;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth?: string;
  /** The bearer token in the headers, where it is ours to renew. */
  readonly token?: string;
}

export interface EndpointAddress {
  readonly name: string;
  /** `https://…` */
  readonly endpoint: string;
  /** Base64 of the PEM bundle, as EKS hands it out. */
  readonly certificateAuthority: string;
}

const maxSockets = 6;
/** What the kubeconfig library makes up when it finds nothing. */
const libraryFallback = 'http://localhost:8080';

export class Connection {
  readonly server: URL;
  /** Name of the kubeconfig context. */
  readonly context: string;
  readonly tokens: BearerTokens | undefined;
  readonly #kubeConfig: KubeConfig;
  #agent: Agent | undefined;
  #agentIdentity = '';

  /** @throws UnusableConnection when the current context leads nowhere or asks for an unverified connection */
  constructor(kubeConfig: KubeConfig, tokens?: BearerTokens) {
    this.server = serverOf(kubeConfig);
    this.context = kubeConfig.getCurrentContext();
    this.#kubeConfig = kubeConfig;
    this.tokens = tokens;
  }

  /** @throws TransportError AuthFailed when no credentials can be had */
  async prepare(refusedToken?: string): Promise<Prepared> {
    const options: RequestOptions = {};
    try {
      await this.#kubeConfig.applyToHTTPSOptions(options);
      const token = await (refusedToken === undefined ? this.tokens?.token() : this.tokens?.renew(refusedToken));
      return {
        agent: this.#agentFor(options),
        headers: {
          ...(options.headers as Record<string, string> | undefined),
          ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        },
        ...(typeof options.auth === 'string' ? { auth: options.auth } : {}),
        ...(token === undefined ? {} : { token }),
      };
    } catch (cause) {
      throw new TransportError('AuthFailed', `no credentials for ${this.server.host}: ${messageOf(cause)}`, { cause });
    }
  }

  /** Closes every socket, also those in use. */
  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  // Only a proxy needs the library's own agent; ours keeps a bounded number of sockets alive between ticks.
  #agentFor(options: RequestOptions): Agent {
    if (this.#kubeConfig.getCurrentCluster()?.proxyUrl) return options.agent as Agent;
    const { ca, cert, key, servername } = options;
    const identity = [ca, cert, key, servername].map(String).join('|');
    if (this.#agent === undefined || identity !== this.#agentIdentity) {
      this.#agent?.destroy();
      this.#agent = new Agent({
        ...(ca === undefined ? {} : { ca }),
        ...(cert === undefined ? {} : { cert }),
        ...(key === undefined ? {} : { key }),
        ...(servername === undefined ? {} : { servername }),
        rejectUnauthorized: true,
        keepAlive: true,
        maxSockets,
      });
      this.#agentIdentity = identity;
    }
    return this.#agent;
  }
}

/**
 * The cluster of a kubeconfig context.
 *
 * @param from file: unset means KUBECONFIG, then `~/.kube/config`; context: unset means the file's current one
 * @throws UnusableConnection naming the file or the context that is missing or unreadable
 */
export function connectToContext(from: { file?: string; context?: string } = {}): Connection {
  const kubeConfig = new KubeConfig();
  try {
    if (from.file === undefined) kubeConfig.loadFromDefault();
    else kubeConfig.loadFromFile(from.file);
  } catch (cause) {
    const which = from.file === undefined ? 'the kubeconfig' : `the kubeconfig ${from.file}`;
    throw new UnusableConnection(`cannot read ${which}: ${messageOf(cause)}`, { cause });
  }
  if (from.file === undefined && kubeConfig.getCurrentCluster()?.server === libraryFallback) {
    throw new UnusableConnection('there is no kubeconfig, neither named by KUBECONFIG nor at ~/.kube/config');
  }
  if (from.context !== undefined) kubeConfig.setCurrentContext(from.context);
  return new Connection(kubeConfig);
}

/** A cluster given by address and certificate authority, with tokens of our own. */
export function connectToEndpoint(address: EndpointAddress, tokens: BearerTokens): Connection {
  const { name, endpoint, certificateAuthority } = address;
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromClusterAndUser(
    { name, server: endpoint, caData: certificateAuthority, skipTLSVerify: false },
    { name },
  );
  return new Connection(kubeConfig, tokens);
}

function serverOf(kubeConfig: KubeConfig): URL {
  const context = kubeConfig.getCurrentContext();
  const known = (kubeConfig.getContexts() ?? []).map(({ name }) => name);
  if (!context) throw new UnusableConnection('the kubeconfig has no current context: name one');
  if (!known.includes(context)) {
    throw new UnusableConnection(`no context "${context}" in the kubeconfig; it has ${known.join(', ') || 'none'}`);
  }
  const cluster = kubeConfig.getCurrentCluster();
  if (!cluster) throw new UnusableConnection(`the context "${context}" names a cluster that the kubeconfig lacks`);
  if (!kubeConfig.getCurrentUser()) {
    throw new UnusableConnection(`the context "${context}" names a user that the kubeconfig lacks`);
  }
  if (cluster.skipTLSVerify) {
    throw new UnusableConnection(
      `cluster "${cluster.name}" asks to skip TLS verification, which is never done: give its certificate-authority instead`,
    );
  }
  const server = URL.canParse(cluster.server) ? new URL(cluster.server) : undefined;
  if (server?.protocol !== 'https:') {
    throw new UnusableConnection(
      `the server of cluster "${cluster.name}" must be an https address, not ${cluster.server}`,
    );
  }
  return server;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
