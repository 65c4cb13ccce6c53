import { hostOf, parseAddress } from '../../../shared/addresses.ts'
import type { Issue } from '../channel.ts'
import { type AllowList, isPermitted, localAddresses } from './target.ts'

/** Every address of a name, A and AAAA. */
export type Resolve = (host: string) => Promise<string[]>
type Network = { allow: AllowList; resolve?: Resolve | undefined }

/** After this long a name counts as unresolvable, which is accepted: it is judged again at every connection. */
const TIMEOUT_MS = 3_000

/** The host of a plain http URL whose addresses decide whether it is permitted; null for every other target. */
export function plainHost(target: string, { allow }: Pick<Network, 'allow'>): string | null {
  if (!URL.canParse(target)) return null
  const url = new URL(target)
  const host = hostOf(url)
  const isJudged = url.protocol !== 'http:' || parseAddress(host) || allow.names.has(host)
  return isJudged || localAddresses(host, allow) ? null : host
}

/** An issue when a target uses plain http and its name leads to an address that the operator does not permit. */
export async function checkPlainHttp(target: string, network: Network): Promise<Issue[]> {
  const { allow, resolve } = network
  const host = plainHost(target, network)
  if (host === null || !resolve) return []
  const addresses = await withTimeout(resolve(host))
  if (addresses.every((address) => isPermitted(address, { allow, host, is_plain: true }))) return []
  const message = `Use https://. Plain http is only for addresses that the operator permits in ALLOW_PRIVATE_TARGETS, and ${host} is at another one.`
  return [{ path: 'target', code: 'plain_http', message }]
}

/** The addresses; none when the name cannot be resolved in time. */
async function withTimeout(resolving: Promise<string[]>): Promise<string[]> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<string[]>((done) => {
    timer = setTimeout(() => done([]), TIMEOUT_MS)
  })
  try {
    return await Promise.race([resolving, late])
  } catch {
    return []
  } finally {
    clearTimeout(timer)
  }
}
