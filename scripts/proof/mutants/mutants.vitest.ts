import { defineConfig } from 'vitest/config'

/**
 * The tests that judge faults in a copy of the tree: only on Node, because the other runtimes test the
 * code that was built before.
 */
export default defineConfig({
  test: {
    globalSetup: ['tests/global-setup.ts'],
    setupFiles: ['tests/support/light-passwords.ts', 'scripts/proof/mutants/setup.ts'],
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
    provide: { runtime: 'node' },
    include: ['tests/**/*.test.ts'],
  },
})
