import { defineConfig } from 'vitest/config'

/** The tests that judge faults which are switched on at run time: see switched.ts. */
export default defineConfig({
  test: {
    globalSetup: ['tests/global-setup.ts'],
    setupFiles: ['tests/support/light-passwords.ts'],
    runner: 'scripts/proof/mutants/switched-runner.ts',
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 5_000,
    provide: { runtime: 'node' },
    include: ['tests/**/*.test.ts'],
    experimental: { viteModuleRunner: false },
  },
})
