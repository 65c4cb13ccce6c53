import { defineConfig } from 'vitest/config'
import type { Runtime } from './tests/support/runtimes.ts'

/** What the edge does not run, and why; everything else of the API has to hold there as well. */
const NOT_AT_THE_EDGE = {
  'tests/functions/api/deliveries.test.ts':
    'its receivers are functions of the test; tests/runtimes sends to real ones',
}

const common = {
  pool: 'forks',
  testTimeout: 30_000,
  hookTimeout: 60_000,
  teardownTimeout: 30_000,
} as const

/** The contract of the API, held by another runtime. */
function edge(runtime: Runtime) {
  return {
    test: {
      ...common,
      name: runtime,
      // The files of a process share one platform: see tests/support/edge.ts.
      isolate: false,
      provide: { runtime },
      include: ['tests/functions/api/**/*.test.ts'],
      exclude: Object.keys(NOT_AT_THE_EDGE),
    },
  }
}

export default defineConfig({
  test: {
    globalSetup: ['tests/global-setup.ts'],
    reporters: ['default', './tests/reporter.ts'],
    // Many tests wait for processes of their own: a third keeps two cores busy.
    maxWorkers: 3,
    projects: [
      {
        test: {
          ...common,
          name: 'node',
          provide: { runtime: 'node' },
          include: ['tests/**/*.test.ts'],
          // A chat model of 98 MB belongs to the proof, which fetches it.
          exclude: process.env.PROOF ? [] : ['tests/hub/**/*smollm2.test.ts'],
        },
      },
      edge('deno'),
      edge('workerd'),
    ],
  },
})
