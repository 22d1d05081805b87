/**
 * What a story came to, told as a reader would tell it again: its course, its audit rows, its Events, what is left.
 *
 * Names that the world draws at random are replaced by what they stand for, so that an account can be compared whole.
 */
import type { NodeObject } from '../../lib/simulator/kube-object.ts';
import type { World } from '../../lib/simulator/world.ts';
import { annotationsOf, isCordoned } from './moves.ts';
import type { Told } from './scenario.ts';
import { course } from './scenario.ts';
import { leftovers, namesOf } from './story.ts';

export interface Account {
  readonly course: readonly string[];
  /** `17:02 draining provisioned`, `17:16 failed for the 1st time: the surge was not ready within 15m`. */
  readonly audit: readonly string[];
  /** `17:00 Normal RotationStarted NodePool/api`. */
  readonly events: readonly string[];
  /** Marks of ours; none unless a rotation is in flight. */
  readonly leftovers: readonly string[];
  /** Opt-outs, cordons and freezes that are nobody's but an operator's: what was ours and lost its marker would show here, too. */
  readonly operators: readonly string[];
  /** NodeClaims at the end, and how many came to be during the story. */
  readonly claims: { readonly present: number; readonly made: number };
}

export const accountOf = (told: Told, pool = 'api'): Account => ({
  course: course(told, pool),
  audit: told.table
    .wire()
    .map(({ at, step, surgePath, retryCount, reason, refusal }) =>
      anonymous(
        `${String(at).slice(11, 16)} ${step}${surgePath ? ` ${surgePath}` : ''}${retryCount ? ` for the ${ordinal(Number(retryCount))} time` : ''}${reason ? `: ${reason}` : ''}${refusal ? ` (${refusal})` : ''}`,
      ),
    ),
  events: eventObjects(told.world).map(({ eventTime, type, reason, regarding }) =>
    anonymous(`${eventTime.slice(11, 16)} ${type} ${reason} ${regarding.kind}/${regarding.name}`),
  ),
  leftovers: leftovers(told.world),
  operators: operatorsMarks(told.world),
  claims: { present: namesOf(told.world, 'NodeClaim').length, made: told.claimsMade.length },
});

const ordinal = (count: number): string => `${count}${['th', 'st', 'nd', 'rd'][count] ?? 'th'}`;

function operatorsMarks(world: World): readonly string[] {
  const nodes = world.store.all<NodeObject>('Node').flatMap((node) => {
    const annotations = annotationsOf(node);
    const optedOut =
      annotations['karpenter.sh/do-not-disrupt'] !== undefined &&
      annotations['noderotation.io/do-not-disrupt-owned'] === undefined;
    const cordoned = isCordoned(node) && annotations['noderotation.io/cordoned'] === undefined;
    return [...(optedOut ? ['Node opted out'] : []), ...(cordoned ? ['Node cordoned'] : [])];
  });
  const holders = [...world.store.all('NodePool'), ...world.store.all('RotationPolicy')];
  const freezes = holders.flatMap((object) => {
    const until = annotationsOf(object)['noderotation.io/freeze'];
    return until === undefined ? [] : [`${object.kind} ${object.metadata.name} frozen until ${until}`];
  });
  return [...nodes.sort(), ...freezes];
}

interface WrittenEvent {
  readonly metadata: { readonly resourceVersion: string };
  readonly eventTime: string;
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly kind: string; readonly name: string };
  readonly reportingController?: string;
}

function eventObjects(world: World): readonly WrittenEvent[] {
  const events = world.store.all('Event') as unknown as readonly WrittenEvent[];
  return events
    .filter((event) => event.reportingController === 'noderotation.io/controller')
    .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
}

/** The note of the last Event with this reason. */
export const noteOf = (told: Told, reason: string): string | undefined =>
  eventObjects(told.world)
    .filter((event) => event.reason === reason)
    .map((event) => anonymous(event.note))
    .at(-1);

/** NodeClaims become `claim`, host names `node`. */
export const anonymous = (text: string): string =>
  text
    .replaceAll(/\b(?:api|batch)-[a-z0-9]{5}\b/g, 'claim')
    .replaceAll(/\bip-10-0-\d+-\d+\.[a-z0-9.-]+internal\b/g, 'node');
