import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { vi } from 'vitest'
import { runningPostgres, startPostgres } from '../../../scripts/postgres/postgres.ts'
import { fastTempFolder } from '../../../scripts/postgres/throwaway.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
/** NODE_COMPILE_CACHE saves compiling the same program again for each process. */
const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
const KEPT = { PATH, HOME, NODE_COMPILE_CACHE }

export type Started = {
  pid: number
  stdout: () => string
  stderr: () => string
  /** Waits until the output matches this; fails with the whole output if it never does. */
  says: (pattern: RegExp) => Promise<RegExpMatchArray>
  signal: (name: NodeJS.Signals) => void
  /** The exit code, after all output was read. */
  ended: Promise<number | null>
}

export type Processes = {
  /** A data folder for this test only. */
  dataDir: string
  /** Runs one of our programs as a person would, without this process's settings. */
  run: (program: string, args?: string[], env?: Record<string, string>) => Started
  /** Ends everything, including what a failed test left running. */
  close: () => Promise<void>
}

/** createProcesses is for tests of whole programs. */
export async function createProcesses(): Promise<Processes> {
  const dataDir = await mkdtemp(join(await fastTempFolder(), 'watchpost-start-'))
  // As root, PostgreSQL runs as another user, who must be able to enter.
  await chmod(dataDir, 0o711)
  const children = new Set<ChildProcess>()
  return {
    dataDir,
    run: (program, args = [], env = {}) => {
      // In the data folder, so that a .env in the clone has no effect.
      const child = spawn(process.execPath, [join(ROOT, program), ...args], {
        cwd: dataDir,
        env: { ...KEPT, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      children.add(child)
      return follow(child)
    },
    close: async () => {
      for (const child of children) {
        if (child.exitCode === null && child.signalCode === null) {
          child.kill('SIGKILL')
          await once(child, 'exit')
        }
      }
      // Taking over the server of a killed process is the way to stop it.
      if (runningPostgres(dataDir)) await (await startPostgres({ dataDir })).stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

function follow(child: ChildProcess): Started {
  const text = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (piece: string) => {
      text[name] += piece
    })
  }
  const ended = once(child, 'close').then(() => child.exitCode)
  return {
    pid: child.pid ?? 0,
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    says: (pattern) =>
      vi.waitFor(
        () => {
          const found = `${text.stdout}${text.stderr}`.match(pattern)
          if (!found) throw new Error(`not said yet: ${pattern}\n${text.stdout}${text.stderr}`)
          return found
        },
        { timeout: 60_000 },
      ),
    signal: (name) => void child.kill(name),
    ended,
  }
}
