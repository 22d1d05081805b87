/**
 * Reading an object that may be odd in places: what does not fit its schema is taken out and named, the rest is kept.
 *
 * So one strange field never spoils an object, and one strange object never spoils a list.
 */

import type * as z from 'zod';
import type { Unreadable } from '../../domain/cluster/object-ref.ts';

export interface Reading<T> {
  readonly value: T;
  readonly unreadable: readonly Unreadable[];
}

type Path = readonly PropertyKey[];

const mostPasses = 10;
const longestText = 200;

/**
 * @returns undefined when what is left without its odd parts still does not fit, such as an object without a name
 * @design D2-03, D5-06
 */
export function readLeniently<S extends z.ZodType>(schema: S, raw: unknown): Reading<z.output<S>> | undefined {
  const unreadable: Unreadable[] = [];
  let candidate = raw;
  for (let pass = 0; pass < mostPasses; pass += 1) {
    const result = schema.safeParse(candidate);
    if (result.success) return { value: result.data, unreadable };
    // The caller's object stays as it is.
    if (candidate === raw) candidate = structuredClone(raw);
    for (const { path, problem } of oddParts(result.error)) {
      const odd = takeOut(candidate, path);
      if (odd === undefined) return undefined;
      unreadable.push({ path: pathText(odd.path), text: textOf(odd.value), problem });
    }
  }
  return undefined;
}

// Later elements of an array first, so that taking one out does not move the others.
function oddParts(error: z.ZodError): { path: Path; problem: string }[] {
  const byPath = new Map(error.issues.map(({ path, message }) => [pathText(path), { path, problem: message }]));
  return [...byPath.values()].sort((a, b) => comparePaths(b.path, a.path));
}

function comparePaths(a: Path, b: Path): number {
  for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
    const [left, right] = [a[i], b[i]];
    if (left === right) continue;
    return typeof left === 'number' && typeof right === 'number' ? left - right : String(left) < String(right) ? -1 : 1;
  }
  return a.length - b.length;
}

/** Removes what is at the path, or, where something is missing there, the innermost part that lacks it. */
function takeOut(root: unknown, path: Path): { path: Path; value: unknown } | undefined {
  const parents: unknown[] = [root];
  for (const key of path) {
    const next = member(parents.at(-1), key);
    if (next === undefined) break;
    parents.push(next);
  }
  const value = parents.pop();
  const parent = parents.at(-1) as Record<PropertyKey, unknown> | unknown[] | undefined;
  const at = path.slice(0, parents.length);
  const key = at.at(-1);
  if (parent === undefined || key === undefined) return undefined;
  if (Array.isArray(parent)) parent.splice(key as number, 1);
  else if (isMetadataMap(at)) parent[key] = textOf(value);
  else delete parent[key];
  return { path: at, value };
}

// The API server keeps only text in labels and annotations; a dump may show a bare number or word, which is kept as text.
const isMetadataMap = (path: Path): boolean =>
  path.length === 3 && path[0] === 'metadata' && (path[1] === 'annotations' || path[1] === 'labels');

const member = (of: unknown, key: PropertyKey): unknown =>
  typeof of === 'object' && of !== null && Object.hasOwn(of, key)
    ? (of as Record<PropertyKey, unknown>)[key]
    : undefined;

export function pathText(path: Path): string {
  let text = '';
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`;
    else if (/^[\w-]+$/.test(String(key))) text += text === '' ? String(key) : `.${String(key)}`;
    else text += `["${String(key)}"]`;
  }
  return text;
}

/** A value as text for a message, cut at 200 characters. */
export function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}
