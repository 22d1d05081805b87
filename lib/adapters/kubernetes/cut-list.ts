/**
 * The text of a list cut into the texts of its items, without reading them.
 *
 * No cut can be wrong unnoticed: when every piece is a JSON value and what is left is a list, then by JSON's own grammar
 * these are its items. JSON escapes quotes inside texts, so what an item begins with stands in no label or annotation.
 */

export interface CutList {
  /** The list, parsed, without its items. */
  readonly rest: unknown;
  /** In order. Each is one item only if it can be parsed. */
  readonly items: readonly Buffer[];
}

const listBegins = Buffer.from('"items":[');
const metadataBegins = Buffer.from('"metadata":{');
/** Only kind and version stand before an item's metadata. */
const longestOpening = 200;

/**
 * @param lengths that the items probably have, in order, in bytes: where one of them is right, nothing is searched
 * @returns undefined where the text has another form: then it has to be parsed as a whole
 */
export function cutList(text: Buffer, lengths: readonly number[] = []): CutList | undefined {
  const begins = text.indexOf(listBegins) + listBegins.length;
  const end = text.lastIndexOf(']');
  // No array stands before the items: they are the list's own, and not those of something inside it.
  if (text.indexOf(']') < begins) return undefined;
  if (begins < listBegins.length || end <= begins) return undefined;
  const opening = text.indexOf(metadataBegins, begins) + metadataBegins.length - begins;
  if (opening < metadataBegins.length || opening > longestOpening) return undefined;
  const rest = withoutItems(text, begins, end);
  if (rest === undefined) return undefined;
  const separator = Buffer.concat([Buffer.from(','), text.subarray(begins, begins + opening)]);
  const items: Buffer[] = [];
  for (let from = begins; from < end; ) {
    const guess = from + (lengths[items.length] ?? 0);
    const found = standsAt(text, separator, guess) ? guess : text.indexOf(separator, from);
    const to = found === -1 ? end : found;
    items.push(text.subarray(from, to));
    from = to + 1;
  }
  return { rest, items };
}

function standsAt(text: Buffer, part: Buffer, at: number): boolean {
  for (let index = 0; index < part.length; index += 1) if (text[at + index] !== part[index]) return false;
  return true;
}

/** With a number in the place of the items: it comes back as the list's only item, or the place is another. */
function withoutItems(text: Buffer, begins: number, end: number): unknown {
  try {
    const rest = JSON.parse(`${text.toString('utf8', 0, begins)}0${text.toString('utf8', end)}`) as ListText | null;
    return Array.isArray(rest?.items) && rest.items.length === 1 && rest.items[0] === 0 ? rest : undefined;
  } catch {
    return undefined;
  }
}

interface ListText {
  readonly items?: unknown;
}
