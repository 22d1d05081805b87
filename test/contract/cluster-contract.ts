/**
 * The contract of the `Cluster` port: one suite for every implementation, and for the API that stands behind it.
 *
 * A test here may rely only on what every kube-apiserver shows. Its CRDs are installed; nothing else is at work in it.
 */
import { afterAll, beforeAll, describe } from 'vitest';
import { actingContract } from './acting.ts';
import { placeholderContract } from './acting-on-placeholders.ts';
import { apiFacts } from './api-facts.ts';
import { lookingContract } from './looking.ts';
import type { Place, Provide } from './place.ts';

const withPlace = (provide: Provide, contract: (place: () => Place) => void): void => {
  let place: Place;
  beforeAll(async () => {
    place = await provide();
  });
  afterAll(() => place?.stop());
  contract(() => place);
};

/** @design D14-01, D14-04 */
export function clusterContract(name: string, provide: Provide): void {
  describe(name, () => {
    describe('looking', () => withPlace(provide, lookingContract));
    describe('acting', () => withPlace(provide, actingContract));
    describe('placeholders and Events', () => withPlace(provide, placeholderContract));
  });
}

/** What plain clients see of the API behind the port. @design D14-04 */
export function apiContract(name: string, provide: Provide): void {
  describe(name, () => withPlace(provide, apiFacts));
}
