/**
 * The objects of the simulated cluster, with the semantics of the Kubernetes API: versions, finalizers, preconditions.
 *
 * Clients come in through `list`, `create`, `patch` and `delete`, which can say no. The models of Karpenter, scheduler
 * and workloads are the server's own kin: they write through `update`, `adopt` and `remove`, which cannot.
 */
import { assert } from '../domain/assert.ts';
import type { Instant } from '../domain/time.ts';
import { add, seconds } from '../domain/time.ts';
import { admitChange, admitCreate } from './admission.ts';
import type { Answer, Status } from './api-status.ts';
import {
  alreadyExists,
  badRequest,
  conflict,
  given,
  modified,
  notFound,
  refused,
  success,
  unmet,
} from './api-status.ts';
import type { KindName } from './kinds.ts';
import { apiVersionOf, findKind, kindOf } from './kinds.ts';
import type { KubeObject, Manifest, Metadata, PodObject } from './kube-object.ts';
import { isDeleting, stamp } from './kube-object.ts';
import type { ListPage } from './list-pages.ts';
import { ListPages } from './list-pages.ts';
import { compact, isJsonObject, sameJson } from './merge-patch.ts';
import type { Change } from './object-changes.ts';
import { changed, filled, graceOf, patched } from './object-changes.ts';
import type { ObjectIndex } from './object-index.ts';
import { indexIn } from './object-index.ts';
import type { Random } from './random.ts';
import { fieldMatcher, labelMatcher, parseFieldSelector } from './selectors.ts';

export interface Name {
  readonly kind: KindName;
  readonly name: string;
  readonly namespace?: string;
}

export interface ListOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
}

export interface DeleteOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

export type StoreEvent =
  | { readonly type: 'added' | 'deleted'; readonly object: KubeObject }
  | { readonly type: 'modified'; readonly object: KubeObject; readonly before: KubeObject };

const nodeNameOf = (pod: KubeObject): string => (pod as PodObject).spec.nodeName ?? '';

const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ''}/${name}`;

export class ObjectStore {
  /** Asked before a client's write is stored: a webhook or a quota. */
  admission?: (verb: 'create' | 'patch' | 'delete', object: KubeObject) => Status | undefined;

  readonly #now: () => Instant;
  readonly #random: Random;
  readonly #objects = new Map<KindName, ObjectIndex>();
  readonly #pages = new ListPages();
  readonly #listeners: ((event: StoreEvent, at: Instant) => void)[] = [];
  readonly #podsByNode = new Map<string, ObjectIndex>();
  #version = 0;

  constructor(now: () => Instant, random: Random) {
    this.#now = now;
    this.#random = random;
  }

  /** The version of the last write; equal versions mean that nothing changed. */
  get version(): number {
    return this.#version;
  }

  /** Grows with every write to an object of the kind, and only then. */
  versionOf(kind: KindName): number {
    return this.#objects.get(kind)?.version ?? 0;
  }

  onChange(listener: (event: StoreEvent, at: Instant) => void): void {
    this.#listeners.push(listener);
  }

  get(kind: KindName, name: string, namespace?: string): KubeObject | undefined {
    return this.#objects.get(kind)?.get(keyOf(namespace, name));
  }

  /** Every object of a kind, in the order of the API: by namespace, then by name. */
  all<T extends KubeObject = KubeObject>(kind: KindName): readonly T[] {
    return (this.#objects.get(kind)?.all ?? []) as readonly T[];
  }

  /** The Pods bound to a node, or to none for ''; the same array as long as none of them changes. */
  podsOn(node: string): readonly PodObject[] {
    return (this.#podsByNode.get(node)?.all ?? []) as readonly PodObject[];
  }

  read(name: Name): Answer<KubeObject> {
    const object = this.get(name.kind, name.name, name.namespace);
    return object ? given(object) : refused(notFound(kindOf(name.kind), name.name));
  }

  list(kind: KindName, options: ListOptions = {}): Answer<ListPage> {
    if (options.continue) return this.#pages.next(options.continue, options.limit, this.#now());
    const labels = labelMatcher(options.labelSelector ?? '');
    if (!labels) return refused(badRequest(`unable to parse the label selector ${options.labelSelector}`));
    const terms = parseFieldSelector(options.fieldSelector ?? '');
    const fields = terms && fieldMatcher(kind, terms);
    if (!fields) return refused(badRequest(`field selector not supported: ${options.fieldSelector}`));
    const node = terms.find((term) => kind === 'Pod' && term.field === 'spec.nodeName' && term.equal);
    const within = node ? this.podsOn(node.value) : this.all(kind);
    const plain = !options.namespace && !options.labelSelector && !options.fieldSelector;
    const matching = plain
      ? within
      : within.filter(
          (object) =>
            (!options.namespace || object.metadata.namespace === options.namespace) && labels(object) && fields(object),
        );
    const selected = Boolean(options.labelSelector || options.fieldSelector);
    return given(this.#pages.first(matching, String(this.#version), options.limit, this.#now(), selected));
  }

  /** Makes every token of a list that has begun too old. */
  compact(): void {
    this.#pages.compact();
  }

  create(manifest: Manifest, options: { readonly dryRun?: boolean } = {}): Answer<KubeObject> {
    const kind = findKind(manifest.kind);
    if (!kind) return refused(badRequest(`no kind "${manifest.kind}" is registered`));
    const name = manifest.metadata.name ?? `${manifest.metadata.generateName ?? ''}${this.#random.suffix()}`;
    const bare: KubeObject = {
      ...manifest,
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: this.#newMetadata(manifest.metadata, name),
      ...(manifest.spec === undefined ? {} : { spec: manifest.spec as object }),
    };
    const { status: _, ...withoutStatus } = bare;
    // A kubelet registers its Node with the status that it has found.
    const object = (kind.hasStatus && kind.kind !== 'Node' ? withoutStatus : bare) as KubeObject;
    const admitted = admitCreate(kind, object, this);
    if ('refusal' in admitted) return refused(admitted.refusal as Status);
    const objection = this.admission?.('create', admitted);
    if (objection) return refused(objection);
    if (this.get(kind.kind, name, object.metadata.namespace)) return refused(alreadyExists(kind, name));
    return given(options.dryRun ? admitted : this.#put(admitted));
  }

  /** Applies a merge patch. A resourceVersion or uid in it is a precondition. */
  patch(
    target: Name,
    patch: unknown,
    options: { readonly subresource?: 'status'; readonly dryRun?: boolean } = {},
  ): Answer<KubeObject> {
    const kind = kindOf(target.kind);
    const current = this.get(target.kind, target.name, target.namespace);
    if (!current) return refused(notFound(kind, target.name));
    if (!isJsonObject(patch)) return refused(badRequest('the patch is no JSON object'));
    const stated = isJsonObject(patch.metadata) ? patch.metadata : {};
    if (stated.resourceVersion && stated.resourceVersion !== current.metadata.resourceVersion)
      return refused(modified(kind, target.name));
    if (stated.uid && stated.uid !== current.metadata.uid)
      return refused(conflict(kind, target.name, wrongUid(String(stated.uid), current)));
    if (stated.name !== undefined && stated.name !== target.name)
      return refused(badRequest('the name of the object does not match the name on the URL'));
    const next = admitChange(kind, current, patched(kind, current, patch, options.subresource), this);
    if ('refusal' in next) return refused(next.refusal as Status);
    const objection = this.admission?.('patch', next);
    if (objection) return refused(objection);
    if (options.dryRun) return given(next);
    return given(this.#replace(current, next) ?? next);
  }

  /** @returns the object while it is going away, a Success once it is gone */
  delete(target: Name, options: DeleteOptions = {}): Answer<KubeObject | Status> {
    const kind = kindOf(target.kind);
    const current = this.get(target.kind, target.name, target.namespace);
    if (!current) return refused(notFound(kind, target.name));
    const { uid, resourceVersion } = options.preconditions ?? {};
    if (uid && uid !== current.metadata.uid) return refused(unmet(kind, target.name, wrongUid(uid, current)));
    if (resourceVersion && resourceVersion !== current.metadata.resourceVersion) {
      const found = `ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${current.metadata.resourceVersion}`;
      return refused(unmet(kind, target.name, `Precondition failed: ${found}`));
    }
    const objection = this.admission?.('delete', current);
    if (objection) return refused(objection);
    if (options.dryRun) return given(current);
    const left = this.terminate(current, options.gracePeriodSeconds);
    // Of a Pod the server shows what it has deleted.
    return given(left ?? (kind.kind === 'Pod' ? current : success(kind, target.name, current.metadata.uid)));
  }

  /** Begins the end of an object, as a delete does. @returns undefined when it is gone at once */
  terminate(object: KubeObject, gracePeriodSeconds?: number): KubeObject | undefined {
    const current = this.#current(object);
    if (!current) return undefined;
    const grace = graceOf(current, gracePeriodSeconds);
    const held = (current.metadata.finalizers ?? []).length > 0;
    if (grace === 0 && !held) {
      this.remove(current);
      return undefined;
    }
    const already = current.metadata.deletionGracePeriodSeconds;
    if (isDeleting(current) && (already === undefined || already <= grace)) return current;
    return this.update(current, {
      metadata: {
        deletionTimestamp: stamp(add(this.#now(), seconds(grace))),
        deletionGracePeriodSeconds: grace,
        generation: current.metadata.generation + 1,
      },
    });
  }

  /** Writes for the cluster's own controllers: no admission, no preconditions. @returns undefined when the object is gone */
  update<T extends KubeObject>(object: T, change: Change): T | undefined {
    const current = this.#current(object);
    if (!current) return undefined;
    return this.#replace(current, changed(current, change)) as T | undefined;
  }

  /** Puts an object that is described as it already is, its creation time and status included. */
  adopt<T extends KubeObject>(manifest: Manifest): T {
    const kind = findKind(manifest.kind);
    assert(
      kind !== undefined && manifest.metadata.name !== undefined,
      `an adopted object has a kind and a name: ${manifest.kind}`,
    );
    const metadata = { ...this.#newMetadata(manifest.metadata, manifest.metadata.name), ...compact(manifest.metadata) };
    return this.#put({ ...manifest, apiVersion: apiVersionOf(kind), kind: kind.kind, metadata } as KubeObject) as T;
  }

  remove(object: KubeObject): void {
    const current = this.#current(object);
    if (!current) return;
    const key = keyOf(current.metadata.namespace, current.metadata.name);
    this.#version += 1;
    this.#objects.get(current.kind)?.delete(key);
    if (current.kind === 'Pod') this.#podsByNode.get(nodeNameOf(current))?.delete(key);
    this.#tell({ type: 'deleted', object: current });
  }

  #current(object: KubeObject): KubeObject | undefined {
    const current = this.get(object.kind, object.metadata.name, object.metadata.namespace);
    return current?.metadata.uid === object.metadata.uid ? current : undefined;
  }

  #newMetadata(given: Partial<Metadata>, name: string): Metadata {
    const { labels, annotations, finalizers, ownerReferences, namespace } = given;
    const server = {
      uid: this.#random.uid(),
      resourceVersion: '0',
      generation: 1,
      creationTimestamp: stamp(this.#now()),
    };
    return compact({
      name,
      namespace,
      ...server,
      ...filled({ labels, annotations, finalizers, ownerReferences }),
    }) as Metadata;
  }

  /** @returns undefined when the change removed the last finalizer of an object that is being deleted */
  #replace(before: KubeObject, after: KubeObject): KubeObject | undefined {
    const stopping = after.kind === 'Pod' && after.metadata.deletionGracePeriodSeconds !== 0;
    const released = isDeleting(after) && !stopping && (after.metadata.finalizers ?? []).length === 0;
    if (released) {
      this.remove(before);
      return undefined;
    }
    if (sameJson(before, after)) return before;
    const generation = after.metadata.generation + (sameJson(before.spec, after.spec) ? 0 : 1);
    return this.#put({ ...after, metadata: { ...after.metadata, generation } }, before);
  }

  #put(object: KubeObject, before?: KubeObject): KubeObject {
    this.#version += 1;
    const stored: KubeObject = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
    const key = keyOf(object.metadata.namespace, object.metadata.name);
    const index = indexIn(this.#objects, object.kind);
    if (stored.kind === 'Pod') this.#placePod(key, stored, index.get(key));
    index.set(key, stored);
    this.#tell(before ? { type: 'modified', object: stored, before } : { type: 'added', object: stored });
    return stored;
  }

  #placePod(key: string, pod: KubeObject, before: KubeObject | undefined): void {
    const node = nodeNameOf(pod);
    if (before && nodeNameOf(before) !== node) this.#podsByNode.get(nodeNameOf(before))?.delete(key);
    indexIn(this.#podsByNode, node).set(key, pod);
  }

  #tell(event: StoreEvent): void {
    for (const listener of this.#listeners) listener(event, this.#now());
  }
}

const wrongUid = (given: string, current: KubeObject): string =>
  `Precondition failed: UID in precondition: ${given}, UID in object meta: ${current.metadata.uid}`;
