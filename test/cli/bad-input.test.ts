/** Everything that people get wrong, on the real program: one line, the right exit code, no stack trace. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { kubeconfigFor, type ServerAccess } from '../../lib/cli/kubeconfig-file.ts';
import { makeServingCertificate } from '../../lib/cli/local/certificate.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../lib/cli/local/embedded-cluster.ts';
import { at } from '../support/builders.ts';
import { type Ended, runProgram } from '../support/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'node-rotation-test-'));
let embedded: EmbeddedCluster;
let occupied: Server;

beforeAll(async () => {
  embedded = await startEmbeddedCluster({ startsAt: at('2026-06-01T00:00:00Z') });
  occupied = createServer();
  await new Promise<void>((resolve) => occupied.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  await embedded.stop();
  occupied.close();
  rmSync(folder, { recursive: true });
});

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

/** A kubeconfig for the embedded cluster, with something changed. */
function kubeconfig(name: string, changed: Partial<ServerAccess> = {}): string {
  const file = join(folder, name);
  writeFileSync(file, kubeconfigFor({ ...embedded.access, ...changed }));
  return file;
}

/** @param args the table is always in a folder of the test's own */
const run = (...args: readonly string[]): Promise<Ended> =>
  runProgram(['run', ...args, '--data', join(folder, 'data')], { env: { HOME: folder } });

function expectOneLine({ code, out, err }: Ended, expected: { code: number; says: RegExp }): void {
  expect({ code, out, lines: err.trimEnd().split('\n').length }, err).toEqual({
    code: expected.code,
    out: '',
    lines: 1,
  });
  expect(err).toMatch(expected.says);
  expect(err).not.toMatch(/\bat .*:\d+:\d+|node_modules|\[object/);
}

describe('run', () => {
  test('says which kubeconfig cannot be read (D13-01)', async () => {
    const file = join(folder, 'missing');
    expectOneLine(await run('--kubeconfig', file), {
      code: 2,
      says: new RegExp(`^Cannot read the kubeconfig ${file}: .*--kubeconfig`),
    });
  });

  test('says that there is no kubeconfig at all (D13-01)', async () => {
    expectOneLine(await run(), { code: 2, says: /^There is no kubeconfig, neither named by KUBECONFIG nor at/ });
  });

  test('says in one line where a kubeconfig is no YAML (D13-01)', async () => {
    const file = join(folder, 'broken');
    writeFileSync(file, 'apiVersion: {{{\n');
    expectOneLine(await run('--kubeconfig', file), { code: 2, says: /^Cannot read the kubeconfig .*broken: / });
  });

  test('names the contexts that there are instead of an unknown one (D13-01)', async () => {
    const ended = await run('--kubeconfig', kubeconfig('good'), '--context', 'nowhere');
    expectOneLine(ended, {
      code: 2,
      says: /^No context "nowhere" in the kubeconfig; it has node-rotation-demo\..*--context/,
    });
  });

  test('says that nobody listens where the kubeconfig points (D13-01)', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const port = portOf(closed);
    await new Promise((resolve) => closed.close(resolve));
    const server = `https://127.0.0.1:${port}`;
    const ended = await run('--kubeconfig', kubeconfig('unreachable', { server }));
    expectOneLine(ended, {
      code: 3,
      says: new RegExp(`^Cannot look at the cluster at ${server} \\(Unreachable\\): .*ECONNREFUSED`),
    });
  });

  test('says that a host name leads nowhere (D13-01)', async () => {
    const ended = await run('--kubeconfig', kubeconfig('unknown-host', { server: 'https://nowhere.invalid' }));
    expectOneLine(ended, {
      code: 3,
      says: /^Cannot look at the cluster at https:\/\/nowhere\.invalid \(Unreachable\): /,
    });
  });

  test('says that a server which never answers did not (D1-06, D13-01)', async () => {
    const server = `https://127.0.0.1:${portOf(occupied)}`;
    const ended = await run('--kubeconfig', kubeconfig('silent', { server }));
    expectOneLine(ended, { code: 3, says: /\(Timeout\): .* within 5000 ms/ });
  });

  test('says that the token is not accepted (D13-01)', async () => {
    const ended = await run('--kubeconfig', kubeconfig('unauthorized', { token: 'of yesterday' }));
    expectOneLine(ended, { code: 3, says: /\(AuthFailed\): .*401.*renew/ });
  });

  test('says what the credentials lack (D13-01)', async () => {
    const { authority, certificate, key } = await makeServingCertificate(new Date());
    const strict = createHttpsServer({ cert: certificate, key }, (_, response) => {
      const message = 'nodepools.karpenter.sh is forbidden: User "eve" cannot list resource "nodepools"';
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403, message }));
    });
    await new Promise<void>((resolve) => strict.listen(0, '127.0.0.1', resolve));
    const server = `https://127.0.0.1:${portOf(strict)}`;
    const ended = await run('--kubeconfig', kubeconfig('forbidden', { server, authority }));
    strict.closeAllConnections();
    strict.close();
    expectOneLine(ended, { code: 3, says: /\(Forbidden\): .*User "eve" cannot list.*RBAC/ });
  });

  test('says that the cluster does not serve the kinds it needs (D11-07, D13-01)', async () => {
    const bare = await startEmbeddedCluster({ startsAt: at('2026-06-01T00:00:00Z'), absent: ['RotationPolicy'] });
    const ended = await run('--kubeconfig', kubeconfig('bare', bare.access));
    await bare.stop();
    expectOneLine(ended, { code: 1, says: /\(CrdMissing\): .*rotationpolicies.*install/ });
  });

  test('never speaks to a server in the clear (D13-01)', async () => {
    const server = embedded.access.server.replace('https', 'http');
    const ended = await run('--kubeconfig', kubeconfig('plain-http', { server }));
    expectOneLine(ended, { code: 2, says: /must be an https address, not http:/ });
  });

  test('does not trust a server whose authority it was not given (D13-01)', async () => {
    const { authority } = await makeServingCertificate(new Date());
    const ended = await run('--kubeconfig', kubeconfig('stranger', { authority }));
    expectOneLine(ended, { code: 3, says: /\(TlsFailed\): .*certificate-authority-data/ });
  });

  test.each([
    { args: ['--interval', '60'], says: /--interval.*duration such as 60s/ },
    { args: ['--interval', '10ms'], says: /--interval.*at least 1s/ },
    { args: ['--table', 'audit'], says: /--table.*cannot be used with.*--data/ },
    { args: ['--nonsense'], says: /^unknown option '--nonsense'.*--help/ },
  ])('refuses the flags $args (D13-01)', async ({ args, says }) => {
    expectOneLine(await run(...args), { code: 2, says });
  });
});

describe('local', () => {
  test('says that its port is taken (D13-01)', async () => {
    const port = portOf(occupied);
    const ended = await runProgram(['local', '--port', String(port)]);
    expectOneLine(ended, { code: 3, says: new RegExp(`^Cannot listen: .*127\\.0\\.0\\.1:${port}.*--port`) });
  });

  test.each([
    { args: ['--port', '99999'], says: /--port.*0 to 65535/ },
    { args: ['--port', 'https'], says: /--port.*whole number/ },
    { args: ['--output', 'xml'], says: /--output.*text, json, yaml/ },
    { args: ['--report', '/nonexistent/report.html'], says: /^Cannot use a file: .*\/nonexistent\/report\.html/ },
    { args: ['--data', '/dev/null'], says: /^Cannot use a file: .*\/dev\/null/ },
  ])('refuses $args before anything runs (D13-01)', async ({ args, says }) => {
    expectOneLine(await runProgram(['local', ...args]), { code: 2, says });
  });
});

describe('history', () => {
  test.each([
    {
      args: ['--data', join(folder, 'nothing'), '--cluster', 'c'],
      says: /^There is no audit table in .*nothing.*--data/,
    },
    { args: ['--data', folder], says: /^Which cluster is not known: .*--cluster/ },
    { args: ['--cluster', 'c', '--from', 'yesterday'], says: /--from.*RFC 3339/ },
    { args: ['--cluster', 'c', '--rotation', 'x'], says: /--rotation.*CLAIM-UID@STARTED-AT/ },
    { args: ['--cluster', 'c', '--table', 'audit'], says: /^The audit table has no AWS region\..*AWS_REGION/ },
  ])('refuses $args (D13-01)', async ({ args, says }) => {
    expectOneLine(await runProgram(['history', ...args], { env: { HOME: folder } }), { code: 2, says });
  });
});

describe('the program', () => {
  test.each([
    { args: ['rotate'], says: /^unknown command 'rotate'/ },
    { args: ['local', 'now'], says: /^too many arguments/ },
  ])('refuses $args (D13-01)', async ({ args, says }) => {
    expectOneLine(await runProgram(args), { code: 2, says });
  });

  test('explains itself when asked (D13-01)', async () => {
    const { code, out, err } = await runProgram(['--help']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/local .*\n[\s\S]*run .*\n[\s\S]*history/);
  });
});
