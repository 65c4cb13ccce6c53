/** The programs around a measurement: those that put load on something, the servers that bear it, and their CPU time. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'

const execute = promisify(execFile)
const READY_MS = 60_000
/** The unit of the times in /proc, which Linux has fixed for programs. */
const TICKS_PER_SECOND = 100

/** What a program says. An error has only that too, because its arguments would fill the screen. */
async function run(program: string, args: string[]): Promise<string> {
  try {
    const { stdout, stderr } = await execute(program, args)
    return `${stdout}\n${stderr}`
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? error.stderr : error
    throw new Error(`${program} failed: ${said}`)
  }
}

export type Load = { connections: number; seconds: number }

/** A program on the PATH, or in one of the folders that Debian keeps off it, the newest first; undefined if there is none. */
export function findProgram(name: string, elsewhere: string[] = []): string | undefined {
  const folders = [
    ...elsewhere.flatMap((pattern) => globSync(pattern).toSorted().toReversed()),
    ...(process.env.PATH ?? '').split(':'),
  ]
  return folders.map((folder) => `${folder}/${name}`).find((path) => existsSync(path))
}

/** Requests a second of `wrk`. Throws if any answer is no success; `script` is one of its Lua scripts. */
export async function loadWithWrk(
  wrk: string,
  {
    url,
    headers,
    script,
    connections,
    seconds,
  }: Load & {
    url: string
    headers: Record<string, string>
    script?: string | undefined
  },
): Promise<number> {
  const said = await run(wrk, [
    ...['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', '20s'],
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    ...(script ? ['-s', script] : []),
    url,
  ])
  return requestsPerSecond(said)
}

/** What `wrk` has counted. Throws if something failed: an error is answered faster than a success. */
export function requestsPerSecond(said: string): number {
  const [failed] = said.match(/Non-2xx.*|Socket errors.*/) ?? []
  const [, rate] = said.match(/Requests\/sec:\s*([\d.]+)/) ?? []
  if (failed || !rate) throw new Error(`wrk did not measure: ${failed ?? said}`)
  return Number(rate)
}

/** Transactions a second of `pgbench` running one script with prepared statements and these variables. */
export async function loadWithPgbench(
  pgbench: string,
  {
    database,
    script,
    variables,
    connections,
    seconds,
  }: Load & {
    database: string
    script: string
    variables: Record<string, string>
  },
): Promise<number> {
  const said = await run(pgbench, [
    ...['-n', '-M', 'prepared', '-j', '1', '-c', String(connections), '-T', String(seconds)],
    ...Object.entries(variables).flatMap(([name, value]) => ['-D', `${name}=${value}`]),
    ...['-f', script, database],
  ])
  return transactionsPerSecond(said)
}

/** What `pgbench` has counted. Throws if a transaction failed. */
export function transactionsPerSecond(said: string): number {
  const [failed] = said.match(/.*(error|ERROR|aborted).*/) ?? []
  const [, rate] = said.match(/tps = ([\d.]+)/) ?? []
  if (failed || !rate) throw new Error(`pgbench did not measure: ${failed ?? said}`)
  return Number(rate)
}

export type Server = { url: string; pid: number; stop: () => Promise<void> }

/** Starts a program of ours that says "listening on <url>", or what else `ready` matches: then it has no URL. */
export async function startServer(
  program: string,
  args: string[],
  {
    cwd,
    env = {},
    ready = /listening on (http:[^\s"]+)/i,
  }: { cwd: string; env?: Record<string, string>; ready?: RegExp },
): Promise<Server> {
  const { PATH, HOME } = process.env
  const child = spawn(program, args, {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((done, fail) => {
    let said = ''
    const late = setTimeout(() => child.kill(), READY_MS)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (said.length > 100_000) return
      said += text
      const found = said.match(ready)
      if (!found) return
      clearTimeout(late)
      done(found[1] ?? '')
    })
    child.once('exit', () => fail(new Error(`${program} ${args.join(' ')} ended: ${said}`)))
  })
  return {
    url,
    pid: child.pid ?? 0,
    stop: async () => {
      if (child.exitCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

/** The CPU seconds of a process so far, with those of the children that it has waited for; undefined without /proc. */
export function cpuSecondsOf(pid: number): number | undefined {
  try {
    // The name of the program, in brackets, may hold spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return ticks / TICKS_PER_SECOND
  } catch {
    return undefined
  }
}

/** The same of a PostgreSQL server with all its processes, by the process id of one of its sessions. */
export function cpuSecondsOfPostgres(session: number): number | undefined {
  const postmaster = parentOf(session)
  if (postmaster === undefined) return undefined
  const sessions = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && parentOf(Number(name)) === postmaster,
  )
  return [postmaster, ...sessions.map(Number)].reduce(
    (sum, pid) => sum + (cpuSecondsOf(pid) ?? 0),
    0,
  )
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return undefined
  }
}
