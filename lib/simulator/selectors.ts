/**
 * Label and field selectors in the text form of the API's query parameters.
 */
import type { LabelSelector } from '../domain/cluster/label-selector.ts';
import { selects } from '../domain/cluster/label-selector.ts';
import type { KindName } from './kinds.ts';
import type { KubeObject, NodeObject, PodObject, RawSelector } from './kube-object.ts';

export type Matcher = (object: KubeObject) => boolean;

const setBased = /^([^\s!=,]+)\s+(in|notin)\s+\(([^)]*)\)$/;
const equality = /^([^\s!=,]+)\s*(==|=|!=)\s*([^\s=!,]*)$/;
const existence = /^(!?)\s*([^\s!=,()]+)$/;

/** Commas inside the parentheses of a set do not separate terms. */
const termsOf = (text: string): string[] =>
  text
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .filter((term) => term !== '');

/** @returns undefined when the text is no label selector */
export function labelMatcher(text: string): Matcher | undefined {
  const expressions: LabelSelector['matchExpressions'][number][] = [];
  for (const term of termsOf(text)) {
    const set = setBased.exec(term);
    const equal = equality.exec(term);
    const exists = existence.exec(term);
    if (set) {
      const values = (set[3] as string).split(',').map((value) => value.trim());
      expressions.push({ key: set[1] as string, operator: set[2] === 'in' ? 'In' : 'NotIn', values });
    } else if (equal) {
      expressions.push({
        key: equal[1] as string,
        operator: equal[2] === '!=' ? 'NotIn' : 'In',
        values: [equal[3] as string],
      });
    } else if (exists) {
      expressions.push({
        key: exists[2] as string,
        operator: exists[1] === '!' ? 'DoesNotExist' : 'Exists',
        values: [],
      });
    } else {
      return undefined;
    }
  }
  const selector: LabelSelector = { matchLabels: {}, matchExpressions: expressions };
  return (object) => selects(selector, object.metadata.labels ?? {});
}

export interface FieldTerm {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

/** @returns undefined when the text is no field selector */
export function parseFieldSelector(text: string): readonly FieldTerm[] | undefined {
  const terms = termsOf(text).map((term) => equality.exec(term));
  if (terms.some((term) => term === null)) return undefined;
  return terms.map((term) => ({ field: term?.[1] ?? '', equal: term?.[2] !== '!=', value: term?.[3] ?? '' }));
}

/** @returns undefined when a term names a field that this kind cannot be selected by */
export function fieldMatcher(kind: KindName, terms: readonly FieldTerm[]): Matcher | undefined {
  const readers = terms.map((term) => fieldReader(kind, term.field));
  if (readers.some((reader) => reader === undefined)) return undefined;
  return (object) => terms.every((term, index) => (readers[index]?.(object) === term.value) === term.equal);
}

function fieldReader(kind: KindName, field: string): ((object: KubeObject) => string) | undefined {
  if (field === 'metadata.name') return (object) => object.metadata.name;
  if (field === 'metadata.namespace') return (object) => object.metadata.namespace ?? '';
  if (kind === 'Pod' && field === 'spec.nodeName') return (object) => (object as PodObject).spec.nodeName ?? '';
  if (kind === 'Pod' && field === 'status.phase') return (object) => (object as PodObject).status.phase ?? '';
  if (kind === 'Node' && field === 'spec.unschedulable') {
    return (object) => String((object as NodeObject).spec.unschedulable ?? false);
  }
  return undefined;
}

/** Whether labels satisfy a selector written in an object. An absent selector matches nothing, an empty one everything. */
export function selectorMatches(
  selector: RawSelector | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  if (selector === undefined) return false;
  return selects(
    {
      matchLabels: selector.matchLabels ?? {},
      matchExpressions: (selector.matchExpressions ?? []).map((expression) => ({
        key: expression.key,
        operator: expression.operator as 'In' | 'NotIn' | 'Exists' | 'DoesNotExist',
        values: expression.values ?? [],
      })),
    },
    labels ?? {},
  );
}
