/**
 * What the API server makes of a new Pod, and which amounts it refuses.
 *
 * Only what a client of ours can meet: a Pod without image or name of its containers is taken here.
 */

import { formatQuantity, parseQuantity } from '../domain/cluster/quantity.ts';
import { isExtended, isHugePages } from '../domain/cluster/resource-list.ts';
import type { Status } from './api-status.ts';
import { badRequest, forbidden, invalid } from './api-status.ts';
import type { Kind } from './kinds.ts';
import type { KubeObject, PodObject, PodSpec, RawContainer, Strings } from './kube-object.ts';
import { compact } from './merge-patch.ts';

export interface PriorityClasses {
  get(kind: 'PriorityClass', name: string): KubeObject | undefined;
}

/** Every Pod stays for five minutes on a node that is lost, unless it says otherwise. */
const stayingAwhile = ['not-ready', 'unreachable'].map((condition) => ({
  key: `node.kubernetes.io/${condition}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}));

/** The Pod with its defaults, or why it is refused. */
export function admitPod(
  kind: Kind,
  pod: PodObject,
  classes: PriorityClasses,
): KubeObject | { readonly refusal: Status } {
  const { name } = pod.metadata;
  const className = pod.spec.priorityClassName;
  const priorityClass = className === undefined ? undefined : classes.get('PriorityClass', className);
  if (className !== undefined && priorityClass === undefined) {
    return { refusal: forbidden(kind, name, `no PriorityClass with name ${className} was found`) };
  }
  const containers = pod.spec.containers?.map(withAmounts);
  const initContainers = pod.spec.initContainers?.map(withAmounts);
  const refusal =
    objectionToAmounts(kind, name, 'containers', containers) ??
    objectionToAmounts(kind, name, 'initContainers', initContainers);
  if (refusal) return { refusal };
  const spec: PodSpec = compact({
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    ...pod.spec,
    containers,
    initContainers,
    overhead: plainAmounts(pod.spec.overhead),
    tolerations: withDefaultTolerations(pod.spec.tolerations),
    terminationGracePeriodSeconds: pod.spec.terminationGracePeriodSeconds ?? 30,
    priority: typeof priorityClass?.value === 'number' ? priorityClass.value : 0,
    preemptionPolicy:
      pod.spec.preemptionPolicy ??
      (typeof priorityClass?.preemptionPolicy === 'string' ? priorityClass.preemptionPolicy : 'PreemptLowerPriority'),
  }) as PodSpec;
  return { ...pod, spec, status: { phase: 'Pending' } };
}

function withDefaultTolerations(given: PodSpec['tolerations'] = []): NonNullable<PodSpec['tolerations']> {
  const covered = (key: string): boolean =>
    given.some((one) => (!one.key || one.key === key) && (!one.effect || one.effect === 'NoExecute'));
  return [...given, ...stayingAwhile.filter(({ key }) => !covered(key))];
}

/** Amounts in their plain form; what a container may use at most is what it asks for where it names nothing else. */
function withAmounts(container: RawContainer): RawContainer {
  const { resources } = container;
  if (resources === undefined) return container;
  const limits = plainAmounts(resources.limits);
  const requests = plainAmounts(resources.requests);
  const asked = limits === undefined && requests === undefined ? undefined : { ...limits, ...requests };
  return { ...container, resources: compact({ ...resources, limits, requests: asked }) as typeof resources };
}

/** As the API server writes them: no fraction, the largest suffix. What is no quantity stays as it is. */
export const plainAmounts = (amounts: Strings | undefined): Strings | undefined =>
  amounts && Object.fromEntries(Object.entries(amounts).map(([resource, text]) => [resource, plainAmount(text)]));

function plainAmount(text: string): string {
  const quantity = parseQuantity(String(text));
  return quantity === undefined || /[eE][+-]?\d/.test(text)
    ? text
    : formatQuantity(quantity, /i$/.test(text) ? 'binary' : 'decimal');
}

const standard = ['cpu', 'memory', 'ephemeral-storage'];

function objectionToAmounts(
  kind: Kind,
  pod: string,
  list: 'containers' | 'initContainers',
  containers: readonly RawContainer[] = [],
): Status | undefined {
  for (const [index, { resources }] of containers.entries()) {
    const wrong = (field: string, problem: string): Status =>
      invalid(kind, pod, `spec.${list}[${index}].resources.${field}`, problem);
    for (const [resource, amount] of Object.entries({ ...resources?.limits, ...resources?.requests })) {
      if (parseQuantity(String(amount)) === undefined) {
        return badRequest(
          `Pod in version "v1" cannot be handled as a Pod: quantities must match the regular expression (${resource}: ${amount})`,
        );
      }
      if (!standard.includes(resource) && !isHugePages(resource) && !resource.includes('/')) {
        return wrong(
          `requests[${resource}]`,
          `Invalid value: "${resource}": must be a standard resource for containers`,
        );
      }
    }
    for (const [resource, amount] of Object.entries(resources?.requests ?? {})) {
      const limit = resources?.limits?.[resource];
      const overcommits = !isExtended(resource) && !isHugePages(resource);
      if (limit === undefined) {
        if (overcommits) continue;
        return wrong('limits', `Required value: Limit must be set for non overcommitable resources (${resource})`);
      }
      const asked = parseQuantity(amount) ?? 0n;
      const most = parseQuantity(limit) ?? 0n;
      if (overcommits ? asked > most : asked !== most) {
        const relation = overcommits ? 'less than or equal to' : 'equal to';
        return wrong('requests', `Invalid value: "${amount}": must be ${relation} ${resource} limit of ${limit}`);
      }
    }
  }
  return undefined;
}
