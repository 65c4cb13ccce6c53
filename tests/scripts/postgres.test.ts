import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  runningPostgres,
  type StartedPostgres,
  startPostgres,
} from '../../scripts/postgres/postgres.ts'
import { fastTempFolder } from '../../scripts/postgres/throwaway.ts'

const SCRIPTS = resolve(import.meta.dirname, '../../scripts')
// Runs in a process of its own, which the test then kills.
const HOST = `
  const { startPostgres } = await import(${JSON.stringify(join(SCRIPTS, 'postgres/postgres.ts'))})
  const server = await startPostgres({ dataDir: process.argv[1] })
  console.log(JSON.stringify({ pid: server.pid, port: server.port, adminUrl: server.adminUrl }))
  setInterval(() => {}, 60_000)
`

let dataDir: string
let servers: StartedPostgres[] = []
let hosts: ChildProcess[] = []

beforeEach(async () => {
  dataDir = await mkdtemp(join(await fastTempFolder(), 'watchpost-postgres-'))
  // As root the server runs as another user, who must get through.
  await chmod(dataDir, 0o711)
})

afterEach(async () => {
  for (const host of hosts) host.kill('SIGKILL')
  for (const server of servers) await server.stop()
  // An orphan that a failed test left behind is taken over, and so stopped.
  if (runningPostgres(dataDir)) await (await startPostgres({ dataDir })).stop()
  servers = []
  hosts = []
  await rm(dataDir, { recursive: true, force: true })
})

async function start(options: Partial<Parameters<typeof startPostgres>[0]> = {}) {
  const server = await startPostgres({ dataDir, durable: false, ...options })
  servers.push(server)
  return server
}

async function startInOtherProcess() {
  const args = ['--input-type=module', '--eval', HOST, dataDir]
  const host = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  hosts.push(host)
  const [line] = await once(host.stdout, 'data')
  return { host, ...JSON.parse(String(line)) } as {
    host: ChildProcess
    pid: number
    port: number
    adminUrl: string
  }
}

async function ask(connectionString: string, sql: string) {
  const client = new pg.Client({ connectionString })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

function isAlive(pid: number) {
  try {
    // A killed process stays in the table until its parent has looked.
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('startPostgres', () => {
  test('makes a cluster once and finds its data and its port again', async () => {
    const first = await start({ durable: true })
    await ask(first.adminUrl, 'create table kept (id int)')
    await first.stop()
    expect(runningPostgres(dataDir)).toBeUndefined()

    const second = await start()
    expect(second.adminUrl).toBe(first.adminUrl)
    expect(await ask(second.adminUrl, `select to_regclass('kept')::text as kept`)).toEqual([
      { kept: 'kept' },
    ])
  })

  test('listens on loopback alone, asks for a password and keeps it to itself', async () => {
    const server = await start()
    const settings = await ask(
      server.adminUrl,
      `select name, setting from pg_settings
       where name in ('listen_addresses', 'unix_socket_directories', 'data_checksums', 'server_encoding')
       order by name`,
    )
    expect(settings).toEqual([
      { name: 'data_checksums', setting: 'on' },
      { name: 'listen_addresses', setting: '127.0.0.1' },
      { name: 'server_encoding', setting: 'UTF8' },
      { name: 'unix_socket_directories', setting: '' },
    ])
    expect((await stat(join(server.home, 'password'))).mode & 0o777).toBe(0o600)
    const wrong = new URL(server.adminUrl)
    wrong.password = 'wrong'
    await expect(ask(wrong.href, 'select 1')).rejects.toMatchObject({ code: '28P01' })
  })

  test('a port that is taken is replaced, unless it was asked for', async () => {
    const first = await start()
    await first.stop()
    const blocker = createServer().listen(first.port, '127.0.0.1')
    await once(blocker, 'listening')
    try {
      await expect(start({ port: first.port })).rejects.toThrow(`Port ${first.port}`)
      expect((await start()).port).not.toBe(first.port)
    } finally {
      blocker.close()
    }
  })

  test('a data folder in use is refused, with the process that uses it', async () => {
    await start()
    await expect(start()).rejects.toThrow(`process ${process.pid} runs its PostgreSQL`)
  })

  test('of two starters at once one wins', async () => {
    const both = await Promise.allSettled([start(), start()])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(servers).toHaveLength(1)
    expect(await ask(servers[0]?.adminUrl ?? '', 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('data of another major version is refused and left as it was', async () => {
    const first = await start()
    await first.stop()
    const version = join(first.home, 'data/PG_VERSION')
    await writeFile(version, '17\n')
    const before = await readdir(join(first.home, 'data'))
    await expect(start()).rejects.toThrow(/written by PostgreSQL 17; .* includes PostgreSQL 18/)
    expect(await readdir(join(first.home, 'data'))).toEqual(before)
    await writeFile(version, '18\n')
    await start()
  })

  test('a cluster whose making was interrupted is made anew', async () => {
    const first = await start()
    await first.stop()
    const data = join(first.home, 'data')
    await rm(data, { recursive: true })
    await writeFile(join(first.home, 'data.new'), 'half made')
    await start()
  })
})

describe('after a SIGKILL of the process that started it', () => {
  test('the next start takes over, and nothing committed is lost', async () => {
    const killed = await startInOtherProcess()
    await ask(killed.adminUrl, 'create table kept as select 1 as id')
    killed.host.kill('SIGKILL')
    await once(killed.host, 'exit')
    expect(isAlive(killed.pid)).toBe(true)

    const log = vi.fn()
    const server = await start({ log })
    expect(log).toHaveBeenCalledWith(
      expect.stringContaining(`Taking over PostgreSQL ${killed.pid}`),
    )
    expect(server.pid).not.toBe(killed.pid)
    expect(server.port).toBe(killed.port)
    expect(await ask(server.adminUrl, 'select id from kept')).toEqual([{ id: 1 }])
  })

  test('a server that was killed too is started again', async () => {
    const killed = await startInOtherProcess()
    await ask(killed.adminUrl, 'create table kept as select 1 as id')
    killed.host.kill('SIGKILL')
    process.kill(killed.pid, 'SIGKILL')
    await once(killed.host, 'exit')
    await vi.waitFor(() => expect(runningPostgres(dataDir)).toBeUndefined(), 10_000)
    const server = await start()
    expect(await ask(server.adminUrl, 'select id from kept')).toEqual([{ id: 1 }])
  })

  test('a process id that now belongs to somebody else does not block the start', async () => {
    const first = await start()
    const pidFile = join(first.home, 'data/postmaster.pid')
    const lines = await readFile(pidFile, 'utf8')
    await first.stop()
    await writeFile(pidFile, lines.replace(/^\d+/, String(process.pid)))
    await writeFile(join(first.home, 'owner'), `${process.pid} 1 somebody-else\n`)
    await start()
  })
})

describe('runningPostgres', () => {
  test('finds a server that another process runs', async () => {
    const other = await startInOtherProcess()
    const found = runningPostgres(dataDir)
    expect(found).toEqual({ adminUrl: other.adminUrl, port: other.port, pid: other.pid })
    expect(await ask(found?.adminUrl ?? '', 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('starts none where there is none', () => {
    expect(runningPostgres(dataDir)).toBeUndefined()
  })
})
