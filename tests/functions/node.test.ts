import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findPort } from '../../scripts/postgres/port.ts'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'

const ENTRY = resolve(import.meta.dirname, '../../functions/node.ts')

let database: TestDatabase
/** Where the program runs: there is nothing but what a test puts there. */
let folder: string
const running = new Set<ChildProcess>()
beforeAll(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'watchpost-node-'))
})
afterAll(async () => {
  for (const program of running) program.kill('SIGKILL')
  await rm(folder, { recursive: true })
  await database.drop()
})

function start(words: string[], environment: Record<string, string> = {}) {
  const program = spawn(process.execPath, [ENTRY, ...words], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...environment },
  })
  running.add(program)
  const ended = once(program, 'exit').then(([code, signal]) => {
    running.delete(program)
    return code ?? signal
  })
  return { program, ended }
}

describe('the program', () => {
  test.each([
    ['the API and the jobs', [], 'SIGTERM'],
    ['the jobs alone', ['jobs'], 'SIGHUP'],
  ] as const)('runs %s until it is told to stop, as its .env says', async (_, words, signal) => {
    const PORT = String(await findPort({ host: '127.0.0.1', port: 0 }))
    const settings = {
      SEAL_KEYS: Buffer.alloc(32).toString('base64'),
      JOBS_DATABASE_URL: database.jobsUrl,
      FEEDS: 'none',
    }
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
    await writeFile(join(folder, '.env'), lines.join(''))
    // What the environment itself says comes first.
    const API_DATABASE_URL = database.apiUrl
    const { program, ended } = start([...words], { PORT, API_DATABASE_URL })
    const said: object[] = []
    for await (const line of createInterface(program.stdout)) {
      const { msg, ...rest } = JSON.parse(line)
      said.push({ msg, ...rest })
      const own = `http://127.0.0.1:${PORT}`
      const isApi = words.length === 0
      if (msg !== (isApi ? `listening on ${own}` : 'running the jobs')) continue
      const status = await fetch(`${own}/api/sources/health`).then(
        (answer) => answer.status,
        () => 'nobody answers',
      )
      expect(status).toBe(isApi ? 200 : 'nobody answers')
      expect(rest).toMatchObject({ feeds: [] })
      program.kill(signal)
    }
    expect(said.at(-1)).toMatchObject({ msg: 'stopped', signal })
    expect(await ended).toBe(0)
  })
})
