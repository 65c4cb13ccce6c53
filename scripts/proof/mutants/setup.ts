import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, beforeAll } from 'vitest'

/** What code instrumented by StrykerJS counts: how often each mutant's place was run, by test. */
type Counted = {
  currentTestId?: string
  mutantCoverage?: { perTest: Record<string, Record<string, number>> }
}
const { __vitest_worker__, __stryker__ } = globalThis as unknown as {
  __vitest_worker__: { filepath: string }
  __stryker__?: Counted
}
const counted = __stryker__ ?? {}
Object.assign(globalThis, { __stryker__: counted })

/** Writes down the mutants that the tests of this file came by, in a tree made for it. */
const folder = process.env.MUTANTS_COVERED
if (folder) {
  const test = relative(process.cwd(), __vitest_worker__.filepath)
  // What runs as a module is loaded runs in the first file of a process only: it tells nothing.
  counted.currentTestId = 'loading'
  beforeAll(() => {
    counted.currentTestId = test
  })
  afterAll(() => {
    mkdirSync(folder, { recursive: true })
    const mutants = Object.keys(counted.mutantCoverage?.perTest[test] ?? {})
    writeFileSync(join(folder, `${test.replaceAll('/', '__')}.json`), JSON.stringify(mutants))
  })
}
