import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { build } from '../e2e/harness/build.ts';
import { builtFolder, cacheFolder } from '../e2e/harness/built.ts';
import { modulesFor, programNames } from '../e2e/harness/modules.ts';

const root = mkdtempSync(join(tmpdir(), 'node-rotation-test-'));
afterAll(() => rmSync(root, { recursive: true }));

/** A compiler that writes its target into the output, and module folders with the files that are copied. */
const compiler = `#!/bin/bash
case "$1" in
  env) echo go1.27.0 ;;
  list) echo "${root}/modules/\${!#}" ;;
  build)
    target="\${!#}"
    if [ "$target" = "$BROKEN" ]; then echo '# some/package' >&2; echo 'x.go:1: undefined: y' >&2; exit 1; fi
    while [ "$1" != -o ]; do shift; done
    echo "$target" > "$2" ;;
esac
`;
const moduleFiles = [
  'sigs.k8s.io/karpenter/kwok/charts/crds/nodepools.yaml',
  'sigs.k8s.io/karpenter/kwok/apis/crds/kwoknodeclasses.yaml',
  'sigs.k8s.io/karpenter/hack/kwok/stages/pod-delete.yaml',
  'sigs.k8s.io/kwok/kustomize/stage/pod/fast/pod-delete.yaml',
  'sigs.k8s.io/kwok/kustomize/stage/pod/fast/pod-ready.yaml',
  'sigs.k8s.io/kwok/kustomize/stage/pod/general/pod-ready.yaml',
];
const bin = join(root, 'bin');
mkdirSync(bin);
writeFileSync(join(bin, 'go'), compiler);
chmodSync(join(bin, 'go'), 0o755);
for (const path of moduleFiles) {
  const file = join(root, 'modules', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, path);
}

const told: string[] = [];
const tell = (line: string): void => void told.push(line);

beforeEach(() => {
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`);
  vi.stubEnv('XDG_CACHE_HOME', mkdtempSync(join(root, 'cache-')));
  told.length = 0;
  return () => vi.unstubAllEnvs();
});

describe('a build of the control plane', () => {
  test('makes every program and copies its files, once (D15-01)', async () => {
    const { programs, karpenterCrds, stages, delayedStages } = await build('1.36', tell);
    expect(Object.keys(programs).sort()).toEqual([...programNames].sort());
    expect(readFileSync(programs.karpenter, 'utf8')).toBe('sigs.k8s.io/karpenter/kwok\n');
    expect([karpenterCrds, stages, delayedStages].map((folder) => readdirSync(folder).sort())).toEqual([
      ['kwoknodeclasses.yaml', 'nodepools.yaml'],
      ['pod-delete.yaml', 'pod-ready.yaml'],
      ['pod-delete.yaml'],
    ]);
    expect(told).toEqual([
      `Building into ${cacheFolder()}: kubernetes-1.36, etcd, karpenter, kwok, token-webhook.`,
      ...programNames.map(() => expect.stringMatching(/^[\w-]+: built in \d+ s$/)),
    ]);
    told.length = 0;
    await build('1.36', tell);
    expect(told).toEqual([]);
    await build('1.34', tell);
    expect(told[0]).toBe(`Building into ${cacheFolder()}: kubernetes-1.34.`);
  });

  test('takes up after a module that did not build, which is named with the whole output (D13-01)', async () => {
    vi.stubEnv('BROKEN', 'sigs.k8s.io/kwok/cmd/kwok');
    const log = join(cacheFolder(), 'kwok-build.log');
    await expect(build('1.36', tell)).rejects.toMatchObject({
      exitCode: 1,
      message: `Cannot build kwok (x.go:1: undefined: y). The whole output is in ${log}; \`go env GOPROXY GOFLAGS\` says where modules come from.`,
    });
    expect(readFileSync(log, 'utf8')).toMatch(/^cd .* && go build .*\n# some\/package\nx\.go:1: undefined: y\n$/);
    expect(readdirSync(cacheFolder()).filter((name) => name.includes('partial'))).toEqual([]);
    vi.stubEnv('BROKEN', '');
    told.length = 0;
    await build('1.36', tell);
    expect(told[0]).toBe(`Building into ${cacheFolder()}: kwok, token-webhook.`);
  });

  test('does not take half a build for one, and clears what a killed builder left (D15-01)', async () => {
    const { programs } = await build('1.36', tell);
    const [etcd] = modulesFor('1.36')
      .filter(({ name }) => name === 'etcd')
      .map(builtFolder);
    // No process has that number on Linux.
    const abandoned = `${etcd}.partial-4194305`;
    mkdirSync(abandoned);
    rmSync(programs.etcd);
    told.length = 0;
    await build('1.36', tell);
    expect(told).toEqual([
      `Building into ${cacheFolder()}: etcd.`,
      `${etcd} is not whole: etcd is built anew.`,
      expect.stringMatching(/^etcd: built in \d+ s$/),
    ]);
    expect([existsSync(programs.etcd), existsSync(abandoned)]).toEqual([true, false]);
  });
});
