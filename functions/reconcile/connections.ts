/**
 * The connections that a warm function keeps: one per cluster, made anew when its address or certificate changes.
 *
 * Their number is bounded, so that a function that meets many clusters does not run out of sockets.
 */
import { type ClusterTarget, clusterKey } from '../../lib/adapters/aws/cluster-registry.ts';
import type { Connection } from '../../lib/adapters/kubernetes/connection.ts';

const most = 50;

export function keepConnections(open: (cluster: ClusterTarget) => Connection): (cluster: ClusterTarget) => Connection {
  const kept = new Map<string, { connection: Connection; address: string }>();
  return (cluster) => {
    const key = clusterKey(cluster);
    const address = `${cluster.endpoint} ${cluster.certificateAuthority}`;
    const known = kept.get(key);
    kept.delete(key);
    if (known?.address === address) {
      kept.set(key, known);
      return known.connection;
    }
    known?.connection.close();
    const connection = open(cluster);
    kept.set(key, { connection, address });
    const [oldest] = kept.keys();
    if (kept.size > most && oldest !== undefined) {
      kept.get(oldest)?.connection.close();
      kept.delete(oldest);
    }
    return connection;
  };
}
