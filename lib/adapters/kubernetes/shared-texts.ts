/**
 * The texts of many objects that are the same, kept once: a cluster has thousands of nodes, and a few architectures,
 * zones and instance types. What is kept is looked through in every garbage collection.
 */

const texts = new Map<string, string>();
const mostKept = 8_192;
/** Names, identities and notes are longer, and seldom the same twice. */
const longestKept = 32;

type Fields = Record<string, unknown>;

/**
 * Puts a kept text in the place of every equal one among labels, annotations and finalizers.
 *
 * @param raw an object of the API, just parsed and nobody else's
 * @returns the same object
 */
export function withSharedTexts(raw: unknown): unknown {
  const metadata = fieldsOf(fieldsOf(raw)?.metadata);
  for (const part of [metadata?.labels, metadata?.annotations, metadata?.finalizers]) shareIn(fieldsOf(part));
  return raw;
}

function shareIn(fields: Fields | undefined): void {
  for (const key in fields) {
    const value = fields[key];
    if (typeof value === 'string' && value.length <= longestKept) fields[key] = shared(value);
  }
}

function shared(text: string): string {
  const known = texts.get(text);
  if (known !== undefined) return known;
  if (texts.size >= mostKept) texts.clear();
  texts.set(text, text);
  return text;
}

const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null ? (value as Fields) : undefined;
