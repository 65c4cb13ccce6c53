import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Instrumenter } from '@stryker-mutator/instrumenter'
import { documentation } from './ignore.ts'
import { type Fault, faultsOf } from './sql.ts'

const nothing = () => {}
const isOff = () => false
/** A log of StrykerJS that says nothing. */
const SILENT = {
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  fatal: nothing,
  isTraceEnabled: isOff,
  isDebugEnabled: isOff,
  isInfoEnabled: isOff,
  isWarnEnabled: isOff,
  isErrorEnabled: isOff,
  isFatalEnabled: isOff,
}

/** Files with all faults of StrykerJS in them, none of which is active, and these faults. */
export function instrumented(files: { name: string; content: string }[]) {
  return new Instrumenter(SILENT).instrument(
    files.map((file) => ({ ...file, mutate: true })),
    { plugins: null, excludedMutations: [], ignorers: [documentation] },
  )
}

/** All faults of a file: those that StrykerJS puts into TypeScript, and ours in its SQL. */
export async function everyFaultOf(file: string, text: string): Promise<Fault[]> {
  const ours = faultsOf(file, text)
  return file.endsWith('.ts') ? [...(await strykerFaultsOf(file, text)), ...ours] : ours
}

/** The faults by text of a file: the same are asked for again and again. */
const found = new Map<string, Promise<Fault[]>>()

/** The faults that StrykerJS puts into TypeScript. */
export function strykerFaultsOf(file: string, text: string): Promise<Fault[]> {
  const known = found.get(text) ?? findFaults(file, text)
  found.set(text, known)
  return known
}

async function findFaults(file: string, text: string): Promise<Fault[]> {
  return [...(await withSwitches(file, text)).switches.values()]
}

/** TypeScript with all faults of StrykerJS in it, each behind a switch, and these by their switches. */
export async function withSwitches(file: string, text: string) {
  const { files, mutants } = await instrumented([{ name: file, content: text }])
  const starts = [0]
  for (const { index } of text.matchAll(/\n/g)) starts.push(index + 1)
  const offset = ({ line, column }: { line: number; column: number }) =>
    (starts[line] ?? text.length) + column
  const switches = new Map<string, Fault>()
  for (const { id, status, location, replacement: now = '' } of mutants) {
    const at = offset(location.start)
    if (status !== 'Ignored')
      switches.set(id, { at, was: text.slice(at, offset(location.end)), now })
  }
  return { content: files[0]?.content ?? text, switches }
}

/**
 * A random sample of the faults of all given sources, by source. Each area of the code (sql,
 * shared, functions, hub) has as large a part of it as of all lines. Whether a fault is taken
 * depends on its own text and the seed alone: a change elsewhere moves nothing.
 */
export async function sampleOf(root: string, sources: string[], size: number, seed = '') {
  const areas = new Map<string, { lines: number; ranked: Ranked[] }>()
  for (const source of sources) {
    const text = readFileSync(join(root, source), 'utf8')
    const area = areas.get(areaOf(source)) ?? { lines: 0, ranked: [] }
    areas.set(areaOf(source), area)
    area.lines += text.split('\n').length
    for (const fault of await everyFaultOf(source, text)) {
      const around = text.slice(Math.max(0, fault.at - 80), fault.at + fault.was.length + 80)
      const words = [seed, source, around, fault.was, fault.now].join('\0')
      area.ranked.push({ rank: createHash('sha256').update(words).digest('hex'), source, fault })
    }
  }
  const lines = [...areas.values()].reduce((sum, area) => sum + area.lines, 0)
  const bySource = new Map<string, Fault[]>()
  let [of, passed, taken] = [0, 0, 0]
  for (const area of areas.values()) {
    of += area.ranked.length
    passed += area.lines
    const until = Math.round((size * passed) / lines)
    area.ranked.sort((one, two) => (one.rank < two.rank ? -1 : 1))
    for (const { source, fault } of area.ranked.slice(0, until - taken)) {
      bySource.set(source, [...(bySource.get(source) ?? []), fault])
    }
    taken = until
  }
  return { of, bySource }
}

type Ranked = { rank: string; source: string; fault: Fault }

/** The part of the code that a source belongs to. */
export const areaOf = (source: string) =>
  source.includes('sql/') ? 'sql' : (source.split('/')[0] ?? '')
