/**
 * The forms of names, keys and label values that the API server takes.
 */

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const longestSubdomain = 253;
const namePart = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** The name of an object of any kind. */
export const isObjectName = (text: string): boolean => text.length <= longestSubdomain && subdomain.test(text);

/** `name` or `domain.example/name`, the key of a label or an annotation. */
export function isQualifiedName(text: string): boolean {
  const [name = '', prefix, ...more] = text.split('/').reverse();
  return more.length === 0 && namePart.test(name) && (prefix === undefined || isObjectName(prefix));
}

export const isLabelValue = (text: string): boolean => text === '' || namePart.test(text);
