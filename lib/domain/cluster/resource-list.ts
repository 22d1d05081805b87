/**
 * Amounts by resource name. A name that is absent means "not asked for", which differs from an explicit zero only in
 * what a placeholder shows; arithmetic treats both as nothing.
 */
import type { Unreadable } from './object-ref.ts';
import type { Quantity } from './quantity.ts';
import {
  addQuantities,
  formatQuantity,
  larger,
  multiplyQuantity,
  nothing,
  parseQuantity,
  smaller,
  subtractQuantities,
} from './quantity.ts';

export type ResourceList = ReadonlyMap<string, Quantity>;

export const noResources: ResourceList = new Map();

export const amountOf = (list: ResourceList, resource: string): Quantity => list.get(resource) ?? nothing;

/** The names of both lists, sorted, so that what is reported first never depends on the order of reading. */
const namesOf = (...lists: readonly ResourceList[]): readonly string[] =>
  [...new Set(lists.flatMap((list) => [...list.keys()]))].sort();

function combine(a: ResourceList, b: ResourceList, how: (x: Quantity, y: Quantity) => Quantity): ResourceList {
  return new Map(namesOf(a, b).map((name) => [name, how(amountOf(a, name), amountOf(b, name))]));
}

export const plus = (a: ResourceList, b: ResourceList): ResourceList => combine(a, b, addQuantities);
/** May fall below zero. */
export const minus = (a: ResourceList, b: ResourceList): ResourceList => combine(a, b, subtractQuantities);
/** The resources of `a` only, none below zero. */
export const minusFloored = (a: ResourceList, b: ResourceList): ResourceList =>
  new Map(namesOf(a).map((name) => [name, larger(nothing, subtractQuantities(amountOf(a, name), amountOf(b, name)))]));
export const maximum = (a: ResourceList, b: ResourceList): ResourceList => combine(a, b, larger);
/** A resource that one of them does not name counts as nothing there. */
export const minimum = (a: ResourceList, b: ResourceList): ResourceList => combine(a, b, smaller);
export const scale = (list: ResourceList, count: number): ResourceList =>
  new Map(namesOf(list).map((name) => [name, multiplyQuantity(amountOf(list, name), count)]));
export const total = (lists: readonly ResourceList[]): ResourceList => lists.reduce(plus, noResources);

/** The resources of which `asked` has more than `room` offers, sorted; a resource that `room` lacks offers nothing. */
export const exceeding = (asked: ResourceList, room: ResourceList): readonly string[] =>
  namesOf(asked).filter((name) => amountOf(asked, name) > amountOf(room, name));

/** Whether `asked` fits into `room`, resource by resource; at the bound it fits. */
export const fits = (asked: ResourceList, room: ResourceList): boolean => exceeding(asked, room).length === 0;

/** Whether both mean the same amounts, whichever of them spells out its zeros. */
export const sameAmounts = (a: ResourceList, b: ResourceList): boolean => fits(a, b) && fits(b, a);

/** Kubernetes counts in signed 64-bit integers: no amount of anything is larger. */
const largestAmount = ((2n ** 63n - 1n) * 10n ** 9n) as Quantity;

/**
 * Reads a `requests`, `limits`, `capacity` or `allocatable` object.
 *
 * What is not a quantity, is negative or larger than Kubernetes can count is left out of the list and named.
 *
 * @param path of the object, such as `status.allocatable`
 * @design D8-01, D5-06
 */
export function parseResourceList(
  record: Readonly<Record<string, unknown>>,
  path: string,
): { readonly list: ResourceList; readonly unreadable: readonly Unreadable[] } {
  const content = JSON.stringify(record);
  const known = read.get(content);
  if (known !== undefined) return { list: known, unreadable: [] };
  const list = new Map<string, Quantity>();
  const unreadable: Unreadable[] = [];
  for (const [resource, value] of Object.entries(record)) {
    const text = typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;
    const quantity = text === undefined ? undefined : parseQuantity(text);
    const problem = problemWith(quantity);
    if (quantity !== undefined && problem === undefined) list.set(resource, quantity);
    else
      unreadable.push({
        path: `${path}.${resource}`,
        text: text ?? JSON.stringify(value) ?? '',
        problem: problem ?? '',
      });
  }
  if (unreadable.length === 0 && content.length <= longestKept) {
    if (read.size >= mostKept) read.clear();
    read.set(content, list);
  }
  return { list, unreadable };
}

// The nodes of a cluster are of a few sizes: thousands of lists are the same few, and are one list in memory.
const read = new Map<string, ResourceList>();
const mostKept = 1_000;
const longestKept = 1_000;

function problemWith(quantity: Quantity | undefined): string | undefined {
  if (quantity === undefined) return 'is not a Kubernetes quantity such as 500m or 1Gi';
  if (quantity < 0n) return 'is negative; an amount of a resource is zero or more';
  if (quantity > largestAmount) return 'is larger than Kubernetes can count (2^63 - 1)';
  return undefined;
}

/** Kubernetes text of one amount: Mi and its like for what is counted in bytes, `500m` for the rest. @design D8-01 */
const formatAmount = (resource: string, quantity: Quantity): string =>
  formatQuantity(quantity, countedInBytes(resource) ? 'binary' : 'decimal');

/** A list as it goes to the API server, names sorted. */
export const formatResourceList = (list: ResourceList): Readonly<Record<string, string>> =>
  Object.fromEntries(namesOf(list).map((name) => [name, formatAmount(name, amountOf(list, name))]));

const countedInBytes = (resource: string): boolean =>
  ['memory', 'storage', 'ephemeral-storage'].includes(resource) || isHugePages(resource);

export const isHugePages = (resource: string): boolean => resource.startsWith('hugepages-');

/**
 * Whether the resource is one of a device plugin or of an operator: a name with a domain that is not Kubernetes' own.
 */
export const isExtended = (resource: string): boolean => resource.includes('/') && !resource.includes('kubernetes.io/');
