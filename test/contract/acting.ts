/**
 * The contract of acting: what `apply` answers to each action, and what it leaves behind on the server.
 *
 * Answers are compared whole. Where one carries the server's words, they have to name the object.
 */
import { describe, expect, test } from 'vitest';
import type { ActionResult, Cluster } from '../../lib/controller/ports.ts';
import type { ObjectRef } from '../../lib/domain/cluster/object-ref.ts';
import type { PolicyStatus } from '../../lib/domain/policy/policy-status.ts';
import type { AnnotationPatch } from '../../lib/domain/rotation/rotation.ts';
import type { Action } from '../../lib/engine/decision.ts';
import { refOf } from './expected.ts';
import { statusNow } from './looking.ts';
import { node, nodeClaim, nodePool, policy } from './manifests.ts';
import type { Manifest, Raw } from './operators-hand.ts';
import { fresh, type Place } from './place.ts';

const stop = { whenRefused: 'stop' } as const;
export const annotate = (target: ObjectRef, annotations: AnnotationPatch): Action => ({
  kind: 'annotate',
  target,
  annotations,
  ...stop,
});
const protect = (target: ObjectRef): Action => ({
  kind: 'protect',
  target,
  annotations: { 'noderotation.io/surge-for': 'x', 'noderotation.io/cordoned': 'true' },
  unschedulable: true,
  ...stop,
});
const unprotect = (target: ObjectRef, over: { unschedulable?: null } = {}): Action => ({
  kind: 'unprotect',
  target,
  annotations: { 'noderotation.io/surge-for': null, 'noderotation.io/cordoned': null },
  ...over,
  ...stop,
});
const writeStatus = (target: ObjectRef, status: unknown): Action => ({
  kind: 'writeStatus',
  target,
  status: status as PolicyStatus,
  ...stop,
});
export const deleteNodeClaim = (target: ObjectRef): Action => ({
  kind: 'deleteNodeClaim',
  target,
  because: 'drain',
  ...stop,
});

/** A cluster that has been looked at, as every tick does before it writes. */
export async function looked(place: Place): Promise<Cluster> {
  const cluster = place.cluster();
  await cluster.observe();
  return cluster;
}

export const applied = ({ metadata }: Raw): ActionResult => ({
  outcome: 'applied',
  resourceVersion: metadata.resourceVersion,
});
export const saying = (outcome: 'conflict' | 'rejected', words: string): unknown => ({
  outcome,
  detail: expect.stringContaining(words),
});

const kinds: [string, (name: string) => Manifest][] = [
  ['NodePool', (name) => nodePool(name)],
  ['NodeClaim', (name) => nodeClaim(name, 'a-pool')],
  ['Node', (name) => node(name)],
];

export function actingContract(place: () => Place): void {
  describe.each(kinds)('annotate of a %s', (_, manifestOf) => {
    test('writes our keys, takes away those that are null, and leaves all else alone (D5-04)', async () => {
      const { hand } = place();
      const manifest = manifestOf(fresh('it'));
      await hand.create(manifest);
      const before = await hand.patch(manifest, { metadata: { annotations: { theirs: 'x', old: '1' } } });
      const patch = { 'noderotation.io/state': 'pending', old: null, absent: null };
      const result = await (await looked(place())).apply(annotate(refOf(before), patch));
      const after = await hand.read(manifest);
      expect(result).toEqual(applied(after));
      expect(withoutVersion(after)).toEqual(
        withoutVersion({
          ...before,
          metadata: { ...before.metadata, annotations: { theirs: 'x', 'noderotation.io/state': 'pending' } },
        }),
      );
    });

    test('answers the version for the next write; the former one is a conflict, and nothing is written (D5-05)', async () => {
      const { hand } = place();
      const manifest = manifestOf(fresh('it'));
      const seen = refOf(await hand.create(manifest));
      const cluster = await looked(place());
      const first = await cluster.apply(annotate(seen, { a: '1' }));
      expect(await cluster.apply(annotate(seen, { a: '2' }))).toEqual(saying('conflict', seen.name));
      expect((await hand.read(manifest)).metadata.annotations).toEqual({ a: '1' });
      const next = { ...seen, ...('resourceVersion' in first ? { resourceVersion: first.resourceVersion } : {}) };
      expect(await cluster.apply(annotate(next as ObjectRef, { a: '3' }))).toEqual(applied(await hand.read(manifest)));
      expect((await hand.read(manifest)).metadata.annotations).toEqual({ a: '3' });
    });

    test('that changes nothing is applied and makes no new version (D5-05)', async () => {
      const { hand } = place();
      const manifest = manifestOf(fresh('it'));
      await hand.create(manifest);
      const before = await hand.patch(manifest, { metadata: { annotations: { a: '1' } } });
      const cluster = await looked(place());
      expect(await cluster.apply(annotate(refOf(before), { a: '1', absent: null }))).toEqual(applied(before));
      expect(await hand.read(manifest)).toEqual(before);
    });

    test('that takes away from an object without annotations makes no new version either (D5-05)', async () => {
      const { hand } = place();
      const manifest = manifestOf(fresh('it'));
      const before = await hand.create(manifest);
      const cluster = await looked(place());
      expect(await cluster.apply(annotate(refOf(before), { absent: null }))).toEqual(applied(before));
      expect(await hand.read(manifest)).toEqual(before);
    });

    test('on what is gone, or has been made anew under the same name, is a conflict (D5-05)', async () => {
      const { hand } = place();
      const manifest = manifestOf(fresh('it'));
      const seen = refOf(await hand.create(manifest));
      const cluster = await looked(place());
      await hand.remove(manifest);
      expect(await cluster.apply(annotate(seen, { a: '1' }))).toEqual(saying('conflict', seen.name));
      const anew = await hand.create(manifest);
      expect(await cluster.apply(annotate(seen, { a: '1' }))).toEqual(saying('conflict', seen.name));
      expect(await hand.read(manifest)).toEqual(anew);
    });
  });

  describe('protect and unprotect', () => {
    test('set marks and cordon in one write, and take back exactly these (D5-04, D7-01)', async () => {
      const { hand } = place();
      const taints = [{ key: 'dedicated', value: 'api', effect: 'NoSchedule' }];
      const manifest = node(fresh('node'), { annotations: { theirs: 'x' } }, { taints });
      const before = await hand.create(manifest);
      const cluster = await looked(place());
      const result = await cluster.apply(protect(refOf(before)));
      const during = await hand.read(manifest);
      expect(result).toEqual(applied(during));
      expect([during.spec, during.metadata.annotations]).toEqual([
        { ...before.spec, unschedulable: true },
        { theirs: 'x', 'noderotation.io/surge-for': 'x', 'noderotation.io/cordoned': 'true' },
      ]);
      await cluster.apply(unprotect(refOf(during), { unschedulable: null }));
      const after = await hand.read(manifest);
      expect([after.spec, after.metadata.annotations]).toEqual([before.spec, { theirs: 'x' }]);
    });

    test('leave the cordon of an operator alone when told nothing about it (D7-10)', async () => {
      const { hand } = place();
      const manifest = node(fresh('node'), {}, { unschedulable: true });
      const seen = await hand.create(manifest);
      await (await looked(place())).apply(unprotect(refOf(seen)));
      expect((await hand.read(manifest)).spec.unschedulable).toBe(true);
    });

    test('of a node that is gone: undoing is done, marking is a conflict (D5-05)', async () => {
      const { hand } = place();
      const manifest = node(fresh('node'));
      const seen = refOf(await hand.create(manifest));
      await hand.remove(manifest);
      const cluster = await looked(place());
      expect(await cluster.apply(unprotect(seen, { unschedulable: null }))).toEqual({ outcome: 'alreadyDone' });
      expect(await cluster.apply(protect(seen))).toEqual(saying('conflict', seen.name));
    });
  });

  describe('deleteNodeClaim', () => {
    const finalizers = ['karpenter.sh/termination'];

    test('marks a claim that a finalizer holds; it stays, and a second delete changes nothing (D5-05)', async () => {
      const { hand } = place();
      const manifest = nodeClaim(fresh('claim'), 'a-pool', { finalizers });
      const seen = await hand.create(manifest);
      const cluster = await looked(place());
      const result = await cluster.apply(deleteNodeClaim(refOf(seen)));
      const deleting = await hand.read(manifest);
      expect(result).toEqual(applied(deleting));
      expect([deleting.metadata.deletionTimestamp, deleting.spec]).toEqual([expect.stringMatching(/Z$/), seen.spec]);
      expect(await cluster.apply(deleteNodeClaim(refOf(deleting)))).toEqual(applied(deleting));
      expect(await hand.read(manifest)).toEqual(deleting);
    });

    test('is over at once without a finalizer, and a missing claim is done (D5-05)', async () => {
      const { hand } = place();
      const seen = await hand.create(nodeClaim(fresh('claim'), 'a-pool'));
      const cluster = await looked(place());
      expect(await cluster.apply(deleteNodeClaim(refOf(seen)))).toEqual({ outcome: 'applied' });
      expect(await hand.find(seen)).toBeUndefined();
      expect(await cluster.apply(deleteNodeClaim(refOf(seen)))).toEqual({ outcome: 'alreadyDone' });
    });

    test('at another version, or of another claim of that name, is a conflict and deletes nothing (D5-05)', async () => {
      const { hand } = place();
      const manifest = nodeClaim(fresh('claim'), 'a-pool', { finalizers });
      const seen = refOf(await hand.create(manifest));
      const cluster = await looked(place());
      const marked = await hand.patch(manifest, { metadata: { annotations: { a: '1' } } });
      const attempts = [seen, { ...refOf(marked), uid: '00000000-0000-4000-8000-000000000000' }];
      for (const target of attempts) {
        expect(await cluster.apply(deleteNodeClaim(target))).toEqual(saying('conflict', seen.name));
      }
      expect(await hand.read(manifest)).toEqual(marked);
    });
  });

  describe('writeStatus', () => {
    test('writes the status and nothing else, at the version that was read (D2-07)', async () => {
      const { hand } = place();
      const manifest = policy(fresh('policy'));
      const before = await hand.create(manifest);
      const cluster = await looked(place());
      const result = await cluster.apply(writeStatus(refOf(before), statusNow));
      const after = await hand.read(manifest);
      expect(result).toEqual(applied(after));
      expect(withoutVersion(after)).toEqual(withoutVersion({ ...before, status: statusNow }));
      expect(await cluster.apply(writeStatus(refOf(before), statusNow))).toEqual(
        saying('conflict', before.metadata.name),
      );
    });

    test('that says the same again makes no new version (D2-07)', async () => {
      const { hand } = place();
      const manifest = policy(fresh('policy'));
      await hand.create(manifest);
      const before = await hand.setStatus(manifest, statusNow);
      expect(await (await looked(place())).apply(writeStatus(refOf(before), statusNow))).toEqual(applied(before));
    });

    test('that the schema does not allow is refused, and a policy that is gone is a conflict (D2-07)', async () => {
      const { hand } = place();
      const manifest = policy(fresh('policy'));
      const seen = await hand.create(manifest);
      const cluster = await looked(place());
      const wrong = { ...statusNow, matchedNodePools: -1 };
      expect(await cluster.apply(writeStatus(refOf(seen), wrong))).toEqual(saying('rejected', seen.metadata.name));
      expect(await hand.read(manifest)).toEqual(seen);
      await hand.remove(manifest);
      expect(await cluster.apply(writeStatus(refOf(seen), statusNow))).toEqual(saying('conflict', seen.metadata.name));
    });
  });
}

export const withoutVersion = ({ metadata, ...rest }: Raw): unknown => {
  // Who wrote which field is for people who ask for it; the versions differ by definition.
  const {
    resourceVersion: _,
    managedFields: __,
    ...others
  } = metadata as Raw['metadata'] & { managedFields?: unknown };
  return { ...rest, metadata: others };
};
