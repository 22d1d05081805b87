import { describe, expect, test } from 'vitest';
import { exitCodes, Failure, failureOf, lookFailed } from '../../lib/cli/failure.ts';
import { ObservationFailed, type ObservationOutcome } from '../../lib/controller/ports.ts';

const named = (name: string, message: string, more: object = {}): Error =>
  Object.assign(new Error(message), { name, ...more });

describe('a failure', () => {
  test.each<{ error: unknown; code: number; says: RegExp }>([
    { error: new Failure(exitCodes.usage, 'As it is.'), code: 2, says: /^As it is\.$/ },
    { error: new ObservationFailed('Forbidden', 'no'), code: 3, says: /\(Forbidden\): no\. .*RBAC/ },
    {
      error: named('UnusableConnection', 'no context "x"\n  picture'),
      code: 2,
      says: /^No context "x"\. .*--context\.$/,
    },
    {
      error: named('ResourceNotFoundException', 'Requested resource not found'),
      code: 2,
      says: /does not exist: .*--table\.$/,
    },
    {
      error: named('ValidationException', 'TableName must be at least 3 characters'),
      code: 2,
      says: /refuses the request: .*--table\.$/,
    },
    {
      error: named('CredentialsProviderError', 'Could not load credentials'),
      code: 3,
      says: /^No AWS credentials .*--data DIR\.$/,
    },
    { error: named('ExpiredTokenException', 'expired'), code: 3, says: /refuses these credentials: expired\. Renew/ },
    { error: named('Error', 'Region is missing'), code: 2, says: /AWS_REGION/ },
    {
      error: named('Error', 'Database failed to open', { code: 'LEVEL_DATABASE_NOT_OPEN' }),
      code: 2,
      says: /data folder.*--data\.$/,
    },
    {
      error: named('Error', 'listen EADDRINUSE: 127.0.0.1:1', { code: 'EADDRINUSE' }),
      code: 3,
      says: /^Cannot listen: .*--port\.$/,
    },
    {
      error: named('Error', "EACCES: permission denied, open '/x'", { code: 'EACCES' }),
      code: 2,
      says: /'\/x'\. Choose another path\.$/,
    },
    {
      error: named('TypeError', 'x is not a function'),
      code: 1,
      says: /^This is a bug in node-rotation: TypeError: x is not/,
    },
    { error: 'thrown text', code: 1, says: /^This is a bug in node-rotation: Error: thrown text\./ },
  ])('says what, where and what to do in one line: $error (D13-01)', ({ error, code, says }) => {
    const failure = failureOf(error);
    expect(failure.exitCode).toBe(code);
    expect(failure.message).toMatch(says);
    expect(failure.message).not.toContain('\n');
  });

  test.each<{ outcome: ObservationOutcome; code: number }>([
    { outcome: 'Unreachable', code: 3 },
    { outcome: 'Timeout', code: 3 },
    { outcome: 'Throttled', code: 3 },
    { outcome: 'TlsFailed', code: 3 },
    { outcome: 'AuthFailed', code: 3 },
    { outcome: 'Forbidden', code: 3 },
    { outcome: 'CrdMissing', code: 1 },
  ])('of a look at a cluster has the exit code of its outcome: $outcome (D11-07, D13-01)', ({ outcome, code }) => {
    const failure = lookFailed('https://host', outcome, 'its\n words');
    expect(failure.exitCode).toBe(code);
    expect(failure.message).toMatch(
      new RegExp(`^Cannot look at the cluster at https://host \\(${outcome}\\): its words\\. \\S+`),
    );
  });
});
