import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { link, mkdir, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import {
  canReach,
  chownTo,
  findBinaries,
  moveCluster,
  run,
  type ServerAccount,
} from './postgres-host.ts'

type PostgresOptions = {
  /** The service's data folder; the cluster is in its subfolder `postgres`. */
  dataDir: string
  /** Default: the port of the last start if it is free, or else any free one. */
  port?: number
  log?: (line: string) => void
  /** For tests: `false` makes nothing durable. */
  durable?: boolean
}

type RunningPostgres = {
  adminUrl: string
  port: number
  /** The process id of the postmaster. */
  pid: number
}

export type StartedPostgres = RunningPostgres & {
  /** The version as PostgreSQL writes it: `18.4`. */
  version: string
  /** The real folder of the cluster, its password and its log. */
  home: string
  /** Disconnects all clients, writes everything to disk, and waits until the server has ended. */
  stop(): Promise<void>
}

const START_TIMEOUT_SECONDS = 120
const STOP_TIMEOUT_SECONDS = 60
const KEPT_LOG_BYTES = 10_000_000
// Higher than any process id.
const NO_PROCESS = '99999999'

/**
 * startPostgres starts the server until `stop` or the end of this process. The first call creates
 * the cluster.
 */
export async function startPostgres(options: PostgresOptions): Promise<StartedPostgres> {
  const { log = () => {}, durable = true } = options
  const dataDir = resolve(options.dataDir)
  await mkdir(dataDir, { recursive: true })
  const { account, bin, version } = await findBinaries(log)
  const home = await prepareHome(dataDir, account, log)
  const release = await claim(home, dataDir)
  try {
    await createCluster({ home, bin, account, durable, version, log })
    await stopOrphan({ home, bin, account, log })
    const port = await launch({ home, bin, account, durable, port: options.port })
    const running = readRunning(home)
    if (!running) throw new Error(`PostgreSQL stopped right after its start; see ${logOf(home)}`)
    const stop = async () => {
      await stopCluster({ home, bin, account, mode: durable ? 'fast' : 'immediate' })
      await release()
    }
    return { adminUrl: urlOf(home, port), port, pid: running.pid, version, home, stop: once(stop) }
  } catch (error) {
    await release()
    throw error
  }
}

/**
 * runningPostgres finds the server of a data folder that another process started; it never starts
 * one.
 */
export function runningPostgres(dataDir: string): RunningPostgres | undefined {
  const link = join(resolve(dataDir), 'postgres')
  if (!existsSync(link)) return undefined
  const home = realpathSync(link)
  const running = readRunning(home)
  if (!running?.ready) return undefined
  return { adminUrl: urlOf(home, running.port), port: running.port, pid: running.pid }
}

async function prepareHome(dataDir: string, account: ServerAccount, log: (line: string) => void) {
  const home = join(dataDir, 'postgres')
  const known = await stat(home).catch(() => undefined)
  if (!known && isLink(home)) {
    throw new Error(
      `${home} points to ${readlinkSync(home)}, which no longer exists. Restore that folder, or remove the link to start with an empty database.`,
    )
  }
  if (!known) {
    if (account.drops_root && !canReach(account, dataDir))
      return moveCluster(dataDir, home, account, log)
    await mkdir(home, { mode: 0o700 })
  }
  const real = realpathSync(home)
  await chownTo(real, account)
  if (account.drops_root && !canReach(account, real)) {
    throw new Error(
      `The system user "${account.name}" can no longer reach ${real}. Make its parent folders accessible again (chmod o+x), or move the data folder and its "postgres" folder elsewhere.`,
    )
  }
  return real
}

type Place = { home: string; bin: string; account: ServerAccount }

async function createCluster(
  place: Place & { durable: boolean; version: string; log: (line: string) => void },
) {
  const { home, bin, account, durable, version, log } = place
  const data = clusterOf(home)
  if (existsSync(join(data, 'PG_VERSION'))) {
    const theirs = (await readFile(join(data, 'PG_VERSION'), 'utf8')).trim()
    const ours = version.split('.')[0]
    if (theirs === ours) return
    throw new Error(
      `The data in ${data} was written by PostgreSQL ${theirs}; this Watchpost includes PostgreSQL ${ours}, which cannot read it. Nothing was changed. Use the Watchpost version that wrote the data, or start this one with an empty --data-dir.`,
    )
  }
  // initdb writes PG_VERSION early. The folder is renamed when it is complete.
  const fresh = join(home, 'data.new')
  await rm(fresh, { recursive: true, force: true })
  const password = join(home, 'password')
  await writeFile(password, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 })
  await chownTo(password, account)
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const secure = ['--auth=scram-sha-256', '--data-checksums', '--username=postgres']
  await run(
    join(bin, 'initdb'),
    [
      ...[...locale, ...secure, '--encoding=UTF8', '--no-instructions'],
      ...(durable ? ['--sync-method=fsync'] : ['--no-sync', '--set=scram_iterations=1']),
      ...[`--pwfile=${password}`, `--pgdata=${fresh}`],
    ],
    account,
  )
  await writeFile(join(fresh, 'postgresql.conf'), "include_if_exists = 'watchpost.conf'\n")
  await rename(fresh, data)
  log(`Created a new PostgreSQL ${version} cluster in ${data}`)
}

async function launch(place: Place & { durable: boolean; port: number | undefined }) {
  const { home, bin, account, durable } = place
  await keepLogSmall(logOf(home))
  const wanted = place.port ?? rememberedPort(home)
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort(attempt === 1 ? wanted : undefined, place.port)
    await writeFile(configOf(home), settings({ port, durable }), { mode: 0o644 })
    try {
      const start = ['start', '--wait', `--timeout=${START_TIMEOUT_SECONDS}`, '--silent']
      const args = [...start, `--pgdata=${clusterOf(home)}`, `--log=${logOf(home)}`]
      await run(join(bin, 'pg_ctl'), args, account)
      return port
    } catch (error) {
      const lines = (await readFile(logOf(home), 'utf8').catch(() => '')).trimEnd().split('\n')
      const tail = lines.slice(-6).join('\n')
      // Another process may have taken the port since we checked it.
      if (tail.includes('Address already in use') && !place.port && attempt < 5) continue
      throw new Error(`PostgreSQL did not start. The end of ${logOf(home)}:\n${tail}`, {
        cause: error,
      })
    }
  }
}

async function stopCluster(place: Place & { mode: 'fast' | 'immediate' }) {
  const { home, bin, account, mode } = place
  if (!readRunning(home)) return
  const stop = ['stop', '--wait', `--timeout=${STOP_TIMEOUT_SECONDS}`, '--silent']
  try {
    await run(
      join(bin, 'pg_ctl'),
      [...stop, `--mode=${mode}`, `--pgdata=${clusterOf(home)}`],
      account,
    )
  } catch (error) {
    // It may have ended since we checked.
    if (readRunning(home)) throw error
  }
}

/** Stops a server whose owner was killed. Its data is then as after an orderly stop. */
async function stopOrphan(place: Place & { log: (line: string) => void }) {
  const { home, log } = place
  const pidFile = join(clusterOf(home), 'postmaster.pid')
  const running = readRunning(home)
  if (running) {
    log(`Taking over PostgreSQL ${running.pid}, left behind by a process that was killed`)
    await stopCluster({ ...place, mode: 'fast' })
    return
  }
  // After a power failure, the process id in the file may belong to an unrelated process, and
  // PostgreSQL would refuse to start. Only the id is replaced: from the other lines PostgreSQL sees
  // whether backends of a killed server are still running, which protects the data.
  const held = await readFile(pidFile, 'utf8').catch(() => undefined)
  if (held && isAlive(Number.parseInt(held, 10))) {
    await writeFile(pidFile, held.replace(/^\d+/, NO_PROCESS))
  }
}

const clusterOf = (home: string) => join(home, 'data')
const configOf = (home: string) => join(clusterOf(home), 'watchpost.conf')
const logOf = (home: string) => join(home, 'server.log')

function urlOf(home: string, port: number) {
  const password = readFileSync(join(home, 'password'), 'utf8').trim()
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
}

function settings({ port, durable }: { port: number; durable: boolean }) {
  const lasting = `
io_method = worker
checkpoint_timeout = 15min
wal_compression = on`
  const throwaway = `
max_connections = 300
fsync = off
synchronous_commit = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
checkpoint_timeout = 1h
autovacuum = off
scram_iterations = 1
io_method = sync`
  return `# Written at every start by scripts/postgres/postgres.ts; changes are lost.
listen_addresses = '127.0.0.1'
port = ${port}
unix_socket_directories = ''
max_connections = 100
shared_buffers = 128MB
effective_cache_size = 1GB
maintenance_work_mem = 64MB
work_mem = 8MB
random_page_cost = 1.1
jit = off
timezone = 'UTC'
log_timezone = 'UTC'
log_line_prefix = '%m [%p] %q%u '
log_checkpoints = off
log_min_error_statement = panic
log_parameter_max_length_on_error = 0${durable ? lasting : throwaway}
`
}

function rememberedPort(home: string): number | undefined {
  if (!existsSync(configOf(home))) return undefined
  const found = readFileSync(configOf(home), 'utf8').match(/^port = (\d+)$/m)
  return found ? Number(found[1]) : undefined
}

async function freePort(wanted: number | undefined, demanded: number | undefined): Promise<number> {
  const free = await new Promise<number | undefined>((done) => {
    const server = createServer()
    server.once('error', () => done(undefined))
    server.listen(wanted ?? 0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => done(typeof address === 'object' ? address?.port : undefined))
    })
  })
  if (free) return free
  if (demanded) {
    throw new Error(`Port ${demanded} for PostgreSQL is in use. Choose another, or leave it out.`)
  }
  if (wanted) return freePort(undefined, undefined)
  throw new Error('There is no free port for PostgreSQL on 127.0.0.1.')
}

/**
 * Reads postmaster.pid. Its lines: pid, data folder, start, port, socket folder, address, memory,
 * state.
 */
function readRunning(home: string): { pid: number; port: number; ready: boolean } | undefined {
  const data = clusterOf(home)
  const file = join(data, 'postmaster.pid')
  if (!existsSync(file)) return undefined
  const lines = readFileSync(file, 'utf8').split('\n')
  const pid = Number(lines[0])
  if (!(pid > 0) || !isAlive(pid)) return undefined
  // Not /proc/…/cwd: in a container, root may not read it for another user's process.
  const commandLine = `/proc/${pid}/cmdline`
  if (existsSync('/proc/self/cmdline')) {
    if (!existsSync(commandLine)) return undefined
    if (!readFileSync(commandLine, 'utf8').split('\0').includes(data)) return undefined
  }
  return { pid, port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' }
}

/**
 * Makes this process the only owner. The file outlives a SIGKILL, so it names a process that can be
 * checked.
 */
async function claim(home: string, dataDir: string): Promise<() => Promise<void>> {
  const file = join(home, 'owner')
  const mine = `${process.pid} ${startOf(process.pid)} ${randomUUID()}\n`
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, mine, { mode: 0o600 })
  try {
    for (;;) {
      const taken = await link(draft, file).then(
        () => true,
        (error) => {
          if (codeOf(error) === 'EEXIST') return false
          throw error
        },
      )
      if (taken) break
      const held = await readFile(file, 'utf8').catch(() => '')
      const [pid, start] = held.split(' ')
      if (isAlive(Number(pid)) && startOf(Number(pid)) === start) {
        throw new Error(
          `The data folder ${dataDir} is in use: process ${pid} runs its PostgreSQL. Stop that process first, or start with another --data-dir. (npm run admin works while it runs.)`,
        )
      }
      // Two processes may both find that the owner is dead. Only the file that was read may be
      // moved away.
      const aside = `${file}.${randomUUID()}`
      await rename(file, aside).catch(() => {})
      const moved = await readFile(aside, 'utf8').catch(() => held)
      if (moved === held) await rm(aside, { force: true })
      if (moved !== held) await rename(aside, file)
    }
  } finally {
    await unlink(draft)
  }
  return async () => {
    if ((await readFile(file, 'utf8').catch(() => '')) === mine) await rm(file, { force: true })
  }
}

/** The start time of a process in kernel ticks. Process ids are reused, but not this pair. */
function startOf(pid: number): string {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return line.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? '-'
  } catch {
    return '-'
  }
}

function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

function isLink(path: string): boolean {
  try {
    readlinkSync(path)
    return true
  } catch {
    return false
  }
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error) return String(error.code)
  return undefined
}

async function keepLogSmall(file: string) {
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  )
  if (size > KEPT_LOG_BYTES) await rename(file, `${file}.1`)
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => {
    result ??= work()
    return result
  }
}
