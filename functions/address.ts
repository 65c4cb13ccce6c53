import type { HttpBindings } from '@hono/node-server'
import ipaddr from 'ipaddr.js'
import type { Range } from './config.ts'
import type { Deps } from './context.ts'

const WINDOW_MS = 60_000
/** About 2 MB; beyond it the address seen longest ago is forgotten. */
const MOST_REMEMBERED = 20_000

/**
 * clientAddress is the peer's own, unless the peer is a trusted proxy: then the nearest address in
 * X-Forwarded-For that is none. What stands left of that one, anybody may have written.
 */
export function clientAddress(trusted: readonly Range[]): Deps['address'] {
  return (c) => {
    // safe: the Node server hands every request its socket
    const { incoming } = c.env as unknown as HttpBindings
    return behindProxies(incoming.socket.remoteAddress, c.req.header('x-forwarded-for'), trusted)
  }
}

/**
 * behindGateway is for functions that only their platform's gateway reaches: what it wrote last into
 * X-Forwarded-For is the peer, and of the rest is believed what clientAddress would believe.
 */
export function behindGateway(trusted: readonly Range[]): Deps['address'] {
  return (c) => {
    const hops = (c.req.header('x-forwarded-for') ?? '').split(',')
    const peer = hops.pop()?.trim()
    return behindProxies(peer, hops.join(), trusted)
  }
}

/** behindProxies is clientAddress without a request. */
export function behindProxies(
  peer: string | undefined,
  forwarded: string | undefined,
  trusted: readonly Range[],
): string {
  let address = parse(peer)
  if (!address) return 'unknown'
  for (const hop of (forwarded ?? '').split(',').reverse()) {
    if (!isTrusted(address, trusted)) break
    const next = parse(hop.trim())
    if (!next) break
    address = next
  }
  return address.toString()
}

/** addressLimit is a GCRA per address in this process: `perMinute` at once, then evenly spaced. */
export function addressLimit(
  perMinute: number,
  now: () => number = Date.now,
): Deps['address_limit'] & { size: () => number } {
  const step = WINDOW_MS / perMinute
  // The theoretical arrival time of an address's next request; oldest use first.
  const arrivals = new Map<string, number>()
  const take = (address: string) => {
    const bucket = bucketOf(address)
    const at = now()
    const known = arrivals.get(bucket) ?? at
    const next = Math.max(known, at) + step
    const is_allowed = next <= at + WINDOW_MS
    arrivals.delete(bucket)
    arrivals.set(bucket, is_allowed ? next : known)
    if (arrivals.size > MOST_REMEMBERED) {
      const oldest = arrivals.keys().next()
      if (!oldest.done) arrivals.delete(oldest.value)
    }
    return is_allowed ? 0 : Math.max(1, Math.ceil((next - WINDOW_MS - at) / 1000))
  }
  return Object.assign(take, { size: () => arrivals.size })
}

/** Whoever has one IPv6 address has its whole /64. */
export function bucketOf(address: string): string {
  const parsed = parse(address)
  if (!(parsed instanceof ipaddr.IPv6)) return address
  const network = parsed.toByteArray().map((byte, index) => (index < 8 ? byte : 0))
  return `${ipaddr.fromByteArray(network)}/64`
}

function parse(text: string | undefined): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (!text || !ipaddr.isValid(text)) return undefined
  // On a dual-stack socket an IPv4 peer comes as ::ffff:a.b.c.d.
  return ipaddr.process(text)
}

function isTrusted(address: ipaddr.IPv4 | ipaddr.IPv6, trusted: readonly Range[]): boolean {
  return trusted.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
  )
}
