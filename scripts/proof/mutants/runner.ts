/**
 * Runs the test files it is sent, in order, until one fails: a process of its own in a copy of the
 * tree, which keeps the server of the tests and the transformed modules from one run to the next.
 */
import { join, resolve } from 'node:path'
import { createVitest, type TestModule, type TestSpecification } from 'vitest/node'

/** What a runner is asked: the files of the tree that were written since, and the tests to run. */
export type Asked = {
  changed: string[]
  tests: string[]
  /** The switch of the fault that the tests have from their start. */
  fault?: string
  /** How long they may take, in milliseconds: ten minutes. */
  max_ms?: number
}
/** What it answers: the test that failed and what the tests said, or nothing; seconds by test file. */
export type Answer = { failed?: string; said: string; seconds: Record<string, number> }

const ROOT = resolve(import.meta.dirname, '../../..')

const isSwitching = process.env.MUTANTS_SWITCHED !== undefined

const MAX_CLOSING_MS = 15_000

/** Keeps the order that was asked for. */
class AsAsked {
  async sort(files: TestSpecification[]) {
    return files
  }
  async shard(files: TestSpecification[]) {
    return files
  }
}

const vitest = await createVitest('test', {
  root: ROOT,
  config: join(ROOT, `scripts/proof/mutants/${isSwitching ? 'switched' : 'mutants'}.vitest.ts`),
  watch: false,
  bail: process.env.MUTANTS_COVERED || isSwitching ? 0 : 1,
  maxWorkers: 2,
  isolate: isSwitching,
  reporters: [{}],
  sequence: { sequencer: AsAsked },
})

process.on('message', async ({ changed, tests, fault }: Asked) => {
  if (fault) process.env.__STRYKER_ACTIVE_MUTANT__ = fault
  else delete process.env.__STRYKER_ACTIVE_MUTANT__
  for (const file of changed) vitest.invalidateFile(join(ROOT, file))
  const answer: Answer = { said: '', seconds: {} }
  // Failures of the run before would end this one at once.
  vitest.state.idMap.clear()
  vitest.state.filesMap.clear()
  const project = vitest.getRootProject()
  const specs = tests.map((test) => project.createSpecification(join(ROOT, test)))
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specs)
  for (const module of testModules) {
    answer.seconds[module.relativeModuleId] = module.diagnostic().duration / 1000
    if (module.state() !== 'failed') continue
    answer.failed ??= module.relativeModuleId
    answer.said += saidBy(module)
  }
  if (unhandledErrors.length > 0) {
    answer.failed ??= 'an error that nobody caught'
    answer.said += JSON.stringify(unhandledErrors)
  }
  if (process.connected) process.send?.(answer)
})
process.on('disconnect', async () => {
  // Whoever asked is gone; a test that hangs must not outlive it. The workers are of this group.
  setTimeout(() => process.kill(-process.pid, 'SIGKILL'), MAX_CLOSING_MS).unref()
  await vitest.close()
  process.exit()
})
process.send?.('ready')

function saidBy(module: TestModule): string {
  const tests = [...module.children.allTests()]
  const errors = [...module.errors(), ...tests.flatMap((test) => test.result()?.errors ?? [])]
  return errors.map(({ message }) => message).join('\n')
}
