/**
 * A finding: something about a policy, a pool or a claim that its owner should know and can change.
 *
 * A fatal one blocks starts; a warning does not. The code is stable, the sentence carries the numbers compared.
 */
export interface Finding {
  readonly code: string;
  readonly severity: 'fatal' | 'warn';
  readonly message: string;
  /** Name of the NodeClaim, when it is about one. */
  readonly claim?: string;
}

/** A warning; nothing is blocked. @design D4-01 */
export const warn = (code: string, message: string): Finding => ({ code, severity: 'warn', message });

/** A fatal finding: it blocks starts. @design D4-01 */
export const fatal = (code: string, message: string): Finding => ({ code, severity: 'fatal', message });
