/**
 * What a cluster looked like when a test on it failed: a fault that comes once in twenty runs has to be found in that one.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { beforeEach } from 'vitest';
import type { ControlPlane, PartName } from '../harness/control-plane.ts';

const collections = {
  nodepools: '/apis/karpenter.sh/v1/nodepools',
  nodeclaims: '/apis/karpenter.sh/v1/nodeclaims',
  rotationpolicies: '/apis/noderotation.io/v1alpha1/rotationpolicies',
  nodes: '/api/v1/nodes',
  pods: '/api/v1/pods',
  events: '/apis/events.k8s.io/v1/events',
} as const;
const tellingParts: readonly PartName[] = ['kube-apiserver', 'kube-scheduler', 'kwok', 'karpenter'];

export interface Witness {
  readonly plane: ControlPlane;
  /** Everything that the programs on this cluster have printed, each under a name. */
  readonly said: () => Readonly<Record<string, string>>;
}

/** Called once in a test file: after each failed test the cluster is written down, and standard error says where. */
export function keepEvidence(witness: () => Witness | undefined): void {
  beforeEach(({ onTestFailed }) => {
    onTestFailed(async ({ task }) => {
      const found = witness();
      if (found)
        process.stderr.write(`"${task.name}" failed; its cluster is written down in ${await writeDown(found)}\n`);
    });
  });
}

/** @returns the folder */
async function writeDown({ plane, said }: Witness): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'node-rotation-e2e-failed-'));
  for (const [name, path] of Object.entries(collections)) {
    const items = await plane.api.list(path).catch((error: unknown) => [String(error)]);
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(items, undefined, 1));
  }
  mkdirSync(join(folder, 'logs'));
  for (const log of tellingParts.map((name) => plane.logOf(name)).filter((each) => existsSync(each))) {
    copyFileSync(log, join(folder, 'logs', basename(log)));
  }
  for (const [name, text] of Object.entries(said())) writeFileSync(join(folder, 'logs', `program-${name}.log`), text);
  return folder;
}
