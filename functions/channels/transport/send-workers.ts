import { failedSend, perform, SEND_TIMEOUT_MS, type SendBytes } from './send.ts'
import { type AllowList, checkTarget } from './target.ts'

/**
 * Sends from Cloudflare Workers. Names and literal addresses are checked here; DNS answers are not, because
 * the platform's fetch only reaches the public internet. Not for Deno or Node, whose fetch reaches private
 * addresses.
 */
export function workersSend({ allow }: { allow: AllowList }): SendBytes {
  return async ({ url, method, headers, body: given }) => {
    if (!checkTarget(url, { allow }).ok) return failedSend('refused')
    const signal = AbortSignal.timeout(SEND_TIMEOUT_MS)
    const body = method === 'GET' ? null : given
    return perform(() => fetch(url, { method, headers, body, redirect: 'manual', signal }), {
      explain: () => (signal.aborted ? 'timeout' : 'unreachable'),
    })
  }
}
