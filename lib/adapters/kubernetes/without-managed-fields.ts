/**
 * An object's text without what its managedFields hold. Who last wrote which field is half of the metadata of a Node, of
 * no use here, and the costliest part to parse: every field's name is an object of its own.
 */

const begins = Buffer.from('"managedFields":[');
const quote = 0x22;
const backslash = 0x5c;
const openers = new Set([0x5b, 0x7b]);
const closers = new Set([0x5d, 0x7d]);

/**
 * JSON escapes quotes inside texts, so what is found is the end of a key. What cannot be left out stays.
 *
 * @param text of one object
 * @returns the same object with an empty list of them; the text as it is where there is none, or it is no JSON
 * @design D15-03
 */
export function withoutManagedFields(text: Buffer): string {
  const found = text.indexOf(begins);
  if (found === -1) return text.toString('utf8');
  const inside = found + begins.length;
  const end = endOfList(text, inside);
  if (end === -1) return text.toString('utf8');
  return text.toString('utf8', 0, inside) + text.toString('utf8', end);
}

/** @returns the place of the bracket that closes the list; -1 where there is none */
function endOfList(text: Buffer, inside: number): number {
  let depth = 1;
  for (let at = inside; at < text.length; at += 1) {
    const byte = text[at] as number;
    if (byte === quote) at = endOfText(text, at);
    else if (openers.has(byte)) depth += 1;
    else if (closers.has(byte)) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return -1;
}

function endOfText(text: Buffer, opening: number): number {
  let at = opening + 1;
  while (at < text.length && text[at] !== quote) at += text[at] === backslash ? 2 : 1;
  return at;
}
