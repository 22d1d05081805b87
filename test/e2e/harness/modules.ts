/**
 * What the control plane is built from: one small Go module per program family, in `../control-plane`.
 *
 * One module for all does not resolve: etcd, Kubernetes, Karpenter and kwok want different versions of the same
 * libraries. Two of the programs are called `kwok` by their authors, so every output is named here.
 */
import { join } from 'node:path';

export const kubernetesVersions = ['1.36', '1.34'] as const;
export type KubernetesVersion = (typeof kubernetesVersions)[number];

export const programNames = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'karpenter',
  'kwok',
  'token-webhook',
] as const;
export type ProgramName = (typeof programNames)[number];

export interface GoProgram {
  readonly name: ProgramName;
  /** What `go build` is told to build, from the module's folder. */
  readonly target: string;
}

/** Files that a program needs at run time, copied from the module that it was built from. */
export interface Assets {
  readonly module: string;
  /** Path in the built folder → glob in the module. */
  readonly files: Readonly<Record<string, string>>;
}

export interface GoModule {
  /** Its folder under `../control-plane`. */
  readonly name: string;
  readonly programs: readonly GoProgram[];
  readonly linkerFlags: readonly string[];
  readonly assets?: Assets;
}

export const modulesFolder = join(import.meta.dirname, '..', 'control-plane');

const kubernetes = (minor: KubernetesVersion, version: string): GoModule => ({
  name: `kubernetes-${minor}`,
  programs: (['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const).map((name) => ({
    name,
    target: `k8s.io/kubernetes/cmd/${name}`,
  })),
  // Without it the API server does not know its own version.
  linkerFlags: ['-X', `k8s.io/component-base/version.gitVersion=v${version}`],
});

const kubernetesModules: Readonly<Record<KubernetesVersion, GoModule>> = {
  '1.36': kubernetes('1.36', '1.36.3'),
  '1.34': kubernetes('1.34', '1.34.4'),
};

const commonModules: readonly GoModule[] = [
  { name: 'etcd', programs: [{ name: 'etcd', target: '.' }], linkerFlags: [] },
  {
    name: 'karpenter',
    programs: [{ name: 'karpenter', target: 'sigs.k8s.io/karpenter/kwok' }],
    linkerFlags: [],
    assets: {
      module: 'sigs.k8s.io/karpenter',
      files: { crds: 'kwok/{charts,apis}/crds/*.yaml', 'delayed-stages': 'hack/kwok/stages/pod-delete.yaml' },
    },
  },
  {
    name: 'kwok',
    programs: [{ name: 'kwok', target: 'sigs.k8s.io/kwok/cmd/kwok' }],
    linkerFlags: [],
    assets: {
      module: 'sigs.k8s.io/kwok',
      files: {
        stages:
          'kustomize/stage/{node/fast/node-initialize,node/heartbeat-with-lease/node-heartbeat-with-lease,pod/fast/pod-ready,pod/fast/pod-complete,pod/fast/pod-delete}.yaml',
      },
    },
  },
  { name: 'token-webhook', programs: [{ name: 'token-webhook', target: '.' }], linkerFlags: [] },
];

/** Everything that a control plane of that Kubernetes version may run. */
export const modulesFor = (version: KubernetesVersion): readonly GoModule[] => [
  kubernetesModules[version],
  ...commonModules,
];
