/**
 * What the API server says when it says no: Kubernetes Status values, with the codes, reasons and words of the real one.
 */
import type { Kind } from './kinds.ts';

export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    /** The plural, as the real server has it. */
    readonly kind?: string;
    readonly uid?: string;
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly { readonly reason?: string; readonly message: string; readonly field?: string }[];
  };
  readonly code: number;
}

/** An answer of the API: what was asked for, or a Status that says why not. */
export type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly status: Status };

export const given = <T>(value: T): Answer<T> => ({ ok: true, value });
export const refused = (status: Status): { readonly ok: false; readonly status: Status } => ({ ok: false, status });

const failure = (code: number, reason: string, message: string, details?: Status['details']): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  ...(details === undefined ? {} : { details }),
  code,
});

const qualified = (kind: Kind): string => (kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`);

const detailsOf = (kind: Kind, name: string): NonNullable<Status['details']> => ({
  name,
  ...(kind.group === '' ? {} : { group: kind.group }),
  kind: kind.plural,
});

export const success = (kind: Kind, name: string, uid: string): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  details: { ...detailsOf(kind, name), uid },
  code: 200,
});

export const badRequest = (message: string): Status => failure(400, 'BadRequest', message);

export const unauthorized = (): Status => failure(401, 'Unauthorized', 'Unauthorized');

export const forbidden = (kind: Kind, name: string, why: string): Status =>
  failure(403, 'Forbidden', `${qualified(kind)} "${name}" is forbidden: ${why}`, detailsOf(kind, name));

/** What authorization says to a known caller without the right. */
export const mayNot = (kind: Kind, name: string, verb: string): Status =>
  failure(
    403,
    'Forbidden',
    `${qualified(kind)}${name === '' ? '' : ` "${name}"`} is forbidden: User "somebody" cannot ${verb} resource "${kind.plural}" in API group "${kind.group}"`,
    detailsOf(kind, name),
  );

export const notFound = (kind: Kind, name: string): Status =>
  failure(404, 'NotFound', `${qualified(kind)} "${name}" not found`, detailsOf(kind, name));

/** A path or a kind that is not served; it names no object. */
export const noSuchResource = (): Status =>
  failure(404, 'NotFound', 'the server could not find the requested resource', {});

export const methodNotAllowed = (): Status =>
  failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

export const alreadyExists = (kind: Kind, name: string): Status =>
  failure(409, 'AlreadyExists', `${qualified(kind)} "${name}" already exists`, detailsOf(kind, name));

export const conflict = (kind: Kind, name: string, why: string): Status =>
  failure(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(kind)} "${name}": ${why}`,
    detailsOf(kind, name),
  );

/** A delete whose precondition fails: here the server calls the kind by its own name. */
export const unmet = (kind: Kind, name: string, why: string): Status =>
  failure(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${kind.kind}${kind.group === '' ? '' : `.${kind.group}`} "${name}": ${why}`,
    { ...detailsOf(kind, name), kind: kind.kind },
  );

export const modified = (kind: Kind, name: string): Status =>
  conflict(kind, name, 'the object has been modified; please apply your changes to the latest version and try again');

export const expired = (): Status =>
  failure(
    410,
    'Expired',
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.',
  );

export const unsupportedMediaType = (given: string): Status =>
  failure(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format (${given}) - accepted media types include: application/merge-patch+json`,
  );

export const invalid = (kind: Kind, name: string, field: string, problem: string): Status =>
  failure(
    422,
    'Invalid',
    `${kind.kind}${kind.group === '' ? '' : `.${kind.group}`} "${name}" is invalid: ${field}: ${problem}`,
    {
      ...detailsOf(kind, name),
      causes: [{ reason: 'FieldValueInvalid', message: problem, field }],
    },
  );

export const tooManyRequests = (retryAfterSeconds: number): Status =>
  failure(429, 'TooManyRequests', 'the server has received too many requests and has asked us to try again later', {
    retryAfterSeconds,
  });

export const internalError = (message: string): Status =>
  failure(500, 'InternalError', `Internal error occurred: ${message}`);
