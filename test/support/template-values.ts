/**
 * What CloudFormation puts where a template refers to its own resources, for tests that run parts of a template.
 */
import { type Built, ofType, type Resource } from './deployment.ts';

export class TemplateValues {
  /** By logical id: what a `Ref` stands for. */
  readonly #refs: ReadonlyMap<string, string>;

  constructor(refs: ReadonlyMap<string, string>) {
    this.#refs = refs;
  }

  /** @throws Error for an expression other than a text or a `Ref` to something known */
  text(value: unknown): string {
    if (typeof value === 'string') return value;
    const { Ref: id } = value as { readonly Ref?: string };
    const text = id === undefined ? undefined : this.#refs.get(id);
    if (text === undefined) throw new Error(`there is nothing to put in for ${JSON.stringify(value)}`);
    return text;
  }

  texts(values: Readonly<Record<string, unknown>>): Record<string, string> {
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, this.text(value)]));
  }
}

/** What the functions of the template are told of its other resources. */
export function valuesOf(built: Pick<Built, 'resources'>, made: { queueUrl: string; tableName: string }) {
  const [busId, { Properties: bus }] = theOnly(built, 'AWS::Events::EventBus');
  return new TemplateValues(
    new Map([
      [theOnly(built, 'AWS::SQS::Queue', 'TicksQueue')[0], made.queueUrl],
      [theOnly(built, 'AWS::DynamoDB::GlobalTable')[0], made.tableName],
      [busId, String(bus.Name)],
    ]),
  );
}

/** The one resource of a type whose logical id begins so. @throws Error when it is not there, or not alone */
export function theOnly(built: Pick<Built, 'resources'>, type: string, begin = ''): readonly [string, Resource] {
  const found = Object.entries(ofType(built, type)).filter(([id]) => id.startsWith(begin));
  const [only, another] = found;
  if (only === undefined || another !== undefined) {
    throw new Error(`expected one ${type} named ${begin}…, found ${found.map(([id]) => id).join(', ') || 'none'}`);
  }
  return only;
}
