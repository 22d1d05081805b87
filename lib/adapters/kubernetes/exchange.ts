/**
 * One request to an API server and its whole answer, or why there is none. Whether it is made again is the client's matter.
 */
import { Agent, request as httpsRequest } from 'node:https';
import type { Duration, Instant } from '../../domain/time.ts';
import { instant } from '../../domain/time.ts';
import { type AnswerText, beginText } from './answer-texts.ts';
import { isTlsFailure, TransportError } from './api-error.ts';
import type { Prepared } from './connection.ts';

export type Verb = 'get' | 'list' | 'create' | 'patch' | 'delete';

export interface ApiRequest {
  readonly verb: Verb;
  /** Plural of the resource, for counting. */
  readonly resource: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Ask for metadata only. */
  readonly metadataOnly?: boolean;
  /** Besides those of every request. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

export interface RawAnswer {
  readonly status: number;
  readonly collected: AnswerText;
  readonly retryAfter: string | undefined;
  readonly date: Instant | undefined;
}

const methods: Readonly<Record<Verb, string>> = {
  get: 'GET',
  list: 'GET',
  create: 'POST',
  patch: 'PATCH',
  delete: 'DELETE',
};

/**
 * @returns an answer of any status, whose text is to be given back
 * @throws TransportError when there is none within the limit
 */
export function send(
  server: URL,
  request: ApiRequest,
  prepared: Prepared,
  how: { body: string | undefined; bytesSent: number; limit: Duration; onFreshSocket: boolean; what: string },
): Promise<RawAnswer> {
  const { body, limit, what } = how;
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(urlOf(server, request), {
      method: methods[request.verb],
      agent: how.onFreshSocket ? withoutReuse(prepared.agent) : prepared.agent,
      ...(prepared.auth === undefined ? {} : { auth: prepared.auth }),
      headers: {
        ...prepared.headers,
        ...request.headers,
        Accept: acceptOf(request),
        'User-Agent': 'node-rotation',
        ...(body === undefined ? {} : { 'Content-Type': contentTypeOf(request), 'Content-Length': how.bytesSent }),
      },
    });
    const timer = setTimeout(() => {
      settle(() => reject(new TransportError('Timeout', `no answer to ${what} within ${limit} ms`)));
      outgoing.destroy();
    }, limit);
    const settle = (end: () => void): void => {
      clearTimeout(timer);
      end();
    };
    const fail = (error: NodeJS.ErrnoException): void =>
      settle(() => reject(transportError(what, error, outgoing.reusedSocket)));
    outgoing.on('error', fail);
    outgoing.on('response', (incoming) => {
      const collected = beginText();
      incoming.on('data', (chunk: Buffer) => collected.add(chunk));
      incoming.on('error', fail);
      incoming.on('end', () => {
        const date = Date.parse(incoming.headers.date ?? '');
        settle(() =>
          resolve({
            status: incoming.statusCode ?? 0,
            collected,
            retryAfter: incoming.headers['retry-after'],
            date: Number.isNaN(date) ? undefined : instant(date),
          }),
        );
      });
    });
    outgoing.end(body);
  });
}

function transportError(what: string, error: NodeJS.ErrnoException, reusedSocket: boolean): TransportError {
  const outcome = isTlsFailure(error.code) ? 'TlsFailed' : 'Unreachable';
  const reset = error.code === 'ECONNRESET' || error.code === 'EPIPE';
  return new TransportError(outcome, `${what} failed: ${error.message || error.code || error.name}`, {
    cause: error,
    resetOfReusedSocket: reusedSocket && reset,
  });
}

// The other idle sockets of an agent are as old as the one that was just found closed.
const withoutReuse = (agent: Agent): Agent =>
  agent.constructor === Agent ? new Agent({ ...agent.options, keepAlive: false }) : agent;

function urlOf(server: URL, { path, query }: ApiRequest): URL {
  const url = new URL(server);
  url.pathname = `${server.pathname.replace(/\/$/, '')}${path}`;
  url.search = query === undefined ? '' : new URLSearchParams(query).toString();
  return url;
}

function acceptOf({ verb, metadataOnly }: ApiRequest): string {
  if (!metadataOnly) return 'application/json';
  const kind = verb === 'list' ? 'PartialObjectMetadataList' : 'PartialObjectMetadata';
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;
}

const contentTypeOf = ({ verb }: ApiRequest): string =>
  verb === 'patch' ? 'application/merge-patch+json' : 'application/json';
