import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node'

/** The longest file takes under two minutes on two cores; a limit of one test cannot end a loop. */
const STALL_MS = Number(process.env.TEST_STALL_MS ?? 10 * 60_000)

/**
 * Ends the run with one plain line, `N passed, N failed, N skipped`, for people and scripts. A file
 * that blocks its process is named, and its process is killed, so that the run ends and counts it.
 */
export default class CountReporter implements Reporter {
  #running = new Set<TestModule>()
  #lastAt = 0

  onTestRunStart() {
    this.#lastAt = Date.now()
    setInterval(() => this.#watch(), Math.min(STALL_MS, 10_000)).unref()
  }

  onTestModuleStart(module: TestModule) {
    this.#running.add(module)
  }

  onTestModuleEnd(module: TestModule) {
    this.#running.delete(module)
    this.#lastAt = Date.now()
  }

  #watch() {
    if (this.#running.size === 0 || Date.now() - this.#lastAt < STALL_MS) return
    const files = [...this.#running].map(({ relativeModuleId }) => relativeModuleId).join(', ')
    console.error(`No test file has ended for ${STALL_MS / 1000} s. Stopping: ${files}`)
    this.#lastAt = Date.now()
    for (const pid of workers()) process.kill(pid, 'SIGKILL')
  }

  onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly unknown[],
    reason: TestRunEndReason,
  ) {
    const counts = { passed: 0, failed: 0, skipped: 0 }
    for (const module of modules) {
      let failedInside = false
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        // A test that never came to its end (its process died) has not passed.
        const outcome = state === 'pending' ? 'failed' : state
        counts[outcome] += 1
        failedInside ||= outcome === 'failed'
      }
      // The file did not load, or a hook outside its tests failed.
      if (module.state() === 'failed' && !failedInside) counts.failed += 1
    }
    // An error nobody caught fails the run although every test passed.
    if (counts.failed === 0 && (unhandledErrors.length > 0 || reason === 'failed'))
      counts.failed = Math.max(1, unhandledErrors.length)
    const { passed, failed, skipped } = counts
    // After everything the default reporter still prints.
    process.on('exit', () => console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`))
  }
}

/** The processes that run tests, where /proc tells them. */
function workers(): number[] {
  if (!existsSync('/proc')) return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const [, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8')
          .replace(/^.*\) . /, 'x ')
          .split(' ')
        const isOurs = Number(parent) === process.pid
        return isOurs && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('vitest')
      } catch {
        return false // it has ended
      }
    })
    .map(Number)
}
