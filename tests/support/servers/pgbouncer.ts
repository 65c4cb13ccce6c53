import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const run = promisify(execFile)
const NOBODY = 65_534
const MISSING =
  'This test needs pgbouncer: apt-get install pgbouncer (it installs it itself when run as root on Debian or Ubuntu).'

export type Pooler = {
  /** The address of a database through the pooler. */
  urlOf: (databaseUrl: string) => string
  stop: () => Promise<void>
}

/** startPgbouncer pools transactions over `pool_size` connections per database and login. */
export async function startPgbouncer(
  databaseUrls: string[],
  { pool_size = 1 } = {},
): Promise<Pooler> {
  const program = await findPgbouncer()
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-pgbouncer-'))
  const port = await freePort()
  const [server] = databaseUrls.map((url) => new URL(url))
  if (!server) throw new Error('a pooler needs a database')
  const logins = databaseUrls.map((url) => new URL(url))
  await writeFile(
    join(folder, 'users'),
    logins
      .map(({ username, password }) => `"${username}" "${decodeURIComponent(password)}"\n`)
      .join(''),
  )
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${folder}/users
pool_mode = transaction
default_pool_size = ${pool_size}
max_client_conn = 100
server_reset_query =
ignore_startup_parameters = extra_float_digits,options
query_wait_timeout = 10
`,
  )
  await chmod(folder, 0o755)
  // pgbouncer refuses to run as root.
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const child = spawn(program, [join(folder, 'pgbouncer.ini')], {
    ...identity,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const said: string[] = []
  const ended = once(child, 'exit')
  const up = (async () => {
    for await (const line of createInterface({ input: child.stderr })) {
      said.push(line)
      if (line.includes('process up')) return
    }
    throw new Error(`pgbouncer did not start: ${said.join('\n')}`)
  })()
  await up
  child.stderr.resume()
  return {
    urlOf: (url) => {
      const pooled = new URL(url)
      pooled.host = `127.0.0.1:${port}`
      return pooled.href
    },
    stop: async () => {
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function findPgbouncer(): Promise<string> {
  const found = await installed()
  if (found) return found
  if (process.getuid?.() !== 0) throw new Error(MISSING)
  try {
    await run('apt-get', ['update', '-q'])
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    await run('apt-get', ['install', '-q', '-y', '--no-install-recommends', 'pgbouncer'], { env })
  } catch (error) {
    throw new Error(MISSING, { cause: error })
  }
  const now = await installed()
  if (!now) throw new Error(MISSING)
  return now
}

async function installed(): Promise<string | undefined> {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin']
  for (const path of folders.map((folder) => join(folder, 'pgbouncer'))) {
    const there = await access(path).then(
      () => true,
      () => false,
    )
    if (there) return path
  }
  return undefined
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('a server has a port')
  return address.port
}
