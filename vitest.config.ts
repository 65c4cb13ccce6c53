import { defineConfig } from 'vitest/config'
import LongestFirst from './tests/sequencer.ts'
import type { Runtime } from './tests/support/servers/runtimes.ts'

/** What the edge does not run, and why; everything else of the API has to hold there as well. */
const NOT_AT_THE_EDGE = {
  'tests/functions/api/deliveries.test.ts':
    'its receivers are functions of the test; tests/runtimes sends to real ones',
  'tests/functions/api/zones/zones-bulk-meanwhile.test.ts':
    'who waits for whom is up to the database',
}

/** The stories that are mostly requests. The others wait for jobs, which run on Node in all of them. */
const STORIES_AT_THE_EDGE = ['attribution', 'drawing', 'invites', 'off', 'whole-thing'].map(
  (name) => `tests/stories/${name}.test.ts`,
)

/** Files that replace modules or change the environment for good: each has its own process. */
const ALONE = [
  'tests/scripts/deploy-cloudflare.test.ts',
  'tests/hub/reader/**/*.test.ts',
  'tests/hub/http/access.attack.test.ts',
  'tests/hub/auth/password-cost.test.ts',
]
/** Files that test what only Vite can load: JSX, and files imported as addresses. */
const BUNDLED = [
  'tests/hub/web/logic.test.ts',
  ...['answers', 'places', 'zone-draft'].map((name) => `tests/web/${name}.test.ts`),
]
/** A password's hash costs half a second by design: one file tests that, alone, and no other pays it. */
const LIGHT_PASSWORDS = ['tests/support/light-passwords.ts']
/** Files that drive a browser: those that run in one process share one. */
const IN_BROWSERS = [
  'tests/hub/web/**/*.test.ts',
  'tests/web/**/*.test.ts',
  'tests/functions/sign-in/sign-in-page.test.ts',
]
/** A chat model of 98 MB belongs to the proof, which fetches it. */
const WITH_CHAT_MODEL = process.env.PROOF ? [] : ['tests/hub/**/*smollm2.test.ts']

const common = {
  pool: 'forks',
  testTimeout: 90_000,
  hookTimeout: 120_000,
  teardownTimeout: 30_000,
  // Vitest waits a second, which a busy machine takes for a step that is quick on an idle one.
  expect: { poll: { timeout: 20_000 } },
} as const

/**
 * Node loads the sources by itself. Vite would transform each of them and turn every use of an
 * imported name into a look-up: a quarter of the processor time of tests that only compute.
 */
const byNode = { ...common, experimental: { viteModuleRunner: false } } as const

/** The contract of the API, held by another runtime. */
function edge(runtime: Runtime) {
  return {
    test: {
      ...byNode,
      name: runtime,
      // The files of a process share one platform: see tests/support/servers/edge.ts.
      isolate: false,
      provide: { runtime },
      include: ['tests/functions/api/**/*.test.ts', ...STORIES_AT_THE_EDGE],
      exclude: Object.keys(NOT_AT_THE_EDGE),
    },
  }
}

export default defineConfig({
  test: {
    globalSetup: ['tests/global-setup.ts'],
    reporters: ['default', './tests/reporter.ts'],
    // Tests wait for browsers, databases and processes: three workers left a third of two cores idle.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...byNode,
          setupFiles: LIGHT_PASSWORDS,
          name: 'node',
          // Loading the same modules again for each of 200 files took a tenth of the whole time.
          isolate: false,
          provide: { runtime: 'node' },
          include: ['tests/**/*.test.ts'],
          exclude: [...ALONE, ...IN_BROWSERS, ...WITH_CHAT_MODEL],
        },
      },
      {
        test: {
          ...common,
          name: 'node-alone',
          provide: { runtime: 'node' },
          include: [...ALONE, ...BUNDLED],
          exclude: WITH_CHAT_MODEL,
        },
      },
      {
        test: {
          ...byNode,
          setupFiles: LIGHT_PASSWORDS,
          name: 'browser',
          isolate: false,
          provide: { runtime: 'node' },
          include: IN_BROWSERS,
          exclude: BUNDLED,
        },
      },
      edge('deno'),
      edge('workerd'),
    ],
  },
})
