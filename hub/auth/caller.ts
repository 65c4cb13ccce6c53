import { isIP } from 'node:net'
import { join } from 'node:path'
import type { Paths } from '../config.ts'
import type { Ctx } from '../http/http.ts'
import { isSame } from './auth.ts'

/** What nginx shows, so that its X-Real-IP is believed; the installer writes it into both places. */
export const proxySecretFile = (paths: Paths) => join(paths.config_dir, 'proxy.secret')
const PROXY_HEADER = 'x-watchpost-proxy'

const isLoopback = (address: string) => /^(127\.|::1$|::ffff:127\.)/.test(address)

/** Where a request comes from: the peer, or what our nginx says of it; from others that says nothing. */
export function addressOf(c: Ctx): string {
  const peer = c.env?.incoming?.socket?.remoteAddress ?? 'unknown'
  const { proxy_secret } = c.get('deps')
  const shown = c.req.header(PROXY_HEADER)
  const told = c.req.header('x-real-ip')
  if (!proxy_secret || !shown || !told || !isIP(told)) return peer
  return isLoopback(peer) && isSame(shown, proxy_secret) ? told : peer
}

/** Who guesses at a secret: this machine and who is signed in have places of their own. */
export function guesserOf(c: Ctx): { address: string; is_kept: boolean } {
  const address = addressOf(c)
  return { address, is_kept: isLoopback(address) || c.get('caller') !== undefined }
}
