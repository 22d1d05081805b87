/**
 * Fields of a document that its schema does not have: misspelled, or of a version to come.
 *
 * Reading ignores them and the API server prunes them, both in silence; whoever wrote one believes that it works.
 */
import * as z from 'zod';

type Path = readonly PropertyKey[];

/**
 * The outermost unknown fields, in the order of the document. Maps with free keys, such as labels, have none.
 *
 * @design D2-03
 */
export function unknownFields(schema: z.ZodType, value: unknown, at: Path = []): readonly Path[] {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.flatMap((item, index) => unknownFields(inner.element as z.ZodType, item, [...at, index]));
  }
  if (!(inner instanceof z.ZodObject) || typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const known: Readonly<Record<string, z.ZodType>> = inner.shape;
  return Object.entries(value).flatMap(([key, member]) => {
    const path = [...at, key];
    const field = Object.hasOwn(known, key) ? known[key] : undefined;
    return field === undefined ? [path] : unknownFields(field, member, path);
  });
}

/** The schema within its defaults. */
function unwrapped(schema: z.ZodType): z.ZodType {
  let inner = schema;
  while (inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault || inner instanceof z.ZodOptional) {
    inner = inner.unwrap() as z.ZodType;
  }
  return inner;
}
