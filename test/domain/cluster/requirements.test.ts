import { describe, expect, test } from 'vitest';
import type { Operator, Requirement } from '../../../lib/domain/cluster/requirements.ts';
import {
  allows,
  anyValue,
  describeValues,
  isEmpty,
  listedValues,
  valuesAllowed,
  valuesOf,
} from '../../../lib/domain/cluster/requirements.ts';

const need = (operator: Operator, ...values: string[]): Requirement => ({ key: 'k', operator, values });
const allowedBy = (...requirements: Requirement[]) => valuesAllowed(requirements, 'k').allowed;

describe('one requirement', () => {
  test.each([
    { requirement: need('In', 'a', 'b'), yes: ['a', 'b'], no: ['c', undefined] },
    { requirement: need('In'), yes: [], no: ['a', undefined] },
    { requirement: need('NotIn', 'a'), yes: ['b', undefined], no: ['a'] },
    { requirement: need('NotIn'), yes: ['a', undefined], no: [] },
    { requirement: need('Exists'), yes: ['a', ''], no: [undefined] },
    { requirement: need('DoesNotExist'), yes: [undefined], no: ['a', ''] },
    { requirement: need('Gt', '4'), yes: ['5', '05', '100'], no: ['4', '3', '-5', 'x', '4.5', '', undefined] },
    { requirement: need('Gte', '4'), yes: ['4', '5'], no: ['3', undefined] },
    { requirement: need('Lt', '4'), yes: ['3', '-1'], no: ['4', '5', 'x', undefined] },
    { requirement: need('Lte', '4'), yes: ['4', '3'], no: ['5', undefined] },
    { requirement: need('Gt', '9223372036854775806'), yes: ['9223372036854775807'], no: ['9223372036854775808'] },
  ])('$requirement.operator $requirement.values allows exactly its values (R3.7-04)', ({ requirement, yes, no }) => {
    const set = valuesOf(requirement) ?? anyValue;
    expect(yes.map((value) => allows(set, value))).toEqual(yes.map(() => true));
    expect(no.map((value) => allows(set, value))).toEqual(no.map(() => false));
  });

  test.each([
    need('Gt', 'many'),
    need('Gt'),
    need('Gte', '1', '2'),
    need('Lt', '4.5'),
    need('Lte', ''),
    need('Lt', '9223372036854775808'),
  ])('$operator $values has no readable operand: it allows nothing and is named (R3.7-04)', (requirement) => {
    const { allowed, unreadable } = valuesAllowed([need('Exists'), requirement], 'k');
    expect([isEmpty(allowed), allows(allowed, '7'), allows(allowed, undefined)]).toEqual([true, false, false]);
    expect(unreadable).toEqual([
      {
        path: 'requirements[1].values',
        text: requirement.values.join(', '),
        problem: `k ${requirement.operator} needs exactly one whole number`,
      },
    ]);
  });
});

describe('several requirements', () => {
  test.each([
    { all: [need('In', 'a', 'b'), need('In', 'b', 'c')], words: 'b', list: ['b'] },
    { all: [need('In', 'a'), need('In', 'b')], words: 'none', list: [] },
    { all: [need('In', 'a', 'b'), need('NotIn', 'a')], words: 'b', list: ['b'] },
    { all: [need('NotIn', 'a'), need('In', 'a', 'b')], words: 'b', list: ['b'] },
    { all: [need('NotIn', 'b'), need('NotIn', 'a')], words: 'any but a, b', list: undefined },
    { all: [need('In', '2', '4', '8', 'x'), need('Gt', '2')], words: '4, 8', list: ['4', '8'] },
    { all: [need('Gte', '2'), need('Lte', '4')], words: 'whole numbers 2 to 4', list: undefined },
    {
      all: [need('Gte', '2'), need('Gt', '4'), need('NotIn', '5')],
      words: 'whole numbers from 5 but 5',
      list: undefined,
    },
    { all: [need('Lt', '9'), need('Lte', '3')], words: 'whole numbers up to 3', list: undefined },
    { all: [need('DoesNotExist'), need('NotIn', 'a')], words: 'none', list: [] },
    { all: [], words: 'any', list: undefined },
  ])('$all leave $words (R3.7-02, R3.7-04)', ({ all, words, list }) => {
    expect([describeValues(allowedBy(...all)), listedValues(allowedBy(...all))]).toEqual([words, list]);
  });

  test.each([
    { all: [need('In', 'a'), need('In', 'b')], empty: true },
    { all: [need('In', 'a')], empty: false },
    { all: [need('DoesNotExist'), need('Exists')], empty: true },
    { all: [need('DoesNotExist')], empty: false },
    { all: [need('NotIn', 'a')], empty: false },
    { all: [need('Gt', '4'), need('Lt', '5')], empty: true },
    { all: [need('Gt', '4'), need('Lt', '6')], empty: false },
    { all: [need('Gt', '4'), need('Lt', '6'), need('NotIn', '5')], empty: true },
    { all: [need('Gt', '4'), need('Lt', '6'), need('NotIn', '6', '05', 'x')], empty: false },
    { all: [need('Gt', '4'), need('NotIn', '5')], empty: false },
  ])('$all is empty: $empty (D8-08)', ({ all, empty }) => {
    expect(isEmpty(allowedBy(...all))).toBe(empty);
  });

  test('requirements on other keys say nothing (R3.7-02)', () => {
    const { allowed, unreadable } = valuesAllowed([{ key: 'other', operator: 'Gt', values: ['x'] }], 'k');
    expect([allowed, unreadable]).toEqual([anyValue, []]);
  });
});
