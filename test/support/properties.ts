/**
 * How property tests are run: from a fixed seed, so that a failure comes back, and as often as their file says.
 *
 * A mutation run repeats them for every mutant and takes a share of the runs; see docs/mutation-testing.md.
 */
const seed = 20261202;
const share = Number(process.env.PROPERTY_SHARE ?? 1);

export const runs = (times: number): { readonly seed: number; readonly numRuns: number } => ({
  seed,
  numRuns: Math.ceil(times * share),
});
