/**
 * As much of DynamoDB as a tick needs to find what the tick before it left. Conditions are taken to hold.
 *
 * Rows of rotations are not kept: the cluster stands still, and the same step has to be new in every tick.
 */

type Item = Record<string, unknown>;
interface Key {
  readonly pk: { readonly S: string };
  readonly sk: { readonly S: string };
}

const nameOf = ({ pk, sk }: Key): string => `${pk.S} ${sk.S}`;

export class FixtureTable {
  readonly #items = new Map<string, Item>();

  /** @returns the answer to a call of the DynamoDB protocol */
  answer(operation: string, input: Record<string, unknown>): object {
    switch (operation) {
      case 'GetItem': {
        const found = this.#items.get(nameOf(input.Key as unknown as Key));
        return found === undefined ? {} : { Item: found };
      }
      case 'PutItem': {
        const item = input.Item as Item & Key;
        if (!item.sk.S.startsWith('ROT#')) this.#items.set(nameOf(item), item);
        return {};
      }
      case 'UpdateItem':
        return this.#update(input);
      default:
        return {};
    }
  }

  #update(input: Record<string, unknown>): object {
    const key = input.Key as unknown as Key;
    const values = (input.ExpressionAttributeValues ?? {}) as Item;
    const before = this.#items.get(nameOf(key));
    const after: Item = { ...before, ...key };
    const [set = '', remove = ''] = String(input.UpdateExpression).split(/\s*REMOVE\s+/);
    for (const [, name = '', value = ''] of set.matchAll(/(\w+) = (:\w+)/g)) after[name] = values[value];
    for (const name of remove.split(/,\s*/)) delete after[name];
    this.#items.set(nameOf(key), after);
    return input.ReturnValues === 'ALL_OLD' && before !== undefined ? { Attributes: before } : {};
  }
}
