import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { joinTopics } from '../../schema/schema.ts'
import { nameAt, reachedBy, schemaOf } from './callers.ts'
import type { Coverage } from './coverage.ts'
import { strykerFaultsOf } from './faults.ts'
import {
  type Given,
  type Judged,
  type Kept,
  keysOf,
  lineOf,
  type Mutant,
  openKept,
  sha,
} from './kept.ts'
import type { Fault } from './sql.ts'
import { closestTests, isAlone, isDear, judging, testsFor } from './tests.ts'
import { copyOf, type Runner, removeTree, runnerIn } from './tree.ts'
import { whichCompile } from './types.ts'

/** The errors of a schema or statement that cannot even be parsed. */
const INVALID = /template database could not be made|syntax error at (or near|end of)/
/** What a test says that may only have been slow. */
const SLOW = /timed out/i
/** Tests that take longer together than this are not all run: the cheapest judge, the closest first. */
const MAX_SECONDS = 150
/** So many of the dear tests of a source judge its faults as well. */
const MOST_DEAR = 2
/** So many faults are judged by one process and server of tests. */
const FAULTS_A_RUNNER = 40
/** Faults in these show only in a database that is made anew. */
const MAKES_DATABASES = /\.sql$|^hub\/(db\/|prepare)/

type Work = Fault & { line: number; key: string; tests: string[]; tested: string }

/**
 * Judges faults one at a time: each is written into a copy of the tree, in which the tests then
 * run. Answers the mutants by source.
 */
export async function judgeInCopies(
  root: string,
  given: Given[],
  coverage: Coverage,
): Promise<Map<string, Mutant[]>> {
  const judgements = await Promise.all(given.map((one) => judgementsOf(root, one, coverage)))
  const count = judgements.reduce((sum, { work }) => sum + work.length, 0)
  const left = judgements
    .flatMap((one) => one.left.map((fault) => ({ ...one, fault })))
    // An interrupted run has judged a random part as well.
    .sort((one, two) => (one.fault.key < two.fault.key ? -1 : 1))
  let done = count - left.length
  if (left.length > 0) {
    soundness.open(root)
    const tree = copyOf(root)
    let runner = runnerIn(tree)
    let uses = 0
    const keep = ({ kept, fault }: (typeof left)[number], judged: Judged) => {
      kept.outcomes[fault.key] = { ...judged, tests: fault.tested }
      writeFileSync(kept.file, `${JSON.stringify(kept.outcomes, null, 1)}\n`)
    }
    try {
      compiled.open(root)
      const typed = left.filter(
        ({ given, fault }) => given.source.endsWith('.ts') && !compiled.known.includes(fault.key),
      )
      const placed = typed.map(({ given, fault }) => ({ ...given, fault }))
      const compile = await whichCompile(tree, placed)
      const invalid = new Set(typed.filter((_, index) => !compile[index]))
      for (const one of invalid) keep(one, { outcome: 'invalid' })
      compiled.keep(typed.filter((one) => !invalid.has(one)).map(({ fault }) => fault.key))
      done += invalid.size
      if (invalid.size > 0) console.log(`${invalid.size} of ${left.length} do not compile`)
      for (const one of left.filter((fault) => !invalid.has(fault))) {
        const { given, fault } = one
        const isFresh = MAKES_DATABASES.test(given.source)
        if (uses >= FAULTS_A_RUNNER || (isFresh && uses > 0)) {
          await runner.stop()
          runner = runnerIn(tree)
          uses = 0
        }
        uses += isFresh ? FAULTS_A_RUNNER : 1
        const started = performance.now()
        const judged = await judgeOne(tree, runner, given, fault)
        keep(one, judged)
        done += 1
        const where = `${given.source}:${fault.line}`
        const seconds = Math.round((performance.now() - started) / 1000)
        console.log(
          `${done} of ${count}: ${judged.outcome}, ${seconds} s, ${where}: ${describe(fault)}`,
        )
      }
    } finally {
      await runner.stop()
      removeTree(tree)
    }
  }
  const outcomeOf = (kept: { outcomes: Kept }, key: string) =>
    kept.outcomes[key]?.outcome ?? 'invalid'
  return new Map(
    judgements.map(({ given, kept, work }) => [
      given.source,
      work.map(({ key, line, was, now }) => ({ line, was, now, outcome: outcomeOf(kept, key) })),
    ]),
  )
}

/** The faults of a source with their keys, what is known of them, and those left to be judged. */
async function judgementsOf(root: string, given: Given, coverage: Coverage) {
  const { source, text, faults } = given
  const { file, outcomes } = openKept(root, source)
  const keys = keysOf(text, faults)
  const places = source.endsWith('.sql') ? [] : await strykerFaultsOf(source, text)
  const work: Work[] = []
  for (const [index, fault] of faults.entries()) {
    const line = lineOf(text, fault)
    const running = source.endsWith('.sql')
      ? await testsOfSql(root, given, fault, coverage)
      : isOfLoading(text, fault)
        ? coverage.testsOfAny(source)
        : coverage.testsOf(source, lineAround(text, places, fault))
    const about = testsFor(source, root)
    const contract = isOfLoading(text, fault) ? contractOf(source, text) : []
    const tests = source.endsWith('.sql')
      ? within(
          [...closestTests(source, root), ...inSql(about), ...inTurn(running, about)],
          coverage,
        )
      : [...new Set([...contract, ...testsOf(root, source, running, coverage)])]
    const tested = sha(tests.map((test) => readFileSync(join(root, test), 'utf8')).join('\n'))
    work.push({ ...fault, line, key: keys[index] ?? '', tests, tested })
  }
  const left = work.filter(({ key, tested }) => {
    const known = outcomes[key]
    return !known || (known.outcome === 'survived' && known.tests !== tested)
  })
  return { given, kept: { file, outcomes }, work, left }
}

const describe = ({ was, now }: Fault) =>
  `${was} → ${now || 'nothing'}`.replace(/\s+/g, ' ').slice(0, 90)

/**
 * The tests that judge a fault, in their order: those that run its line, or for SQL, which nothing
 * measures, those about its topic. First those that import the source, then the cheapest.
 */
function testsOf(root: string, source: string, running: string[], coverage: Coverage): string[] {
  const closest = closestTests(source, root)
  // What no measured test runs may be run by a dear one.
  const about = running.length > 0 ? running : testsFor(source, root)
  const bySeconds = (tests: string[]) =>
    tests.toSorted((a, b) => coverage.secondsOf(a) - coverage.secondsOf(b))
  const close = closest.filter((test) => running.includes(test))
  const near = closest.filter((test) => !isDear(test))
  const ordered = [...bySeconds(close), ...bySeconds(near), ...bySeconds(about)]
  // The dear ones of the source itself come last, whatever the others take: they were written for it.
  const dear = closest.filter(isDear).slice(0, MOST_DEAR)
  return [...new Set([...within(ordered, coverage), ...dear])]
}

/** Those of some tests that ask the database itself: short, and written for what SQL does. */
const inSql = (tests: string[]) =>
  tests.filter((test) => test.startsWith('tests/sql/') && !isDear(test))

/** The tests of both lists in turn: where not all of them may run, some of each do. */
const inTurn = (one: string[], two: string[]) =>
  Array.from({ length: Math.max(one.length, two.length) }, (_, at) => [one[at], two[at]])
    .flat()
    .filter((test) => test !== undefined)

/** As many of some tests as may run for one fault. */
function within(tests: string[], coverage: Coverage): string[] {
  let seconds = 0
  return [...new Set(tests)].filter((test, index) => {
    const its = coverage.secondsOf(test)
    const isTaken = index === 0 || seconds + its <= MAX_SECONDS
    if (isTaken) seconds += its
    return isTaken
  })
}

/**
 * The tests that may run a place in SQL, the nearest first: those that run a line which names its
 * function or table, or name it themselves; then the same for the functions that call it.
 */
async function testsOfSql(
  root: string,
  { source, text }: Given,
  { at }: Fault,
  coverage: Coverage,
) {
  const depths = reachedBy(schemaOf(root, source), nameAt(text, at))
  const named = new RegExp(
    `\\b(?:private|watchpost|hub|api)\\.(${[...depths.keys()].join('|')})\\b`,
    'g',
  )
  const nearest = new Map<string, number>()
  const add = (test: string, name = '') => {
    const depth = depths.get(name) ?? 0
    nearest.set(test, Math.min(nearest.get(test) ?? depth, depth))
  }
  const folder = source.startsWith('hub/') ? 'hub' : 'functions'
  for (const file of globSync([`${folder}/**/*.ts`, `tests/{${folder},sql,stories}/**/*.test.ts`], {
    cwd: root,
  })) {
    if (file.includes('node_modules')) continue
    const content = readFileSync(join(root, file), 'utf8')
    const mentions = [...content.matchAll(named)]
    if (file.startsWith('tests/')) for (const [, name] of mentions) add(file, name)
    if (file.startsWith('tests/') || mentions.length === 0) continue
    const places = await strykerFaultsOf(file, content)
    for (const { index, 0: was, 1: name } of mentions) {
      const line = lineAround(content, places, { at: index, was, now: '' })
      for (const test of coverage.testsOf(file, line)) add(test, name)
    }
  }
  const found = judging([...nearest.keys()]).filter((test) => !isDear(test))
  const cost = (test: string) => (nearest.get(test) ?? 0) * 1000 + coverage.secondsOf(test)
  return found.sort((one, two) => cost(one) - cost(two))
}

/** The test that compares the OpenAPI document with the schemas and routes, which it only loads. */
function contractOf(source: string, text: string): string[] {
  if (!/from '(zod|@hono\/zod-openapi)'|createRoute/.test(text)) return []
  return [
    source.startsWith('hub/') ? 'tests/hub/web/logic.test.ts' : 'tests/scripts/openapi.test.ts',
  ]
}

/** Whether a fault is in a statement that runs as its module is loaded, and in no function. */
export function isOfLoading(text: string, { at }: Fault): boolean {
  const [start] = [...text.slice(0, at + 1).matchAll(/^[^\s)\]}]/gm)].slice(-1)
  return !/=>|\bfunction\b/.test(text.slice(start?.index ?? 0, at))
}

/**
 * The line that tells whether a test runs a fault: where the innermost mutant of StrykerJS around
 * it begins. StrykerJS changes a template of SQL as a whole only.
 */
export function lineAround(text: string, places: Fault[], { at, was }: Fault): string {
  const around = places.filter((one) => one.at <= at && at + was.length <= one.at + one.was.length)
  const [innermost] = around.sort((one, two) => one.was.length - two.was.length)
  const from = text.lastIndexOf('\n', (innermost?.at ?? at) - 1) + 1
  return text.slice(from).split('\n', 1)[0] ?? ''
}

/**
 * Whether a test passes here without any fault, which is stored. A process that has made a database
 * with a fault cannot tell.
 */
async function isSound(runner: Runner, source: string, test: string, again: boolean) {
  const known = soundness.known[test]
  if (MAKES_DATABASES.test(source)) return known !== false
  if (known !== undefined && !(known && again)) return known
  const answer = await runner.run({ changed: [source], tests: [test] })
  const is = answer !== 'late' && answer.failed === undefined
  if (known === undefined) soundness.keep(test, is)
  return is
}

/** The faults that are known to compile, so that a run that continues need not ask again. */
const compiled = {
  file: '',
  known: [] as string[],
  open(root: string) {
    this.file = join(root, '.data/mutants/compiled.json')
    if (existsSync(this.file)) this.known = JSON.parse(readFileSync(this.file, 'utf8'))
  },
  keep(keys: string[]) {
    this.known.push(...keys)
    writeFileSync(this.file, JSON.stringify(this.known, null, 1))
  },
}

/** What is known of tests without any fault. */
const soundness = {
  file: '',
  known: {} as Record<string, boolean>,
  open(root: string) {
    this.file = join(root, '.data/mutants/sound.json')
    if (existsSync(this.file)) this.known = JSON.parse(readFileSync(this.file, 'utf8'))
  },
  keep(test: string, is: boolean) {
    this.known[test] = is
    writeFileSync(this.file, JSON.stringify(this.known, null, 1))
  },
}

async function judgeOne(
  tree: string,
  runner: Runner,
  { source, text }: Given,
  { at, was, now, tests }: Work,
): Promise<Judged> {
  const write = async (content: string) => {
    writeFileSync(join(tree, source), content)
    // The tests' schema comes from the migrations: in the copy, a single one has what sql/ says.
    if (source.startsWith('sql/')) {
      const migrations = join(tree, 'supabase/migrations')
      rmSync(migrations, { recursive: true })
      mkdirSync(migrations)
      writeFileSync(join(migrations, '20260101000000_initial.sql'), await joinTopics(tree))
    }
  }
  const together = tests.filter((test) => !isAlone(test))
  const runs = [together, ...tests.filter(isAlone).map((test) => [test])]
  try {
    for (let run = runs.shift(); run; run = runs.shift()) {
      if (run.length === 0) continue
      await write(text.slice(0, at) + now + text.slice(at + was.length))
      const answer = await runner.run({ changed: [source], tests: run })
      if (answer === 'late') return { outcome: 'timeout' }
      const { failed, said } = answer
      if (failed === undefined) continue
      if (INVALID.test(said)) return { outcome: 'invalid' }
      // A test that fails here without the fault has noticed nothing, and a busy machine is slow.
      await write(text)
      if (await isSound(runner, source, failed, SLOW.test(said))) {
        return { outcome: 'killed', by: failed }
      }
      runs.unshift(run.slice(run.indexOf(failed) + 1))
    }
    return { outcome: 'survived' }
  } finally {
    await write(text)
    if (!MAKES_DATABASES.test(source)) await runner.run({ changed: [source], tests: [] })
  }
}
