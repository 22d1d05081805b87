/**
 * What the simulated cloud sells: instance types, and their offerings by zone and capacity type.
 *
 * An offering is a concrete set of node labels, so whether a Pod or a NodePool accepts it is a lookup, not set algebra.
 */

import { millis, multiplyQuantity, units } from '../domain/cluster/quantity.ts';
import type { ResourceList } from '../domain/cluster/resource-list.ts';
import { minusFloored, noResources, parseResourceList, scale } from '../domain/cluster/resource-list.ts';
import type { Strings } from './kube-object.ts';

export interface InstanceType {
  readonly name: string;
  readonly arch: 'arm64' | 'amd64';
  readonly capacity: ResourceList;
  readonly allocatable: ResourceList;
  /** Any unit; only the order matters. */
  readonly price: number;
}

export interface Offering {
  readonly type: InstanceType;
  readonly labels: Strings;
  readonly price: number;
}

const region = 'ap-northeast-1';
export const zones: readonly string[] = ['a', 'c', 'd'].map((letter) => `${region}${letter}`);

const read = new WeakMap<Strings, ResourceList>();

/** The amounts of a record that no longer changes, read once. */
export function amounts(record: Strings): ResourceList {
  const known = read.get(record) ?? parseResourceList(record, '').list;
  read.set(record, known);
  return known;
}

/** System daemons take 80m CPU; Karpenter takes 7.5 % of the memory away until it has seen a node of the type. */
function instanceType(
  name: string,
  arch: InstanceType['arch'],
  cpu: number,
  gibibytes: number,
  pods: number,
  price: number,
  devices: ResourceList = noResources,
): InstanceType {
  const memory = multiplyQuantity(units(2 ** 20), gibibytes * 1024);
  const capacity: ResourceList = new Map([
    ['cpu', units(cpu)],
    ['ephemeral-storage', multiplyQuantity(units(2 ** 30), 80)],
    ['memory', memory],
    ['pods', units(pods)],
    ...devices,
  ]);
  const overhead: ResourceList = new Map([
    ['cpu', millis(80)],
    ['memory', multiplyQuantity(units(2 ** 20), Math.ceil(gibibytes * 1024 * 0.075))],
  ]);
  return { name, arch, capacity, allocatable: minusFloored(capacity, overhead), price };
}

export const instanceTypes: readonly InstanceType[] = [
  instanceType('m7g.large', 'arm64', 2, 8, 29, 82),
  instanceType('m7g.xlarge', 'arm64', 4, 16, 58, 163),
  instanceType('m7g.2xlarge', 'arm64', 8, 32, 58, 326),
  instanceType('c7g.xlarge', 'arm64', 4, 8, 58, 145),
  instanceType('m7i.xlarge', 'amd64', 4, 16, 58, 202),
  instanceType('m7i.2xlarge', 'amd64', 8, 32, 58, 403),
  instanceType('g6.xlarge', 'amd64', 4, 16, 58, 1168, new Map([['nvidia.com/gpu', units(1)]])),
  instanceType('g6.12xlarge', 'amd64', 48, 192, 234, 6675, new Map([['nvidia.com/gpu', units(4)]])),
];

/** What a real node has beyond Karpenter's estimate: the band between the two allocatables. */
export const measuredBonus: ResourceList = scale(new Map([['memory', units(2 ** 20)]]), 64);

const known = new WeakMap<InstanceType, readonly Offering[]>();

/** What anybody can have of a type, on demand and as spot in every zone. */
export function offeringsOf(type: InstanceType): readonly Offering[] {
  const offerings =
    known.get(type) ??
    zones.flatMap((zone) => [
      offering(type, zone, 'on-demand', type.price),
      offering(type, zone, 'spot', type.price * 0.4),
    ]);
  known.set(type, offerings);
  return offerings;
}

/** What is paid for already comes before everything else. */
export const reservedOffering = (type: InstanceType, zone: string): Offering =>
  offering(type, zone, 'reserved', type.price * 0.001);

const offering = (type: InstanceType, zone: string, capacityType: string, price: number): Offering => ({
  type,
  price,
  labels: {
    'node.kubernetes.io/instance-type': type.name,
    'topology.kubernetes.io/region': region,
    'topology.kubernetes.io/zone': zone,
    'kubernetes.io/arch': type.arch,
    'kubernetes.io/os': 'linux',
    'karpenter.sh/capacity-type': capacityType,
    'eks.amazonaws.com/instance-category': type.name.charAt(0),
    'eks.amazonaws.com/instance-family': type.name.split('.')[0] as string,
    'eks.amazonaws.com/instance-cpu': String(Number(type.capacity.get('cpu') ?? 0n) / 1e9),
  },
});
