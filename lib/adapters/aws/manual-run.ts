/**
 * A run that somebody asks for by an event on the installation's own bus: who may put events there may rotate.
 *
 * Everything wrong with a request is named in its answer; a request that is not ours is no request. Who asks is what the
 * event's own account says; `requestedBy` is only what they say of themselves.
 */
import * as z from 'zod';
import { add, formatInstant, type Instant, minutes, parseInstant, wholeSecond } from '../../domain/time.ts';
import type { AuditNote } from './audit-note.ts';
import { clusterKeySchema } from './cluster-registry.ts';

/** @design D12-01 */
const manualRunEvent = { source: 'noderotation.manual', detailType: 'Rotation Run Requested' } as const;

const longestPayload = 16 * 1024;
const answeredWithin = minutes(10);
/** Under which the table keeps what names no cluster. */
const noCluster = '(none)';

const text = (most: number) => z.string().trim().min(1, 'expected some text').max(most);
const name = z.string().regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/, 'expected the name of an object');
const instantSchema = z.string().transform((value, context): Instant => {
  const at = parseInstant(value);
  if (at !== undefined) return at;
  context.addIssue({ code: 'custom', message: 'expected an RFC 3339 time' });
  return z.NEVER;
});

const detailSchema = z
  .strictObject({
    cluster: clusterKeySchema,
    nodePool: name.optional(),
    nodeClaim: name.optional(),
    action: z.enum(['tick', 'plan', 'rotate']),
    ignoreWindow: z.boolean().optional(),
    reason: text(500),
    requestedBy: text(200),
  })
  .superRefine(({ action, nodePool, nodeClaim, ignoreWindow }, context) => {
    const wrong = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
    if (action === 'rotate' && nodeClaim === undefined) wrong('nodeClaim', 'rotate names one NodeClaim');
    if (action !== 'rotate' && nodeClaim !== undefined) wrong('nodeClaim', `${action} takes no NodeClaim`);
    if (action === 'plan' && nodePool === undefined) wrong('nodePool', 'plan names one NodePool');
    if (action !== 'rotate' && ignoreWindow !== undefined) wrong('ignoreWindow', `${action} does not ask for a window`);
  });

/** As it travels to the tick that answers it. */
export const manualRunSchema = detailSchema.safeExtend({
  id: z.string().min(1).max(128),
  account: z.string().max(64),
  requestedAt: instantSchema,
});

/** @design D12-01, D12-02 */
export type ManualRun = z.output<typeof manualRunSchema>;

export interface RunAnswer {
  readonly outcome: 'Started' | 'Done' | 'Refused' | 'Expired';
  /** Why it was refused: a gate, a disqualifier, the outcome of the tick. */
  readonly reason?: string;
  readonly message: string;
  /** The document of D13-02, as JSON. */
  readonly plan?: string;
}

export type RunReading =
  | { readonly kind: 'run'; readonly run: ManualRun }
  | { readonly kind: 'malformed'; readonly run: Addressed; readonly problems: readonly string[] };

/** What is needed to answer, however little of the request can be read. */
export interface Addressed {
  readonly id: string;
  readonly cluster: string;
  readonly nodePool?: string | undefined;
  readonly requestedAt: Instant;
  readonly account: string;
}

const eventSchema = z.object({
  source: z.literal(manualRunEvent.source),
  'detail-type': z.literal(manualRunEvent.detailType),
  id: z.string().min(1).max(128),
  account: z.string().max(64).catch('unknown'),
  time: instantSchema.optional().catch(undefined),
  detail: z.unknown(),
});

/** @returns undefined for an event that is no request @design D12-01, D12-04 */
export function readManualRun(event: unknown, now: Instant): RunReading | undefined {
  const read = eventSchema.safeParse(event);
  if (!read.success) return undefined;
  const { id, account, time = now, detail } = read.data;
  const envelope = { id, account, requestedAt: wholeSecond(time) };
  const size = Buffer.byteLength(JSON.stringify(detail) ?? '');
  if (size > longestPayload) {
    const problems = [`the request has ${size} bytes; at most ${longestPayload} are read`];
    return { kind: 'malformed', run: { ...envelope, cluster: noCluster }, problems };
  }
  const request = detailSchema.safeParse(detail);
  if (request.success) return { kind: 'run', run: { ...request.data, ...envelope } };
  const problems = request.error.issues.map(({ path, message }) => `${path.join('.') || 'detail'}: ${message}`);
  const named = z.object({ cluster: clusterKeySchema }).safeParse(detail);
  return { kind: 'malformed', run: { ...envelope, cluster: named.data?.cluster ?? noCluster }, problems };
}

/** At this instant itself it is still answered. @design D1-02 */
export const isExpired = ({ requestedAt }: ManualRun, now: Instant): boolean => now > add(requestedAt, answeredWithin);

const keyOf = ({ requestedAt, id }: Addressed, part: string): string =>
  `RUN#${formatInstant(requestedAt)}#${id}#${part}`;

export const answerKey = (run: Addressed): string => keyOf(run, 'answered');

/** The row that says that somebody asked. @design D12-03 */
export function requestNote(run: ManualRun | Addressed): AuditNote {
  const asked = 'action' in run ? run : undefined;
  return {
    ...placeOf(run),
    key: keyOf(run, 'requested'),
    facts: {
      run: run.id,
      event: 'requested',
      account: run.account,
      ...(asked && {
        action: asked.action,
        reason: asked.reason,
        requestedByAsClaimed: asked.requestedBy,
        ...(asked.nodeClaim === undefined ? {} : { nodeClaim: asked.nodeClaim }),
        ...(asked.ignoreWindow === undefined ? {} : { ignoreWindow: String(asked.ignoreWindow) }),
      }),
    },
  };
}

/** The row, and the event, that say what came of it. @design D12-03 */
export const answerNote = (run: ManualRun | Addressed, { outcome, reason, message, plan }: RunAnswer): AuditNote => ({
  ...placeOf(run),
  key: answerKey(run),
  facts: {
    run: run.id,
    event: 'answered',
    outcome,
    ...(reason === undefined ? {} : { refusal: reason }),
    message,
    ...('nodeClaim' in run && run.nodeClaim !== undefined ? { nodeClaim: run.nodeClaim } : {}),
    ...(plan === undefined ? {} : { plan }),
  },
});

const placeOf = ({ cluster, nodePool, requestedAt }: Addressed) => ({
  cluster,
  ...(nodePool === undefined ? {} : { nodePool }),
  kind: 'run' as const,
  at: requestedAt,
});

export const malformedAnswer = (problems: readonly string[]): RunAnswer => ({
  outcome: 'Refused',
  reason: 'Malformed',
  message: problems.join('; ').slice(0, 4_000),
});

export const expiredAnswer = (run: ManualRun): RunAnswer => ({
  outcome: 'Expired',
  message: `it was asked for at ${formatInstant(run.requestedAt)} and could not be answered within ten minutes; ask again`,
});
