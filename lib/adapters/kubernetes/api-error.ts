/**
 * How a request to the API server can fail: with a Status, or without an answer.
 *
 * The server's own reason and words are kept, because they are what an operator can act on.
 */
import type { ObservationOutcome } from '../../controller/ports.ts';
import type { Duration } from '../../domain/time.ts';

/** The parts of a `Status` that say what was refused and why. */
export interface StatusDetails {
  readonly kind?: string;
  readonly name?: string;
}

/** The server answered, and the answer is no. */
export class ApiStatusError extends Error {
  override readonly name = 'ApiStatusError';
  readonly code: number;
  /** Reason of the Status, such as `AlreadyExists`; empty when the answer was no Status. */
  readonly reason: string;
  readonly details: StatusDetails;
  /** What Retry-After asked for, when it could be read. */
  readonly retryAfter?: Duration;
  /** The request was for a whole list. */
  readonly ofList: boolean;

  constructor(
    message: string,
    answer: {
      code: number;
      reason: string;
      details: StatusDetails;
      retryAfter?: Duration | undefined;
      ofList: boolean;
    },
  ) {
    super(message);
    this.code = answer.code;
    this.reason = answer.reason;
    this.details = answer.details;
    if (answer.retryAfter !== undefined) this.retryAfter = answer.retryAfter;
    this.ofList = answer.ofList;
  }
}

/** There was no usable answer: whether a write has happened is unknown. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly outcome: 'Unreachable' | 'Timeout' | 'TlsFailed' | 'AuthFailed';
  /** The connection had served earlier requests and was closed under this one. */
  readonly resetOfReusedSocket: boolean;

  constructor(
    outcome: TransportError['outcome'],
    message: string,
    options: { cause?: unknown; resetOfReusedSocket?: boolean } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.outcome = outcome;
    this.resetOfReusedSocket = options.resetOfReusedSocket ?? false;
  }
}

/** @design D11-07 */
export function outcomeOf(error: ApiStatusError | TransportError): ObservationOutcome {
  if (error instanceof TransportError) return error.outcome;
  switch (error.code) {
    case 401:
      return 'AuthFailed';
    case 403:
      return 'Forbidden';
    case 404:
      return error.ofList ? 'CrdMissing' : 'Unreachable';
    case 429:
      return 'Throttled';
    case 504:
      return 'Timeout';
    default:
      return 'Unreachable';
  }
}

/** The server says that exactly this object does not exist; any other 404 proves nothing. @design D5-05 */
export const saysGone = (error: unknown, name: string): boolean =>
  error instanceof ApiStatusError && error.code === 404 && error.reason === 'NotFound' && error.details.name === name;

const tlsCodes =
  /^(ERR_TLS_|ERR_SSL_|CERT_|EPROTO$|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|UNABLE_TO_|HOSTNAME_MISMATCH$|INVALID_CA$)/;

/** Whether a failed connection means that the server's certificate, or its TLS, was not accepted. */
export const isTlsFailure = (code: string | undefined): boolean => code !== undefined && tlsCodes.test(code);
