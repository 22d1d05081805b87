/**
 * Broken versions of what lies between the tick and the world: the Kubernetes adapter and the audit table.
 *
 * The random simulation does not go over the wire, so it is tests of the adapters and of the contract that catch them.
 */
import type { BrokenVersion } from './version.ts';
import { breakOf } from './version.ts';

const kubernetes = breakOf('lib/adapters/kubernetes');
const aws = breakOf('lib/adapters/aws');
const contract = (title: string) => ({ file: 'test/contract/simulated-cluster.test.ts', title });
const adapter = (title: string) => ({ file: 'test/adapters/kubernetes-cluster.test.ts', title });

export const ofTheAdapters: readonly BrokenVersion[] = [
  {
    does: 'patches an object whatever its version is by now',
    rules: ['D5-05'],
    breaks: [kubernetes('apply', 'metadata: { resourceVersion, ...metadata }', 'metadata')],
    caughtBy: contract(
      'answers the version for the next write; the former one is a conflict, and nothing is written (D5-05)',
    ),
  },
  {
    does: 'deletes a NodeClaim by its name alone',
    rules: ['D5-05'],
    breaks: [kubernetes('apply', '{ preconditions: { uid, resourceVersion } }', '{}')],
    caughtBy: contract(
      'at another version, or of another claim of that name, is a conflict and deletes nothing (D5-05)',
    ),
  },
  {
    does: 'deletes whatever Pod has the name of its placeholder',
    rules: ['D5-05'],
    breaks: [
      kubernetes('apply', 'gracePeriodSeconds: 0, preconditions: { uid: action.target.uid }', 'gracePeriodSeconds: 0'),
    ],
    caughtBy: contract('of another Pod of that name is a conflict, at another version it is none (D5-05)'),
  },
  {
    does: "takes somebody else's Pod for its placeholder",
    rules: ['D5-05'],
    breaks: [kubernetes('apply', 'metadata?.labels?.[surgeForLabel] !== labels[surgeForLabel]', 'metadata === null')],
    caughtBy: contract('that finds its own Pod is done; a Pod of that name of somebody else is a refusal (D5-05)'),
  },
  {
    does: 'takes any 404 for the word that an object is gone',
    rules: ['D5-05'],
    breaks: [kubernetes('api-error', " && error.reason === 'NotFound' && error.details.name === name;", ';')],
    caughtBy: adapter('a 404 that does not name the Node is a failed look, not a Node that is gone (D5-05)'),
  },
  {
    does: 'makes do with the first page of a list',
    rules: ['D15-03'],
    breaks: [kubernetes('whole-list', 'token = page.token;', "token = '';")],
    caughtBy: contract('reads a list of more than one page to its end, every object once (D15-03)'),
  },
  {
    does: 'makes do with what it had of a list that expired',
    rules: ['D15-03'],
    breaks: [
      kubernetes(
        'whole-list',
        "if (chance === 'last') {",
        "if (chance === 'last') {\n        return { items: [], date: Date.now() };",
      ),
    ],
    caughtBy: adapter('a list that expires twice is not used (D6, D15-03)'),
  },
  {
    does: 'goes by its own clock instead of the API server’s',
    rules: ['D1-04'],
    breaks: [kubernetes('observe', 'observedAt: pools.date,', 'observedAt: Date.now(),')],
    caughtBy: contract('tells the time of the server, which is also what creation times are made of (D1-04)'),
  },
  {
    does: 'looks at the nodes before the NodePools',
    rules: ['D5-08'],
    breaks: [
      kubernetes(
        'observe',
        'const [pools, policies] = await settled([',
        'await readWholeList(client, resources.nodes, {}, () => undefined);\n  const [pools, policies] = await settled([',
      ),
    ],
    caughtBy: adapter(
      'a tick sees a cluster in five calls, NodePools and policies before the rest (D15-03, D15-05, D5-08)',
    ),
  },
  {
    does: 'takes a creation time that cannot be read for the beginning of time',
    rules: ['D5-06'],
    breaks: [
      kubernetes(
        'decode-metadata',
        "const created = time('creationTimestamp');",
        "const created = time('creationTimestamp') ?? 0;",
      ),
    ],
    caughtBy: {
      file: 'test/adapters/decode.test.ts',
      title: 'a claim created undefined has an unreadable lifetime (D5-06)',
    },
  },
  {
    does: 'takes a row for recorded that the table refused',
    rules: ['D10-04'],
    breaks: [aws('recorder', 'detail,\n        });\n        continue;', 'detail,\n        });')],
    caughtBy: {
      file: 'test/adapters/recording.test.ts',
      title: 'rows that are in the table leave the outbox, others stay and are told (D10-03, D10-04)',
    },
  },
];
