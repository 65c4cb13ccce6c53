/**
 * A runner of vitest that runs each test again and again, with one fault switched on at a time: see
 * switched.ts. A fault counts as noticed if the test fails with it, after it has passed twice
 * without. What becomes of the faults is written into the folder MUTANTS_SWITCHED line by line,
 * because a fault can end its process.
 */
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RunnerTestFile as File, type RunnerTestCase, TestRunner } from 'vitest'
import { linesOf, type Said } from './said.ts'

type Test = RunnerTestCase
type Try = Parameters<TestRunner['onBeforeTryTask']>[1]
/** What the switches of StrykerJS read and count. */
type Switches = {
  activeMutant?: string | undefined
  currentTestId?: string | undefined
  hitCount?: number
  hitLimit?: number
  mutantCoverage?: Record<'perTest', Record<string, Counts>> & { static?: Counts }
}
type Counts = Record<string, number>

const folder = process.env.MUTANTS_SWITCHED ?? ''
/** A test that takes longer judges no fault here, and no file spends more on faults in one run. */
const MAX_TEST_MS = 6_000
const MAX_FILE_MS = 120_000
/** The one fault that this process has from its start, for tests that cannot run again. */
const ALWAYS = process.env.__STRYKER_ACTIVE_MUTANT__
const AGAIN = new Error('Run this test again, with the next fault.')
const world = globalThis as { __stryker__?: Switches }
world.__stryker__ ??= {}
const switches = world.__stryker__
switches.activeMutant = ALWAYS

export default class SwitchedRunner extends TestRunner {
  /** What the current run of the test is for. */
  #phase: 'first' | 'second' | 'fault' | 'after' | 'last' = 'first'
  #left: string[] = []
  #fault: string | undefined
  #hasPassed = false
  #isOver = false
  #tookMs = 0
  #spentMs = 0
  #startedAt = 0
  #isTouched = false
  #isDirty = false

  override async onBeforeRunTask(test: Test) {
    await super.onBeforeRunTask(test)
    if (this.#isDirty) test.mode = 'skip'
    if (ALWAYS) return
    this.#phase = 'first'
    this.#isOver = false
    test.retry = { count: 1e6, delay: 0, condition: () => !this.#isOver }
  }

  override onBeforeTryTask(test: Test, options: Try) {
    super.onBeforeTryTask(test, options)
    if (ALWAYS) return
    if (test.result) Object.assign(test.result, { errors: undefined, attempts: [] })
    this.#hasPassed = false
    this.#startedAt = performance.now()
    if (this.#phase === 'first') switches.currentTestId = test.id
    if (this.#phase !== 'fault') return
    this.#fault = this.#left.shift()
    switches.hitCount = 0
    switches.hitLimit = 100_000 + 100 * (countsOf(test)[this.#fault ?? ''] ?? 0)
    const doing = { fault: this.#fault, test: test.id, path: test.file.filepath, pid: process.pid }
    writeFileSync(running, JSON.stringify(doing))
    switches.activeMutant = this.#fault
    this.#isTouched = true
  }

  async runTask(test: Test) {
    const run = TestRunner.getTestFn(test)()
    if (this.#phase === 'fault') await this.#inTime(run)
    else await run
  }

  override onAfterTryTask(test: Test) {
    super.onAfterTryTask(test)
    if (ALWAYS) return
    this.#hasPassed = true
    const ms = performance.now() - this.#startedAt
    if (this.#phase === 'first') {
      this.#tookMs = ms
      this.#left = faultsLeft(test)
      if (this.#left.length > 0 && this.#isUnfit(test, ms)) {
        say({ unjudged: this.#left, path: test.file.filepath })
        this.#left = []
      }
      if (this.#left.length === 0) return
    }
    if (this.#phase !== 'last') throw AGAIN
  }

  onTaskFinished() {
    if (ALWAYS) return
    switches.activeMutant = undefined
    switches.currentTestId = undefined
    rmSync(running, { force: true })
  }

  override async onAfterRetryTask(test: Test, options: Try) {
    await super.onAfterRetryTask(test, options)
    if (ALWAYS) {
      // One failure is enough.
      this.#isDirty ||= test.result?.state === 'fail'
      return
    }
    if (this.#phase === 'fault') this.#spentMs += performance.now() - this.#startedAt
    if (this.#phase === 'fault' && this.#fault) {
      const outcome = this.#hasPassed ? 'alive' : this.#isDirty ? 'timeout' : 'killed'
      say({ fault: this.#fault, outcome, test: test.id, path: test.file.filepath })
      const isNext = this.#hasPassed && this.#left.length > 0 && this.#spentMs < MAX_FILE_MS
      if (!isNext) this.#phase = this.#hasPassed ? 'last' : 'after'
    } else if (!this.#hasPassed) {
      // A test that fails without a fault notices none, unless an earlier fault has left dirt.
      const { id: unfit, file } = test
      if (!this.#isTouched || this.#phase === 'second') say({ unfit, path: file.filepath })
      if (this.#isTouched || this.#phase === 'second') this.#isDirty = true
      this.#isOver = true
    } else if (this.#phase === 'first') this.#phase = 'second'
    else {
      // Another process may have judged some of them meanwhile.
      const { settled } = known()
      this.#left = this.#left.filter((id) => !settled.has(id))
      const isNext = this.#left.length > 0 && this.#spentMs < MAX_FILE_MS
      this.#phase = isNext ? 'fault' : 'last'
    }
    if (!this.#isDirty) return
    this.#isOver = true
    say({ again: test.file.filepath })
  }

  override onAfterRunFiles(files: File[]) {
    super.onAfterRunFiles(files)
    const unjudged = Object.keys(switches.mutantCoverage?.static ?? {})
    if (!ALWAYS) for (const { filepath: path } of files) say({ unjudged, path })
  }

  #isUnfit(test: Test, ms: number) {
    return (
      ms > MAX_TEST_MS || this.#spentMs > MAX_FILE_MS || test.fails || known().unfit.has(test.id)
    )
  }

  /** A fault may make a test wait for what never comes; what it still does then is dirt. */
  async #inTime(run: unknown) {
    const { promise, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(
      () => {
        this.#isDirty = true
        reject(new Error('It takes too long with this fault.'))
      },
      2_000 + 10 * this.#tookMs,
    )
    try {
      await Promise.race([run, promise])
    } finally {
      clearTimeout(timer)
    }
  }
}

const countsOf = (test: Test) => switches.mutantCoverage?.perTest[test.id] ?? {}

/** The faults that a test runs and that nobody has noticed yet, nor this test let pass. */
function faultsLeft(test: Test): string[] {
  const { settled, passed } = known()
  const isLeft = (id: string) => !settled.has(id) && !passed.has(`${id} ${test.id}`)
  return Object.keys(countsOf(test)).filter(isLeft)
}

/** What has been said so far, by all processes. */
const memory = {
  readUpTo: 0,
  settled: new Set<string>(),
  passed: new Set<string>(),
  unfit: new Set<string>(),
}

function known() {
  if (!existsSync(file)) return memory
  const bytes = readFileSync(file)
  const end = bytes.lastIndexOf('\n') + 1
  for (const one of linesOf(bytes.toString('utf8', memory.readUpTo, end))) {
    if ('unfit' in one) memory.unfit.add(one.unfit)
    if (!('outcome' in one)) continue
    if (one.outcome === 'alive') memory.passed.add(`${one.fault} ${one.test}`)
    else memory.settled.add(one.fault)
  }
  memory.readUpTo = end
  return memory
}

const file = join(folder, 'said.ndjson')

const say = (one: Said) => appendFileSync(file, `${JSON.stringify(one)}\n`)

/** Whoever watches this process reads there which fault it cannot end. */
const running = join(folder, `running-${process.pid}`)
