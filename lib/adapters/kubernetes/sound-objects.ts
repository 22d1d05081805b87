/**
 * A first, quick look at objects of the two long lists: is all that is read of them as it should be?
 *
 * Nearly always it is, and then a schema adds nothing: reading thousands of objects by one costs more than everything that
 * is decided about them. Whatever is odd in any place is left to the schema, which names it.
 */
import type { Requirement } from '../../domain/cluster/requirements.ts';
import type { Condition, Metadata } from './decode-metadata.ts';
import { isOperator } from './decode-requirements.ts';

type Raw = Readonly<Record<string, unknown>>;
type Text = string | null | undefined;
type Amounts = Raw | null | undefined;

interface SoundClaim {
  metadata: Metadata;
  spec?:
    | { expireAfter?: Text; terminationGracePeriod?: Text; requirements?: Requirement[] | null | undefined }
    | null
    | undefined;
  status?:
    | {
        nodeName?: Text;
        providerID?: Text;
        capacity?: Amounts;
        allocatable?: Amounts;
        conditions?: Condition[] | null | undefined;
      }
    | null
    | undefined;
}

/** @returns undefined when the schema has to look @design D15-03 */
export function soundNodeMetadata(raw: unknown): { metadata: Metadata } | undefined {
  return isMap(raw) && isMetadata(raw.metadata) ? { metadata: raw.metadata } : undefined;
}

/** @returns undefined when the schema has to look @design D15-03 */
export function soundNodeClaim(raw: unknown): SoundClaim | undefined {
  if (!isMap(raw) || !isMetadata(raw.metadata)) return undefined;
  const { metadata, spec, status } = raw;
  if (!isNone(spec) && !isMap(spec)) return undefined;
  if (!isNone(status) && !isStatus(status)) return undefined;
  if (isNone(spec)) return { metadata, spec, status };
  const { expireAfter, terminationGracePeriod } = spec;
  if (!isText(expireAfter) || !isText(terminationGracePeriod)) return undefined;
  const requirements = isNone(spec.requirements) ? spec.requirements : requirementsIn(spec.requirements);
  if (requirements === undefined && !isNone(spec.requirements)) return undefined;
  const lifetime = { expireAfter, terminationGracePeriod };
  return { metadata, spec: { ...lifetime, requirements }, status };
}

function isMetadata(value: unknown): value is Metadata {
  if (!isMap(value)) return false;
  const { name, namespace, uid, resourceVersion, labels, annotations, finalizers, ownerReferences } = value;
  return (
    typeof name === 'string' &&
    name !== '' &&
    isText(namespace) &&
    isText(uid) &&
    isText(resourceVersion) &&
    isTextMap(labels) &&
    isTextMap(annotations) &&
    isListOf(finalizers, (each) => typeof each === 'string') &&
    isListOf(ownerReferences, isOwner)
  );
}

const isOwner = (value: unknown): boolean =>
  isMap(value) &&
  typeof value.kind === 'string' &&
  typeof value.name === 'string' &&
  (isNone(value.controller) || typeof value.controller === 'boolean');

function isStatus(value: unknown): value is NonNullable<SoundClaim['status']> {
  if (!isMap(value)) return false;
  const { nodeName, providerID, capacity, allocatable, conditions } = value;
  return (
    isText(nodeName) &&
    isText(providerID) &&
    (isNone(capacity) || isMap(capacity)) &&
    (isNone(allocatable) || isMap(allocatable)) &&
    isListOf(conditions, isCondition)
  );
}

const isCondition = (value: unknown): boolean =>
  isMap(value) &&
  typeof value.type === 'string' &&
  typeof value.status === 'string' &&
  isText(value.reason) &&
  isText(value.message);

/** Without what else stands in them, such as Karpenter's minValues. */
function requirementsIn(value: unknown): Requirement[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const found: Requirement[] = [];
  for (const each of value) {
    if (!isMap(each)) return undefined;
    const { key, operator, values = [] } = each;
    if (typeof key !== 'string' || !isOperator(operator) || !Array.isArray(values)) return undefined;
    if (!values.every((one) => typeof one === 'string')) return undefined;
    found.push({ key, operator, values });
  }
  return keptOnce(found);
}

/** The claims of a pool require the same few things, and thousands of lists are one in memory. */
function keptOnce(found: Requirement[]): Requirement[] {
  const content = JSON.stringify(found);
  const known = requirements.get(content);
  if (known !== undefined) return known;
  if (requirements.size >= mostRequirements) requirements.clear();
  requirements.set(content, found);
  return found;
}

const requirements = new Map<string, Requirement[]>();
const mostRequirements = 1_000;

const isMap = (value: unknown): value is Raw => typeof value === 'object' && value !== null && !Array.isArray(value);

const isNone = (value: unknown): value is null | undefined => value === undefined || value === null;
const isText = (value: unknown): value is Text => typeof value === 'string' || isNone(value);

const isListOf = (value: unknown, isOne: (each: unknown) => boolean): boolean =>
  isNone(value) || (Array.isArray(value) && value.every(isOne));

function isTextMap(value: unknown): boolean {
  if (isNone(value)) return true;
  if (!isMap(value)) return false;
  for (const key in value) if (typeof value[key] !== 'string') return false;
  return true;
}
