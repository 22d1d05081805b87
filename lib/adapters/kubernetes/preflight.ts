/**
 * What a cluster lacks before its nodes can be rotated, asked with the access of whoever asks.
 *
 * What the group of the deployment may do is asked as that group, by impersonation: the asker's own rights would say
 * nothing about it.
 */
import type { ApiClient } from './api-client.ts';
import { ApiStatusError, TransportError } from './api-error.ts';
import type { ApiRequest } from './exchange.ts';
import { policyCrd } from './policy-crd.ts';
import { resources } from './resources.ts';

export interface Check {
  readonly check: string;
  /** `unknown`: it could not be found out. */
  readonly verdict: 'ok' | 'missing' | 'unknown';
  /** What was found, or what to do. */
  readonly message: string;
}

export interface PreflightOptions {
  readonly client: Pick<ApiClient, 'request'>;
  /** The RBAC group of the access entry. */
  readonly group: string;
  readonly namespace: string;
  readonly priorityClassName: string;
}

interface Permission {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly verbs: readonly string[];
  /** In the placeholder namespace only. */
  readonly namespaced?: boolean;
}

/** Everything that a tick asks of the API. @design D9-04 */
export const permissions: readonly Permission[] = [
  { group: 'karpenter.sh', resource: 'nodeclaims', verbs: ['get', 'list', 'patch', 'delete'] },
  { group: 'karpenter.sh', resource: 'nodepools', verbs: ['get', 'list', 'patch'] },
  { group: '', resource: 'nodes', verbs: ['get', 'list', 'patch'] },
  { group: '', resource: 'pods', verbs: ['get', 'list'] },
  { group: '', resource: 'pods', verbs: ['create', 'delete'], namespaced: true },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: ['list'] },
  { group: 'events.k8s.io', resource: 'events', verbs: ['create'] },
  { group: 'noderotation.io', resource: 'rotationpolicies', verbs: ['get', 'list'] },
  { group: 'noderotation.io', resource: 'rotationpolicies', subresource: 'status', verbs: ['patch'] },
];

const applyAll = 'apply what node-rotation manifests prints';

/** Never throws for an answer of the server. The first check says whether there was one. @design D9-06 */
export async function preflight(options: PreflightOptions): Promise<readonly Check[]> {
  const reached = await reachable(options);
  if (reached.verdict !== 'ok') return [reached];
  const checks = [karpenter, crd, namespace, priorityClass, rbac].map((check) => check(options));
  return [reached, ...(await Promise.all(checks))];
}

async function reachable({ client }: PreflightOptions): Promise<Check> {
  const check = 'endpoint';
  const found = await ask(client, '/version');
  if (found.kind === 'there') return { check, verdict: 'ok', message: `Kubernetes ${text(found.body, 'gitVersion')}` };
  const hint =
    found.kind === 'silent'
      ? ' A private endpoint, or a public one with restricted CIDRs, needs a network with an address that is let in.'
      : '';
  return { check, verdict: 'missing', message: `${found.words}.${hint}` };
}

async function karpenter({ client }: PreflightOptions): Promise<Check> {
  const check = resources.nodePools.apiVersion;
  const found = await ask(client, `/apis/${check}`);
  if (found.kind === 'silent' || found.kind === 'refused') return { check, verdict: 'unknown', message: found.words };
  const served = found.kind === 'there' ? namesOf(found.body) : [];
  const lacking = [resources.nodePools.plural, resources.nodeClaims.plural].filter((name) => !served.includes(name));
  if (lacking.length === 0) return { check, verdict: 'ok', message: 'NodePools and NodeClaims are served' };
  const message = `${lacking.join(' and ')} are not served: enable EKS Auto Mode, or install Karpenter 1.0 or newer`;
  return { check, verdict: 'missing', message };
}

const namesOf = (body: unknown): readonly unknown[] => {
  const { resources: list } = body as { resources?: readonly { name?: unknown }[] };
  return (list ?? []).map(({ name }) => name);
};

async function crd({ client }: PreflightOptions): Promise<Check> {
  const wanted = policyCrd();
  const { name } = wanted.metadata;
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
  return await object(client, 'crd', path, name, (body) => {
    const [ours] = wanted.spec.versions;
    const { versions = [] } = (body as { spec: { versions?: readonly { name?: string; schema?: unknown }[] } }).spec;
    const theirs = versions.find((version) => version.name === ours?.name);
    if (theirs === undefined) return `it has no version ${ours?.name}: ${applyAll}`;
    return contains(theirs.schema, ours?.schema) ? undefined : `it is of another release: ${applyAll}`;
  });
}

const namespace = ({ client, namespace: name }: PreflightOptions): Promise<Check> =>
  object(client, 'namespace', `/api/v1/namespaces/${name}`, name, () => undefined);

const priorityClass = ({ client, priorityClassName: name }: PreflightOptions): Promise<Check> =>
  object(client, 'priorityclass', `/apis/scheduling.k8s.io/v1/priorityclasses/${name}`, name, (body) => {
    const { value = 0, preemptionPolicy } = body as { value?: number; preemptionPolicy?: string };
    if (value >= 0) return `its value is ${value}, and placeholders must give way to every Pod: make it negative`;
    return preemptionPolicy === 'Never' ? undefined : `its preemptionPolicy is not Never: ${applyAll}`;
  });

/** @param fault what is wrong with the object that is there */
async function object(
  client: PreflightOptions['client'],
  check: string,
  path: string,
  name: string,
  fault: (body: unknown) => string | undefined,
): Promise<Check> {
  const found = await ask(client, path);
  if (found.kind === 'absent') return { check, verdict: 'missing', message: `there is no ${name}: ${applyAll}` };
  if (found.kind !== 'there') return { check, verdict: 'unknown', message: found.words };
  const wrong = fault(found.body);
  return wrong === undefined
    ? { check, verdict: 'ok', message: `${name} is there` }
    : { check, verdict: 'missing', message: `${name}: ${wrong}` };
}

async function rbac(options: PreflightOptions): Promise<Check> {
  const check = 'rbac';
  const { group } = options;
  const asked = permissions.flatMap(({ verbs, ...permission }) => verbs.map((verb) => ({ ...permission, verb })));
  const answers = await Promise.all(asked.map(async (one) => ({ ...one, answer: await mayGroup(options, one) })));
  const failed = answers.find(({ answer }) => typeof answer === 'string');
  if (failed) {
    const message = `what group ${group} may do could not be asked (${failed.answer}): it takes the right to impersonate`;
    return { check, verdict: 'unknown', message };
  }
  const denied = answers
    .filter(({ answer }) => answer === false)
    .map(({ verb, group: of, resource, subresource }) => {
      return `${verb} ${resource}${subresource ? `/${subresource}` : ''}${of ? `.${of}` : ''}`;
    });
  if (denied.length === 0) return { check, verdict: 'ok', message: `group ${group} may do all that a tick does` };
  return { check, verdict: 'missing', message: `group ${group} may not ${denied.join(', ')}: ${applyAll}` };
}

/** @returns the server's words when it did not answer */
async function mayGroup(
  { client, group, namespace: placeholders }: PreflightOptions,
  one: Omit<Permission, 'verbs'> & { readonly verb: string },
): Promise<boolean | string> {
  const { resource, subresource, verb, namespaced } = one;
  const request: ApiRequest = {
    verb: 'create',
    resource: 'selfsubjectaccessreviews',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    headers: { 'Impersonate-User': 'node-rotation-preflight', 'Impersonate-Group': [group, 'system:authenticated'] },
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: {
        resourceAttributes: {
          group: one.group,
          resource,
          verb,
          ...(subresource === undefined ? {} : { subresource }),
          ...(namespaced ? { namespace: placeholders } : {}),
        },
      },
    },
  };
  const found = await answered(client, request);
  if (found.kind !== 'there') return found.words;
  return (found.body as { status?: { allowed?: boolean } }).status?.allowed === true;
}

type Found =
  | { readonly kind: 'there'; readonly body: unknown }
  | { readonly kind: 'absent' | 'refused' | 'silent'; readonly words: string };

const ask = (client: PreflightOptions['client'], path: string): Promise<Found> =>
  answered(client, { verb: 'get', resource: 'preflight', path });

async function answered(client: PreflightOptions['client'], request: ApiRequest): Promise<Found> {
  try {
    return { kind: 'there', body: (await client.request(request)).body };
  } catch (error) {
    if (error instanceof ApiStatusError) {
      return { kind: error.code === 404 ? 'absent' : 'refused', words: error.message };
    }
    if (error instanceof TransportError) return { kind: 'silent', words: error.message };
    throw error;
  }
}

const text = (body: unknown, key: string): string => String((body as Record<string, unknown>)[key] ?? '');

/** Whether everything of `part` is in `whole`; what the server adds of its own does not count. */
function contains(whole: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return whole === part;
  if (typeof whole !== 'object' || whole === null) return false;
  return Object.entries(part).every(([key, value]) => contains((whole as Record<string, unknown>)[key], value));
}
