import { appendFileSync } from 'node:fs'

/** PROOF=1 makes tests run in their long form. */
export const PROOF = process.env.PROOF === '1'
/** How long a test may take in its long form. */
export const PROOF_MS = 3 * 3_600_000

/**
 * reportProof prints what was proven, in numbers, and stores it for the proof that runs this test.
 */
export function reportProof(what: string, numbers: Record<string, number | string>): void {
  const words = Object.entries(numbers).map(([name, value]) => `${name} ${value}`)
  console.log(`${what}: ${words.join(', ')}`)
  const file = process.env.PROOF_FILE
  if (file) appendFileSync(file, `${JSON.stringify({ what, ...numbers })}\n`)
}

/** progress shows how far a long proof is. */
export function progress(done: number, all: number, what: string): void {
  if (PROOF) console.log(`${done} of ${all} ${what}`)
}
