/**
 * What the API server itself says our requests cost it.
 *
 * Its own counters know no users, except by flow: a flow schema of our group's own makes the server count, and time, what we
 * ask apart from everybody else. The schema stays at the priority that such a group has anyway.
 */
import type { KubeApi, KubeDocument } from '../../e2e/harness/kube-api.ts';

const flow = 'node-rotation';

export const ownFlow: KubeDocument = {
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'FlowSchema',
  metadata: { name: flow },
  spec: {
    matchingPrecedence: 500,
    priorityLevelConfiguration: { name: 'global-default' },
    distinguisherMethod: { type: 'ByUser' },
    rules: [
      {
        subjects: [{ kind: 'Group', group: { name: 'node-rotation' } }],
        resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
      },
    ],
  },
};

export interface ServerCount {
  /** Of our flow. */
  readonly requests: number;
  /** Seconds that the server spent on them, from dispatch to the last byte. */
  readonly busy: number;
  /** Bytes of all answers to lists, by whomever. */
  readonly listBytes: number;
  /** Lists of NodePools: each of our ticks asks for one. */
  readonly poolLists: number;
  /** Seconds of processor time of the whole server. */
  readonly cpu: number;
}

/** Since the server was started. */
export async function countAt(api: KubeApi): Promise<ServerCount> {
  const samples = (await api.send('GET', '/metrics')).split('\n').filter((line) => line !== '' && line[0] !== '#');
  const sum = (name: string, labels: Readonly<Record<string, string>> = {}): number => {
    const found = samples.filter(
      (line) =>
        (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) &&
        Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`)),
    );
    return found.reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  };
  const ours = { flow_schema: flow };
  return {
    requests: sum('apiserver_flowcontrol_dispatched_requests_total', ours),
    busy: sum('apiserver_flowcontrol_request_execution_seconds_sum', ours),
    listBytes: sum('apiserver_response_sizes_sum', { verb: 'LIST' }),
    poolLists: sum('apiserver_request_total', { verb: 'LIST', resource: 'nodepools' }),
    cpu: sum('process_cpu_seconds_total'),
  };
}

export const grown = (before: ServerCount, after: ServerCount): ServerCount => ({
  requests: after.requests - before.requests,
  busy: after.busy - before.busy,
  listBytes: after.listBytes - before.listBytes,
  poolLists: after.poolLists - before.poolLists,
  cpu: after.cpu - before.cpu,
});
