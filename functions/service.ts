import { once } from 'node:events'
import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { addressLimit, clientAddress } from './address.ts'
import { createApp } from './app.ts'
import { asset } from './assets.ts'
import type { Send } from './channels/send.ts'
import { nodeSend } from './channels/send-node.ts'
import type { Config } from './config.ts'
import { createPool, type Database, inTransaction } from './db.ts'
import { createIssuer, ISSUER_PATH } from './issuer.ts'
import { registerFeeds } from './jobs/ingest.ts'
import type { JobDeps } from './jobs/queue.ts'
import { createRunner } from './jobs.ts'
import { issuerProblem } from './jwks.ts'
import { listen } from './listen.ts'
import type { Log } from './log.ts'
import { checkLogin } from './login.ts'
import { remoteSessions } from './sessions.ts'

const STOP_SECONDS = 10
/** As the other platforms: Node's own 16 KB would end a long address before the app could say why. */
const MOST_HEADER_BYTES = 64 * 1024
/** Who sends slower than this is cut off: a request that never ends holds a connection and no more. */
const HEADERS_SECONDS = 15
const REQUEST_SECONDS = 60
/** Beyond these, newcomers are turned away at once instead of all being kept waiting. */
const MOST_CONNECTIONS = 5_000

export type Service = {
  /** Ends what runs within about ten seconds; what is cut off is done again by whoever starts next. */
  stop: () => Promise<void>
}

/** startService runs the jobs, and the API where the configuration has a login for it, in this process. */
export async function startService(
  config: Config,
  log: Log,
  send: Send = nodeSend(config),
): Promise<Service> {
  const busy: Close[] = []
  const pools: Close[] = []
  const stop = async () => {
    await closeAll(busy, log)
    await closeAll(pools, log)
  }
  const pool = (url: string, application_name: string) => {
    const db = createPool({
      url,
      application_name,
      names: config.prepared_statements,
      on_error: (error) => log({ msg: 'database connection', error: error.message }),
    })
    pools.push(() => db.end())
    return db
  }
  try {
    const { seal, allow } = config
    const outside = { seal, allow, send, log }
    const jobs = pool(config.jobs_database_url, 'watchpost-jobs')
    await checkSchema(jobs)
    if (config.api_database_url) {
      const db = pool(config.api_database_url, 'watchpost-api')
      await checkLogin(db)
      const server = await openPort(config, await createAppOn(config, { ...outside, db }))
      busy.push(() => closeServer(server))
    }
    await registerFeeds(jobs, config.feeds)
    busy.push(runJobs(config, { ...outside, db: jobs }))
    return { stop }
  } catch (error) {
    await stop()
    throw error
  }
}

type Close = () => Promise<unknown>
type App = ReturnType<typeof createApp>

async function closeAll(closes: Close[], log: Log): Promise<void> {
  const done = closes.splice(0).map((close) => withinSeconds(STOP_SECONDS, close()))
  for (const result of await Promise.allSettled(done)) {
    if (result.status === 'rejected') log({ msg: 'stopping', error: String(result.reason) })
  }
}

type Outside = Pick<JobDeps, 'db' | 'seal' | 'send' | 'allow' | 'log'>

async function createAppOn(config: Config, outside: Outside): Promise<App> {
  const { limits, origins, public_url } = config
  const { verify_session, mount } = await signIn(config, outside)
  const app = createApp({
    ...outside,
    verify_session,
    limits,
    origins,
    public_url,
    address: clientAddress(config.trusted_proxies),
    address_limit: addressLimit(limits.address),
    asset,
  })
  mount(app)
  return app
}

/** Another issuer's tokens, or Watchpost's own and what makes them. */
async function signIn({ auth, origins, public_url }: Config, { db, seal, log }: Outside) {
  if (auth) {
    // Not awaited: an issuer that is away for a moment keeps nobody's alerts back.
    issuerProblem(auth.jwks_url).then(
      (problem) => problem && log({ msg: 'sign-in', error: problem }),
    )
    return { verify_session: remoteSessions(auth), mount: () => undefined }
  }
  const { verify_session, routes } = await createIssuer({ db, seal, origins, public_url })
  return { verify_session, mount: (app: App) => app.route(ISSUER_PATH, routes) }
}

function runJobs(config: Config, outside: Outside): Close {
  const { feeds, contact, jobs_database_url: url } = config
  const runner = createRunner({ ...outside, feeds, contact, fetch }).start()
  const ears = listen({ url, wake: runner.wake, log: outside.log })
  return () => Promise.all([ears.stop(), runner.stop()])
}

/** Fails where the port is taken, as the operating system says it (EADDRINUSE). */
async function openPort({ host, port }: Config, app: App): Promise<Server> {
  // safe: without TLS options this is a node:http server
  const serverOptions = {
    maxHeaderSize: MOST_HEADER_BYTES,
    headersTimeout: HEADERS_SECONDS * 1000,
    requestTimeout: REQUEST_SECONDS * 1000,
    connectionsCheckingInterval: 5_000,
  }
  const server = createAdaptorServer({ fetch: app.fetch, serverOptions }) as Server
  server.maxConnections = MOST_CONNECTIONS
  server.listen(port, host)
  await once(server, 'listening')
  return server
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  // A kept-alive connection becomes idle only when its last answer is out.
  const idle = setInterval(() => server.closeIdleConnections(), 50)
  await withinSeconds(STOP_SECONDS / 2, closed).catch(() => server.closeAllConnections())
  clearInterval(idle)
}

async function checkSchema(jobs: Database): Promise<void> {
  const [found] = await inTransaction(
    jobs,
    (sql) => sql<{ schema: boolean; bypasses: boolean | null }>`
      select to_regclass('watchpost.sources') is not null as schema,
        (select rolbypassrls from pg_roles where rolname = 'watchpost_owner') as bypasses`,
  )
  if (!found?.schema) {
    throw new Error(
      'The database has no Watchpost in it yet. Bring it there first: npm start -- --database-url <administrator’s URL>',
    )
  }
  // Forced row-level security would hide every row from the functions that decide who sees what.
  if (!found.bypasses)
    throw new Error(
      'The role watchpost_owner has lost BYPASSRLS: alter role watchpost_owner bypassrls',
    )
}

async function withinSeconds<T>(seconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${seconds} s`)), seconds * 1000)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
