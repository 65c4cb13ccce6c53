import { addressLimit, clientAddress } from './address.ts'
import { createApp } from './app.ts'
import type { SendBytes } from './channels/transport/send.ts'
import { mqttSender } from './channels/transport/send-mqtt.ts'
import { nodeSend, resolveAll } from './channels/transport/send-node.ts'
import { createPush } from './channels/transport/send-push.ts'
import type { Config } from './config.ts'
import { createPool, type Database, inTransaction } from './db.ts'
import { registerFeeds } from './jobs/ingest.ts'
import { PORTIONS } from './jobs/match-ahead.ts'
import type { JobDeps } from './jobs/queue.ts'
import { createZoneMirror } from './jobs/zone-mirror.ts'
import { createRunner } from './jobs.ts'
import type { Log } from './log.ts'
import { createMail } from './mail/smtp.ts'
import { createNews, type News } from './news.ts'
import { asset } from './node/assets.ts'
import { openConnection } from './node/connections.ts'
import { consoleRoutes } from './node/console.ts'
import { createMetrics, type Metrics, metricsRoutes } from './node/metrics.ts'
import { closeServer, openServer } from './node/node-server.ts'
import { runStreams } from './node/streams.ts'
import { checkLogin } from './postgres/check-login.ts'
import { listen } from './postgres/listen.ts'
import { tryPreparedStatements } from './postgres/pooler.ts'
import { createIssuer, ISSUER_PATH } from './sign-in/issuer.ts'
import { issuerProblem } from './sign-in/jwks.ts'
import { remoteSessions } from './sign-in/sessions.ts'
import { SIGN_IN_PATH, signInPage } from './sign-in/sign-in-page.ts'
import { traceFetch, traceMail, traceMqtt, traceSend } from './tracing/outgoing.ts'
import type { TracingSettings } from './tracing/settings.ts'
import { NO_TRACING, type Tracing, traceIdOf } from './tracing/tracing.ts'

const MAX_STOP_SECONDS = 10
/** Of the ten of the jobs: one event inside very many zones uses as much of PostgreSQL. */
const MATCHING_CONNECTIONS = 3
/** The last spans are not worth more. */
const MAX_TRACES_SECONDS = 3
export type Service = {
  /** Stops within about ten seconds. Interrupted jobs run again at the next start. */
  stop: () => Promise<void>
}

/** Runs the jobs in this process, and the API if the configuration has a login for it. */
export async function startService(
  config: Config,
  writeLog: Log,
  plainSend: SendBytes = nodeSend(config),
): Promise<Service> {
  const tracing = await createTracing(config.tracing, writeLog)
  const metrics =
    config.metrics &&
    createMetrics({ on_error: (error) => writeLog({ msg: 'metrics', error: String(error) }) })
  const log: Log = (line) => {
    metrics?.count(line)
    const trace_id = traceIdOf(tracing)
    writeLog(trace_id ? { ...line, trace_id } : line)
  }
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
      prepared: config.prepared_statements,
      on_error: (error) => log({ msg: 'database connection', error: error.message }),
    })
    pools.push(() => db.end())
    metrics?.watchPool(application_name.replace('watchpost-', ''), db.state)
    return db
  }
  let hearing = () => false
  try {
    const { seal, allow } = config
    const send = traceSend(tracing, plainSend)
    const smtp = createMail(config.mail)
    pools.push(
      async () => smtp?.close(),
      () => withTimeout(MAX_TRACES_SECONDS, tracing.stop()),
    )
    const mail = traceMail(tracing, smtp)
    const mqtt = traceMqtt(tracing, mqttSender(config))
    const push = createPush(config, send)
    const commonDeps = { seal, allow, send, mail, mqtt, push, log, tracing }
    const news = createNews()
    busy.push(async () => news.stop())
    const jobs = pool(config.jobs_database_url, 'watchpost-jobs')
    await checkSchema(jobs)
    metrics?.readFrom(jobs)
    if (config.prepared_statements) await tryPreparedStatements(jobs)
    if (config.api_database_url) {
      const db = pool(config.api_database_url, 'watchpost-api')
      await checkLogin(db)
      if (config.prepared_statements) await tryPreparedStatements(db)
      const app = await createAppOn(config, { ...commonDeps, db }, news, () => hearing())
      if (metrics && config.metrics?.port === undefined) {
        app.route('/', metricsRoutes(metrics, config.metrics?.token))
      }
      const server = await openServer(config, app.fetch)
      busy.push(() => closeServer(server))
    }
    if (metrics) await serveMetrics(config, metrics, { busy, log })
    await registerFeeds(jobs, config.feeds, config.disabled_feeds)
    const running = runJobs(config, { ...commonDeps, db: jobs }, news)
    hearing = running.isHearing
    busy.push(running.stop)
    busy.push(
      runStreams({ db: jobs, feeds: config.feeds, open: openConnection, log, tracing }).stop,
    )
    return { stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Loads the packages of OpenTelemetry only where traces are sent. */
async function createTracing(
  settings: TracingSettings | undefined,
  writeLog: Log,
): Promise<Tracing> {
  if (!settings) return NO_TRACING
  try {
    const { startTracing } = await import('./tracing/otlp/otlp.ts')
    return startTracing(settings, (error) => writeLog({ msg: 'tracing', error }))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'))
      throw error
    throw new Error(
      'OTEL_EXPORTER_OTLP_ENDPOINT is set, but the packages that send traces are not installed. Run: sh scripts/setup.sh tracing',
    )
  }
}

type Close = () => Promise<unknown>
type App = ReturnType<typeof createApp>

async function closeAll(closes: Close[], log: Log): Promise<void> {
  const done = closes.splice(0).map((close) => withTimeout(MAX_STOP_SECONDS, close()))
  for (const result of await Promise.allSettled(done)) {
    if (result.status === 'rejected') log({ msg: 'stopping', error: String(result.reason) })
  }
}

/** Serves the metrics on a port of their own, if there is one; without a token to this machine alone. */
async function serveMetrics(
  { metrics: given, api_database_url, host }: Config,
  metrics: Metrics,
  { busy, log }: { busy: Close[]; log: Log },
): Promise<void> {
  const { port, token } = given ?? {}
  if (port === undefined) {
    if (!api_database_url) {
      log({
        msg: 'metrics',
        error: 'METRICS_PORT is not set, and this process serves no API that could show them',
      })
    }
    return
  }
  const address = { host: token === undefined ? '127.0.0.1' : host, port }
  const server = await openServer(address, metricsRoutes(metrics, token).fetch)
  busy.push(() => closeServer(server))
}

type CommonDeps = Pick<
  JobDeps,
  'db' | 'seal' | 'send' | 'mail' | 'mqtt' | 'push' | 'allow' | 'log'
> & { tracing: Tracing }

type LocalNews = News & { wake: () => void }

async function createAppOn(
  config: Config,
  commonDeps: CommonDeps,
  news: LocalNews,
  isHearing: () => boolean,
): Promise<App> {
  const { limits, origins, public_url } = config
  const { verify_session, mount } = await createSignIn(config, commonDeps)
  const app = createApp({
    ...commonDeps,
    resolve: resolveAll,
    verify_session,
    limits,
    origins,
    public_url,
    has_console: true,
    issuer_origin: config.auth && new URL(config.auth.issuer).origin,
    tile_origin: config.tiles ? new URL(config.tiles.url).origin : undefined,
    address: clientAddress(config.trusted_proxies),
    address_limit: addressLimit(limits.address),
    asset,
    news,
    wake: news.wake,
    jobs_start: () => (isHearing() ? 'at_once' : 'polling'),
  })
  mount(app)
  return app
}

/** How session tokens are verified: those of the configured issuer, or of Watchpost's own issuer. */
async function createSignIn(
  { auth, origins, public_url, tiles }: Config,
  { db, seal, log }: CommonDeps,
) {
  if (auth) {
    // Not awaited: an issuer that is unavailable must not delay the alerts.
    issuerProblem(auth.jwks_url).then(
      (problem) => problem && log({ msg: 'sign-in', error: problem }),
    )
    const { issuer: auth_url, publishable_key: auth_key } = auth
    const pages = consoleRoutes({ auth_url, auth_key, by: 'mail', tiles })
    const mount = (app: App) => app.route('/', pages)
    return { verify_session: remoteSessions(auth), mount }
  }
  const { verify_session, routes } = await createIssuer({ db, seal, origins, public_url })
  const pages = consoleRoutes({ auth_url: `.${ISSUER_PATH}`, auth_key: null, by: 'link', tiles })
  const mount = (app: App) =>
    app.route(ISSUER_PATH, routes).route(SIGN_IN_PATH, signInPage).route('/', pages)
  return { verify_session, mount }
}

function runJobs(config: Config, commonDeps: CommonDeps, news: LocalNews) {
  const { feeds, contact, public_url, heartbeat_url, listen_database_url: url } = config
  const tracedFetch = traceFetch(commonDeps.tracing, fetch)
  const zones = createZoneMirror(commonDeps.db, { log: commonDeps.log })
  // Read before the first event comes. If that fails now, whoever matches it tries again.
  inTransaction(commonDeps.db, zones.follow).catch(() => undefined)
  const runner = createRunner({
    ...commonDeps,
    feeds,
    contact,
    public_url,
    heartbeat_url,
    fetch: tracedFetch,
    portions: { ...PORTIONS, abreast: MATCHING_CONNECTIONS },
    zones,
  }).start()
  const wake = (queue?: string) => {
    runner.wake(queue)
    news.wake()
  }
  const listener = listen({ url, wake, log: commonDeps.log })
  return {
    isHearing: listener.isHearing,
    stop: () => Promise.all([listener.stop(), runner.stop()]),
  }
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
      'The database does not contain the Watchpost schema yet. Create it first: npm start -- --database-url <administrator’s URL>',
    )
  }
  // Otherwise forced row-level security hides every row from the functions that the policies call.
  if (!found.bypasses)
    throw new Error(
      'The role watchpost_owner has lost BYPASSRLS. Restore it: alter role watchpost_owner bypassrls',
    )
}

async function withTimeout<T>(seconds: number, work: Promise<T>): Promise<T> {
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
