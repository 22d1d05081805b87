/**
 * Kubernetes label selectors: matchLabels and matchExpressions, all of which must hold. An empty selector matches all.
 */
import type { StringMap } from './object-ref.ts';
import { own } from './object-ref.ts';

export interface LabelSelector {
  readonly matchLabels: StringMap;
  readonly matchExpressions: readonly {
    readonly key: string;
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
    readonly values: readonly string[];
  }[];
}

/** How many constraints the selector states; the measure of specificity. @design D2-06 */
export const constraintCount = (selector: LabelSelector): number =>
  Object.keys(selector.matchLabels).length + selector.matchExpressions.length;

export function selects(selector: LabelSelector, labels: StringMap): boolean {
  const exact = Object.entries(selector.matchLabels).every(([key, value]) => own(labels, key) === value);
  return exact && selector.matchExpressions.every((expression) => holds(expression, own(labels, expression.key)));
}

function holds(expression: LabelSelector['matchExpressions'][number], value: string | undefined): boolean {
  switch (expression.operator) {
    case 'In':
      return value !== undefined && expression.values.includes(value);
    case 'NotIn':
      return value === undefined || !expression.values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}
