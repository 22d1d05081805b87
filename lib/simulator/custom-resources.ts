/**
 * What a CustomResourceDefinition does to the objects of its kind.
 *
 * The definition is an object like any other: a kind is held to it from the moment it is in the store. Karpenter's are
 * not part of the simulator, so the one default of theirs that decides something is kept here.
 */
import type { Status } from './api-status.ts';
import { invalid } from './api-status.ts';
import type { Kind } from './kinds.ts';
import type { ClaimSpec, KubeObject, PoolObject } from './kube-object.ts';
import { compact, isJsonObject } from './merge-patch.ts';
import { conformed, misfits, type Schema } from './structural-schema.ts';

interface Definition extends KubeObject {
  readonly spec: {
    readonly versions?: readonly {
      readonly name?: string;
      readonly schema?: { readonly openAPIV3Schema?: Schema };
    }[];
  };
}

export interface Definitions {
  get(kind: 'CustomResourceDefinition', name: string): KubeObject | undefined;
}

/** The object as it is stored, or why it is refused. */
export function asDefined(
  kind: Kind,
  object: KubeObject,
  definitions: Definitions,
): KubeObject | { readonly refusal: Status } {
  const schema = schemaOf(kind, definitions);
  if (schema === undefined) return object;
  const { spec, status } = conformed(schema, { spec: object.spec, status: object.status }) as Partial<KubeObject>;
  const stored = compact({ ...object, spec, status }) as KubeObject;
  const [first] = misfits(schema, { spec: stored.spec, status: stored.status }, '');
  if (first === undefined) return stored;
  return { refusal: invalid(kind, object.metadata.name, first.field, first.problem) };
}

function schemaOf(kind: Kind, definitions: Definitions): Schema | undefined {
  if (kind.group === '') return undefined;
  const found = definitions.get('CustomResourceDefinition', `${kind.plural}.${kind.group}`) as Definition | undefined;
  return found?.spec.versions?.find(({ name }) => name === kind.version)?.schema?.openAPIV3Schema;
}

const lifetime = (spec: ClaimSpec | undefined): ClaimSpec => ({ expireAfter: '720h', ...spec });

/** A new object with the expiry that Karpenter's own definitions fill in. */
export function withKarpentersDefault(object: KubeObject): KubeObject {
  if (object.kind === 'NodeClaim') return { ...object, spec: lifetime(object.spec as ClaimSpec | undefined) };
  if (object.kind !== 'NodePool' || !isJsonObject((object as PoolObject).spec?.template)) return object;
  const { spec } = object as PoolObject;
  return {
    ...object,
    spec: { ...spec, template: { ...spec.template, spec: lifetime(spec.template.spec) } },
  } as PoolObject;
}
