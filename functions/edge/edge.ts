import { z } from 'zod'
import { addressLimit } from '../address.ts'
import { createApp } from '../app.ts'
import type { SendBytes, SendMail } from '../channels/transport/send.ts'
import { createPush } from '../channels/transport/send-push.ts'
import { type EdgeApi, readEdgeApi } from '../config.ts'
import { consoleSettings } from '../console-settings.ts'
import type { Deps } from '../context.ts'
import type { Database, DatabaseOptions } from '../db.ts'
import { consoleLog as log } from '../log.ts'
import { mailByApi } from '../mail/resend.ts'
import { checkLogin } from '../postgres/check-login.ts'
import { remoteSessions } from '../sign-in/sessions.ts'

/** What an edge entry supplies to the API. */
type Platform = {
  /** `on_error` receives the errors of idle connections. */
  connect: (login: DatabaseOptions, on_error: (error: Error) => void) => Database
  send: (config: EdgeApi) => SendBytes
  /** By default through the mail API alone. */
  mail?: (settings: EdgeApi['mail']) => SendMail | undefined
  /** Resolves names, where the platform has DNS. */
  resolve?: Deps['resolve']
  address: (config: EdgeApi) => Deps['address']
  /** The page of the console, where the platform has its files beside the API. */
  page?: () => Promise<Response>
  /** Keeps a call alive after its response until this promise settles. */
  wait_until: (work: Promise<unknown>) => void
  /** Runs the jobs, where the platform can do that without HTTP. */
  call_jobs?: () => Promise<unknown>
}

/** The API on an edge platform; the counterpart of service.ts, which runs it in a process. */
export function createEdgeApi(
  environment: Record<string, unknown>,
  { connect, send, mail = mailByApi, resolve, address, page, wait_until, call_jobs }: Platform,
): (request: Request) => Response | Promise<Response> {
  const config = readEdgeApi(environment)
  const { seal, allow, limits, origins, public_url, auth, jobs, tiles } = config
  const call = call_jobs ?? (jobs && (() => callJobsByHttp(jobs)))
  const sendHttp = send(config)
  const app = createApp({
    db: checkedLogin(
      connect({ ...config.database, application_name: 'watchpost-api' }, (error) =>
        log({ msg: 'database connection', error: error.message }),
      ),
    ),
    seal,
    allow,
    resolve,
    limits,
    origins,
    public_url,
    issuer_origin: new URL(auth.issuer).origin,
    tile_origin: tiles ? new URL(tiles.url).origin : undefined,
    verify_session: remoteSessions(auth),
    send: sendHttp,
    push: createPush(config, sendHttp),
    mail: mail(config.mail),
    address: address(config),
    address_limit: addressLimit(limits.address),
    has_console: page !== undefined,
    // The platform serves static files itself, before it calls the API.
    asset: async () => undefined,
    wake: call && (() => wait_until(call().catch(logWakeFailure))),
    log,
  })
  const { issuer: auth_url, publishable_key: auth_key } = auth
  app.route('/', consoleSettings({ auth_url, auth_key, by: 'mail', tiles }))
  // What the platform answers cannot be given our headers; a copy can.
  if (page) app.get('/', async () => new Response((await page()).body, { headers: PAGE_HEADERS }))
  const context = { waitUntil: wait_until, passThroughOnException: () => undefined, props: {} }
  return (request) => app.fetch(request, {}, context)
}

/** Asked for again each time: it names the files of this version. */
const PAGE_HEADERS = { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-cache' }

/** Checks the login on the first connection, because an isolate has no startup phase. */
function checkedLogin(db: Database): Database {
  let is_checked = false
  const connect: Database['connect'] = async () => {
    if (!is_checked) await checkLogin(db)
    is_checked = true
    return db.connect()
  }
  return { ...db, connect }
}

/** Runs the jobs through the handler that createJobsHandler made. */
async function callJobsByHttp({ url, secret }: NonNullable<EdgeApi['jobs']>): Promise<void> {
  const headers = { Authorization: `Bearer ${secret}` }
  const { ok, status, body } = await fetch(url, { method: 'POST', headers })
  await body?.cancel()
  if (!ok) throw new Error(`the jobs answered ${status}`)
}

function logWakeFailure(error: unknown): void {
  log({ msg: 'waking the jobs', error: String(error) })
}

/** Calls `make` once and returns its result ever after: a Worker gets its environment with every request. */
export function memoize<Environment, Made>(
  make: (environment: Environment) => Made,
): (environment: Environment) => Made {
  let made: Made | undefined
  return (environment) => {
    made ??= make(environment)
    return made
  }
}

/** The bindings of a Worker plus `<NAME>_URL` for each Hyperdrive binding: its connection string. */
export function withDbUrls(bindings: object): Record<string, unknown> {
  const logins = Object.entries(bindings).flatMap(([name, binding]) =>
    binding?.connectionString ? [[`${name}_URL`, binding.connectionString]] : [],
  )
  return { ...bindings, ...Object.fromEntries(logins) }
}

const PublishableKeys = z.record(z.string(), z.string())

/** Defaults of the variables that follow from the URL of a Supabase project, and from the keys it gives a function. */
export function supabaseVariables(
  project_url: string,
  { SUPABASE_PUBLISHABLE_KEYS, SUPABASE_ANON_KEY }: Record<string, string> = {},
) {
  const keys = PublishableKeys.safeParse(parsed(SUPABASE_PUBLISHABLE_KEYS ?? '{}')).data ?? {}
  const key = keys.default ?? Object.values(keys)[0] ?? SUPABASE_ANON_KEY
  return {
    ...(key ? { AUTH_PUBLISHABLE_KEY: key } : {}),
    PUBLIC_URL: `${project_url}/functions/v1/api`,
    AUTH_ISSUER: `${project_url}/auth/v1`,
    JOBS_URL: `${project_url}/functions/v1/jobs`,
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** The request without the first segment of its path: Supabase calls a function at /<function name>/…. */
export function withoutFunctionName(request: Request): Request {
  const url = new URL(request.url)
  url.pathname = url.pathname.replace(/^\/[^/]*/, '')
  return new Request(url, request)
}
