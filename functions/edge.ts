import { addressLimit } from './address.ts'
import { createApp } from './app.ts'
import type { Send } from './channels/send.ts'
import { type EdgeApi, readEdgeApi } from './config.ts'
import type { Deps } from './context.ts'
import type { Database, DatabaseOptions } from './db.ts'
import { consoleLog as log } from './log.ts'
import { checkLogin } from './login.ts'
import { remoteSessions } from './sessions.ts'

/** What an edge entry brings to the API of its own. */
type Platform = {
  /** What goes wrong with a connection that no request holds is told to `on_error`. */
  connect: (login: DatabaseOptions, on_error: (error: Error) => void) => Database
  send: (config: EdgeApi) => Send
  address: (config: EdgeApi) => Deps['address']
  /** Lets a call live on behind its answer until this is done. */
  afterwards: (work: Promise<unknown>) => void
  /** Runs the jobs, where that is no call by HTTP. */
  call_jobs?: () => Promise<unknown>
}

/** createEdgeApi is the API where a platform calls it: what service.ts is for a process. */
export function createEdgeApi(
  environment: Record<string, unknown>,
  { connect, send, address, afterwards, call_jobs }: Platform,
): (request: Request) => Response | Promise<Response> {
  const config = readEdgeApi(environment)
  const { seal, allow, limits, origins, public_url, auth, jobs } = config
  const call = call_jobs ?? (jobs && (() => callByHttp(jobs)))
  const app = createApp({
    db: checkedLogin(
      connect({ ...config.database, application_name: 'watchpost-api' }, (error) =>
        log({ msg: 'database connection', error: error.message }),
      ),
    ),
    seal,
    allow,
    limits,
    origins,
    public_url,
    verify_session: remoteSessions(auth),
    send: send(config),
    address: address(config),
    address_limit: addressLimit(limits.address),
    // Static files are the platform's: it answers them before it calls us.
    asset: async () => undefined,
    wake: call && (() => afterwards(call().catch(sayUnwoken))),
    log,
  })
  const context = { waitUntil: afterwards, passThroughOnException: () => undefined, props: {} }
  return (request) => app.fetch(request, {}, context)
}

/** An isolate has no start at which a login could be checked, so its first use is. */
function checkedLogin(db: Database): Database {
  let is_checked = false
  const connect: Database['connect'] = async () => {
    if (!is_checked) await checkLogin(db)
    is_checked = true
    return db.connect()
  }
  return { ...db, connect }
}

/** Calls the address that createJobsHandler answers. */
async function callByHttp({ url, secret }: NonNullable<EdgeApi['jobs']>): Promise<void> {
  const headers = { Authorization: `Bearer ${secret}` }
  const { ok, status, body } = await fetch(url, { method: 'POST', headers })
  await body?.cancel()
  if (!ok) throw new Error(`the jobs answered ${status}`)
}

function sayUnwoken(error: unknown): void {
  log({ msg: 'waking the jobs', error: String(error) })
}

/** once keeps what the first call has made: a Worker is told its environment with every request. */
export function once<Environment, Made>(
  make: (environment: Environment) => Made,
): (environment: Environment) => Made {
  let made: Made | undefined
  return (environment) => {
    made ??= make(environment)
    return made
  }
}

/** withLogins adds what each Hyperdrive connects with, by the name that a login has elsewhere. */
export function withLogins(bindings: object): Record<string, unknown> {
  const logins = Object.entries(bindings).flatMap(([name, binding]) =>
    binding?.connectionString ? [[`${name}_URL`, binding.connectionString]] : [],
  )
  return { ...bindings, ...Object.fromEntries(logins) }
}

/** supabaseVariables are what a function of this project is told by its platform, where nobody set them. */
export function supabaseVariables(project_url: string) {
  return {
    PUBLIC_URL: `${project_url}/functions/v1/api`,
    AUTH_ISSUER: `${project_url}/auth/v1`,
    JOBS_URL: `${project_url}/functions/v1/jobs`,
  }
}

/** withoutFunctionName: Supabase calls a function as /<its name>/…, and the app knows of no such prefix. */
export function withoutFunctionName(request: Request): Request {
  const url = new URL(request.url)
  url.pathname = url.pathname.replace(/^\/[^/]*/, '')
  return new Request(url, request)
}
