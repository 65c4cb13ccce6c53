import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { joinTopics } from '../schema/schema.ts'
import type { Fault } from './mutants-sql.ts'
import type { Mutant } from './mutants-stryker.ts'
import { closestTests } from './mutants-tests.ts'

const LONGEST_MS = 10 * 60_000
/** The errors of a schema or statement that cannot even be parsed. */
const INVALID = /template database could not be made|syntax error at (or near|end of)/

/** A source with the faults in question and the tests that judge them. */
type Given = { source: string; text: string; faults: Fault[]; tests: string[] }
/** Outcomes by mutant. The outcome of a survivor is valid as long as its tests do not change. */
type Kept = Record<string, { outcome: Mutant['outcome']; tests: string }>

/**
 * Judges faults one at a time: each is written into a copy of the tree, in which the tests then
 * run. Answers the mutants by source.
 */
export async function judgeInCopies(root: string, given: Given[]): Promise<Map<string, Mutant[]>> {
  const judgements = given.map((one) => judgementsOf(root, one))
  const all = judgements.flatMap(({ work }) => work)
  const left = judgements.flatMap((one) => one.left.map((fault) => ({ ...one, fault })))
  let done = all.length - left.length
  const worker = async () => {
    const tree = copyOf(root)
    try {
      for (let one = left.shift(); one; one = left.shift()) {
        const { given, fault, kept, tested } = one
        const outcome = await judgeOne(tree, given, fault)
        kept.outcomes[fault.key] = { outcome, tests: tested }
        writeFileSync(kept.file, `${JSON.stringify(kept.outcomes, null, 1)}\n`)
        done += 1
        const where = `${given.source}:${fault.line}`
        console.log(`${done} of ${all.length}: ${outcome}, ${where}: ${describe(fault)}`)
      }
    } finally {
      rmSync(tree, { recursive: true, force: true })
    }
  }
  if (left.length > 0) await Promise.all(Array.from({ length: cpus().length }, worker))
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
function judgementsOf(root: string, given: Given) {
  const { source, text, faults, tests } = given
  const file = join(root, '.data/mutants', `${source.replaceAll('/', '__')}.copies.json`)
  mkdirSync(dirname(file), { recursive: true })
  const outcomes: Kept = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const tested = sha(tests.map((test) => readFileSync(join(root, test), 'utf8')).join('\n'))
  const seen = new Map<string, number>()
  const work = faults.map((fault) => {
    const line = text.slice(0, fault.at).split('\n').length
    const around = text.slice(Math.max(0, fault.at - 200), fault.at + 100)
    const same = sha(`${around}\n${fault.was}\n${fault.now}`)
    const nth = seen.get(same) ?? 0
    seen.set(same, nth + 1)
    return { ...fault, line, key: `${same}-${nth}` }
  })
  const left = work.filter(({ key }) => {
    const known = outcomes[key]
    return !known || (known.outcome === 'survived' && known.tests !== tested)
  })
  return { given, kept: { file, outcomes }, tested, work, left }
}

const sha = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)
const describe = ({ was, now }: Fault) =>
  `${was} → ${now || 'nothing'}`.replace(/\s+/g, ' ').slice(0, 90)

/** Copies the files of the tree into a new folder; packages are linked. */
function copyOf(root: string): string {
  const tree = mkdtempSync(join(tmpdir(), 'watchpost-mutants-'))
  const options = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const files = execFileSync('git', options, { cwd: root, encoding: 'utf8' }).split('\0')
  for (const file of files) {
    if (file !== '' && existsSync(join(root, file))) cpSync(join(root, file), join(tree, file))
  }
  for (const modules of [
    'node_modules',
    'hub/node_modules',
    'web/node_modules',
    'hub/web/node_modules',
  ]) {
    symlinkSync(join(root, modules), join(tree, modules))
  }
  return tree
}

async function judgeOne(
  tree: string,
  { source, text, tests }: Given,
  { at, was, now }: Fault,
): Promise<Mutant['outcome']> {
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
  await write(text.slice(0, at) + now + text.slice(at + was.length))
  try {
    const closest = closestTests(source, tree)
    const others = tests.filter((test) => !closest.includes(test))
    const outcome = closest.length > 0 ? await runTests(tree, closest) : 'survived'
    return outcome === 'survived' && others.length > 0 ? await runTests(tree, others) : outcome
  } finally {
    await write(text)
  }
}

async function runTests(tree: string, tests: string[]): Promise<Mutant['outcome']> {
  const vitest = join(tree, 'node_modules/vitest/vitest.mjs')
  const config = 'scripts/proof/mutants.vitest.ts'
  const child = spawn(
    process.execPath,
    [
      vitest,
      'run',
      '--config',
      config,
      '--root',
      tree,
      '--bail',
      '1',
      '--maxWorkers',
      '2',
      ...tests,
    ],
    { cwd: tree, stdio: ['ignore', 'pipe', 'pipe'], detached: true },
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
  }
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    if (child.pid) process.kill(-child.pid, 'SIGKILL')
  }, LONGEST_MS)
  const [code] = await once(child, 'close')
  clearTimeout(timer)
  if (isLate) return 'timeout'
  if (code === 0) return 'survived'
  return INVALID.test(said) ? 'invalid' : 'killed'
}
