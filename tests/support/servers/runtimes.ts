import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { V4WorkerOptions } from 'miniflare'
import { request } from 'undici'
import { inject } from 'vitest'
import { buildWorker, WORKERS, type Worker } from '../../../scripts/build/workers.ts'
import { underLock } from './database.ts'

/** Where the app of a test runs; each vitest project sets its own. */
export type Runtime = 'node' | 'deno' | 'workerd'

declare module 'vitest' {
  export interface ProvidedContext {
    runtime: Runtime
  }
}

/** Well below the timeout of a hook: what vitest kills leaves its children running. */
const START_MS = 30_000
const ROOT = resolve(import.meta.dirname, '../../..')
const WRANGLER = join(ROOT, 'wrangler.toml')

export const runtime = (): Runtime => inject('runtime') ?? 'node'

export type Line = Record<string, unknown>
type Variables = Record<string, string>
type Options = {
  variables: Variables
  /** Called with every line of the log. */
  onLine: (line: Line) => void
}

export type Ask = { method: string; headers?: Headers; body?: string }

/** One of our entries in its own runtime, called as its platform would call it. */
export type Target = {
  fetch: (path: string, init: Ask) => Promise<Response>
  /** The header in which this platform states the client's address. */
  address_header: string
  close: () => Promise<void>
}

/** A Supabase function in plain Deno, with the installed packages only. */
export async function startDeno(name: 'api' | 'jobs', { variables, onLine }: Options) {
  const entry = join(ROOT, `supabase/functions/${name}/index.ts`)
  const child = spawn(
    join(ROOT, 'node_modules/.bin/deno'),
    ['run', '-A', '--node-modules-dir=manual', entry],
    {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        DENO_SERVE_ADDRESS: 'tcp:127.0.0.1:0',
        DENO_NO_UPDATE_CHECK: '1',
        ...variables,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const ended = once(child, 'close')
  const end = () => void child.kill('SIGKILL')
  // vitest ends a test process with SIGTERM, which would leave the child running.
  const terminated = () => process.exit()
  process.once('exit', end).once('SIGTERM', terminated)
  const close = async () => {
    process.off('exit', end).off('SIGTERM', terminated)
    end()
    await ended
  }
  const said: string[] = []
  const base = await new Promise<string>((done, fail) => {
    const late = setTimeout(end, START_MS)
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on('line', (text) => {
        said.push(text)
        const line = parseLine(text)
        if (line) onLine(line)
        const [, address] = text.match(/^Listening on (http:\S+?)\/?$/) ?? []
        if (!address) return
        clearTimeout(late)
        done(address)
      })
    }
    ended.then(() => fail(new Error(`Deno ended: ${said.join('\n')}`)))
  })
  return {
    fetch: (path, init) => ask(`${base}/${name}${path}`, init),
    address_header: 'X-Forwarded-For',
    url: `${base}/${name}`,
    said: () => said.join('\n'),
    close,
  } satisfies Target & { url: string; said: () => string }
}

/** The connection strings of a Worker, by their bindings. */
type Databases = Partial<Record<'API_DATABASE' | 'JOBS_DATABASE', string>>
type Scheduled = {
  scheduled: (options: { cron: string; scheduledTime: Date }) => Promise<{ outcome: string }>
}
type Made = V4WorkerOptions & { hyperdrives: Record<string, string> }

/** A Worker `jobs` that is woken and does nothing. */
const STAND_IN = {
  name: 'watchpost-jobs',
  modules: true,
  scriptPath: join(ROOT, 'tests/support/jobs-stand-in.js'),
  compatibilityDate: '2026-04-01',
} satisfies V4WorkerOptions

const BUILD_LOCK = 8771
const optionsOf = (worker: Worker) => `${worker}.json`
/** The Worker whose code both run. */
const CODE = 'api' satisfies Worker
const NOBODY = 'postgres://nobody:none@127.0.0.1:1/none'

/**
 * The Workers as they would be uploaded, each with what wrangler makes of wrangler.toml; the first process
 * that needs them makes both. The others do without wrangler, which takes seconds to load.
 */
async function builtWorkers(): Promise<string> {
  const folder = join(inject('run_folder'), 'workers')
  await underLock(BUILD_LOCK, async () => {
    if (existsSync(folder)) return
    const { unstable_getMiniflareWorkerOptions: readOptions } = await import('wrangler')
    for (const binding of ['API_DATABASE', 'JOBS_DATABASE']) {
      process.env[`CLOUDFLARE_HYPERDRIVE_LOCAL_CONNECTION_STRING_${binding}`] = NOBODY
    }
    // Both are the same code: tests/scripts/deploy-cloudflare.test.ts has each bundled by itself.
    await buildWorker(CODE, `${folder}.draft`)
    for (const worker of WORKERS) {
      const { workerOptions } = readOptions(WRANGLER, worker)
      await writeFile(join(`${folder}.draft`, optionsOf(worker)), JSON.stringify(workerOptions))
    }
    await rename(`${folder}.draft`, folder)
  })
  return folder
}

/** Both Workers of wrangler.toml in workerd; `jobs: false` binds a stand-in to the API. */
export async function startWorkers({
  variables,
  databases,
  jobs = true,
  onLine,
}: Options & { databases: Databases; jobs?: boolean }) {
  const folder = await builtWorkers()
  // Most test files run only on Node, and loading miniflare takes longer than many of them.
  const { Miniflare, convertV4MiniflareOptions } = await import('miniflare')
  const built = async (worker: Worker): Promise<V4WorkerOptions> => {
    // safe: wrangler made them for miniflare
    const options = JSON.parse(await readFile(join(folder, optionsOf(worker)), 'utf8')) as Made
    const hyperdrives = Object.keys(options.hyperdrives).map((binding) => [
      binding,
      databases[binding as keyof Databases] ?? NOBODY,
    ])
    return {
      ...options,
      // They are for a folder of modules; a built Worker is one.
      modulesRules: undefined,
      name: `watchpost-${worker}`,
      modules: true,
      modulesRoot: join(folder, CODE),
      scriptPath: join(folder, CODE, 'cloudflare.js'),
      bindings: variables,
      hyperdrives: Object.fromEntries(hyperdrives),
      // Without a hop through miniflare's own Worker.
      unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
    }
  }
  const server = new Miniflare(
    convertV4MiniflareOptions({
      host: '127.0.0.1',
      port: 0,
      cf: false,
      logRequests: false,
      handleStructuredLogs: ({ message }) => {
        const line = parseLine(message)
        if (line) onLine(line)
      },
      workers: [await built('api'), jobs ? await built('jobs') : STAND_IN],
    }),
  )
  await server.ready
  const url = await server.unsafeGetDirectURL('watchpost-api')
  return {
    fetch: (path, init) => ask(new URL(path, url), init),
    address_header: 'CF-Connecting-IP',
    /** Runs the cron trigger once. */
    scheduled: async () => {
      // safe: its type comes from a package of types that is not installed
      const worker = (await server.getWorker('watchpost-jobs')) as unknown as Scheduled
      const options = { cron: '* * * * *', scheduledTime: new Date() }
      const { outcome } = await worker.scheduled(options)
      if (outcome !== 'ok') throw new Error(`the cron trigger ended with ${outcome}`)
    },
    close: () => server.dispose(),
  } satisfies Target & { scheduled: () => Promise<void> }
}

/** Sends one request with exactly these headers; fetch would add its own. */
async function ask(url: string | URL, { method, headers = new Headers(), body = '' }: Ask) {
  const given = Object.fromEntries(headers)
  // safe: undici takes any method, its type lists the usual ones
  const options = { method: method as 'GET', headers: given, body: body === '' ? null : body }
  const answer = await request(url, options)
  const pairs = Object.entries(answer.headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  )
  const text = await answer.body.text()
  return new Response(text === '' ? null : text, { status: answer.statusCode, headers: pairs })
}

function parseLine(text: string): Line | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
