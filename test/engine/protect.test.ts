/**
 * Marks and cordon: what is put on a node, what is taken away again, and what of an operator's is left as it is.
 */
import { describe, expect, it } from 'vitest';
import type { Node } from '../../lib/domain/cluster/node.ts';
import { isOptedOut, protect, unprotect } from '../../lib/engine/protect.ts';
import { aClaim, aNode } from '../support/builders.ts';
import { aPlaceholder, decisionOn, due, firstOf, inWords, looked, marks, surgeIsReady } from '../support/rotations.ts';

const short = (key: string) => key.replace('noderotation.io/', '').replace('karpenter.sh/', '');
const annotationsOf = (action: ReturnType<typeof protect>) =>
  action && 'annotations' in action
    ? Object.fromEntries(Object.entries(action.annotations).map(([key, value]) => [short(key), value]))
    : undefined;
const nodeWith = (annotations: Record<string, string>, unschedulable = false): Node =>
  aNode(aClaim('old'), { unschedulable, meta: { annotations } });

const dnd = 'karpenter.sh/do-not-disrupt';
const owned = 'noderotation.io/do-not-disrupt-owned';
const surgeFor = 'noderotation.io/surge-for';
const cordonMark = 'noderotation.io/cordoned';
const all = { 'do-not-disrupt': 'true', 'do-not-disrupt-owned': 'true', 'surge-for': 'old' };

describe('protecting a node', () => {
  it.each([
    ['bare', {}, all],
    ['an operator’s "true": only the attribution is ours', { [dnd]: 'true' }, { 'surge-for': 'old' }],
    ['"false" is no protection: taken over', { [dnd]: 'false' }, all],
    ['a duration is none on a node: taken over', { [dnd]: '1h' }, all],
    ['"True" is none: taken over', { [dnd]: 'True' }, all],
    ['empty is none: taken over', { [dnd]: '' }, all],
    ['ours already', { [dnd]: 'true', [owned]: 'true', [surgeFor]: 'old' }, undefined],
    ['ours for another rotation', { [dnd]: 'true', [owned]: 'true', [surgeFor]: 'other' }, { 'surge-for': 'old' }],
    ['the value lost, the mark kept', { [owned]: 'true', [surgeFor]: 'old' }, { 'do-not-disrupt': 'true' }],
    ['a mark with another value is none', { [dnd]: 'true', [owned]: 'yes' }, { 'surge-for': 'old' }],
  ])('%s (R3.4-01, R3.4-02, R3.4-03, R3.4-04, R3.4-06, PR-53)', (_, before, written) => {
    expect(annotationsOf(protect(nodeWith(before), 'old'))).toEqual(written);
  });

  it.each([
    ['schedulable: ours', {}, false, true, 'true'],
    ['cordoned by an operator: his', {}, true, undefined, undefined],
    ['ours, and somebody undid it', { [cordonMark]: 'true' }, false, true, undefined],
    ['ours and there', { [cordonMark]: 'true' }, true, undefined, undefined],
  ])('the cordon of a candidate that is %s (R3.4-07, R3.4-08, PR-65)', (_, before, cordoned, unschedulable, mark) => {
    const node = nodeWith(before, cordoned);
    const action = protect(node, 'old', node);
    expect(action && 'unschedulable' in action ? action.unschedulable : undefined).toBe(unschedulable);
    expect(annotationsOf(action)?.cordoned).toBe(mark);
  });

  it('never cordons a surge host (R3.4-07)', () => {
    expect(protect(nodeWith({}), 'old')).not.toHaveProperty('unschedulable');
  });

  it('is needed no more once all is there (R3.4-02)', () => {
    const node = nodeWith({ [dnd]: 'true', [owned]: 'true', [surgeFor]: 'old', [cordonMark]: 'true' }, true);
    expect(protect(node, 'old', node)).toBeUndefined();
  });
});

describe('unprotecting a node', () => {
  it.each([
    [
      'ours altogether',
      { [dnd]: 'true', [owned]: 'true', [surgeFor]: 'old', [cordonMark]: 'true' },
      { 'do-not-disrupt': null, 'do-not-disrupt-owned': null, 'surge-for': null, cordoned: null },
      null,
    ],
    [
      'an operator’s protection under our attribution',
      { [dnd]: 'true', [surgeFor]: 'old' },
      { 'surge-for': null },
      undefined,
    ],
    [
      'an operator’s cordon under our marks',
      { [dnd]: 'true', [owned]: 'true', [surgeFor]: 'old' },
      { 'do-not-disrupt': null, 'do-not-disrupt-owned': null, 'surge-for': null },
      undefined,
    ],
    ['a mark alone', { [owned]: 'true' }, { 'do-not-disrupt': null, 'do-not-disrupt-owned': null }, undefined],
    [
      'a mark with another value owns nothing',
      { [dnd]: 'true', [owned]: 'yes' },
      { 'do-not-disrupt-owned': null },
      undefined,
    ],
    ['nothing of ours', { [dnd]: 'true', a: '1' }, undefined, undefined],
  ])('%s (R3.4-05, R3.4-03, R3.4-07, R3.4-08, PR-21, PR-53)', (_, before, written, unschedulable) => {
    const action = unprotect(nodeWith(before, true));
    expect(annotationsOf(action)).toEqual(written);
    expect(action && 'unschedulable' in action ? action.unschedulable : undefined).toBe(unschedulable);
  });

  it('a node whose protection we added to what was not "true" has the key no more (R3.4-04, R3.4-05, PR-53)', () => {
    const taken = annotationsOf(protect(nodeWith({ [dnd]: 'false' }), 'old'));
    expect(taken).toMatchObject({ 'do-not-disrupt': 'true', 'do-not-disrupt-owned': 'true' });
    const during = nodeWith({ [dnd]: 'true', [owned]: 'true', [surgeFor]: 'old' });
    expect(annotationsOf(unprotect(during))?.['do-not-disrupt']).toBeNull();
  });
});

it.each([
  ['true', undefined, true],
  ['true', 'true', false],
  ['true', 'false', true],
  ['false', undefined, false],
  ['TRUE', undefined, false],
  [undefined, undefined, false],
])('do-not-disrupt %j with the mark %j opts a node out: %j (R3.4-03, R3.4-04, PR-53)', (value, mark, expected) => {
  const annotations = {
    ...(value === undefined ? {} : { [dnd]: value }),
    ...(mark === undefined ? {} : { [owned]: mark }),
  };
  expect(isOptedOut(nodeWith(annotations))).toBe(expected);
});

describe('from the first moment of a surge host', () => {
  it('the placeholder itself keeps Karpenter away, and takes no room from anybody (PR-04, R3.3-04, D8-06)', () => {
    const old = due('old');
    const node = aNode(old);
    const { snapshot } = surgeIsReady();
    const pool = snapshot.nodePools.map((each) => ({ ...each, meta: { ...each.meta, annotations: {} } }));
    const started = decisionOn({
      ...snapshot,
      nodePools: pool,
      nodeClaims: [old],
      nodes: [{ meta: node.meta }],
      placeholders: [],
      inspected: looked({ nodes: [node], pods: { 'node-old': [] } }),
    });
    expect(firstOf(started.actions, 'createPlaceholder')?.pod).toMatchObject({
      metadata: { annotations: { [dnd]: 'true' } },
      spec: { preemptionPolicy: 'Never', priorityClassName: 'node-rotation-placeholder' },
    });
  });

  it.each([
    ['is waited on', {}, 'awaitSurge'],
    ['is held', { 'noderotation.io/freeze': '2027-01-01T00:00:00Z' }, 'hold'],
  ])(
    'the tick that sees it protects it and remembers it, while the rotation %s (PR-04, R3.4-01, D7-02, R3.1-07)',
    (_, pool, step) => {
      const { snapshot } = surgeIsReady({
        pool: { 'noderotation.io/surge-claim': 'host', ...pool },
        hostNode: { meta: { annotations: {} } },
      });
      const unseen = snapshot.nodePools.map((each) => {
        const { 'noderotation.io/surge-claim': __, ...annotations } = each.meta.annotations;
        return { ...each, meta: { ...each.meta, annotations } };
      });
      const decision = decisionOn({ ...snapshot, nodePools: unseen });
      expect(decision.step).toBe(step);
      expect(inWords(decision.actions)).toEqual(['protect Node/node-host', 'annotate NodePool/api']);
      expect(firstOf(decision.actions, 'protect')?.annotations).toEqual(marks('old'));
      expect(firstOf(decision.actions, 'protect')).not.toHaveProperty('unschedulable');
    },
  );

  it('a placeholder that is only bound, and not yet running, is enough (PR-04, D7-02)', () => {
    const { snapshot, old } = surgeIsReady({ hostNode: { meta: { annotations: {} }, ready: false } });
    const bound = aPlaceholder(old, { nodeName: 'node-host', phase: 'Pending', ready: { status: false } });
    const decision = decisionOn({ ...snapshot, placeholders: [bound] });
    expect(inWords(decision.actions)).toContain('protect Node/node-host');
  });
});
