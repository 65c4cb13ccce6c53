/** What the entry of Node makes of its arguments and its environment, and how it stops. */
import { syncBuiltinESMExports } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import v8 from 'node:v8'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { findPort } from '../../../scripts/postgres/port.ts'
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.ts'
import { TEST_SEAL_KEY } from '../../support/service.ts'

const ENTRY = pathToFileURL(resolve(import.meta.dirname, '../../../functions/node.ts')).href
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database?.drop())

const before = { argv: process.argv, env: process.env, setFlags: v8.setFlagsFromString }
const listeners = SIGNALS.map((signal) => [signal, process.listeners(signal)] as const)
const exit = vi.fn()
let lines: Record<string, unknown>[]
let errors: unknown[]
let flags: string[]
let runs = 0
beforeEach(() => {
  lines = []
  errors = []
  flags = []
  exit.mockReset()
  vi.spyOn(process, 'exit').mockImplementation(exit as never) // safe: it must not end the tests
  vi.spyOn(console, 'error').mockImplementation((line) => void errors.push(line))
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    const written = String(text).trim().split('\n')
    for (const line of written) if (line.startsWith('{')) lines.push(JSON.parse(line))
    return true
  })
  // A flag would be that of all tests in this process.
  v8.setFlagsFromString = (flag) => void flags.push(flag)
  syncBuiltinESMExports()
})
afterEach(() => {
  vi.restoreAllMocks()
  Object.assign(process, { argv: before.argv, env: before.env })
  v8.setFlagsFromString = before.setFlags
  syncBuiltinESMExports()
  for (const [signal, known] of listeners) {
    for (const one of process.listeners(signal)) {
      if (!known.includes(one)) process.off(signal, one)
    }
  }
})

/** Runs the entry as a process would that is started so. */
async function run(args: string[], environment: Record<string, string> = {}) {
  process.argv = ['node', 'functions/node.ts', ...args]
  process.env = environment
  runs += 1
  await import(`${ENTRY}?run=${runs}`)
}
const added = (signal: (typeof SIGNALS)[number]) => {
  const known = listeners.find(([name]) => name === signal)?.[1] ?? []
  return process.listeners(signal).filter((one) => !known.includes(one))
}
const told = (msg: RegExp) =>
  vi.waitFor(() => expect(lines.find((line) => msg.test(String(line.msg)))).toBeDefined(), 20_000)

test.each([[['serve']], [['jobs', 'more']], [['--jobs']], [['']]])(
  'with the arguments %j it says how it is used',
  async (args) => {
    await run(args)
    await vi.waitFor(() => expect(exit).toHaveBeenCalled(), 20_000)
    expect(exit.mock.calls).toEqual([[1]])
    expect(errors).toEqual(['Watchpost cannot start: Usage: node functions/node.ts [jobs]'])
  },
)

test('with a setting that is wrong it says which', async () => {
  await run([], { SEAL_KEYS: TEST_SEAL_KEY, PORT: 'none' })
  await vi.waitFor(() => expect(exit).toHaveBeenCalled(), 20_000)
  expect(exit.mock.calls).toEqual([[1]])
  expect(errors).toEqual([expect.stringMatching(/^Watchpost cannot start: PORT must be /)])
  expect(flags).toEqual([])
})

test.each(['jobs', 'serve'] as const)('%s runs until it is stopped', async (mode) => {
  const port = await findPort({ host: '127.0.0.1', port: 0 })
  await run(mode === 'jobs' ? ['jobs'] : [], {
    ...{ SEAL_KEYS: TEST_SEAL_KEY, FEEDS: 'nmea', LOG: 'json', PORT: String(port) },
    ...{ API_DATABASE_URL: database.apiUrl, JOBS_DATABASE_URL: database.jobsUrl },
    // A feed that asks nobody: it waits for datagrams.
    ...{ OPERATOR_PORT: 'off', NMEA_SOURCES: `udp://127.0.0.1:${port}` },
  })
  await told(/^(listening on|running the jobs)/)
  const line = lines.find(({ feeds }) => feeds !== undefined)
  const msg = mode === 'jobs' ? 'running the jobs' : `listening on http://127.0.0.1:${port}`
  expect(line).toMatchObject({ msg, feeds: ['nmea'] })
  expect(flags).toEqual(mode === 'jobs' ? ['--heap-growing-percent=20'] : [])
  const answers = fetch(`http://127.0.0.1:${port}/console.json`).then(
    ({ status }) => status,
    () => 'nobody',
  )
  expect(await answers).toBe(mode === 'jobs' ? 'nobody' : 200)
  const stops = SIGNALS.map(added)
  expect(stops.map((all) => all.length)).toEqual([1, 1, 1])
  const [stop] = stops[0] ?? []
  await stop?.('SIGTERM')
  await told(/^stopped$/)
  expect(lines.at(-1)).toMatchObject({ msg: 'stopped', signal: 'SIGTERM' })
  expect(exit.mock.calls).toEqual([[0]])
  expect(errors).toEqual([])
})
