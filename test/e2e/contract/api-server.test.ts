import { afterAll, beforeAll, describe } from 'vitest';
import { apiContract, clusterContract } from '../../contract/cluster-contract.ts';
import { type ControlPlane, startControlPlane } from '../harness/control-plane.ts';
import { kubernetesUnderTest } from '../support/kubernetes-under-test.ts';
import { onServer } from './real-places.ts';

let plane: ControlPlane;

beforeAll(async () => {
  plane = await startControlPlane({ kubernetes: kubernetesUnderTest(), karpenter: false });
});

afterAll(() => plane?.stop());

describe('one contract for every cluster (D14-01, D14-04)', () => {
  const provide = onServer(() => plane);
  clusterContract('the Kubernetes adapter, over a real API server', provide);
  apiContract('a real API server', provide);
});
