/**
 * How much of the end-to-end tests this run takes: the core, or with `npm run e2e -- --all` everything.
 */
export const everything = process.env.E2E_ALL === 'true';
