import { behindGateway } from './address.ts'
import { resolveAll as resolve, nodeSend as send } from './channels/transport/send-node.ts'
import { createPool } from './db.ts'
import { createEdgeApi, supabaseVariables, withoutFunctionName } from './edge/edge.ts'
import { createEdgeJobs } from './edge/edge-jobs.ts'
import { createMail as mail } from './mail/smtp.ts'

function environment(): Record<string, string> {
  const given = Deno.env.toObject()
  return given.SUPABASE_URL ? { ...supabaseVariables(given.SUPABASE_URL, given), ...given } : given
}

/** The API as the Edge Function `api`. It never uses SUPABASE_DB_URL, which bypasses row-level security. */
export function serveApi(): void {
  const answer = createEdgeApi(environment(), {
    connect: (login, on_error) => createPool({ ...login, on_error, max: 4 }),
    send,
    mail,
    resolve,
    address: ({ trusted_proxies }) => behindGateway(trusted_proxies),
    wait_until: (work) => globalThis.EdgeRuntime?.waitUntil(work),
  })
  Deno.serve((request) => answer(withoutFunctionName(request)))
}

/** The jobs as the Edge Function `jobs`, which supabase/cron.sql calls every minute. */
export function serveJobs(): void {
  Deno.serve(createEdgeJobs(environment(), { send, mail }).handler())
}
