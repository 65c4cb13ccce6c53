import { failed, perform, SEND_TIMEOUT_MS, type Send } from './send.ts'
import { type AllowList, checkTarget } from './target.ts'

/**
 * workersSend is how Cloudflare Workers reach a target: names and literal addresses are judged here,
 * the rest is the platform's, whose fetch leaves for the public internet only. Not for Deno or Node,
 * whose own fetch reaches the inside.
 */
export function workersSend({ allow }: { allow: AllowList }): Send {
  return async ({ url, method, headers, body }) => {
    if (!checkTarget(url, { allow }).ok) return failed('refused')
    const signal = AbortSignal.timeout(SEND_TIMEOUT_MS)
    return perform(() => fetch(url, { method, headers, body, redirect: 'manual', signal }), {
      explain: () => (signal.aborted ? 'timeout' : 'unreachable'),
    })
  }
}
