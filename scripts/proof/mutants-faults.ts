import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Instrumenter } from '@stryker-mutator/instrumenter'
import { strykerPlugins } from './mutants-ignore.ts'
import { type Fault, faultsOf } from './mutants-sql.ts'

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

/** All faults of a file: those that StrykerJS puts into TypeScript, and ours in its SQL. */
export async function everyFaultOf(file: string, text: string): Promise<Fault[]> {
  const ours = faultsOf(file, text)
  if (!file.endsWith('.ts')) return ours
  const { mutants } = await new Instrumenter(SILENT).instrument(
    [{ name: file, content: text, mutate: true }],
    { plugins: null, excludedMutations: [], ignorers: strykerPlugins.map(({ value }) => value) },
  )
  const starts = [0]
  for (const { index } of text.matchAll(/\n/g)) starts.push(index + 1)
  const offset = ({ line, column }: { line: number; column: number }) =>
    (starts[line] ?? text.length) + column
  const theirs = mutants
    .filter(({ status }) => status !== 'Ignored')
    .map(({ location: { start, end }, replacement: now = '' }) => {
      const at = offset(start)
      return { at, was: text.slice(at, offset(end)), now }
    })
  return [...theirs, ...ours]
}

/**
 * A random sample of the faults of all given sources, by source. Whether a fault is taken depends
 * on its own text alone: a larger sample contains the smaller one, and a change elsewhere moves
 * nothing.
 */
export async function sampleOf(root: string, sources: string[], size: number) {
  const ranked: { rank: string; source: string; fault: Fault }[] = []
  for (const source of sources) {
    const text = readFileSync(join(root, source), 'utf8')
    for (const fault of await everyFaultOf(source, text)) {
      const around = text.slice(Math.max(0, fault.at - 80), fault.at + fault.was.length + 80)
      const words = [source, around, fault.was, fault.now].join('\0')
      ranked.push({ rank: createHash('sha256').update(words).digest('hex'), source, fault })
    }
  }
  const taken = ranked.sort((one, two) => (one.rank < two.rank ? -1 : 1)).slice(0, size)
  const bySource = new Map<string, Fault[]>()
  for (const { source, fault } of taken) {
    bySource.set(source, [...(bySource.get(source) ?? []), fault])
  }
  return { of: ranked.length, bySource }
}
