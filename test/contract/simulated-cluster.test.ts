import { describe } from 'vitest';
import { apiContract, clusterContract } from './cluster-contract.ts';
import { inProcess, overHttps } from './simulated-places.ts';

describe('one contract for every cluster (D14-01, D14-04, D5-04, D5-05, D15-03)', () => {
  clusterContract('the simulated cluster, in process', inProcess);
  clusterContract('the Kubernetes adapter, over the simulated API', overHttps);
  apiContract('the simulated API', overHttps);
});
