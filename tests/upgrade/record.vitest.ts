import { defineConfig } from 'vitest/config'

/** Runs record.ts, which is no test, with the database of the tests. */
export default defineConfig({
  test: {
    globalSetup: ['tests/global-setup.ts'],
    include: ['tests/upgrade/record.ts'],
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    provide: { runtime: 'node' },
  },
})
