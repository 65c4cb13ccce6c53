import { isIP } from 'node:net'
import { join } from 'node:path'
import type { Paths } from '../config.ts'
import type { Ctx } from '../http/http.ts'
import { isSame } from './auth.ts'

/**
 * The secret that nginx sends so that the hub trusts its X-Real-IP; the installer writes it for
 * both.
 */
export const proxySecretFile = (paths: Paths) => join(paths.config_dir, 'proxy.secret')
const PROXY_HEADER = 'x-watchpost-proxy'
/** What tells the address of a client: a request that the hub makes to itself for one passes them on. */
export const ADDRESS_HEADERS = [PROXY_HEADER, 'x-real-ip']

const isLoopback = (address: string) => /^(127\.|::1$|::ffff:127\.)/.test(address)

/**
 * The client's address: X-Real-IP if the request proves to come from our nginx, otherwise the
 * peer's address.
 */
export function addressOf(c: Ctx): string {
  const peer = c.env?.incoming?.socket?.remoteAddress ?? 'unknown'
  const { proxy_secret } = c.get('deps')
  const shown = c.req.header(PROXY_HEADER)
  const told = c.req.header('x-real-ip')
  if (!proxy_secret || !shown || !told || !isIP(told)) return peer
  return isLoopback(peer) && isSame(shown, proxy_secret) ? told : peer
}

/** The client of a request; this machine and signed-in sessions have reserved capacity. */
export function clientOf(c: Ctx): { address: string; is_reserved: boolean } {
  const address = addressOf(c)
  return { address, is_reserved: isLoopback(address) || c.get('caller') !== undefined }
}
