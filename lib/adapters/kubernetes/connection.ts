/**
 * How a cluster is reached: address, TLS trust and credentials.
 *
 * A connection lives as long as the process, so that its sockets outlive a tick. TLS verification is never skipped, also
 * where a kubeconfig or the environment asks for it: such a cluster is refused by name.
 */
import { Agent, type RequestOptions } from 'node:https';
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

/** What is known of a cluster before it is asked anything. */
export interface Access {
  readonly server: URL;
  /** Name of the kubeconfig context, or of the cluster where there is none. */
  readonly context: string;
  /** Only a proxy needs an agent other than ours. */
  readonly throughProxy: boolean;
  /** Trust and credentials as they are now: those of a kubeconfig may come out of a program. */
  options(): Promise<RequestOptions>;
}

const maxSockets = 6;

export class Connection {
  readonly tokens: BearerTokens | undefined;
  readonly #access: Access;
  #agent: Agent | undefined;
  #agentIdentity = '';
  /** What the agent was made of. */
  #agentOptions: RequestOptions | undefined;

  constructor(access: Access, tokens?: BearerTokens) {
    this.#access = access;
    this.tokens = tokens;
  }

  get server(): URL {
    return this.#access.server;
  }

  get context(): string {
    return this.#access.context;
  }

  /** @throws TransportError AuthFailed when no credentials can be had */
  async prepare(refusedToken?: string): Promise<Prepared> {
    try {
      const options = await this.#access.options();
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
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new TransportError('AuthFailed', `no credentials for ${this.server.host}: ${reason}`, { cause });
    }
  }

  /** Closes every socket, also those in use. */
  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  #agentFor(options: RequestOptions): Agent {
    if (this.#access.throughProxy) return options.agent as Agent;
    if (this.#agent !== undefined && options === this.#agentOptions) return this.#agent;
    const { ca, cert, key, servername } = options;
    const identity = [ca, cert, key, servername].map(String).join('|');
    if (this.#agent === undefined || identity !== this.#agentIdentity) {
      this.#agent?.destroy();
      // A bounded number of sockets, kept alive between ticks.
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
    this.#agentOptions = options;
    return this.#agent;
  }
}

/**
 * A cluster given by address and certificate authority, with tokens of our own. EKS tells all there is to know, so no
 * kubeconfig library is loaded for it.
 *
 * @throws UnusableConnection when the address is none of HTTPS
 * @design D15-04
 */
export function connectToEndpoint(address: EndpointAddress, tokens: BearerTokens): Connection {
  const { name, endpoint, certificateAuthority } = address;
  const trust = certificateAuthority === '' ? {} : { ca: Buffer.from(certificateAuthority, 'base64') };
  const access = {
    server: httpsServer(name, endpoint),
    context: name,
    throughProxy: false,
    options: async () => trust,
  };
  return new Connection(access, tokens);
}

/** @throws UnusableConnection when the address is none of HTTPS */
export function httpsServer(cluster: string, address: string): URL {
  const server = URL.canParse(address) ? new URL(address) : undefined;
  if (server?.protocol !== 'https:') {
    throw new UnusableConnection(`the server of cluster "${cluster}" must be an https address, not ${address}`);
  }
  return server;
}
