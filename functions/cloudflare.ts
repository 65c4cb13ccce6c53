import { WorkerEntrypoint, waitUntil } from 'cloudflare:workers'
import { workersSend } from './channels/send-workers.ts'
import { readEdgeApi, readEdgeJobs } from './config.ts'
import { createPerRequest } from './db.ts'
import { createEdgeApp, createWake, drainOnce } from './edge.ts'
import { consoleLog as log } from './log.ts'

function createApi(env: ApiBindings) {
  const config = readEdgeApi({ ...env, API_DATABASE_URL: env.API_DATABASE.connectionString })
  return createEdgeApp(config, {
    db: createPerRequest({ ...config.database, afterwards: waitUntil }),
    send: workersSend(config),
    address: (c) => c.req.header('cf-connecting-ip') ?? 'unknown',
    wake: createWake({ call: () => env.JOBS.drain(), afterwards: waitUntil, log }),
    log,
  })
}

async function drain(env: JobsBindings, most_ms = Number.POSITIVE_INFINITY) {
  const config = readEdgeJobs({ ...env, JOBS_DATABASE_URL: env.JOBS_DATABASE.connectionString })
  const budget_ms = Math.min(config.budget_ms, most_ms)
  // Three connections to the database and three to receivers: a call may have six.
  await drainOnce({ ...config, budget_ms }, { send: workersSend(config), log, most_slots: 3 })
}

/** What the Worker `api` calls after a write: no HTTP leads here, so no secret has to guard it. */
export class Jobs extends WorkerEntrypoint<JobsBindings> {
  // Behind an answer a call lives for 30 s, and what is being sent may take 15 of them.
  drain() {
    return drain(this.env, 15_000)
  }
}

let app: ReturnType<typeof createApi> | undefined

/** Cloudflare's entry for two Workers, which wrangler.toml gives their bindings: `api` and `jobs`. */
export default {
  fetch: (request: Request, env: ApiBindings, context: WorkersContext) => {
    app ??= createApi(env)
    return app.fetch(request, env, context)
  },
  scheduled: (_: unknown, env: JobsBindings) => drain(env),
}
