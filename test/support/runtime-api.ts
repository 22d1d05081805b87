/**
 * The Runtime API of Lambda: what a function's process asks for its next invocation, and tells what came of it.
 *
 * One invocation at a time, as one environment of a function gets them.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An error as the runtime client tells it. */
export interface RuntimeError {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace: readonly string[];
}

export type Invoked = { readonly payload: unknown } | { readonly error: RuntimeError };

interface Invocation {
  readonly id: string;
  readonly event: unknown;
  readonly functionArn: string;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  readonly ended: (invoked: Invoked) => void;
}

const prefix = '/2018-06-01/runtime/';

export class RuntimeApi {
  /** Resolves once the process asks for its first invocation: its code is loaded then. */
  readonly ready: Promise<void>;
  readonly #server: Server;
  readonly #waiting: Invocation[] = [];
  #current: Invocation | undefined;
  #asked: ServerResponse | undefined;
  #isReady: () => void = () => {};
  #isBroken: (error: Error) => void = () => {};

  private constructor() {
    this.ready = new Promise((resolve, reject) => {
      this.#isReady = resolve;
      this.#isBroken = reject;
    });
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(): Promise<RuntimeApi> {
    const api = new RuntimeApi();
    await new Promise<void>((resolve) => api.#server.listen(0, '127.0.0.1', resolve));
    return api;
  }

  /** Host and port. */
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  invoke(event: unknown, { functionArn, timeout }: { functionArn: string; timeout: number }): Promise<Invoked> {
    return new Promise((resolve) => {
      this.#waiting.push({ id: randomUUID(), event, functionArn, deadline: Date.now() + timeout, ended: resolve });
      this.#hand();
    });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url?.startsWith(prefix) ? request.url.slice(prefix.length) : '';
    if (path === 'invocation/next') {
      this.#asked = response;
      this.#isReady();
      this.#hand();
      return;
    }
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const known = this.#accept(path, body);
    response.writeHead(known ? 202 : 404, { 'Content-Type': 'application/json' });
    response.end(known ? '{"status":"OK"}' : '{"errorType":"NotFound"}');
  }

  #accept(path: string, body: unknown): boolean {
    const current = this.#current;
    if (path === 'init/error') this.#isBroken(new Error(`the function did not load: ${JSON.stringify(body)}`));
    else if (current && path === `invocation/${current.id}/response`) this.#end(current, { payload: body });
    else if (current && path === `invocation/${current.id}/error`) this.#end(current, { error: body as RuntimeError });
    else return false;
    return true;
  }

  #end(invocation: Invocation, invoked: Invoked): void {
    this.#current = undefined;
    invocation.ended(invoked);
  }

  #hand(): void {
    const asked = this.#asked;
    const next = asked && this.#waiting.shift();
    if (!asked || !next) return;
    this.#asked = undefined;
    this.#current = next;
    asked.writeHead(200, {
      'Content-Type': 'application/json',
      'Lambda-Runtime-Aws-Request-Id': next.id,
      'Lambda-Runtime-Deadline-Ms': String(next.deadline),
      'Lambda-Runtime-Invoked-Function-Arn': next.functionArn,
      'Lambda-Runtime-Trace-Id': `Root=1-${Math.floor(Date.now() / 1000).toString(16)}-${next.id.replaceAll('-', '').slice(0, 24)}`,
    });
    asked.end(JSON.stringify(next.event));
  }
}
