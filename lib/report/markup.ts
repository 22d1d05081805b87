/**
 * Markup put together from elements, so that no text gets into a page without being escaped.
 */

/** Well-formed markup; made by `element`, `text` and `raw` only. */
export interface Markup {
  readonly markup: string;
}

type Attributes = Readonly<Record<string, string | number>>;
type Child = Markup | string;

const escaped = (value: string): string => value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Numbers are rounded to a tenth of a pixel. */
export function element(name: string, attributes: Attributes = {}, ...children: readonly Child[]): Markup {
  const written = Object.entries(attributes)
    .map(
      ([key, value]) => ` ${key}="${escaped(typeof value === 'number' ? String(Math.round(value * 10) / 10) : value)}"`,
    )
    .join('');
  const inner = children.map((child) => (typeof child === 'string' ? escaped(child) : child.markup)).join('');
  return { markup: `<${name}${written}>${inner}</${name}>` };
}

/** Text of our own that is markup as it stands, such as a style sheet. */
export const raw = (markup: string): Markup => ({ markup });
