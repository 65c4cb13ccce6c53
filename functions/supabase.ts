import { behindGateway } from './address.ts'
import { nodeSend } from './channels/send-node.ts'
import { readEdgeApi, readEdgeJobs } from './config.ts'
import { createPool } from './db.ts'
import { callByHttp, createEdgeApp, createJobsHandler, createWake, drainOnce } from './edge.ts'
import { consoleLog as log } from './log.ts'

/** The API as the Edge Function `api`. It never reads SUPABASE_DB_URL, which goes past row-level security. */
export function serveApi(): void {
  const config = readEdgeApi(environment())
  const { jobs } = config
  const app = createEdgeApp(config, {
    db: createPool({
      ...config.database,
      application_name: 'watchpost-api',
      max: 4,
      on_error: (error) => log({ msg: 'database connection', error: error.message }),
    }),
    send: nodeSend(config),
    address: behindGateway(config.trusted_proxies),
    wake: jobs && createWake({ call: () => callByHttp(jobs), afterwards, log }),
    log,
  })
  const context = { waitUntil: afterwards, passThroughOnException: () => undefined, props: {} }
  Deno.serve((request) => app.fetch(withoutFunctionName(request), {}, context))
}

/** The jobs as the Edge Function `jobs`, which supabase/cron.sql calls every minute. */
export function serveJobs(): void {
  const config = readEdgeJobs(environment())
  if (!config.secret)
    throw new Error('JOBS_SECRET is not set: what a call of the jobs has to show.')
  const send = nodeSend(config)
  Deno.serve(createJobsHandler(config.secret, () => drainOnce(config, { send, log }), log))
}

/** What the platform tells every function of its project stands in for what nobody set. */
function environment(): Record<string, string> {
  const given = Deno.env.toObject()
  const { SUPABASE_URL: project } = given
  if (!project) return given
  return {
    PUBLIC_URL: `${project}/functions/v1/api`,
    AUTH_ISSUER: `${project}/auth/v1`,
    JOBS_URL: `${project}/functions/v1/jobs`,
    ...given,
  }
}

/** A function is called as /<its name>/…, and the app knows of no such prefix. */
function withoutFunctionName(request: Request): Request {
  const url = new URL(request.url)
  url.pathname = url.pathname.replace(/^\/[^/]*/, '')
  return new Request(url, request)
}

function afterwards(work: Promise<unknown>): void {
  if (typeof EdgeRuntime !== 'undefined') EdgeRuntime.waitUntil(work)
}
