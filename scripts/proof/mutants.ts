/**
 * Puts small faults into the code, one by one, and checks whether a test notices: into TypeScript
 * with StrykerJS, into SQL with our own mutants-sql.ts; each in a copy of the tree. Outcomes are
 * stored in .data/mutants, so that an interrupted run can continue.
 */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { judgeSql } from './mutants-judge.ts'
import { faultsOf } from './mutants-sql.ts'
import { judgeByStryker, type Mutant } from './mutants-stryker.ts'
import { testsFor } from './mutants-tests.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const WANTED = 0.85
const CODE = ['{shared,functions,hub}/**/*.ts', 'sql/*.sql', 'hub/sql/*.sql']
/** Foreign, generated, text-only or browser-tested code. */
const NO_CODE = /node_modules|\.(text|d|gen)\.ts$|^hub\/web\/|openapi\/(examples|story)/

/** A survivor that changes nothing visible, or that we accept, and why. */
type Explained = { file: string; was: string; now: string; why: string }
type Counts = Record<Mutant['outcome'] | 'explained', number>

/** sourcesOf lists the files under the given paths, or all files that are judged. */
export function sourcesOf(asked: string[], root = ROOT): string[] {
  const all = globSync(CODE, { cwd: root }).filter((file) => !NO_CODE.test(file))
  if (asked.length === 0) return all.sort()
  const isAsked = (file: string) =>
    asked.some((path) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`))
  return all.filter(isAsked).sort()
}

/** Judges the mutants of some sources; the outcome is that of all together. */
export async function proveMutants(asked: string[]) {
  const sources = sourcesOf(asked)
  const explained: Explained[] =
    parse(readFileSync(join(import.meta.dirname, 'survivors.yaml'), 'utf8')) ?? []
  const judged: Record<string, Mutant[]> = {}
  const unjudged: string[] = []
  for (const [index, source] of sources.entries()) {
    console.log(`\n${source}, ${index + 1} of ${sources.length}`)
    try {
      judged[source] = await judge(source)
    } catch (error) {
      console.error(error instanceof Error ? error.message : error)
      unjudged.push(source)
    }
    write(judged, explained)
  }
  const files = Object.keys(judged).map((file) => ({
    what: file,
    ...counted(countOf(file, judged[file] ?? [], explained)),
  }))
  const all = { what: 'all', ...counted(write(judged, explained)) }
  const is_good = all.score >= WANTED && unjudged.length === 0
  const not = unjudged.length > 0 ? `; not judged: ${unjudged.join(', ')}` : ''
  return {
    outcome: is_good ? ('proven' as const) : ('failed' as const),
    numbers: [...files, all],
    why: `${all.score} noticed, ${WANTED} wanted; who survived stands in dist/mutants.json${not}`,
  }
}

async function judge(source: string): Promise<Mutant[]> {
  const tests = testsFor(source, ROOT)
  const text = readFileSync(join(ROOT, source), 'utf8')
  const faults = faultsOf(source, text)
  return [
    ...(source.endsWith('.ts') ? await judgeByStryker(ROOT, source, tests) : []),
    ...(faults.length > 0 ? await judgeSql(ROOT, source, { text, faults, tests }) : []),
  ]
}

/** Writes the report so far with all survivors; returns the total counts. */
function write(judged: Record<string, Mutant[]>, explained: Explained[]): Counts {
  const all = noCounts()
  const files = Object.entries(judged).map(([file, mutants]) => {
    const counts = countOf(file, mutants, explained)
    for (const [name, count] of Object.entries(counts)) all[name as keyof Counts] += count // safe: its keys
    const isLeft = ({ outcome }: Mutant) => outcome === 'survived' || outcome === 'uncovered'
    const survivors = mutants
      .filter(isLeft)
      .map((mutant) => ({ ...mutant, why: reasonFor(file, mutant, explained) }))
    return { file, ...counted(counts), survivors }
  })
  mkdirSync(join(ROOT, 'dist'), { recursive: true })
  const report = { ...counted(all), files }
  writeFileSync(join(ROOT, 'dist/mutants.json'), `${JSON.stringify(report, null, 2)}\n`)
  return all
}

const noCounts = (): Counts => ({
  killed: 0,
  timeout: 0,
  survived: 0,
  uncovered: 0,
  invalid: 0,
  explained: 0,
})

function countOf(file: string, mutants: Mutant[], explained: Explained[]): Counts {
  const counts = noCounts()
  for (const mutant of mutants) {
    const isLeft = mutant.outcome === 'survived' || mutant.outcome === 'uncovered'
    const isExplained = isLeft && reasonFor(file, mutant, explained) !== undefined
    counts[isExplained ? 'explained' : mutant.outcome] += 1
  }
  return counts
}

function reasonFor(file: string, mutant: Mutant, explained: Explained[]): string | undefined {
  return explained.find(
    (one) => one.file === file && one.was === mutant.was && one.now === mutant.now,
  )?.why
}

/** The share of mutants that were noticed; an explained survivor does not count. */
function counted(counts: Counts): Counts & { score: number } {
  const { killed, timeout, survived, uncovered } = counts
  const noticed = killed + timeout
  const of = noticed + survived + uncovered
  return { ...counts, score: of === 0 ? 1 : Math.floor((1000 * noticed) / of) / 1000 }
}
