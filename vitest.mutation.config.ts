import { defineConfig } from 'vitest/config';

/** The tests that mutants of the schedule and of the selection have to get past; see docs/mutation-testing.md. */
export default defineConfig({
  test: {
    environment: 'node',
    include: ['test/domain/schedule/*.test.ts', 'test/engine/candidates.test.ts'],
    // Hundreds of zones and ten years take seconds, and a thousand mutants would take them each.
    exclude: ['test/domain/schedule/every-zone.test.ts', 'test/domain/schedule/ten-years.prop.test.ts'],
    env: { PROPERTY_SHARE: '0.05' },
  },
});
