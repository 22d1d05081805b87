/**
 * PodDisruptionBudgets as the API has them.
 */

import * as z from 'zod';
import type { DisruptionBudget } from '../../domain/cluster/disruption-budget.ts';
import type { LabelSelector } from '../../domain/cluster/label-selector.ts';
import { type Decoded, decoded } from './decode.ts';
import { metadata, textMap, toMeta } from './decode-metadata.ts';

const labelSelector = z
  .object({
    matchLabels: textMap.nullish(),
    matchExpressions: z
      .array(
        z
          .object({
            key: z.string(),
            operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
            values: z.array(z.string()).nullish(),
          })
          .transform(({ key, operator, values }) => ({ key, operator, values: values ?? [] })),
      )
      .nullish(),
  })
  .transform(
    ({ matchLabels, matchExpressions }): LabelSelector => ({
      matchLabels: matchLabels ?? {},
      matchExpressions: matchExpressions ?? [],
    }),
  );

const count = z.number().int().nullish();
const countOrShare = z.union([z.number().transform((number) => String(number)), z.string()]).nullish();

const disruptionBudgetSchema = z.object({
  metadata,
  spec: z
    .object({ selector: labelSelector.nullish(), minAvailable: countOrShare, maxUnavailable: countOrShare })
    .nullish(),
  status: z
    .object({ disruptionsAllowed: count, currentHealthy: count, desiredHealthy: count, expectedPods: count })
    .nullish(),
});

export const decodeDisruptionBudget = (raw: unknown): Decoded<DisruptionBudget> =>
  decoded('PodDisruptionBudget', disruptionBudgetSchema, raw, ({ metadata, spec, status }, problems) => ({
    meta: toMeta(metadata, problems),
    ...(spec?.selector ? { selector: spec.selector } : {}),
    ...(spec?.minAvailable == null ? {} : { minAvailable: spec.minAvailable }),
    ...(spec?.maxUnavailable == null ? {} : { maxUnavailable: spec.maxUnavailable }),
    disruptionsAllowed: status?.disruptionsAllowed ?? 0,
    currentHealthy: status?.currentHealthy ?? 0,
    desiredHealthy: status?.desiredHealthy ?? 0,
    expectedPods: status?.expectedPods ?? 0,
    unreadable: problems,
  }));
