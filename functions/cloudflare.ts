import { WorkerEntrypoint, waitUntil } from 'cloudflare:workers'
import { workersSend as send } from './channels/transport/send-workers.ts'
import { createPerRequest } from './db.ts'
import { createEdgeApi, memoize, withDbUrls } from './edge/edge.ts'
import { BACKGROUND_BUDGET_MS, createEdgeJobs } from './edge/edge-jobs.ts'

const api = memoize((env: ApiBindings) =>
  createEdgeApi(withDbUrls(env), {
    connect: (login) => createPerRequest({ ...login, wait_until: waitUntil }),
    send,
    address: () => (c) => c.req.header('cf-connecting-ip') ?? 'unknown',
    page: () => env.ASSETS.fetch(new URL('/', env.PUBLIC_URL)),
    wait_until: waitUntil,
    call_jobs: () => env.JOBS.drain(),
  }),
)
const createJobs = (env: JobsBindings) => createEdgeJobs(withDbUrls(env), { send, max_slots: 3 })

/** Called by the Worker `api` after a write. It is not reachable by HTTP, so it needs no secret. */
export class Jobs extends WorkerEntrypoint<JobsBindings> {
  drain() {
    return createJobs(this.env).drain(BACKGROUND_BUDGET_MS)
  }
}

/** The entry of both Workers, `api` and `jobs`; wrangler.toml gives each its bindings. */
export default {
  fetch: (request: Request, env: ApiBindings) => api(env)(request),
  scheduled: (_: unknown, env: JobsBindings) => createJobs(env).drain(),
}
