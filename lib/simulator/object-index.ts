/**
 * Objects by key, and in the order of their keys.
 *
 * The ordered array is never changed in place: a list taken earlier stays what it was, and as long as nothing changes
 * it is the same array, so that what is computed from it can be kept.
 */
import type { KubeObject } from './kube-object.ts';

export class ObjectIndex {
  readonly #byKey = new Map<string, KubeObject>();
  #keys: string[] = [];
  #all: readonly KubeObject[] = [];
  #version = 0;

  /** Grows with every change. */
  get version(): number {
    return this.#version;
  }

  /** In the order of the keys. */
  get all(): readonly KubeObject[] {
    return this.#all;
  }

  get(key: string): KubeObject | undefined {
    return this.#byKey.get(key);
  }

  set(key: string, object: KubeObject): void {
    const at = this.#placeOf(key);
    if (this.#byKey.has(key)) this.#all = this.#all.with(at, object);
    else {
      this.#keys.splice(at, 0, key);
      this.#all = this.#all.toSpliced(at, 0, object);
    }
    this.#byKey.set(key, object);
    this.#version += 1;
  }

  delete(key: string): void {
    if (!this.#byKey.delete(key)) return;
    const at = this.#placeOf(key);
    this.#keys.splice(at, 1);
    this.#all = this.#all.toSpliced(at, 1);
    this.#version += 1;
  }

  /** Where the key is, or would be. */
  #placeOf(key: string): number {
    let from = 0;
    let to = this.#keys.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.#keys[middle] as string) < key) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

/** The index under this name, made when it is not there. */
export function indexIn<K>(indexes: Map<K, ObjectIndex>, name: K): ObjectIndex {
  const known = indexes.get(name) ?? new ObjectIndex();
  indexes.set(name, known);
  return known;
}
