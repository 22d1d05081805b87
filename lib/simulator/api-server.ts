/**
 * The simulated cluster's HTTPS face: a Kubernetes API server for real clients, over a store and a virtual clock.
 *
 * Its Date header is the virtual clock, which makes it the time of every tick. Certificate, key and token are handed in.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Instant } from '../domain/time.ts';
import type { ApiAnswer, ApiRequest } from './api-routes.ts';
import { answer, routeOf, statusAnswer, verbOf } from './api-routes.ts';
import {
  conflict,
  expired,
  internalError,
  mayNot,
  noSuchResource,
  tooManyRequests,
  unauthorized,
} from './api-status.ts';
import type { CallKind, Fault, FaultPlan } from './faults.ts';
import { noFaults } from './faults.ts';
import { httpDate } from './http-date.ts';
import type { KindName } from './kinds.ts';
import { kindOf } from './kinds.ts';
import type { ObjectStore } from './object-store.ts';

export interface ApiServerOptions {
  readonly store: ObjectStore;
  /** The virtual clock. */
  readonly now: () => Instant;
  /** PEM. */
  readonly certificate: string;
  /** PEM. */
  readonly privateKey: string;
  /** Every request but the health checks has to bear it, or one that is accepted besides. */
  readonly token: string;
  /** Whether a bearer token that is not ours is good. */
  readonly accepts?: (token: string) => boolean;
  readonly faults?: FaultPlan;
  /** Kinds that are not served, as on a cluster that lacks a CRD. */
  readonly absent?: readonly KindName[];
}

/** One request as it was served. */
export interface ServedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly code: number;
  /** Of the answer's body. */
  readonly bytes: number;
}

const publicPaths = ['healthz', 'readyz', 'livez'];

export class ApiServer {
  readonly #options: ApiServerOptions;
  readonly #server: Server;
  #served: ServedRequest[] = [];
  #faults: FaultPlan;

  constructor(options: ApiServerOptions) {
    this.#options = options;
    this.#faults = options.faults ?? noFaults;
    const handle = (request: IncomingMessage, response: ServerResponse): void => this.#receive(request, response);
    this.#server = createServer(
      { cert: options.certificate, key: options.privateKey, keepAlive: true, keepAliveTimeout: 60_000 },
      handle,
    );
  }

  /** @returns its base URL; @throws when the port cannot be had */
  start(port = 0): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', () => {
        this.#server.off('error', reject);
        resolve(`https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
      });
    });
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  /** From here on. */
  setFaults(faults: FaultPlan): void {
    this.#faults = faults;
  }

  /** What was served since the last time this was asked. */
  takeLog(): readonly ServedRequest[] {
    const log = this.#served;
    this.#served = [];
    return log;
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => response.destroy());
    request.on('end', () => this.#serve(request, Buffer.concat(chunks).toString('utf8'), response));
  }

  #serve(request: IncomingMessage, body: string, response: ServerResponse): void {
    const url = URL.parse(request.url ?? '/', 'https://simulated');
    const api: ApiRequest = {
      method: request.method ?? 'GET',
      path: (url?.pathname ?? '')
        .split('/')
        .filter((segment) => segment !== '')
        .map(decoded),
      query: url?.searchParams ?? new URLSearchParams(),
      accept: request.headers.accept ?? '',
      contentType: request.headers['content-type'] ?? '',
      body,
    };
    const open = api.path.length === 1 && publicPaths.includes(api.path[0] ?? '');
    const allowed = open || this.#admits(request.headers.authorization);
    const result = allowed ? this.#answer(api) : statusAnswer(unauthorized());
    if (result === undefined) {
      request.socket.destroy();
      return;
    }
    const text = Buffer.from(result.body, 'utf8');
    this.#served.push({ method: api.method, path: request.url ?? '/', code: result.code, bytes: text.byteLength });
    response.writeHead(result.code, {
      date: httpDate(this.#options.now()),
      'content-type': result.contentType ?? 'application/json',
      'content-length': text.byteLength,
      ...(result.code === 429 ? { 'retry-after': '1' } : {}),
    });
    response.end(text);
  }

  #admits(authorization = ''): boolean {
    const { token, accepts = () => false } = this.#options;
    const borne = /^Bearer (.+)$/.exec(authorization)?.[1];
    return borne !== undefined && (borne === token || accepts(borne));
  }

  /** @returns undefined when the client is not to hear anything */
  #answer(request: ApiRequest): ApiAnswer | undefined {
    const { store, absent = [] } = this.#options;
    const route = routeOf(request.path);
    if (route && absent.includes(route.kind.kind)) return statusAnswer(noSuchResource());
    const verb = route && verbOf(request, route);
    const fault = verb && this.#faults.next({ verb, kind: route.kind.kind });
    if (fault === undefined || fault === 'tornList') {
      if (fault === 'tornList' && request.query.has('continue')) return statusAnswer(expired());
      if (fault === 'tornList') store.compact();
      return answer(store, request);
    }
    if (fault === 'lostResponse') answer(store, request);
    return faulty(fault, route?.kind.kind ?? 'Pod', route?.name ?? '', verb ?? 'get');
  }
}

function faulty(
  fault: Exclude<Fault, 'tornList'>,
  kind: KindName,
  name: string,
  verb: CallKind,
): ApiAnswer | undefined {
  switch (fault) {
    case 'conflict':
      return statusAnswer(conflict(kindOf(kind), name, 'the object has been modified; please try again'));
    case 'forbidden':
      return statusAnswer(mayNot(kindOf(kind), name, verb));
    case 'throttled':
      return statusAnswer(tooManyRequests(1));
    case 'serverError':
      return statusAnswer(internalError('etcdserver: request timed out'));
    case 'lostRequest':
    case 'lostResponse':
      return undefined;
  }
}

/** A segment that is no valid percent-encoding is taken as it is, and will name nothing. */
function decoded(segment: string): string {
  return /%(?![0-9A-Fa-f]{2})/.test(segment) ? segment : decodeURIComponent(segment);
}
