/**
 * Everything that a client may do, found by asking for all of it: each resource that the server serves, with each verb.
 *
 * Rights that hold in all namespaces are named once; others are looked for in the namespaces given.
 */
import type { Hand } from '../../contract/operators-hand.ts';

/** The verbs of resources, and those that RBAC knows besides. */
const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const besides = ['impersonate', 'bind', 'escalate', 'approve', 'sign', 'use'];
const atOnce = 16;

interface Served {
  readonly group: string;
  readonly name: string;
  readonly namespaced: boolean;
}

interface Question {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly verb: string;
  readonly namespace?: string;
}

/** As `group/resource verb`, with the namespace where it holds in that one only. */
export async function rightsOf(
  hand: Hand,
  namespaces: readonly string[],
): Promise<{ readonly rights: readonly string[]; readonly tried: number }> {
  const served = await servedBy(hand);
  const everything = served.flatMap((resource) =>
    [...verbs, ...(resource.name.includes('/') ? [] : besides)].map((verb) => ({ resource, verb })),
  );
  const questions = everything.map(({ resource, verb }) => questionOf(resource, verb));
  const everywhere = await allowed(hand, questions);
  const inOne = everything.flatMap(({ resource, verb }, place) =>
    everywhere[place] || !resource.namespaced ? [] : namespaces.map((one) => questionOf(resource, verb, one)),
  );
  const there = await allowed(hand, inOne);
  const all = [...questions, ...inOne];
  const answers = [...everywhere, ...there];
  return { rights: all.filter((_, place) => answers[place]).map(nameOf), tried: all.length };
}

/** Whatever discovery lists, in every version, by group and name; and whatever it does not. */
async function servedBy(hand: Hand): Promise<readonly Served[]> {
  const { body } = await hand.call('GET', '/apis');
  const roots = (body.groups as { name: string; versions: { groupVersion: string }[] }[]).flatMap((group) =>
    group.versions.map(({ groupVersion }) => ({ group: group.name, path: `/apis/${groupVersion}` })),
  );
  const found = new Map<string, Served>();
  for (const { group, path } of [{ group: '', path: '/api/v1' }, ...roots]) {
    const { body: list } = await hand.call('GET', path);
    for (const { name, namespaced } of list.resources) found.set(`${group}/${name}`, { group, name, namespaced });
  }
  found.set('users', { group: '', name: 'users', namespaced: false });
  found.set('groups', { group: '', name: 'groups', namespaced: false });
  found.set('*', { group: '*', name: '*', namespaced: true });
  return [...found.values()];
}

function questionOf({ group, name }: Served, verb: string, namespace?: string): Question {
  const [resource = '', subresource] = name.split('/');
  return {
    group,
    resource,
    verb,
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

const nameOf = ({ group, resource, subresource, verb, namespace }: Question): string =>
  `${group}/${resource}${subresource ? `/${subresource}` : ''} ${verb}${namespace ? ` in ${namespace}` : ''}`;

async function allowed(hand: Hand, questions: readonly Question[]): Promise<readonly boolean[]> {
  const answers: boolean[] = [];
  const ask = async (first: number): Promise<void> => {
    for (let place = first; place < questions.length; place += atOnce) {
      const kind = 'SelfSubjectAccessReview';
      const { code, body } = await hand.call('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        body: { apiVersion: 'authorization.k8s.io/v1', kind, spec: { resourceAttributes: questions[place] } },
      });
      if (code !== 201) throw new Error(`${kind}: ${code} ${body.message}`);
      answers[place] = body.status.allowed;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, first) => ask(first)));
  return answers;
}
