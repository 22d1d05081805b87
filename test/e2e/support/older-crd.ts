/**
 * Our definition as an older release might have had it: without some fields, without defaults, bounds and rules.
 *
 * What was stored under it is what an update of the definition finds.
 */
import type { policyCrd, SchemaNode } from '../../../lib/adapters/kubernetes/policy-crd.ts';

type Definition = ReturnType<typeof policyCrd>;

const newFields = new Set(['deferBlockedDrains', 'forcefulFallback', 'rotatingNodePools', 'conditions', 'nodePools']);
const newKeywords = new Set(['default', 'minimum', 'minItems', 'x-kubernetes-validations', 'x-kubernetes-list-type']);

export function withoutWhatIsNew(definition: Definition): Definition {
  return {
    ...definition,
    spec: {
      ...definition.spec,
      versions: definition.spec.versions.map((version) => ({
        ...version,
        additionalPrinterColumns: [],
        schema: { openAPIV3Schema: older(version.schema.openAPIV3Schema) },
      })),
    },
  };
}

function older(node: SchemaNode): SchemaNode {
  const kept = Object.fromEntries(
    Object.entries(node).filter(([key]) => !newKeywords.has(key) && key !== 'x-kubernetes-list-map-keys'),
  );
  const { properties, required, items } = node;
  const fields = Object.entries(properties ?? {}).filter(([name]) => !newFields.has(name));
  return {
    ...kept,
    type: node.type,
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(fields.map(([name, child]) => [name, older(child)])) }),
    ...(Array.isArray(required) ? { required: required.filter((name: string) => !newFields.has(name)) } : {}),
    ...(items === undefined ? {} : { items: older(items) }),
  };
}
