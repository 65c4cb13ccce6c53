import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node'

/** Ends the run with one plain line, `N passed, N failed, N skipped`, for people and scripts. */
export default class CountReporter implements Reporter {
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
