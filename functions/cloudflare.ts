import { WorkerEntrypoint, waitUntil } from 'cloudflare:workers'
import { workersSend as send } from './channels/send-workers.ts'
import { createPerRequest } from './db.ts'
import { createEdgeApi, once, withLogins } from './edge.ts'
import { BEHIND_AN_ANSWER_MS, createEdgeJobs } from './edge-jobs.ts'

const api = once((env: ApiBindings) =>
  createEdgeApi(withLogins(env), {
    connect: (login) => createPerRequest({ ...login, afterwards: waitUntil }),
    send,
    address: () => (c) => c.req.header('cf-connecting-ip') ?? 'unknown',
    afterwards: waitUntil,
    call_jobs: () => env.JOBS.drain(),
  }),
)
const createJobs = (env: JobsBindings) => createEdgeJobs(withLogins(env), { send, max_slots: 3 })

/** What the Worker `api` calls after a write: no HTTP leads here, so no secret has to guard it. */
export class Jobs extends WorkerEntrypoint<JobsBindings> {
  drain() {
    return createJobs(this.env).drain(BEHIND_AN_ANSWER_MS)
  }
}

/** Cloudflare's entry for two Workers, which wrangler.toml gives their bindings: `api` and `jobs`. */
export default {
  fetch: (request: Request, env: ApiBindings) => api(env)(request),
  scheduled: (_: unknown, env: JobsBindings) => createJobs(env).drain(),
}
