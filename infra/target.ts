/**
 * Where a deployment goes. The emulator's CloudFormation refuses a whole template for a composite alarm, an access entry
 * or a bus policy, and its schedules do not say for when they were due: there a rule ticks. Nothing else differs.
 */
export const targets = ['aws', 'emulator'] as const;
export type Target = (typeof targets)[number];
