import { appendFileSync } from 'node:fs'

/** PROOF=1 makes tests take their long form. */
export const PROOF = process.env.PROOF === '1'
/** How long a test may take in its long form. */
export const PROOF_MS = 3 * 3_600_000

/** prove says what was proven, in numbers: to people, and to the proof that runs this test. */
export function reportProof(what: string, numbers: Record<string, number | string>): void {
  const words = Object.entries(numbers).map(([name, value]) => `${name} ${value}`)
  console.log(`${what}: ${words.join(', ')}`)
  const file = process.env.PROOF_FILE
  if (file) appendFileSync(file, `${JSON.stringify({ what, ...numbers })}\n`)
}

/** progress tells a long proof's watcher how far it is. */
export function progress(done: number, all: number, what: string): void {
  if (PROOF) console.log(`${done} of ${all} ${what}`)
}
