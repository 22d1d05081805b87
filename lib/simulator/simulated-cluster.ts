/**
 * The controller's `Cluster` port over the simulated world, in process.
 *
 * Objects go through the same decoders as those of a real API server, which are handed in; outcomes follow the same
 * table as over HTTP.
 */

import type { ActionResult, Cluster, Reread } from '../controller/ports.ts';
import { ObservationFailed } from '../controller/ports.ts';
import type { DisruptionBudget } from '../domain/cluster/disruption-budget.ts';
import type { Node, NodeMetadata } from '../domain/cluster/node.ts';
import type { NodeClaim } from '../domain/cluster/node-claim.ts';
import type { NodePool } from '../domain/cluster/node-pool.ts';
import type { ObjectRef } from '../domain/cluster/object-ref.ts';
import type { Pod } from '../domain/cluster/pod.ts';
import type { DryRun, Inspected, LightSnapshot, PlaceholderSettings, Sought } from '../domain/cluster/snapshot.ts';
import type { PolicyReading } from '../domain/policy/rotation-policy.ts';
import { surgeForLabel } from '../domain/rotation/annotation-keys.ts';
import type { Instant } from '../domain/time.ts';
import { wholeSecond } from '../domain/time.ts';
import type { Action, EventDraft, Need } from '../engine/decision.ts';
import type { Answer, Status } from './api-status.ts';
import { conflict, internalError, mayNot, refused, tooManyRequests } from './api-status.ts';
import type { Call, Fault, FaultPlan } from './faults.ts';
import { noFaults, SimulatedCrash } from './faults.ts';
import type { KindName } from './kinds.ts';
import { findKind, kindOf } from './kinds.ts';
import type { KubeObject, Manifest } from './kube-object.ts';
import { isDeleting, labelOf } from './kube-object.ts';
import type { DeleteOptions, ListOptions, Name } from './object-store.ts';
import type { World } from './world.ts';

/** Between wire JSON and the domain; the HTTP adapter's own. */
export interface Decoders {
  policy(json: unknown): PolicyReading;
  nodePool(json: unknown): NodePool;
  nodeClaim(json: unknown): NodeClaim;
  node(json: unknown): Node;
  nodeMetadata(json: unknown): NodeMetadata;
  pod(json: unknown): Pod;
  disruptionBudget(json: unknown): DisruptionBudget;
  /** The other way round. @param at the tick's time */
  event(draft: EventDraft, at: Instant): Manifest;
}

/** What the port sees of the world. */
export type Scene = Pick<World, 'now' | 'store'>;

export interface SimulatedClusterOptions {
  readonly world: Scene;
  readonly decoders: Decoders;
  readonly settings: PlaceholderSettings;
  readonly faults?: FaultPlan;
  readonly retired?: boolean;
  /** The process dies (`SimulatedCrash`) instead of beginning the action after so many. */
  readonly crashAfterActions?: number;
}

type Lost = { readonly lost: true };

export class SimulatedCluster implements Cluster {
  readonly #world: Scene;
  readonly #decoders: Decoders;
  readonly #settings: PlaceholderSettings;
  readonly #faults: FaultPlan;
  readonly #retired: boolean;
  #actionsLeft: number;
  #observedAt: Instant | undefined;

  constructor(options: SimulatedClusterOptions) {
    this.#world = options.world;
    this.#decoders = options.decoders;
    this.#settings = options.settings;
    this.#faults = options.faults ?? noFaults;
    this.#retired = options.retired ?? false;
    this.#actionsLeft = options.crashAfterActions ?? Number.POSITIVE_INFINITY;
  }

  async observe(): Promise<LightSnapshot> {
    const { policy, nodePool, nodeClaim, nodeMetadata, pod } = this.#decoders;
    const { namespace } = this.#settings;
    // The clock of the list's Date header, which has whole seconds.
    this.#observedAt = wholeSecond(this.#world.now);
    return {
      observedAt: this.#observedAt,
      policies: this.#list('RotationPolicy').map(policy),
      nodePools: this.#list('NodePool').map(nodePool),
      nodeClaims: this.#list('NodeClaim').map(nodeClaim),
      nodes: this.#list('Node').map(({ apiVersion, kind, metadata }) => nodeMetadata({ apiVersion, kind, metadata })),
      placeholders: this.#list('Pod', { namespace, labelSelector: surgeForLabel }).map(pod),
      settings: this.#settings,
      retired: this.#retired,
    };
  }

  async inspect(need: Need): Promise<Inspected> {
    const { node, pod, disruptionBudget } = this.#decoders;
    return {
      nodes: new Map(need.nodes.map((name) => [name, this.#seek({ kind: 'Node', name }, node)])),
      podsOnNode: new Map(
        need.podsOnNodes.map((name) => [name, this.#list('Pod', { fieldSelector: `spec.nodeName=${name}` }).map(pod)]),
      ),
      dryRuns: new Map(need.dryRunDeletes.map((claim) => [claim.name, this.#dryRun(claim)])),
      ...(need.disruptionBudgets ? { disruptionBudgets: this.#list('PodDisruptionBudget').map(disruptionBudget) } : {}),
      ...(need.unscheduledPods
        ? { unscheduledPods: this.#list('Pod', { fieldSelector: 'spec.nodeName=,status.phase=Pending' }).map(pod) }
        : {}),
    };
  }

  async reread(nodePool: ObjectRef, node?: ObjectRef): Promise<Reread> {
    const pool = this.#seek({ kind: 'NodePool', name: nodePool.name }, this.#decoders.nodePool);
    if (node === undefined) return { nodePool: pool };
    return { nodePool: pool, node: this.#seek({ kind: 'Node', name: node.name }, this.#decoders.node) };
  }

  async apply(action: Action): Promise<ActionResult> {
    if (this.#actionsLeft <= 0) throw new SimulatedCrash(`the process died before ${action.kind}`);
    this.#actionsLeft -= 1;
    switch (action.kind) {
      case 'annotate':
        return this.#patch(action.target, { metadata: { annotations: action.annotations } }, whenMissing.conflict);
      case 'protect':
      case 'unprotect': {
        const { annotations, unschedulable } = action;
        const spec = unschedulable === undefined ? {} : { spec: { unschedulable } };
        const missing = action.kind === 'protect' ? whenMissing.conflict : whenMissing.done;
        return this.#patch(action.target, { metadata: { annotations }, ...spec }, missing);
      }
      case 'writeStatus':
        return this.#writeStatus(action);
      case 'createPlaceholder':
        return this.#createPlaceholder(action.pod);
      case 'deletePlaceholder': {
        const options = { preconditions: { uid: action.target.uid }, gracePeriodSeconds: 0 };
        return this.#delete(action.target, options, action.mustExist ? whenMissing.conflict : whenMissing.done);
      }
      case 'deleteNodeClaim': {
        const { uid, resourceVersion } = action.target;
        return this.#delete(action.target, { preconditions: { uid, resourceVersion } }, whenMissing.done);
      }
      case 'emitEvent':
        return this.#emitEvent(action.event);
    }
  }

  #patch(
    target: ObjectRef,
    patch: { readonly metadata: object; readonly spec?: object },
    missing: WhenMissing,
  ): ActionResult {
    const { uid, resourceVersion } = target;
    const versioned = { ...patch, metadata: { ...patch.metadata, uid, resourceVersion } };
    const act = () => this.#world.store.patch(target, versioned);
    return this.#write({ verb: 'patch', kind: target.kind }, target.name, act, missing);
  }

  #writeStatus({ target, status }: Extract<Action, { kind: 'writeStatus' }>): ActionResult {
    const { uid, resourceVersion } = target;
    const act = () =>
      this.#world.store.patch(target, { metadata: { uid, resourceVersion }, status }, { subresource: 'status' });
    return this.#write({ verb: 'patch', kind: target.kind }, target.name, act, whenMissing.conflict);
  }

  #createPlaceholder(pod: Extract<Action, { kind: 'createPlaceholder' }>['pod']): ActionResult {
    const { name, namespace, labels } = pod.metadata;
    const result = this.#call({ verb: 'create', kind: 'Pod' }, name, () => this.#world.store.create({ ...pod }));
    if ('lost' in result) return noAnswer;
    if (result.ok || result.status.reason !== 'AlreadyExists') return outcomeOf(result);
    const existing = this.#world.store.get('Pod', name, namespace);
    if (!existing || labelOf(existing, surgeForLabel) !== labels[surgeForLabel]) {
      return { outcome: 'rejected', detail: wordsOf(result.status) };
    }
    if (isDeleting(existing)) {
      return { outcome: 'conflict', detail: `the Pod ${namespace}/${name} is still being deleted` };
    }
    return { outcome: 'alreadyDone' };
  }

  #emitEvent(draft: EventDraft): ActionResult {
    const event = this.#decoders.event(draft, this.#observedAt ?? wholeSecond(this.#world.now));
    const create = () => this.#world.store.create(event);
    const result = this.#call({ verb: 'create', kind: 'Event' }, event.metadata.name ?? '', create);
    if ('lost' in result) return noAnswer;
    if (!result.ok && result.status.reason === 'AlreadyExists') return { outcome: 'alreadyDone' };
    return outcomeOf(result);
  }

  #delete(target: ObjectRef, options: DeleteOptions, missing: WhenMissing): ActionResult {
    const act = () => this.#world.store.delete(target, options);
    return this.#write({ verb: 'delete', kind: target.kind }, target.name, act, missing);
  }

  #write(call: Call, name: string, act: () => Answer<KubeObject | Status>, missing: WhenMissing): ActionResult {
    const result = this.#call(call, name, act);
    if ('lost' in result) return noAnswer;
    const gone = !result.ok && result.status.reason === 'NotFound';
    return gone ? missing(wordsOf(result.status)) : outcomeOf(result);
  }

  #dryRun(claim: ObjectRef): DryRun {
    const { uid } = claim;
    const act = () => this.#world.store.delete(claim, { preconditions: { uid }, dryRun: true });
    const result = this.#call({ verb: 'delete', kind: claim.kind }, claim.name, act);
    if ('lost' in result)
      throw new ObservationFailed('Timeout', `no answer to the dry-run delete of NodeClaim ${claim.name}`);
    if (result.ok) return { outcome: 'accepted' };
    const { code, reason } = result.status;
    // Gone or moved is for the writes themselves to find out.
    if (reason === 'NotFound' || code === 409) return { outcome: 'accepted' };
    if (code === 403 || code === 422) return { outcome: 'refused', detail: wordsOf(result.status) };
    throw failedLook(`the dry-run delete of NodeClaim ${claim.name}`, result.status);
  }

  #seek<T>(name: Name, decode: (json: unknown) => T): Sought<T> {
    const what = `${name.kind} ${name.name}`;
    const result = this.#call({ verb: 'get', kind: name.kind }, name.name, () => this.#world.store.read(name));
    if ('lost' in result) throw new ObservationFailed('Timeout', `no answer while reading ${what}`);
    if (result.ok) return decode(result.value);
    if (result.status.reason === 'NotFound' && result.status.details?.name === name.name) return 'gone';
    throw failedLook(what, result.status);
  }

  /** The complete list or an exception. */
  #list(kind: KindName, options: ListOptions = {}): readonly KubeObject[] {
    const result = this.#call({ verb: 'list', kind }, '', () => this.#world.store.list(kind, options));
    if ('lost' in result) throw new ObservationFailed('Timeout', `no complete list of ${kindOf(kind).plural}`);
    if (result.ok) return result.value.items;
    throw failedLook(`the list of ${kindOf(kind).plural}`, result.status);
  }

  /** @param name of the object; empty for a list */
  #call<T>(call: Call, name: string, act: () => Answer<T>): Answer<T> | Lost {
    const fault = this.#faults.next(call);
    if (fault === undefined) return act();
    if (fault === 'lostResponse') act();
    return refusal(fault, call, name);
  }
}

/** What it means that the object of a write is not there. @design D5-05 */
type WhenMissing = (detail: string) => ActionResult;

const whenMissing = {
  done: (): ActionResult => ({ outcome: 'alreadyDone' }),
  conflict: (detail: string): ActionResult => ({ outcome: 'conflict', detail }),
};

const noAnswer: ActionResult = { outcome: 'unreachable', detail: 'no answer; whether the write was made is unknown' };

function refusal(fault: Fault, call: Call, name: string): { readonly ok: false; readonly status: Status } | Lost {
  const kind = findKind(call.kind) ?? kindOf('Pod');
  switch (fault) {
    case 'conflict':
      return refused(conflict(kind, name, 'the object has been modified; please try again'));
    case 'forbidden':
      return refused(mayNot(kind, name, call.verb));
    case 'throttled':
      return refused(tooManyRequests(1));
    case 'serverError':
      return refused(internalError('etcdserver: request timed out'));
    case 'lostRequest':
    case 'lostResponse':
    case 'tornList':
      return { lost: true };
  }
}

const wordsOf = (status: Status): string => status.message ?? status.reason ?? `status ${status.code}`;

function outcomeOf(answer: Answer<KubeObject | Status>): ActionResult {
  if (answer.ok) {
    const version = 'resourceVersion' in answer.value.metadata ? answer.value.metadata.resourceVersion : undefined;
    return { outcome: 'applied', ...(typeof version === 'string' ? { resourceVersion: version } : {}) };
  }
  const detail = wordsOf(answer.status);
  const { code } = answer.status;
  if (code === 409) return { outcome: 'conflict', detail };
  if ([401, 408, 410, 429].includes(code) || code >= 500) return { outcome: 'unreachable', detail };
  return { outcome: 'rejected', detail };
}

function failedLook(what: string, status: Status): ObservationFailed {
  const outcome = status.code === 429 ? 'Throttled' : status.code === 403 ? 'Forbidden' : 'Unreachable';
  return new ObservationFailed(outcome, `${what} could not be read: ${wordsOf(status)}`);
}
