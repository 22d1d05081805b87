import { describe, expect, it } from 'vitest';
import type { Action, Decision, Step } from '../../lib/engine/decision.ts';
import { afterRefusal } from '../../lib/engine/refusal.ts';
import { aNode, aPool } from '../support/builders.ts';
import { due } from '../support/rotations.ts';

const words = 'nodes "node-host" is forbidden';
const node = aNode(due('host'));
const protectHost: Action = {
  kind: 'protect',
  target: { kind: 'Node', name: node.meta.name, uid: node.meta.uid, resourceVersion: '1' },
  annotations: { 'noderotation.io/surge-for': 'old' },
  whenRefused: 'stop',
};
const decided = (step: Step): Decision => ({
  nodePool: 'api',
  step,
  actions: [protectHost],
  notices: [],
  grounds: { windowOpen: true, frozen: false, staticPool: false },
});
const written = (action: Action | undefined) => (action?.kind === 'annotate' ? action.annotations : undefined);

describe('a refused write', () => {
  it.each(['start', 'awaitSurge', 'recreatePlaceholder', 'hold'] as const)(
    'of an attempt that waits (%s) puts the server’s words on the anchor (D5-01, D7-01, D8-09)',
    (step) => {
      expect(written(afterRefusal(aPool(), decided(step), protectHost, words))).toEqual({
        'noderotation.io/last-refusal': words,
      });
    },
  );

  it('that is refused with the same words as before is not written again (D5-01)', () => {
    const told = aPool({ meta: { annotations: { 'noderotation.io/last-refusal': words } } });
    expect(afterRefusal(told, decided('awaitSurge'), protectHost, words)).toBeUndefined();
    expect(written(afterRefusal(told, decided('awaitSurge'), protectHost, 'another reason'))).toEqual({
      'noderotation.io/last-refusal': 'another reason',
    });
  });

  it.each(['handOver', 'repeatDelete', 'startFallback'] as const)(
    'of a list that drains (%s) turns it into a rollback, known words or not (D7-04, D7-05)',
    (step) => {
      const told = aPool({ meta: { annotations: { 'noderotation.io/last-refusal': words } } });
      expect(written(afterRefusal(told, decided(step), protectHost, words))).toEqual({
        'noderotation.io/active-rotation-state': 'failing',
        'noderotation.io/last-refusal': words,
      });
    },
  );

  it('that its list goes on past leaves no words, and neither does the pool’s own (D6-08)', () => {
    const passed: Action = { ...protectHost, whenRefused: 'goOn' };
    expect(afterRefusal(aPool(), decided('awaitSurge'), passed, words)).toBeUndefined();
    const own: Action = {
      kind: 'annotate',
      target: { kind: 'NodePool', name: 'api', uid: 'u', resourceVersion: '1' },
      annotations: {},
      whenRefused: 'stop',
    };
    expect(afterRefusal(aPool(), decided('start'), own, words)).toBeUndefined();
  });

  it('keeps no more of the words than an annotation may hold (D5-01)', () => {
    const long = written(afterRefusal(aPool(), decided('awaitSurge'), protectHost, 'x'.repeat(500)));
    expect(long?.['noderotation.io/last-refusal']).toHaveLength(200);
  });
});
