import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll } from 'vitest'

const START = resolve(import.meta.dirname, '../../../scripts/hub.ts')

/** A hub in a process of its own; `said` are the lines of its output. */
export type RealHub = { folder: string; origin: string; code: string; said: string[] }

/**
 * useRealHub starts a hub for the tests around it as `npm run hub` does: with its own database, and
 * a supervisor that starts it anew.
 */
export function useRealHub(starting_ms: number): () => RealHub {
  let folder: string
  let child: ChildProcess
  let started: RealHub
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'watchpost-real-'))
    await chmod(folder, 0o755)
    child = spawn(process.execPath, [START, '--port', '0', '--data-dir', folder], {
      env: { ...process.env, LOG: 'json' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (!child.stdout) throw new Error('the hub has no output')
    const said: string[] = []
    const lines = createInterface({ input: child.stdout }).on('line', (line) => said.push(line))
    while (!said.some((line) => line.includes('"listening"'))) await once(lines, 'line')
    const told = said.join('\n')
    const origin = new URL(/Open\s+(\S+)/.exec(told)?.[1] ?? '').origin
    started = { folder, origin, code: /Set-up code\s+(\S+)/.exec(told)?.[1] ?? '', said }
  }, starting_ms)
  afterAll(async () => {
    if (child?.exitCode === null) {
      child.kill('SIGTERM')
      await once(child, 'close')
    }
    if (folder) await rm(folder, { recursive: true, force: true })
  })
  return () => started
}
