/**
 * Workloads of a fleet: Deployments, StatefulSets and Jobs bound to one pool, with or without a budget, and daemons.
 *
 * An app tolerates everything that its pool may be tainted with.
 */
import type { Manifest, Strings } from './kube-object.ts';
import { runAnnotation, stopAnnotation } from './workloads.ts';

export const workloadNamespace = 'shop';

export interface FleetApp {
  readonly name: string;
  /** The value of the label `workload` on the nodes. */
  readonly pool: string;
  readonly replicas: number;
  readonly requests: Strings;
  /** Of any strictness, `maxUnavailable: 0` and `minAvailable: '100%'` included; none when absent. */
  readonly budget?: { readonly maxUnavailable?: number | string; readonly minAvailable?: number | string };
  /** Deployment when absent. A Job has as many completions as replicas, all side by side. */
  readonly kind?: 'Deployment' | 'StatefulSet' | 'Job';
  /** terminationGracePeriodSeconds; 30 when absent. */
  readonly graceSeconds?: number;
  /** How long a Pod really takes to stop; by chance when absent. */
  readonly stopSeconds?: number;
  /** Of a Job: how long a Pod runs; ten minutes when absent. */
  readonly runSeconds?: number;
  /** Value of karpenter.sh/do-not-disrupt on every Pod: `true` or a duration. */
  readonly doNotDisrupt?: string;
  readonly priorityClassName?: string;
}

/** Extended resources need a limit that equals the request. */
const container = (name: string, requests: Strings) => ({
  name,
  image: `registry.example/${name}:1`,
  resources: {
    requests,
    ...limitsFor(Object.entries(requests).filter(([resource]) => resource.includes('/'))),
  },
});

const limitsFor = (extended: readonly (readonly [string, string])[]) =>
  extended.length === 0 ? {} : { limits: Object.fromEntries(extended) };

export function daemonManifest(name: string, requests: Strings): Manifest {
  const labels = { app: name };
  return {
    kind: 'DaemonSet',
    metadata: { name, namespace: 'kube-system', labels },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [container(name, requests)], tolerations: [{ operator: 'Exists' }] },
      },
    },
  };
}

/** @param taintKeys of the pool that the app is bound to */
export function appManifests(app: FleetApp, taintKeys: readonly string[] = []): readonly Manifest[] {
  const { kind = 'Deployment', replicas, budget } = app;
  const labels = { app: app.name };
  const metadata = { name: app.name, namespace: workloadNamespace, labels };
  const template = podTemplate(app, taintKeys);
  const spec =
    kind === 'Job'
      ? { completions: replicas, parallelism: replicas, template }
      : { replicas, selector: { matchLabels: labels }, template };
  const workload: Manifest = { kind, metadata, spec };
  if (!budget) return [workload];
  return [workload, { kind: 'PodDisruptionBudget', metadata, spec: { selector: { matchLabels: labels }, ...budget } }];
}

function podTemplate(app: FleetApp, taintKeys: readonly string[]) {
  const { graceSeconds, stopSeconds, doNotDisrupt, priorityClassName } = app;
  const annotations = {
    ...(stopSeconds === undefined ? {} : { [stopAnnotation]: String(stopSeconds) }),
    ...(doNotDisrupt === undefined ? {} : { 'karpenter.sh/do-not-disrupt': doNotDisrupt }),
    ...(app.kind === 'Job' ? { [runAnnotation]: String(app.runSeconds ?? 600) } : {}),
  };
  return {
    metadata: { labels: { app: app.name }, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) },
    spec: {
      containers: [container(app.name, app.requests)],
      nodeSelector: { workload: app.pool },
      ...(graceSeconds === undefined ? {} : { terminationGracePeriodSeconds: graceSeconds }),
      ...(priorityClassName === undefined ? {} : { priorityClassName }),
      ...(taintKeys.length === 0 ? {} : { tolerations: taintKeys.map((key) => ({ key, operator: 'Exists' })) }),
    },
  };
}
