/**
 * Requests to one API server in plain JSON: each with a time limit of its own, named and counted.
 *
 * Address, TLS and credentials are the connection's. What is retried here is only what cannot do harm twice: a throttled
 * request after the server's own Retry-After, a request whose kept socket was closed under it, and one refused token.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Duration, Instant } from '../../domain/time.ts';
import { between, duration, instant, longer, seconds, shorter, zero } from '../../domain/time.ts';
import { giveBack } from './answer-texts.ts';
import { ApiStatusError, type StatusDetails, TransportError } from './api-error.ts';
import type { Connection, Prepared } from './connection.ts';
import { type ApiRequest, type RawAnswer, send, type Verb } from './exchange.ts';
import { Turns } from './turns.ts';

export interface ApiAnswer {
  readonly body: unknown;
  /** The server's clock, to the second. */
  readonly date?: Instant;
}

export interface ReadAnswer<T> {
  readonly read: T;
  readonly date?: Instant;
}

/** One request as it went over the wire. */
export interface Exchange {
  readonly verb: Verb;
  readonly resource: string;
  readonly path: string;
  /** 0 when there was no answer. */
  readonly status: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

export interface ApiClientOptions {
  readonly connection: Connection;
  /** What is left of the time in which calls may be made. @design D1-06 */
  readonly left: () => Duration;
  readonly sleep?: (length: Duration) => Promise<unknown>;
}

const longestCall = seconds(5);
const mostThrottledRetries = 10;
const shortestWait = duration(100);

export class ApiClient {
  readonly #connection: Connection;
  readonly #left: () => Duration;
  readonly #sleep: (length: Duration) => Promise<unknown>;
  readonly #exchanges: Exchange[] = [];
  /** Pages of lists but for their first. */
  readonly laterPages = new Turns();

  constructor({ connection, left, sleep = (length) => wait(length) }: ApiClientOptions) {
    this.#connection = connection;
    this.#left = left;
    this.#sleep = sleep;
  }

  /** `https://…` */
  get server(): string {
    return this.#connection.server.href;
  }

  /** Every request made so far, retries included. */
  get exchanges(): readonly Exchange[] {
    return this.#exchanges;
  }

  /**
   * @returns the body of a 2xx answer
   * @throws ApiStatusError when the server refuses, TransportError when there is no usable answer
   * @design D1-06, D9-01
   */
  async request(request: ApiRequest): Promise<ApiAnswer> {
    const { read: body, ...answer } = await this.requestText(request, (text) => parsed(request, text));
    return { body, ...answer };
  }

  /**
   * `request` for who parses the answer in parts.
   *
   * @param read makes something of the text at once: after it has returned, the text is overwritten
   * @throws ApiStatusError when the server refuses, TransportError when there is no answer, and what `read` throws
   */
  async requestText<T>(request: ApiRequest, read: (text: Buffer) => T): Promise<ReadAnswer<T>> {
    let prepared = await this.#connection.prepare();
    let onFreshSocket = false;
    let renewed = false;
    let throttled = 0;
    for (;;) {
      const answer = await this.#attempt(request, prepared, onFreshSocket);
      if (answer === 'resetOfReusedSocket') {
        onFreshSocket = true;
        continue;
      }
      const { collected, date } = answer;
      if (answer.status >= 200 && answer.status < 300) {
        try {
          return { read: read(collected.text), ...(date === undefined ? {} : { date }) };
        } finally {
          giveBack(collected);
        }
      }
      const refusal = statusError(request, answer);
      giveBack(collected);
      if (answer.status === 401 && prepared.token !== undefined && !renewed) {
        renewed = true;
        prepared = await this.#connection.prepare(prepared.token);
        continue;
      }
      const pause = throttled < mostThrottledRetries ? this.#pauseAsked(answer) : undefined;
      if (pause === undefined) throw refusal;
      throttled += 1;
      await this.#sleep(pause);
    }
  }

  async #attempt(
    request: ApiRequest,
    prepared: Prepared,
    onFreshSocket: boolean,
  ): Promise<RawAnswer | 'resetOfReusedSocket'> {
    try {
      return await this.#exchange(request, prepared, onFreshSocket);
    } catch (error) {
      if (!onFreshSocket && error instanceof TransportError && error.resetOfReusedSocket) return 'resetOfReusedSocket';
      throw error;
    }
  }

  // A 503 without Retry-After is an outage and not a request to wait; a 429 without one still means "later".
  #pauseAsked(answer: RawAnswer): Duration | undefined {
    if (answer.status !== 429 && answer.status !== 503) return undefined;
    const asked = readRetryAfter(answer) ?? (answer.status === 429 ? seconds(1) : undefined);
    if (asked === undefined || asked >= this.#left()) return undefined;
    return longer(asked, shortestWait);
  }

  async #exchange(request: ApiRequest, prepared: Prepared, onFreshSocket: boolean): Promise<RawAnswer> {
    const what = `${request.verb} ${request.path}`;
    const limit = shorter(longestCall, this.#left());
    if (limit <= 0) throw new TransportError('Timeout', `no time was left for ${what}`);
    // As text, not as bytes: Node sends it in one write with the headers.
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const bytesSent = body === undefined ? 0 : Buffer.byteLength(body);
    const counted = { verb: request.verb, resource: request.resource, path: request.path };
    try {
      const how = { body, bytesSent, limit, onFreshSocket, what };
      const answer = await send(this.#connection.server, request, prepared, how);
      const { status, collected } = answer;
      const bytesReceived = collected.text.length;
      this.#exchanges.push({ ...counted, status, bytesSent, bytesReceived });
      return answer;
    } catch (error) {
      this.#exchanges.push({ ...counted, status: 0, bytesSent, bytesReceived: 0 });
      throw error;
    }
  }
}

/** @throws TransportError when the text is no JSON */
export function parsed({ verb, path }: ApiRequest, text: Buffer): unknown {
  const body = parseJson(text);
  if (body === undefined) throw new TransportError('Unreachable', `the answer to ${verb} ${path} is not JSON`);
  return body;
}

function statusError(request: ApiRequest, answer: RawAnswer): ApiStatusError {
  const { text } = answer.collected;
  const body = parseJson(text) as
    | { kind?: unknown; reason?: unknown; message?: unknown; details?: unknown }
    | undefined;
  const status = body?.kind === 'Status' ? body : undefined;
  const words =
    typeof status?.message === 'string' && status.message ? status.message : text.toString('utf8').trim().slice(0, 200);
  const details = (status?.details ?? {}) as StatusDetails;
  return new ApiStatusError(`${request.verb} ${request.path}: ${answer.status} ${words}`.trimEnd(), {
    code: answer.status,
    reason: typeof status?.reason === 'string' ? status.reason : '',
    details,
    retryAfter: readRetryAfter(answer),
    ofList: request.verb === 'list',
  });
}

/** Seconds, or an HTTP date, which is held against the server's own clock. */
function readRetryAfter({ retryAfter, date }: RawAnswer): Duration | undefined {
  const text = retryAfter?.trim();
  if (!text) return undefined;
  if (/^\d{1,6}$/.test(text)) return seconds(Number(text));
  const at = Date.parse(text);
  if (Number.isNaN(at) || date === undefined) return undefined;
  const length = between(date, instant(at));
  return length > 0 ? length : zero;
}

/** undefined when the text is no JSON; JSON itself has no undefined. */
function parseJson(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('utf8'));
  } catch {
    return undefined;
  }
}
