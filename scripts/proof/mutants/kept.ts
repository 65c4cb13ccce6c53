import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Fault } from './sql.ts'

export type Mutant = {
  line: number
  was: string
  now: string
  /** `invalid`: it does not compile and does not count. */
  outcome: 'killed' | 'timeout' | 'survived' | 'invalid'
}
/** A source with the faults in question. */
export type Given = { source: string; text: string; faults: Fault[] }
export type Judged = { outcome: Mutant['outcome']; by?: string }
/** Outcomes by mutant. The outcome of a survivor is valid as long as its tests do not change. */
export type Kept = Record<string, Judged & { tests: string }>
/** By fault, the outcome and the test that noticed it. */
export type Noticed = Map<Fault, { outcome: 'killed' | 'timeout'; by: string }>

export const sha = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)

/** What is stored of the faults of a source. */
export function openKept(root: string, source: string) {
  const file = join(root, '.data/mutants', `${source.replaceAll('/', '__')}.copies.json`)
  mkdirSync(dirname(file), { recursive: true })
  const outcomes: Kept = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  return { file, outcomes }
}

/** A key for each fault of a source, which a change elsewhere leaves as it is. */
export function keysOf(text: string, faults: Fault[]): string[] {
  const seen = new Map<string, number>()
  return faults.map((fault) => {
    const around = text.slice(Math.max(0, fault.at - 200), fault.at + 100)
    const same = sha(`${around}\n${fault.was}\n${fault.now}`)
    const nth = seen.get(same) ?? 0
    seen.set(same, nth + 1)
    return `${same}-${nth}`
  })
}

/** Stores the faults of a source that were noticed elsewhere. */
export function keepNoticed(root: string, { source, text, faults }: Given, noticed: Noticed) {
  const { file, outcomes } = openKept(root, source)
  for (const [index, key] of keysOf(text, faults).entries()) {
    const judged = faults[index] && noticed.get(faults[index])
    if (judged) outcomes[key] = { ...judged, tests: '' }
  }
  writeFileSync(file, `${JSON.stringify(outcomes, null, 1)}\n`)
}

/** The faults of a source as mutants with what is stored of them; the others have survived so far. */
export function outcomesOf(root: string, { source, text, faults }: Given): Mutant[] {
  const { outcomes } = openKept(root, source)
  const keys = keysOf(text, faults)
  return faults.map((fault, index) => ({
    line: lineOf(text, fault),
    was: fault.was,
    now: fault.now,
    outcome: outcomes[keys[index] ?? '']?.outcome ?? 'survived',
  }))
}

export const lineOf = (text: string, { at }: Fault) => text.slice(0, at).split('\n').length
