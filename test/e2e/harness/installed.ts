/**
 * What is applied to a new control plane: Karpenter's definitions, and ours as an operator would apply them.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parse, parseAllDocuments } from 'yaml';
import type { Built } from './build.ts';
import { type KubeApi, type KubeDocument, RefusedRequest } from './kube-api.ts';

const ours = join(import.meta.dirname, '..', '..', '..', 'infra', 'kubernetes');

/** May get and list everything: a client whose every write is refused. */
export const readersGroup = 'readers';

const readers: readonly KubeDocument[] = [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: readersGroup },
    rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: readersGroup },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: readersGroup },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: readersGroup }],
  },
];

/** Returns once every kind is served. */
export async function install(api: KubeApi, { karpenterCrds }: Pick<Built, 'karpenterCrds'>): Promise<void> {
  const documents = [...documentsOfFolder(karpenterCrds), ...ourDocuments(), ...readers];
  const definitions = documents.filter(({ kind }) => kind === 'CustomResourceDefinition');
  await Promise.all(definitions.map((definition) => api.apply(definition)));
  await Promise.all(definitions.map((definition) => served(api, definition)));
  // The namespace comes before what lives in it, as in the kustomization.
  for (const document of documents) if (!definitions.includes(document)) await api.apply(document);
}

/** Established is not enough: for a moment after it, lists are answered with 429, "storage is (re)initializing". */
async function served(api: KubeApi, { spec }: KubeDocument): Promise<void> {
  const { group, names, versions } = spec as Definition;
  for (const { name: version } of versions.filter((one) => one.served)) {
    while (!(await answersLists(api, `/apis/${group}/${version}/${names.plural}`))) await wait(50);
  }
}

interface Definition {
  readonly group: string;
  readonly names: { readonly plural: string };
  readonly versions: readonly { readonly name: string; readonly served: boolean }[];
}

async function answersLists(api: KubeApi, path: string): Promise<boolean> {
  try {
    await api.send('GET', path);
    return true;
  } catch (error) {
    if (error instanceof RefusedRequest && [404, 429].includes(error.status)) return false;
    throw error;
  }
}

/** In the order of the kustomization. */
function ourDocuments(): KubeDocument[] {
  const { resources }: { resources: string[] } = parse(readFileSync(join(ours, 'kustomization.yaml'), 'utf8'));
  return resources.flatMap((file) => documentsOf(join(ours, file)));
}

const documentsOfFolder = (folder: string): KubeDocument[] =>
  globSync('*.yaml', { cwd: folder })
    .sort()
    .flatMap((file) => documentsOf(join(folder, file)));

const documentsOf = (file: string): KubeDocument[] =>
  parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS());
