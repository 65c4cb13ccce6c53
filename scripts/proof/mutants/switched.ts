import {
  appendFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { withSwitches } from './faults.ts'
import { type Given, type Noticed, sha } from './kept.ts'
import { linesOf, type Said } from './said.ts'
import { type Fault, withSwitchedSql } from './sql.ts'
import { copyOf, type Runner, removeTree, runnerIn } from './tree.ts'

/** A file that faults leave dirty again and again is not started more often. */
const MAX_STARTS = 12
/** A fault that gives no sign of life for so long has ended in a loop, and its process is killed. */
const MAX_SILENT_MS = 60_000
/** All files together may take so long, each fault of each test included. */
const MAX_ALL_MS = 30 * 60_000
/** A file that has a fault from its start may take so long. */
const MAX_FILE_MS = 90_000
/** So many files are run with a fault from their start. */
const WHOLE_FILES = 3

/** A source with its faults, those that are left to be judged, and the tests for it, the closest first. */
export type Switched = Given & {
  left: Fault[]
  tests: string[]
  /** Other tests, for faults that those have not noticed. */
  othersFor: (left: Fault[]) => Promise<string[]>
}

/**
 * Judges the faults of sources in TypeScript where this takes the least time: all of them are
 * written into the source, each behind a switch, and a process that runs a test once runs it again
 * for each fault that it comes by. For faults that act as their module is loaded, in a hook or in
 * tests that cannot run twice, whole files run with a single one from their start. Only what is
 * noticed proves anything: the others are left to judge.ts, which runs more tests.
 */
export async function judgeBySwitches(
  root: string,
  given: Switched[],
  tell: (one: Switched, noticed: Noticed) => void,
): Promise<void> {
  if (given.every(({ left }) => left.length === 0)) return
  const tree = copyOf(root)
  const folder = join(tree, '.switched')
  mkdirSync(folder)
  const unfit = unfitTests(root)
  const runner = runnerIn(tree, { MUTANTS_SWITCHED: folder })
  const runners = [runner, runnerIn(tree, { MUTANTS_SWITCHED: folder })]
  try {
    for (const one of given) {
      const noticed: Noticed = new Map()
      for (const { content, faults } of await formsOf(one)) {
        console.log(`${one.source}: ${faults.size} faults`)
        writeFileSync(join(folder, 'said.ndjson'), unfit.known())
        writeFileSync(join(tree, one.source), content)
        const run = async (tests: string[]) => {
          await runAll(runner, folder, tests)
          readNoticed(folder, faults, noticed)
          return [...faults.values()].filter((fault) => !noticed.has(fault))
        }
        const left = await run(one.tests)
        await run(await one.othersFor(left))
        for (const said of saidIn(folder)) if ('unfit' in said) unfit.add(said)
        await runWhole(runners, unjudgedIn(folder, one.tests), faults, noticed)
      }
      writeFileSync(join(tree, one.source), one.text)
      tell(one, noticed)
    }
  } finally {
    await Promise.all(runners.map((each) => each.stop()))
    removeTree(tree)
  }
}

/** Runs tests, and those again whose file was left dirty by a fault, or whose process it ended. */
async function runAll(runner: Runner, folder: string, tests: string[]) {
  let left = tests
  for (let start = 0; left.length > 0 && start < MAX_STARTS; start += 1) {
    const before = saidIn(folder).length
    const watch = setInterval(() => endSilent(folder), 5_000)
    await runner.run({ changed: [], tests: left, max_ms: MAX_ALL_MS })
    clearInterval(watch)
    const said = saidIn(folder).slice(before)
    const dirty = said.flatMap((one) => ('again' in one ? [one.again] : []))
    left = left.filter((test) => dirty.some((path) => path.endsWith(test)))
  }
}

/** The files that run a fault where it cannot be switched on, by its switch: those near the source first. */
function unjudgedIn(folder: string, near: string[]): Map<string, string[]> {
  const files = new Map<string, Set<string>>()
  for (const said of saidIn(folder)) {
    if (!('unjudged' in said)) continue
    const test = testOf(said.path)
    for (const id of said.unjudged) files.set(id, (files.get(id) ?? new Set()).add(test))
  }
  const isFar = (test: string) => Number(!near.includes(test))
  return new Map(
    [...files].map(([id, tests]) => [id, [...tests].sort((a, b) => isFar(a) - isFar(b))]),
  )
}

/** Runs whole files with a single fault from their start, for the faults that nobody has noticed so far. */
async function runWhole(
  runners: Runner[],
  unjudged: Map<string, string[]>,
  faults: Map<string, Fault>,
  noticed: Noticed,
): Promise<void> {
  const sound = new Map<string, boolean>()
  const left = [...unjudged].flatMap(([id, tests]) => {
    const fault = faults.get(id)
    return fault && !noticed.has(fault) ? [{ id, fault, tests: tests.slice(0, WHOLE_FILES) }] : []
  })
  if (left.length > 0) console.log(`${left.length} of them by whole files`)
  const work = async (runner: Runner) => {
    for (let one = left.shift(); one; one = left.shift()) {
      for (const test of one.tests) {
        if (!sound.has(test)) {
          const answer = await runner.run({ changed: [], tests: [test], fault: 'none' })
          sound.set(test, answer !== 'late' && answer.failed === undefined)
        }
        if (!sound.get(test)) continue
        const answer = await runner.run({
          changed: [],
          tests: [test],
          fault: one.id,
          max_ms: MAX_FILE_MS,
        })
        const outcome = answer === 'late' ? 'timeout' : answer.failed ? 'killed' : undefined
        if (outcome) noticed.set(one.fault, { outcome, by: test })
        if (outcome) break
      }
    }
  }
  await Promise.all(runners.map(work))
}

const testOf = (path: string) => path.slice(path.lastIndexOf('/tests/') + 1)

function readNoticed(folder: string, faults: Map<string, Fault>, noticed: Noticed): void {
  for (const said of saidIn(folder)) {
    if (!('outcome' in said) || said.outcome === 'alive') continue
    const fault = faults.get(said.fault)
    if (fault) noticed.set(fault, { outcome: said.outcome, by: testOf(said.path) })
  }
}

const saidIn = (folder: string): Said[] => {
  const file = join(folder, 'said.ndjson')
  return existsSync(file) ? linesOf(readFileSync(file, 'utf8')) : []
}

/** The tests that fail or that pass only once, as they are stored: valid until their file changes. */
function unfitTests(root: string) {
  const file = join(root, '.data/mutants/unfit.json')
  type Stored = Record<string, { tested: string; ids: string[] }>
  const stored: Stored = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const hashOf = (test: string) => sha(readFileSync(join(root, test), 'utf8'))
  return {
    /** What is to be said of them at the start. */
    known: () =>
      Object.entries(stored)
        .filter(([test, { tested }]) => existsSync(join(root, test)) && tested === hashOf(test))
        .flatMap(([path, { ids }]) => ids.map((unfit) => ({ unfit, path })))
        .map((said: Said) => `${JSON.stringify(said)}\n`)
        .join(''),
    add({ unfit, path }: { unfit: string; path: string }) {
      const test = testOf(path)
      const tested = hashOf(test)
      const known = stored[test]?.tested === tested ? stored[test].ids : []
      stored[test] = { tested, ids: [...new Set([...known, unfit])] }
      writeFileSync(file, `${JSON.stringify(stored, null, 1)}\n`)
    },
  }
}

/** Ends the processes in which a fault loops for ever. */
function endSilent(folder: string) {
  for (const name of globSync('running-*', { cwd: folder })) {
    const file = join(folder, name)
    try {
      if (Date.now() - statSync(file).mtimeMs < MAX_SILENT_MS) continue
      const { fault, test, path, pid } = JSON.parse(readFileSync(file, 'utf8'))
      rmSync(file)
      process.kill(pid, 'SIGKILL')
      const said: Said[] = [{ fault, outcome: 'timeout', test, path }, { again: path }]
      for (const one of said)
        appendFileSync(join(folder, 'said.ndjson'), `${JSON.stringify(one)}\n`)
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** A source in two forms, with the faults of StrykerJS and with ours in its SQL, by their switches. */
async function formsOf({ source, text, left }: Switched) {
  const known = new Map(left.map((fault) => [placeOf(fault), fault]))
  const forms = [await withSwitches(source, text), withSwitchedSql(text)]
  return forms
    .map(({ content, switches }) => {
      const faults = new Map<string, Fault>()
      for (const [id, place] of switches) {
        const fault = known.get(placeOf(place))
        if (fault) faults.set(id, fault)
      }
      return { content, faults }
    })
    .filter(({ faults }) => faults.size > 0)
}

const placeOf = ({ at, was, now }: Fault) => `${at}\0${was}\0${now}`
