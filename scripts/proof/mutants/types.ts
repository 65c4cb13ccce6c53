import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Fault } from './sql.ts'

type Placed = { source: string; text: string; fault: Fault }

/**
 * Which faults compile. One that does not is noticed before any test runs and counts neither way.
 * Faults of different files are looked at together: an error is that of the fault in its file.
 */
export async function whichCompile(tree: string, placed: Placed[]): Promise<boolean[]> {
  const compile = placed.map(() => true)
  let left = placed.map((one, index) => ({ ...one, index }))
  while (left.length > 0) {
    const batch = [...new Map(left.map((one) => [one.source, one])).values()]
    left = left.filter((one) => !batch.includes(one))
    for (const { source, text, fault } of batch) {
      const broken = text.slice(0, fault.at) + fault.now + text.slice(fault.at + fault.was.length)
      writeFileSync(join(tree, source), broken)
    }
    const wrong = await filesWithErrors(tree)
    for (const { source, text, index } of batch) {
      compile[index] = !wrong.has(source)
      writeFileSync(join(tree, source), text)
    }
  }
  return compile
}

async function filesWithErrors(tree: string): Promise<Set<string>> {
  const args = [
    'node_modules/typescript/bin/tsc',
    '--noEmit',
    '--incremental',
    'false',
    '--pretty',
    'false',
  ]
  const said = await promisify(execFile)(process.execPath, args, {
    cwd: tree,
    maxBuffer: 1e8,
  }).catch((error: { stdout: string }) => error)
  return new Set(said.stdout.split('\n').map((line) => /^[^(]+/.exec(line)?.[0] ?? ''))
}
