/**
 * What ends a command early: one line that says what failed, where, and what to do, and the exit code that goes with it.
 *
 * Errors of libraries are put into words here; whatever is not known here is our own bug and says so. Stack traces are
 * for `NODE_ROTATION_DEBUG=1` only.
 */
import { ObservationFailed, type ObservationOutcome } from '../controller/ports.ts';

/** @design D13-01 */
export const exitCodes = {
  ok: 0,
  /** Invalid, conflict, unreadable object, fatal finding, or a run that did not come out as it should. */
  notAsItShouldBe: 1,
  /** Flags, kubeconfig or context missing, a file that cannot be read or parsed. */
  usage: 2,
  /** Unreachable, TLS, 401 or 403, port in use. */
  noAccess: 3,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export class Failure extends Error {
  override readonly name = 'Failure';
  readonly exitCode: ExitCode;

  /** @param message what, where, and what to do, in one line */
  constructor(exitCode: ExitCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

const advice: Readonly<Record<ObservationOutcome, string>> = {
  Unreachable: 'Check the server address in the kubeconfig, and that this machine can reach it.',
  Timeout: 'The server does not answer in time: check the network between, or try again later.',
  Throttled: 'The server is busy: try again later.',
  TlsFailed: "The server's certificate is not trusted: check certificate-authority-data in the kubeconfig.",
  AuthFailed: 'The server does not accept these credentials: renew them, or choose another user in the kubeconfig.',
  Forbidden: 'These credentials lack a permission: apply the RBAC of infra/kubernetes, or choose another user.',
  CrdMissing: 'The cluster does not serve this kind: install Karpenter and the RotationPolicy CRD first.',
};

/** A look at a cluster that failed, in words. */
export function lookFailed(server: string, outcome: ObservationOutcome, detail: string): Failure {
  const exitCode = outcome === 'CrdMissing' ? exitCodes.notAsItShouldBe : exitCodes.noAccess;
  return new Failure(
    exitCode,
    `Cannot look at the cluster at ${server} (${outcome}): ${sentence(detail)} ${advice[outcome]}`,
  );
}

/** What is known of an error of a library. */
interface Parts {
  readonly name: string;
  readonly message: string;
  readonly code: string;
}

interface Reading {
  readonly means: (parts: Parts) => boolean;
  readonly exitCode: ExitCode;
  readonly says: (message: string) => string;
}

const { usage, noAccess } = exitCodes;

const named =
  (...names: readonly string[]) =>
  ({ name }: Parts): boolean =>
    names.includes(name);

/** The first that applies counts. */
const readings: readonly Reading[] = [
  {
    means: named('UnusableConnection'),
    exitCode: usage,
    says: (why) => `${sentence(capital(firstLine(why)))} Name a file with --kubeconfig, a context with --context.`,
  },
  {
    means: named('ResourceNotFoundException'),
    exitCode: usage,
    says: (why) => `The audit table does not exist: ${sentence(why)} Name the right one with --table.`,
  },
  {
    means: named('ValidationException'),
    exitCode: usage,
    says: (why) => `The audit table refuses the request: ${sentence(why)} Check --table.`,
  },
  {
    means: named('CredentialsProviderError'),
    exitCode: noAccess,
    says: (why) => `No AWS credentials for the audit table: ${sentence(why)} Sign in, or use --data DIR.`,
  },
  {
    means: named('AccessDeniedException', 'UnrecognizedClientException', 'ExpiredTokenException'),
    exitCode: noAccess,
    says: (why) => `The audit table refuses these credentials: ${sentence(why)} Renew them, or use --data DIR.`,
  },
  {
    means: ({ message }) => message.startsWith('Region is missing'),
    exitCode: usage,
    says: () => 'The audit table has no AWS region. Set AWS_REGION, or use --data DIR.',
  },
  {
    means: ({ code }) => code.startsWith('LEVEL_'),
    exitCode: usage,
    says: (why) =>
      `Cannot open the table in the data folder: ${sentence(why)} Check that it is whole, or choose another folder with --data.`,
  },
  {
    means: ({ code }) => code === 'EADDRINUSE',
    exitCode: noAccess,
    says: (why) => `Cannot listen: ${sentence(why)} Stop what uses the port, or choose another with --port.`,
  },
  {
    means: ({ code }) => /^E(NOENT|ACCES|PERM|ROFS|ISDIR|NOTDIR|EXIST|NOSPC)$/.test(code),
    exitCode: usage,
    says: (why) => `Cannot use a file: ${sentence(why)} Choose another path.`,
  },
];

/** Any error as the failure that it means. @design D13-01 */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof ObservationFailed) return lookFailed('the API server', error.outcome, error.message);
  const parts = partsOf(error);
  const reading = readings.find(({ means }) => means(parts));
  if (reading) return new Failure(reading.exitCode, reading.says(parts.message), { cause: error });
  const what = sentence(`${parts.name}: ${parts.message}`);
  return new Failure(
    exitCodes.notAsItShouldBe,
    `This is a bug in node-rotation: ${what} Run again with NODE_ROTATION_DEBUG=1 for details.`,
    { cause: error },
  );
}

function partsOf(error: unknown): Parts {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), code: '' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return { name: error.name, message: error.message, code };
}

/** One line, closed by a full stop. */
function sentence(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return /[.!?]$/.test(line) ? line : `${line}.`;
}

/** A parser's picture of the place would not fit on the line. */
const firstLine = (text: string): string => text.split('\n')[0] ?? '';

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
