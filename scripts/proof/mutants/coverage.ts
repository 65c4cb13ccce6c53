import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { instrumented } from './faults.ts'
import { isDear, judging } from './tests.ts'
import { copyOf, removeTree, runnerIn } from './tree.ts'

/** What one test file runs: for each source, the lines where a mutant stands, by their text. */
type Covered = { tested: string; seconds: number; lines: Record<string, string[]> }

/** The tests that run a line of a source, or any of it, and the seconds that each test file takes. */
export type Coverage = {
  testsOf(source: string, line: string): string[]
  testsOfAny(source: string): string[]
  secondsOf(test: string): number
}

const BATCH = 16
/** What is assumed of tests that are not measured. */
const SECONDS_OF_DEAR = 30
const sha = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12)
const fileOf = (root: string, test: string) =>
  join(root, '.data/mutants/covered', `${test.replaceAll('/', '__')}.json`)

/**
 * Finds out which tests run which lines: each test file once, in a copy whose sources StrykerJS
 * has instrumented. What is known of a test file stays valid until it changes. Lines are compared
 * by their text, so that a change elsewhere moves nothing.
 */
export async function coverageOf(root: string, sources: string[]): Promise<Coverage> {
  const left = testsIn(root).filter((test) => read(root, test)?.tested !== textOf(root, test))
  if (left.length > 0) await cover(root, sources, left)
  return knownCoverage(root)
}

const testsIn = (root: string) =>
  judging(globSync('tests/**/*.test.ts', { cwd: root })).filter((test) => !isDear(test))

/** What is known already. */
export function knownCoverage(root: string): Coverage {
  const covered = new Map<string, Covered>()
  for (const test of testsIn(root)) {
    const known = read(root, test)
    if (known) covered.set(test, known)
  }
  return {
    testsOf(source, line) {
      const wanted = sha(line.trim())
      const runs = ({ lines }: Covered) => lines[source]?.includes(wanted) === true
      return [...covered].filter(([, one]) => runs(one)).map(([test]) => test)
    },
    testsOfAny: (source) =>
      [...covered].filter(([, { lines }]) => lines[source]).map(([test]) => test),
    secondsOf: (test) => covered.get(test)?.seconds ?? SECONDS_OF_DEAR,
  }
}

function read(root: string, test: string): Covered | undefined {
  const file = fileOf(root, test)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

const textOf = (root: string, test: string) => sha(readFileSync(join(root, test), 'utf8'))

async function cover(root: string, sources: string[], tests: string[]) {
  const tree = copyOf(root)
  const { files, mutants } = await instrumented(
    sources
      .filter((source) => source.endsWith('.ts'))
      .map((name) => ({ name, content: readFileSync(join(root, name), 'utf8') })),
  )
  const texts = new Map(
    sources.map((name) => [name, readFileSync(join(root, name), 'utf8').split('\n')]),
  )
  const lineOf = new Map(
    mutants.map(({ id, fileName, location }) => [
      id,
      { source: fileName, line: sha((texts.get(fileName)?.[location.start.line] ?? '').trim()) },
    ]),
  )
  for (const { name, content } of files) writeFileSync(join(tree, name), content)
  const folder = join(tree, '.covered')
  const runner = runnerIn(tree, { MUTANTS_COVERED: folder })
  mkdirSync(join(root, '.data/mutants/covered'), { recursive: true })
  try {
    for (let at = 0; at < tests.length; at += BATCH) {
      const batch = tests.slice(at, at + BATCH)
      const answer = await runner.run({ changed: [], tests: batch })
      if (answer !== 'late' && answer.failed)
        console.log(`Failed when instrumented: ${answer.failed}`, answer.said.slice(0, 300))
      for (const test of batch) {
        const lines = new Map<string, Set<string>>()
        const found = join(folder, `${test.replaceAll('/', '__')}.json`)
        const ids: string[] = existsSync(found) ? JSON.parse(readFileSync(found, 'utf8')) : []
        for (const id of ids) {
          const place = lineOf.get(id)
          if (place) lines.set(place.source, (lines.get(place.source) ?? new Set()).add(place.line))
        }
        const covered: Covered = {
          tested: textOf(root, test),
          seconds: answer === 'late' ? 60 : (answer.seconds[test] ?? 1),
          lines: Object.fromEntries([...lines].map(([source, set]) => [source, [...set]])),
        }
        writeFileSync(fileOf(root, test), JSON.stringify(covered))
      }
      console.log(`covered ${Math.min(at + BATCH, tests.length)} of ${tests.length} test files`)
    }
  } finally {
    await runner.stop()
    removeTree(tree)
  }
}
