/**
 * Puts small faults into the code, one by one, and checks whether a test notices: into TypeScript
 * with the mutators of StrykerJS, into SQL with our own sql.ts; in a copy of the tree. Outcomes are
 * stored in .data/mutants, so that an interrupted run can continue.
 */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { buildWeb } from '../../build/build-web.ts'
import { type Coverage, coverageOf, knownCoverage } from './coverage.ts'
import { areaOf, everyFaultOf, sampleOf, strykerFaultsOf } from './faults.ts'
import { isOfLoading, judgeInCopies, lineAround } from './judge.ts'
import { type Given, keepNoticed, type Mutant, outcomesOf } from './kept.ts'
import type { Fault } from './sql.ts'
import { judgeBySwitches } from './switched.ts'
import { closestTests, isDear, testsFor } from './tests.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
const WANTED = 0.85
/** So many tests that do not import a source are tried for each of its lines. */
const FAR_TESTS_A_LINE = 4
const CODE = ['{shared,functions,hub}/**/*.ts', 'sql/*.sql', 'hub/sql/*.sql']
/** Foreign, generated, text-only or browser-tested code. */
const NO_CODE = /node_modules|\.(text|d|gen)\.ts$|^hub\/web\/|openapi\/(examples|story)/

/** A survivor that changes nothing visible, or that we accept, and why; `line`: a part of its line, where more would fit. */
type Explained = { file: string; was: string; now: string; line?: string; why: string }
type Counts = Record<Mutant['outcome'] | 'explained', number>
type Judged = Record<string, Mutant[]>

/** sourcesOf lists the files under the given paths, or all files that are judged. */
export function sourcesOf(asked: string[], root = ROOT): string[] {
  const all = globSync(CODE, { cwd: root }).filter((file) => !NO_CODE.test(file))
  if (asked.length === 0) return all.sort()
  const isAsked = (file: string) =>
    asked.some((path) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`))
  return all.filter(isAsked).sort()
}

/**
 * Judges the mutants of some sources; the outcome is that of all together. First faults are switched
 * on at run time, which takes a fraction of the time. Those that no test notices so are judged in
 * copies; with `is_quick` they are not, and count as survived.
 */
export async function proveMutants(asked: string[], { is_quick = false } = {}) {
  await buildPages()
  const judged: Judged = {}
  const coverage = is_quick ? knownCoverage(ROOT) : await coverageOf(ROOT, sourcesOf([]))
  const given = await Promise.all(sourcesOf(asked).map(withFaults))
  for (const one of given) judged[one.source] = outcomesOf(ROOT, one)
  const typed = given.filter(({ source }) => source.endsWith('.ts'))
  const work = typed.map((one) => ({
    ...one,
    left: leftOf(one),
    tests: nearTests(one.source),
    othersFor: (left: Fault[]) => farTests(one, left, coverage),
  }))
  await judgeBySwitches(ROOT, work, (one, noticed) => {
    keepNoticed(ROOT, one, noticed)
    const mutants = outcomesOf(ROOT, one)
    judged[one.source] = mutants
    const { killed, timeout, survived } = countOf(one.source, mutants, readExplained())
    console.log(`${one.source}: ${killed + timeout} noticed, ${survived} not yet`)
    report(judged)
  })
  for (const [index, one] of (is_quick ? [] : given).entries()) {
    console.log(`\n${one.source}, ${index + 1} of ${given.length}`)
    judged[one.source] = (await judgeInCopies(ROOT, [one], coverage)).get(one.source) ?? []
    report(judged)
  }
  const { outcome, numbers, why } = report(judged)
  const unproven = 'what only tests notice that cannot run twice counts as survived; '
  return { outcome, numbers, why: is_quick ? unproven + why : why }
}

/** The faults of a source that are not known to be noticed, and that nobody has explained. */
function leftOf(one: Given): Fault[] {
  const explained = readExplained()
  const mutants = outcomesOf(ROOT, one)
  return one.faults.filter((_, index) => {
    const mutant = mutants[index]
    return mutant?.outcome === 'survived' && !reasonFor(one.source, mutant, explained)
  })
}

/** The tests that import a source, or are about it. */
function nearTests(source: string): string[] {
  const closest = closestTests(source, ROOT)
  return (closest.length > 0 ? closest : testsFor(source, ROOT)).filter((test) => !isDear(test))
}

/** The cheapest tests that run the lines of some faults of a source. */
async function farTests({ source, text }: Given, left: Fault[], coverage: Coverage) {
  const near = nearTests(source)
  const places = await strykerFaultsOf(source, text)
  const inFunctions = left.filter((fault) => !isOfLoading(text, fault))
  const lines = new Set(inFunctions.map((fault) => lineAround(text, places, fault)))
  const tests = [...lines].flatMap((line) =>
    coverage
      .testsOf(source, line)
      .filter((test) => !near.includes(test))
      .sort((one, two) => coverage.secondsOf(one) - coverage.secondsOf(two))
      .slice(0, FAR_TESTS_A_LINE),
  )
  return [...new Set(tests)]
}

const withFaults = async (source: string) => {
  const text = readFileSync(join(ROOT, source), 'utf8')
  return { source, text, faults: await everyFaultOf(source, text) }
}

/**
 * Judges a random sample of the mutants of some sources, which estimates the score of all. The
 * same size and seed take the same sample again, as far as the code has not changed.
 */
export async function proveSample(asked: string[], size: number, seed = '') {
  await buildPages()
  const sources = sourcesOf(asked)
  const { of, bySource } = await sampleOf(ROOT, sources, size, seed)
  const given = [...bySource].map(([source, faults]) => ({
    source,
    faults,
    text: readFileSync(join(ROOT, source), 'utf8'),
  }))
  const coverage = await coverageOf(ROOT, sourcesOf([]))
  const judged = Object.fromEntries(await judgeInCopies(ROOT, given, coverage))
  const { total, outcome, numbers, why } = report(judged)
  const [low, high] = intervalOf(total)
  const range = `95 % of such samples contain the score of all ${of} between ${low} and ${high}`
  return { outcome, numbers: [...areasOf(judged), ...numbers], why: `${why}; ${range}` }
}

/** Builds the pages that some tests serve, as `npm test` does. */
async function buildPages() {
  for (const name of ['hub', 'console'] as const) await buildWeb(name)
}

/** The Wilson score interval at 95 % of a share (Wilson 1927), rounded to three digits. */
export function intervalOf(counts: Counts): [low: number, high: number] {
  const { noticed, of } = sharesOf(counts)
  if (of === 0) return [0, 1]
  const z = 1.96
  const [share, scale] = [noticed / of, 1 + z ** 2 / of]
  const middle = (share + z ** 2 / (2 * of)) / scale
  const half = (z / scale) * Math.sqrt((share * (1 - share)) / of + z ** 2 / (4 * of ** 2))
  return [Number((middle - half).toFixed(3)), Number((middle + half).toFixed(3))]
}

/** The counts of each area. */
function areasOf(judged: Judged) {
  const explained = readExplained()
  const areas = [...new Set(Object.keys(judged).map(areaOf))].sort()
  return areas.map((area) => {
    const counts = noCounts()
    for (const [file, mutants] of Object.entries(judged)) {
      if (areaOf(file) === area) add(counts, countOf(file, mutants, explained))
    }
    return { what: `all of ${area}`, ...counted(counts) }
  })
}

const readExplained = (): Explained[] =>
  parse(readFileSync(join(import.meta.dirname, 'survivors.yaml'), 'utf8')) ?? []

function add(total: Counts, counts: Counts) {
  for (const [name, count] of Object.entries(counts)) total[name as keyof Counts] += count // safe: its keys
}

/** Writes the report so far with all survivors, and answers its outcome. */
function report(judged: Judged) {
  const explained = readExplained()
  const total = noCounts()
  const files = Object.entries(judged).map(([file, mutants]) => {
    const counts = countOf(file, mutants, explained)
    add(total, counts)
    const isLeft = ({ outcome }: Mutant) => outcome === 'survived'
    const survivors = mutants
      .filter(isLeft)
      .map((mutant) => ({ ...mutant, why: reasonFor(file, mutant, explained) }))
    return { file, ...counted(counts), survivors }
  })
  mkdirSync(join(ROOT, 'dist'), { recursive: true })
  const content = { ...counted(total), files }
  writeFileSync(join(ROOT, 'dist/mutants.json'), `${JSON.stringify(content, null, 2)}\n`)
  const numbers = files.map(({ file, survivors: _, ...counts }) => ({ what: file, ...counts }))
  const { score } = counted(total)
  return {
    outcome: score >= WANTED ? ('proven' as const) : ('failed' as const),
    numbers: [...numbers, { what: 'all', ...counted(total) }],
    why: `${score} noticed, ${WANTED} wanted; who survived stands in dist/mutants.json`,
    total,
  }
}

const noCounts = (): Counts => ({
  killed: 0,
  timeout: 0,
  survived: 0,
  invalid: 0,
  explained: 0,
})

function countOf(file: string, mutants: Mutant[], explained: Explained[]): Counts {
  const counts = noCounts()
  for (const mutant of mutants) {
    const isLeft = mutant.outcome === 'survived'
    const isExplained = isLeft && reasonFor(file, mutant, explained) !== undefined
    counts[isExplained ? 'explained' : mutant.outcome] += 1
  }
  return counts
}

function reasonFor(file: string, mutant: Mutant, explained: Explained[]): string | undefined {
  const isIt = ({ was, now, line }: Explained) =>
    was === mutant.was && now === mutant.now && (!line || lineOf(file, mutant).includes(line))
  return explained.find((one) => one.file === file && isIt(one))?.why
}

const lineOf = (file: string, { line }: Mutant) =>
  readFileSync(join(ROOT, file), 'utf8').split('\n')[line - 1] ?? ''

/** How many mutants were noticed, of how many; an explained survivor does not count. */
function sharesOf({ killed, timeout, survived }: Counts) {
  const noticed = killed + timeout
  return { noticed, of: noticed + survived }
}

function counted(counts: Counts): Counts & { score: number } {
  const { noticed, of } = sharesOf(counts)
  return { ...counts, score: of === 0 ? 1 : Math.floor((1000 * noticed) / of) / 1000 }
}
