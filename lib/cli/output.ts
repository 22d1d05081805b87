/**
 * How a command's result is written: as text for people, as JSON, NDJSON or YAML for programs.
 */

import { InvalidArgumentError } from 'commander';
import { stringify } from 'yaml';

export type OutputFormat = 'text' | 'json' | 'yaml' | 'ndjson';

/** @returns a reader of the option's value that refuses formats other than these */
export const readFormat =
  (...known: readonly OutputFormat[]) =>
  (text: string): OutputFormat => {
    const format = known.find((each) => each === text);
    if (!format) throw new InvalidArgumentError(`Choose one of ${known.join(', ')}.`);
    return format;
  };

/** The document in a format for programs, closed by a line end; of NDJSON the lines of a list. */
export function written(format: Exclude<OutputFormat, 'text'>, document: unknown): string {
  if (format === 'yaml') return stringify(document);
  if (format === 'json') return `${JSON.stringify(document, null, 2)}\n`;
  const lines = Array.isArray(document) ? document : [document];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
