import { defineConfig } from 'vitest/config'

/** The tests as mutants meet them: on Node alone, for the other runtimes get what was built before. */
export default defineConfig({
  test: {
    globalSetup: ['tests/global-setup.ts'],
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
    provide: { runtime: 'node' },
    include: ['tests/**/*.test.ts'],
  },
})
