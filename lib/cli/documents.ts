/**
 * Files of Kubernetes objects, as people keep and kubectl prints them: JSON or YAML, several documents, Lists.
 *
 * A file that is cut off or is no such file ends the command, named with its line: half of a cluster would look like a
 * smaller one.
 */
import { readFileSync } from 'node:fs';
import type { Document } from 'yaml';
import { LineCounter, parseAllDocuments } from 'yaml';
import { exitCodes, Failure } from './failure.ts';

/** One object as parsed, and where it stands. */
export interface RawObject {
  readonly group: string;
  readonly kind: string;
  readonly value: Readonly<Record<string, unknown>>;
  /** Such as `cluster.yaml:12`. */
  readonly where: string;
}

export interface Documents {
  readonly objects: readonly RawObject[];
  /** Kinds of which there was a list, be it an empty one: `NodeClaim` of `NodeClaimList`. */
  readonly listed: ReadonlySet<string>;
  /** There was an empty List: what kubectl prints when there is nothing of what was asked for. */
  readonly emptyList: boolean;
}

interface Parsed {
  readonly value: unknown;
  readonly line: number;
}

/** @throws Failure naming file and line */
export function readDocuments(
  files: readonly string[],
  stdin: () => string = () => readFileSync(0, 'utf8'),
): Documents {
  if (files.filter((file) => file === '-').length > 1)
    throw new Failure(exitCodes.usage, 'Standard input can be read once: give -f - only once.');
  const parsed = files.flatMap((file) => {
    const name = file === '-' ? 'standard input' : file;
    const documents = parseText(name, file === '-' ? stdin() : textOf(file));
    if (documents.length === 0)
      throw new Failure(exitCodes.usage, `${name} holds no objects: write it with kubectl get … -o yaml.`);
    return documents.map((document) => ({ ...document, name }));
  });
  const found = parsed.map(({ name, value, line }) => objectsOf(name, value, line));
  return {
    objects: found.flatMap(({ objects }) => objects),
    listed: new Set(found.flatMap(({ listed }) => listed)),
    emptyList: found.some(({ emptyList }) => emptyList),
  };
}

// PowerShell redirects into UTF-16.
function textOf(file: string): string {
  const bytes = readBytes(file);
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Failure(exitCodes.usage, `Cannot read ${file}: ${message}. Name a file of Kubernetes objects with -f.`, {
      cause,
    });
  }
}

function parseText(name: string, text: string): readonly Parsed[] {
  const plain = text.replace(/^\uFEFF/, '');
  return /^\s*[{[]/.test(plain) ? parseJsonStream(name, plain) : parseYaml(name, plain);
}

/** JSON values one after another, as `cat a.json b.json` leaves them; flow YAML where it is no JSON. */
function parseJsonStream(name: string, text: string): readonly Parsed[] {
  const found: Parsed[] = [];
  for (let from = firstOther(text, 0); from < text.length; ) {
    const to = endOfValue(text, from);
    const line = lineAt(text, from);
    if (to === undefined)
      throw unreadable(name, lineAt(text.trimEnd(), text.length), 'what was opened is never closed');
    try {
      found.push({ value: JSON.parse(text.slice(from, to)), line });
    } catch {
      return parseYaml(name, text);
    }
    from = firstOther(text, to);
  }
  return found;
}

/** The first character from `from` on that is no blank. */
function firstOther(text: string, from: number): number {
  let index = from;
  while (index < text.length && /\s/.test(text[index] as string)) index += 1;
  return index;
}

/** Behind the brace or bracket that closes what opens at `from`, or behind a single word; undefined when it never closes. */
function endOfValue(text: string, from: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let index = from; index < text.length; index += 1) {
    const character = text[index];
    if (quoted) {
      if (character === '\\') index += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth === 0) return index + 1;
    } else if (depth === 0) return text.length;
  }
  return undefined;
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length;

function parseYaml(name: string, text: string): readonly Parsed[] {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'silent',
  }) as Document[];
  return documents.flatMap((document) => {
    const [error] = document.errors;
    if (error) throw unreadable(name, lines.linePos(error.pos[0]).line, error.message);
    const line = lines.linePos(document.contents?.range?.[0] ?? document.range?.[0] ?? 0).line;
    const value = plainValue(name, document, line);
    return value === null || value === undefined ? [] : [{ value, line }];
  });
}

/** Aliases are resolved here, and one that leads nowhere or grows without end is found here. */
function plainValue(name: string, document: Document, line: number): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw unreadable(name, line, messageOf(error));
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const unreadable = (name: string, line: number, problem: string): Failure =>
  new Failure(
    exitCodes.usage,
    `${name}:${line} cannot be parsed: ${problem.replace(/\.$/, '')}. Is the file complete?`,
  );

interface Found {
  readonly objects: readonly RawObject[];
  readonly listed: readonly string[];
  readonly emptyList: boolean;
}

function objectsOf(name: string, value: unknown, line: number): Found {
  const where = `${name}:${line}`;
  if (Array.isArray(value)) return together(value.map((item) => objectsOf(name, item, line)));
  if (!isRecord(value) || typeof value.kind !== 'string' || value.kind === '') {
    const cutOff =
      isRecord(value) && 'items' in value
        ? 'a list without its kind, so the file was cut off'
        : 'no Kubernetes object: it has no kind';
    throw new Failure(
      exitCodes.usage,
      `${where} cannot be read: this is ${cutOff}. Write it with kubectl get … -o yaml.`,
    );
  }
  const { kind } = value;
  const group =
    typeof value.apiVersion === 'string' && value.apiVersion.includes('/')
      ? (value.apiVersion.split('/')[0] as string)
      : '';
  if (!kind.endsWith('List') || !('items' in value))
    return { objects: [{ group, kind, value, where }], listed: [], emptyList: false };
  const items = Array.isArray(value.items) ? value.items : [];
  const of = kind.slice(0, -'List'.length);
  // The items of a typed list need not repeat what the list says.
  const typed = items.map((item) =>
    isRecord(item) && of !== '' ? { apiVersion: value.apiVersion, kind: of, ...item } : item,
  );
  const within = together(typed.map((item) => objectsOf(name, item, line)));
  return {
    objects: within.objects,
    listed: of === '' ? within.listed : [...within.listed, of],
    emptyList: within.emptyList || (of === '' && items.length === 0),
  };
}

const together = (found: readonly Found[]): Found => ({
  objects: found.flatMap(({ objects }) => objects),
  listed: found.flatMap(({ listed }) => listed),
  emptyList: found.some(({ emptyList }) => emptyList),
});

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
