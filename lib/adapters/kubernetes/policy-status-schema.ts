/**
 * The status of a RotationPolicy as it stands in the cluster. It is for people and for `kubectl wait`; nothing is
 * decided by it.
 */
import * as z from 'zod';

const time = (description: string) => z.string().meta({ description, format: 'date-time' });
const count = (description: string) => z.int32().meta({ description, minimum: 0 });
const text = (description: string) => z.string().meta({ description });

const condition = z
  .object({
    type: z.enum(['Ready', 'Feasible']).meta({ description: 'Which aspect.' }),
    status: z.enum(['True', 'False', 'Unknown']).meta({ description: 'Whether the condition holds.' }),
    reason: text('Why, as one word.'),
    message: text('Why, as a sentence.'),
    observedGeneration: z
      .int()
      .meta({ description: 'Generation of the policy that this condition is about.', format: 'int64' }),
    lastTransitionTime: time('When status last changed.'),
  })
  .meta({ description: 'One aspect of the policy.' });

const window = z
  .object({
    start: time('When it opens.'),
    end: time('When it closes.').optional(),
  })
  .meta({ description: 'The next opening of the maintenance windows.' });

const pool = z
  .object({
    name: text('Name of the NodePool.'),
    ageThreshold: text('A: the age from which its nodes are due. Absent without a deadline.').optional(),
    worstCasePeriod: text('P: the longest wait from one window to the next.').optional(),
    guaranteedChances: count('G: windows that open between that age and the deadline.').optional(),
    capacity: count('C: rotations that can start in one window.').optional(),
    candidates: count('Nodes that are due and may go.'),
    shortLead: count('Nodes whose life is shorter than their lead time.'),
    nextWindow: window.optional(),
    findings: z
      .array(z.string().meta({ description: 'Code of a finding.' }))
      .meta({ description: 'Codes of what is wrong or worth knowing.', 'x-kubernetes-list-type': 'set' }),
  })
  .meta({ description: 'What the policy makes of one NodePool.' });

/** @design D2-07 */
export const statusSchema = z
  .object({
    observedGeneration: z
      .int()
      .meta({ description: 'Generation of the policy that this status is about.', format: 'int64' }),
    conditions: z.array(condition).meta({
      description: 'Ready: the policy can be read and governs. Feasible: its windows leave time to rotate.',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    }),
    matchedNodePools: count('NodePools that this policy governs, or would were it valid or alone.'),
    rotatingNodePools: count('Of these, NodePools with a rotation in flight.'),
    nodePools: z
      .array(pool)
      .max(50)
      .meta({
        description: 'The first 50 of these NodePools by name.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      }),
  })
  .meta({ description: 'What the controller makes of the policy; written by it only.' });
