/**
 * The Kubernetes client library with its own API classes for everything that reconcile asks: what its own requests are
 * held against.
 */
import { CoreV1Api, CustomObjectsApi, EventsV1Api, KubeConfig, PolicyV1Api } from '@kubernetes/client-node';

const kubeConfig = new KubeConfig();
kubeConfig.loadFromClusterAndUser(
  { name: 'bench', server: 'https://127.0.0.1:1', skipTLSVerify: false },
  { name: 'bench' },
);

export const apis = [
  kubeConfig.makeApiClient(CoreV1Api),
  kubeConfig.makeApiClient(CustomObjectsApi),
  kubeConfig.makeApiClient(PolicyV1Api),
  kubeConfig.makeApiClient(EventsV1Api),
];
