/**
 * A cluster as a kubeconfig describes it, read by the Kubernetes client library with every kind of credentials it knows.
 */
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { type Access, Connection, httpsServer, UnusableConnection } from './connection.ts';

/** What the library makes up when it finds nothing. */
const libraryFallback = 'http://localhost:8080';

/**
 * The cluster of a kubeconfig context.
 *
 * @param from file: unset means KUBECONFIG, then `~/.kube/config`; context: unset means the file's current one
 * @throws UnusableConnection naming the file or the context that is missing or unreadable, and when the context leads
 * nowhere or asks for an unverified connection
 */
export function connectToContext(from: { file?: string; context?: string } = {}): Connection {
  const kubeConfig = new KubeConfig();
  try {
    if (from.file === undefined) kubeConfig.loadFromDefault();
    else kubeConfig.loadFromFile(from.file);
  } catch (cause) {
    const which = from.file === undefined ? 'the kubeconfig' : `the kubeconfig ${from.file}`;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UnusableConnection(`cannot read ${which}: ${reason}`, { cause });
  }
  if (from.file === undefined && kubeConfig.getCurrentCluster()?.server === libraryFallback) {
    throw new UnusableConnection('there is no kubeconfig, neither named by KUBECONFIG nor at ~/.kube/config');
  }
  if (from.context !== undefined) kubeConfig.setCurrentContext(from.context);
  return new Connection(accessOf(kubeConfig));
}

function accessOf(kubeConfig: KubeConfig): Access {
  return {
    server: serverOf(kubeConfig),
    context: kubeConfig.getCurrentContext(),
    throughProxy: Boolean(kubeConfig.getCurrentCluster()?.proxyUrl),
    options: async () => {
      const options: RequestOptions = {};
      await kubeConfig.applyToHTTPSOptions(options);
      return options;
    },
  };
}

function serverOf(kubeConfig: KubeConfig): URL {
  const context = kubeConfig.getCurrentContext();
  const known = (kubeConfig.getContexts() ?? []).map(({ name }) => name);
  if (!context) throw new UnusableConnection('the kubeconfig has no current context: name one');
  if (!known.includes(context)) {
    throw new UnusableConnection(`no context "${context}" in the kubeconfig; it has ${known.join(', ') || 'none'}`);
  }
  const cluster = kubeConfig.getCurrentCluster();
  if (!cluster) throw new UnusableConnection(`the context "${context}" names a cluster that the kubeconfig lacks`);
  if (!kubeConfig.getCurrentUser()) {
    throw new UnusableConnection(`the context "${context}" names a user that the kubeconfig lacks`);
  }
  if (cluster.skipTLSVerify) {
    throw new UnusableConnection(
      `cluster "${cluster.name}" asks to skip TLS verification, which is never done: give its certificate-authority instead`,
    );
  }
  return httpsServer(cluster.name, cluster.server);
}
