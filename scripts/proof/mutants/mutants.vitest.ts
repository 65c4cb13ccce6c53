import { defineConfig } from 'vitest/config'

/**
 * The tests that judge mutants: only on Node, because the other runtimes test the code that was
 * built before. MUTANT_TESTS names the tests of the file in question, separated by spaces: with its own option
 * `testFiles`, StrykerJS 10 does not activate mutants that take effect when a module is loaded.
 */
export default defineConfig({
  test: {
    globalSetup: ['tests/global-setup.ts'],
    setupFiles: ['scripts/proof/mutants/setup.ts'],
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
    provide: { runtime: 'node' },
    include: process.env.MUTANT_TESTS?.split(' ') ?? ['tests/**/*.test.ts'],
  },
})
