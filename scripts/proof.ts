/**
 * `npm run proof`: the long forms of the tests, which take too long for every change. Prints a table,
 * writes dist/proof.json, and fails when anything failed. `npm run proof -- fuzz crash` runs those two.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { VERSION } from '../shared/version.ts'

const ROOT = resolve(import.meta.dirname, '..')

/** Each part is a test file in its long form. */
const PARTS = {
  fuzz: {
    file: 'tests/functions/openapi.test.ts',
    about: 'requests made from the OpenAPI document',
  },
  preview: { file: 'tests/functions/jobs/preview.test.ts', about: 'preview against live matching' },
  crash: {
    file: 'tests/functions/jobs/crash.test.ts',
    about: 'death at every boundary of the jobs',
  },
} as const
type Part = keyof typeof PARTS

type Result = {
  part: string
  about: string
  outcome: 'proven' | 'failed' | 'left out'
  seconds: number
  /** What was counted on the way. */
  numbers: Record<string, unknown>[]
  why?: string
}

function isPart(name: string): name is Part {
  return Object.hasOwn(PARTS, name)
}

async function run(part: Part): Promise<Result> {
  const { file, about } = PARTS[part]
  console.log(`\n${part}: ${about}`)
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-proof-'))
  const counts = join(folder, 'counts.jsonl')
  writeFileSync(counts, '')
  const started = performance.now()
  const child = spawn(
    process.execPath,
    [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', file],
    { cwd: ROOT, stdio: 'inherit', env: { ...process.env, PROOF: '1', PROOF_FILE: counts } },
  )
  const [code] = await once(child, 'close')
  const numbers = readFileSync(counts, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  rmSync(folder, { recursive: true })
  const seconds = Math.round((performance.now() - started) / 1000)
  return { part, about, outcome: code === 0 ? 'proven' : 'failed', seconds, numbers }
}

/** A second opinion on the document by another fuzzer, where somebody has it and a service to aim it at. */
async function schemathesis(): Promise<Result> {
  const result = {
    part: 'schemathesis',
    about: 'a second fuzzer, optional',
    seconds: 0,
    numbers: [],
  }
  const { WATCHPOST_URL: url, WATCHPOST_KEY: key } = process.env
  if (spawnSync('schemathesis', ['--version']).status !== 0) {
    const why = 'it is not installed: pip install schemathesis'
    return { ...result, outcome: 'left out', why }
  }
  if (!url || !key) {
    const why = 'WATCHPOST_URL and WATCHPOST_KEY name no service to aim it at'
    return { ...result, outcome: 'left out', why }
  }
  const started = performance.now()
  const header = `Authorization: Bearer ${key}`
  const child = spawn(
    'schemathesis',
    ['run', join(ROOT, 'docs/openapi.yaml'), '--url', url, '--header', header],
    { cwd: ROOT, stdio: 'inherit' },
  )
  const [code] = await once(child, 'close')
  const seconds = Math.round((performance.now() - started) / 1000)
  return { ...result, outcome: code === 0 ? 'proven' : 'failed', seconds }
}

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

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !isPart(name))
if (unknown.length > 0) {
  console.error(
    `There is no part ${unknown.join(', ')}; there is ${Object.keys(PARTS).join(', ')}.`,
  )
  process.exit(2)
}
const parts = asked.length > 0 ? asked : Object.keys(PARTS)
const results: Result[] = []
for (const part of parts.filter(isPart)) results.push(await run(part))
if (asked.length === 0) results.push(await schemathesis())

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
console.log('\nWritten to dist/proof.json.')
if (results.some(({ outcome }) => outcome === 'failed')) process.exitCode = 1
