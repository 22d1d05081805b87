import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { isRunning } from '../e2e/harness/end-process.ts';
import { freePorts, mustBeFree } from '../e2e/harness/ports.ts';
import { type Part, Processes, startedIn } from '../e2e/harness/processes.ts';
import { eventually } from '../e2e/support/eventually.ts';

const root = mkdtempSync(join(tmpdir(), 'node-rotation-test-'));
afterAll(() => rmSync(root, { recursive: true }));

let count = 0;
const newFolder = (): string => {
  count += 1;
  return mkdtempSync(join(root, `${count}-`));
};

/** Programs that know how to take the signal before they call themselves ready. */
const stubborn = `trap '' TERM; touch "$READY"; while :; do sleep 0.02; done`;
const obedient = (says: string): string =>
  `trap 'echo ${says} >> "$JOURNAL"; exit 0' TERM; touch "$READY"; while :; do sleep 0.02; done`;

/** The shell is the program. */
function part(folder: string, name: string, script: string): Part {
  const ready = join(folder, `${name}-is-ready`);
  return {
    name,
    file: '/bin/bash',
    arguments: ['-c', script],
    environment: { JOURNAL: join(folder, 'journal'), READY: ready },
    healthy: async () => existsSync(ready),
  };
}

describe('the processes of a control plane', () => {
  test('are stopped in the reverse order of their start (D15-01)', async () => {
    const folder = newFolder();
    const processes = new Processes(folder);
    for (const name of ['first', 'second', 'third']) await processes.start(part(folder, name, obedient(name)));
    expect(processes.running).toEqual(['first', 'second', 'third']);
    const started = startedIn(folder);
    await processes.stopAll();
    expect(readFileSync(join(folder, 'journal'), 'utf8')).toBe('third\nsecond\nfirst\n');
    expect({ left: startedIn(folder), running: started.filter(isRunning) }).toEqual({ left: [], running: [] });
  });

  test('are killed when they do not stop (D15-01)', async () => {
    const folder = newFolder();
    const processes = new Processes(folder, 200);
    await processes.start(part(folder, 'stubborn', stubborn));
    const started = startedIn(folder);
    await processes.stopAll();
    expect(started.map(isRunning)).toEqual([false]);
  });

  test('that die at their start are named with their last words, log and what to do (D13-01)', async () => {
    const folder = newFolder();
    const processes = new Processes(folder);
    const dying = part(folder, 'kube-apiserver', 'echo starting; echo "bad flag: --x"; exit 3');
    await expect(processes.start(dying)).rejects.toMatchObject({
      exitCode: 1,
      message: `kube-apiserver ended with code 3 while starting ("bad flag: --x"). Its log: ${folder}/logs/kube-apiserver.log. Read the log; a binary that is at fault is built anew when its folder in the cache is removed.`,
    });
  });

  test('that are not there are named, too (D13-01)', async () => {
    const processes = new Processes(newFolder());
    const missing = { ...part('', 'etcd', ''), file: join(root, 'nothing') };
    await expect(processes.start(missing)).rejects.toMatchObject({
      message: expect.stringMatching(/^etcd spawn .*nothing ENOENT while starting\. /),
    });
  });

  test('tell of a port that was taken meanwhile (D13-01)', async () => {
    const processes = new Processes(newFolder());
    const words = 'listen tcp 127.0.0.1:1: bind: address already in use';
    const dying = part('', 'etcd', `echo '${words}'; exit 1`);
    await expect(processes.start(dying)).rejects.toMatchObject({
      message: expect.stringContaining('Another program took its port meanwhile: start again.'),
    });
  });

  test('end with their owner, even when it is killed (D15-01)', async () => {
    const folder = newFolder();
    const owner = join(root, 'owner.ts');
    const harness = join(import.meta.dirname, '..', 'e2e', 'harness');
    writeFileSync(
      owner,
      `import { guard } from '${harness}/guard.ts';
       import { Processes } from '${harness}/processes.ts';
       guard('${folder}');
       const healthy = async () => true;
       const processes = new Processes('${folder}');
       await processes.start({ name: 'one', file: '/bin/bash', arguments: ['-c', 'while :; do sleep 0.02; done'], healthy });
       console.log('up');
       setInterval(() => {}, 1000);`,
    );
    const child = spawn(process.execPath, [owner], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const started = startedIn(folder);
    expect(started.map(isRunning)).toEqual([true]);
    child.kill('SIGKILL');
    await eventually('the guard to end it', 15_000, async () => (started.some(isRunning) ? undefined : true));
  });

  test('end with those that they have started (D15-01)', async () => {
    const folder = newFolder();
    const processes = new Processes(folder);
    const number = join(folder, 'number');
    writeFileSync(join(folder, 'child.sh'), obedient('child'));
    writeFileSync(number, '');
    const parent = part(folder, 'parent', `/bin/bash ${folder}/child.sh & echo $! > ${number}; wait`);
    await processes.start(parent);
    const pid = await eventually('its number', 5_000, async () => Number(readFileSync(number, 'utf8')) || undefined);
    const started = { name: 'child', pid, file: '/bin/bash' };
    expect(isRunning(started)).toBe(true);
    await processes.stopAll();
    await eventually('the child to end', 5_000, async () => (isRunning(started) ? undefined : true));
    expect(readFileSync(join(folder, 'journal'), 'utf8')).toBe('child\n');
  });

  test.each([
    ['echo one; echo two >&2', undefined],
    ['echo one; echo two >&2; exit 3', 'ended with code 3'],
    ['echo one; echo two >&2; kill -9 $$', 'ended by SIGKILL'],
    ['echo one; echo two >&2; while :; do sleep 0.02; done', 'did not end within 0.5 s'],
  ])('that are to end tell how they did, and what they printed: %s (D13-01)', async (script, how) => {
    const folder = newFolder();
    const processes = new Processes(folder);
    const program = { name: 'task', file: '/bin/bash', arguments: ['-c', script] };
    expect(await processes.run(program, root, 500)).toBe(how);
    expect(readFileSync(processes.logOf('task'), 'utf8')).toBe('one\ntwo\n');
    expect({ left: startedIn(folder), running: processes.running }).toEqual({ left: [], running: [] });
  });

  test('are told from others that got their number (D15-01)', () => {
    expect(isRunning({ name: 'other', pid: process.pid, file: join(root, 'kube-apiserver') })).toBe(false);
  });
});

describe('ports', () => {
  test('are free, and different from each other', async () => {
    const ports = await freePorts(9);
    expect(new Set(ports).size).toBe(9);
    for (const port of ports) await mustBeFree(port);
    const later = await freePorts(9);
    expect(later.filter((port) => ports.includes(port))).toEqual([]);
  });

  test('are none that a system gives to the near end of a connection', async () => {
    for (const port of await freePorts(9)) expect(port).toBeLessThan(32_768);
  });

  test('that are taken are passed over', async () => {
    const [port = 0] = await freePorts(1);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port + 1, '127.0.0.1', resolve));
    expect(await freePorts(1)).toEqual([port + 2]);
    server.close();
  });

  test('are not promised where there are none', async () => {
    await expect(freePorts(20_000)).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(/^There are not 20000 free ports/),
    });
  });

  test('that are taken are refused before anything starts (D13-01)', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    await expect(mustBeFree(port)).rejects.toMatchObject({
      exitCode: 3,
      message: `Port ${port} of 127.0.0.1 cannot be used (EADDRINUSE): stop what uses it, or choose another with --port.`,
    });
    server.close();
  });
});
