/**
 * The Kubernetes REST API as a function from request to answer; sockets and certificates are elsewhere.
 *
 * Bodies of objects are made once per version and kept: a list is then a matter of joining texts.
 */
import type { Answer, Status } from './api-status.ts';
import { badRequest, methodNotAllowed, noSuchResource, refused, unsupportedMediaType } from './api-status.ts';
import type { CallKind } from './faults.ts';
import type { Kind } from './kinds.ts';
import { apiVersionOf, kinds } from './kinds.ts';
import type { KubeObject, Manifest } from './kube-object.ts';
import type { ListPage } from './list-pages.ts';
import { isJsonObject } from './merge-patch.ts';
import type { DeleteOptions, ListOptions, Name, ObjectStore } from './object-store.ts';

export interface ApiRequest {
  readonly method: string;
  /** Decoded segments of the path. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly accept: string;
  readonly contentType: string;
  readonly body: string;
}

export interface ApiAnswer {
  readonly code: number;
  readonly body: string;
  readonly contentType?: string;
}

/** What a path asks for: a kind, all of it, within a namespace, or one object of it. */
export interface Route {
  readonly kind: Kind;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

const json = (code: number, value: unknown): ApiAnswer => ({ code, body: JSON.stringify(value) });
export const statusAnswer = (status: Status): ApiAnswer => json(status.code, status);

export function routeOf(path: readonly string[]): Route | undefined {
  const [root, ...rest] = path;
  const core = root === 'api';
  if (!core && root !== 'apis') return undefined;
  const [group, version, ...tail] = core ? ['', ...rest] : rest;
  const namespaced = tail[0] === 'namespaces' && tail.length > 2;
  const [plural, name, subresource, ...more] = namespaced ? tail.slice(2) : tail;
  const kind = kinds.find(
    (candidate) => candidate.group === group && candidate.version === version && candidate.plural === plural,
  );
  if (!kind || more.length > 0 || (namespaced && !kind.namespaced)) return undefined;
  return {
    kind,
    ...(namespaced ? { namespace: tail[1] as string } : {}),
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

/** What the request does, in the words of RBAC; undefined when the API has no such thing. */
export function verbOf(request: ApiRequest, route: Route): CallKind | undefined {
  const one = route.name !== undefined;
  switch (request.method) {
    case 'GET':
      return one ? 'get' : 'list';
    case 'POST':
      return one ? undefined : 'create';
    case 'PATCH':
      return one ? 'patch' : undefined;
    case 'DELETE':
      return one ? 'delete' : undefined;
    default:
      return undefined;
  }
}

/** Answers everything under /api and /apis, and the few other paths that clients look at. */
export function answer(store: ObjectStore, request: ApiRequest): ApiAnswer {
  const fixed = request.method === 'GET' ? discovery(request.path) : undefined;
  if (fixed !== undefined)
    return typeof fixed === 'string' ? { code: 200, body: fixed, contentType: 'text/plain' } : json(200, fixed);
  const route = routeOf(request.path);
  if (!route || (route.subresource !== undefined && !(route.subresource === 'status' && route.kind.hasStatus)))
    return statusAnswer(noSuchResource());
  const metadataOnly = /as=PartialObjectMetadata/.test(request.accept);
  switch (verbOf(request, route)) {
    case 'get':
      return objectAnswer(store.read(nameOf(route)), metadataOnly);
    case 'list':
      return list(store, request, route, metadataOnly);
    case 'create':
      return withBody(request, (body) => create(store, request, route, body, metadataOnly));
    case 'patch':
      return patch(store, request, route, metadataOnly);
    case 'delete':
      return withBody(request, (body) => remove(store, request, route, body, metadataOnly));
    default:
      return statusAnswer(methodNotAllowed());
  }
}

const nameOf = (route: Route): Name => ({
  kind: route.kind.kind,
  name: route.name ?? '',
  ...(route.namespace === undefined ? {} : { namespace: route.namespace }),
});

const isDryRun = (request: ApiRequest): boolean => request.query.getAll('dryRun').includes('All');

function list(store: ObjectStore, request: ApiRequest, route: Route, metadataOnly: boolean): ApiAnswer {
  const { query } = request;
  const text = (key: string): string | undefined => query.get(key) || undefined;
  const limit = text('limit');
  if (limit !== undefined && !/^\d+$/.test(limit))
    return statusAnswer(badRequest(`limit: ${limit} is no whole number`));
  const given = {
    namespace: route.namespace,
    labelSelector: text('labelSelector'),
    fieldSelector: text('fieldSelector'),
    continue: text('continue'),
    limit: limit === undefined ? undefined : Number(limit),
  };
  const options = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as ListOptions;
  const page = store.list(route.kind.kind, options);
  if (!page.ok) return statusAnswer(page.status);
  return { code: 200, body: listBody(route.kind, page.value, metadataOnly) };
}

function listBody(kind: Kind, page: ListPage, metadataOnly: boolean): string {
  const { resourceVersion, continue: token, remainingItemCount } = page;
  const metadata = JSON.stringify({ resourceVersion, continue: token, remainingItemCount });
  const head = metadataOnly
    ? '"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1"'
    : `"kind":"${kind.kind}List","apiVersion":"${apiVersionOf(kind)}"`;
  const text = metadataOnly ? metadataText : kind.custom ? objectText : itemText;
  return `{${head},"metadata":${metadata},"items":[${page.items.map(text).join(',')}]}`;
}

const keepText = (make: (object: KubeObject) => unknown): ((object: KubeObject) => string) => {
  const known = new WeakMap<KubeObject, string>();
  return (object) => {
    let text = known.get(object);
    if (text === undefined) {
      text = JSON.stringify(make(object));
      known.set(object, text);
    }
    return text;
  };
};

const objectText = keepText((object) => object);
/** Built-in kinds do not repeat in each item what the list says of all. */
const itemText = keepText(({ kind: _, apiVersion: __, ...rest }) => rest);
const metadataText = keepText(({ metadata }) => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata,
}));

function objectAnswer(result: Answer<KubeObject | Status>, metadataOnly = false, code = 200): ApiAnswer {
  if (!result.ok) return statusAnswer(result.status);
  if (result.value.kind === 'Status') return statusAnswer(result.value as Status);
  const object = result.value as KubeObject;
  return { code, body: metadataOnly ? metadataText(object) : objectText(object) };
}

function withBody(request: ApiRequest, then: (body: unknown) => ApiAnswer): ApiAnswer {
  const body = parse(request.body);
  return body.ok ? then(body.value) : statusAnswer(body.status);
}

function parse(text: string): Answer<unknown> {
  if (text === '') return { ok: true, value: undefined };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (problem) {
    return refused(badRequest(`the body is no JSON: ${problem instanceof Error ? problem.message : String(problem)}`));
  }
}

function create(
  store: ObjectStore,
  request: ApiRequest,
  route: Route,
  body: unknown,
  metadataOnly: boolean,
): ApiAnswer {
  if (!isJsonObject(body) || !isJsonObject(body.metadata))
    return statusAnswer(badRequest('the body is no object with metadata'));
  const { kind } = route;
  if ((body.kind ?? kind.kind) !== kind.kind || (body.apiVersion ?? apiVersionOf(kind)) !== apiVersionOf(kind)) {
    return statusAnswer(
      badRequest(
        `the object provided is a ${String(body.apiVersion)} ${String(body.kind)}, expected ${apiVersionOf(kind)} ${kind.kind}`,
      ),
    );
  }
  const namespace = route.namespace ?? (kind.namespaced ? 'default' : undefined);
  if (body.metadata.namespace !== undefined && body.metadata.namespace !== namespace) {
    return statusAnswer(
      badRequest('the namespace of the provided object does not match the namespace sent on the request'),
    );
  }
  const manifest = {
    ...body,
    kind: kind.kind,
    metadata: { ...body.metadata, ...(namespace === undefined ? {} : { namespace }) },
  } as Manifest;
  return objectAnswer(store.create(manifest, { dryRun: isDryRun(request) }), metadataOnly, 201);
}

function patch(store: ObjectStore, request: ApiRequest, route: Route, metadataOnly: boolean): ApiAnswer {
  const type = request.contentType.split(';')[0]?.trim() ?? '';
  if (type !== 'application/merge-patch+json') return statusAnswer(unsupportedMediaType(type));
  return withBody(request, (body) => {
    const options = {
      dryRun: isDryRun(request),
      ...(route.subresource === 'status' ? { subresource: 'status' as const } : {}),
    };
    return objectAnswer(store.patch(nameOf(route), body, options), metadataOnly);
  });
}

function remove(
  store: ObjectStore,
  request: ApiRequest,
  route: Route,
  body: unknown,
  metadataOnly: boolean,
): ApiAnswer {
  const stated = isJsonObject(body) ? body : {};
  const grace =
    stated.gracePeriodSeconds ??
    (request.query.has('gracePeriodSeconds') ? Number(request.query.get('gracePeriodSeconds')) : undefined);
  if (grace !== undefined && (typeof grace !== 'number' || !Number.isInteger(grace) || grace < 0)) {
    return statusAnswer(badRequest(`gracePeriodSeconds: ${String(grace)} is no whole number of seconds`));
  }
  const dryRun = isDryRun(request) || (Array.isArray(stated.dryRun) && stated.dryRun.includes('All'));
  const options: DeleteOptions = {
    ...(isJsonObject(stated.preconditions)
      ? { preconditions: stated.preconditions as { uid?: string; resourceVersion?: string } }
      : {}),
    ...(typeof grace === 'number' ? { gracePeriodSeconds: grace } : {}),
    dryRun,
  };
  return objectAnswer(store.delete(nameOf(route), options), metadataOnly);
}

const verbs = ['create', 'delete', 'get', 'list', 'patch'];

/** What kubectl and client libraries ask before anything else. @returns undefined for every other path */
function discovery(path: readonly string[]): object | string | undefined {
  const [root = '', group, version, ...more] = path;
  if (path.length === 1 && ['healthz', 'readyz', 'livez'].includes(root)) return 'ok';
  if (path.length === 1 && root === 'version')
    return { major: '1', minor: '35', gitVersion: 'v1.35.0', platform: 'simulated' };
  if (path.length === 1 && root === 'api') return { kind: 'APIVersions', versions: ['v1'] };
  if (root === 'api' && path.length === 2 && group === 'v1') return resourceList('', 'v1');
  if (root !== 'apis' || more.length > 0) return undefined;
  if (group === undefined) return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups() };
  if (version === undefined) {
    const found = groups().find(({ name }) => name === group);
    return found && { kind: 'APIGroup', apiVersion: 'v1', ...found };
  }
  return kinds.some((kind) => kind.group === group && kind.version === version)
    ? resourceList(group, version)
    : undefined;
}

function groups(): readonly {
  readonly name: string;
  readonly versions: readonly object[];
  readonly preferredVersion: object;
}[] {
  const named = new Map(kinds.filter(({ group }) => group !== '').map(({ group, version }) => [group, version]));
  return [...named].map(([name, version]) => {
    const entry = { groupVersion: `${name}/${version}`, version };
    return { name, versions: [entry], preferredVersion: entry };
  });
}

function resourceList(group: string, version: string): object {
  const resources = kinds
    .filter((kind) => kind.group === group && kind.version === version)
    .flatMap((kind) => {
      const { plural: name, namespaced, shortNames } = kind;
      const whole = { name, singularName: kind.kind.toLowerCase(), namespaced, kind: kind.kind, verbs, shortNames };
      const status = { name: `${name}/status`, singularName: '', namespaced, kind: kind.kind, verbs: ['get', 'patch'] };
      return kind.hasStatus ? [whole, status] : [whole];
    });
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources,
  };
}
