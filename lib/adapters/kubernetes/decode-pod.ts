/**
 * A raw Pod as a domain value: what it asks for, where it may run, and what became of it.
 */

import * as z from 'zod';
import type { Unreadable } from '../../domain/cluster/object-ref.ts';
import { annotation, type ObjectMeta } from '../../domain/cluster/object-ref.ts';
import type { ContainerResources, NodeSelectorTerm, Pod, Toleration } from '../../domain/cluster/pod.ts';
import type { ResourceList } from '../../domain/cluster/resource-list.ts';
import type { Duration } from '../../domain/time.ts';
import { seconds } from '../../domain/time.ts';
import { amounts, type Decoded, decoded, resourceList } from './decode.ts';
import { type Condition, condition, conditionOf, metadata, textMap, toInstant, toMeta } from './decode-metadata.ts';
import { requirement } from './decode-requirements.ts';

const requests = z.object({ requests: amounts.nullish() }).nullish();

const container = z.object({ name: z.string(), resources: requests, restartPolicy: z.string().nullish() });

const containerStatus = z.object({ name: z.string(), allocatedResources: amounts.nullish(), resources: requests });

const toleration = z
  .object({
    key: z.string().nullish(),
    operator: z.enum(['Equal', 'Exists']).nullish(),
    value: z.string().nullish(),
    effect: z.string().nullish(),
    tolerationSeconds: z.number().int().nullish(),
  })
  .transform(
    ({ key, operator, value, effect, tolerationSeconds }): Toleration => ({
      ...(key ? { key } : {}),
      operator: operator ?? 'Equal',
      ...(value ? { value } : {}),
      ...(effect ? { effect } : {}),
      ...(tolerationSeconds == null ? {} : { tolerationSeconds }),
    }),
  );

const term = z
  .object({ matchExpressions: z.array(requirement).nullish(), matchFields: z.array(requirement).nullish() })
  .transform(
    ({ matchExpressions, matchFields }): NodeSelectorTerm => ({
      matchExpressions: matchExpressions ?? [],
      matchFields: matchFields ?? [],
    }),
  );

const affinity = z
  .object({
    nodeAffinity: z
      .object({
        requiredDuringSchedulingIgnoredDuringExecution: z
          .object({ nodeSelectorTerms: z.array(term).nullish() })
          .nullish(),
      })
      .nullish(),
  })
  .nullish();

const podSchema = z.object({
  metadata,
  spec: z
    .object({
      nodeName: z.string().nullish(),
      priority: z.number().int().nullish(),
      // Of 64 bits: more than a safe integer.
      terminationGracePeriodSeconds: z.number().refine(Number.isInteger, 'expected whole seconds').nullish(),
      tolerations: z.array(toleration).nullish(),
      nodeSelector: textMap.nullish(),
      affinity,
      containers: z.array(container).nullish(),
      initContainers: z.array(container).nullish(),
      resources: requests,
      overhead: amounts.nullish(),
    })
    .nullish(),
  status: z
    .object({
      phase: z.enum(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown']).nullish(),
      startTime: z.unknown().optional(),
      conditions: z.array(condition).nullish(),
      containerStatuses: z.array(containerStatus).nullish(),
      initContainerStatuses: z.array(containerStatus).nullish(),
      allocatedResources: amounts.nullish(),
      resources: requests,
    })
    .nullish(),
});

type Spec = NonNullable<z.output<typeof podSchema>['spec']>;
type Status = NonNullable<z.output<typeof podSchema>['status']>;

/** The API server's default for a Pod that names no grace. */
const defaultGrace = seconds(30);

/** A century: longer than any node lives, and short enough to be counted with. */
const longestGrace = 100 * 365 * 24 * 60 * 60;

/** Kubernetes takes a negative grace for one second. */
const graceFrom = (wanted: number): Duration => seconds(wanted < 0 ? 1 : Math.min(wanted, longestGrace));

export const decodePod = (raw: unknown): Decoded<Pod> =>
  decoded('Pod', podSchema, raw, ({ metadata: read, spec, status }, problems) => {
    const meta = toMeta(read, problems);
    const ready = readiness(conditionOf(status?.conditions, 'Ready'));
    const unschedulable = unschedulability(conditionOf(status?.conditions, 'PodScheduled'));
    const controllerKind = controllerOf(meta, read.ownerReferences ?? []);
    const startedAt = toInstant(status?.startTime);
    const grace = spec?.terminationGracePeriodSeconds;
    return {
      meta,
      ...(spec?.nodeName ? { nodeName: spec.nodeName } : {}),
      phase: status?.phase ?? 'Unknown',
      ...(ready ? { ready } : {}),
      ...(unschedulable ? { unschedulable } : {}),
      ...(controllerKind ? { controllerKind } : {}),
      priority: spec?.priority ?? 0,
      ...(startedAt === undefined ? {} : { startedAt }),
      terminationGracePeriod: grace == null ? defaultGrace : graceFrom(grace),
      tolerations: spec?.tolerations ?? [],
      nodeSelector: spec?.nodeSelector ?? {},
      requiredNodeAffinity:
        spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [],
      resources: resourcesOf(spec ?? {}, status ?? {}, problems),
      unreadable: problems,
    };
  });

function readiness(found: Condition | undefined): Pod['ready'] {
  if (found === undefined) return undefined;
  const since = toInstant(found.lastTransitionTime);
  return { status: found.status === 'True', ...(since === undefined ? {} : { since }) };
}

function unschedulability(found: Condition | undefined): Pod['unschedulable'] {
  if (found?.status !== 'False') return undefined;
  return { reason: found.reason ?? '', message: found.message ?? '' };
}

// A mirror Pod belongs to its node, whatever its owner references say.
function controllerOf(
  meta: ObjectMeta,
  owners: readonly { kind: string; controller?: boolean | null | undefined }[],
): string | undefined {
  if (annotation(meta, 'kubernetes.io/config.mirror') !== undefined) return 'Node';
  return owners.find(({ controller }) => controller === true)?.kind;
}

function resourcesOf(spec: Spec, status: Status, problems: Unreadable[]): Pod['resources'] {
  const podLevelAllocated = allocatedOf(status, 'status', problems);
  return {
    containers: containersOf(spec.containers, status.containerStatuses, 'containers', problems),
    initContainers: containersOf(spec.initContainers, status.initContainerStatuses, 'initContainers', problems),
    ...(spec.resources?.requests
      ? { podLevel: resourceList(spec.resources.requests, 'spec.resources.requests', problems) }
      : {}),
    ...(podLevelAllocated ? { podLevelAllocated } : {}),
    overhead: resourceList(spec.overhead, 'spec.overhead', problems),
  };
}

function containersOf(
  containers: Spec['containers'],
  statuses: Status['containerStatuses'],
  field: 'containers' | 'initContainers',
  problems: Unreadable[],
): readonly ContainerResources[] {
  return (containers ?? []).map(({ name, resources, restartPolicy }, index) => {
    const status = statuses?.find((candidate) => candidate.name === name);
    const statusPath = `status.${field === 'containers' ? 'containerStatuses' : 'initContainerStatuses'}[name=${name}]`;
    const allocated = status && allocatedOf(status, statusPath, problems);
    return {
      name,
      requests: resourceList(resources?.requests, `spec.${field}[${index}].resources.requests`, problems),
      ...(allocated ? { allocated } : {}),
      sidecar: field === 'initContainers' && restartPolicy === 'Always',
    };
  });
}

/** The larger, by resource, of what the kubelet has allocated and what it has put into effect. @design D8-02 */
function allocatedOf(
  status: Pick<z.output<typeof containerStatus>, 'allocatedResources' | 'resources'>,
  path: string,
  problems: Unreadable[],
): ResourceList | undefined {
  const { allocatedResources, resources } = status;
  if (!allocatedResources && !resources?.requests) return undefined;
  const allocated = resourceList(allocatedResources, `${path}.allocatedResources`, problems);
  const larger = new Map(allocated);
  for (const [name, amount] of resourceList(resources?.requests, `${path}.resources.requests`, problems)) {
    const other = larger.get(name);
    if (other === undefined || amount > other) larger.set(name, amount);
  }
  return larger;
}
