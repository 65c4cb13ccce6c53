import type { HttpBindings } from '@hono/node-server'
import ipaddr from 'ipaddr.js'
import type { Deps } from './context.ts'
import type { CidrRange } from './environment.ts'

const WINDOW_MS = 60_000
/** About 2 MB of memory. Beyond it the least recently seen address is dropped. */
const MAX_ADDRESSES = 20_000

/**
 * The address of the client: that of the peer or, if the peer is a trusted proxy, the rightmost address in
 * X-Forwarded-For that is not a trusted proxy. Anybody could have written what is further left.
 */
export function clientAddress(trusted: readonly CidrRange[]): Deps['address'] {
  return (c) => {
    // safe: the Node server hands every request its socket
    const { incoming } = c.env as unknown as HttpBindings
    return behindProxies(incoming.socket.remoteAddress, c.req.header('x-forwarded-for'), trusted)
  }
}

/**
 * clientAddress for functions that only their platform's gateway can reach: the last entry of
 * X-Forwarded-For, which the gateway added, is the peer.
 */
export function behindGateway(trusted: readonly CidrRange[]): Deps['address'] {
  return (c) => {
    const hops = (c.req.header('x-forwarded-for') ?? '').split(',')
    const peer = hops.pop()?.trim()
    return behindProxies(peer, hops.join(), trusted)
  }
}

/** clientAddress for a given peer and X-Forwarded-For header; `unknown` without a valid peer. */
export function behindProxies(
  peer: string | undefined,
  forwarded: string | undefined,
  trusted: readonly CidrRange[],
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

/** A rate limit per address in this process (GCRA): a burst of `perMinute` requests, then evenly spaced. */
export function addressLimit(
  perMinute: number,
  now: () => number = Date.now,
): Deps['address_limit'] & { size: () => number } {
  const step = WINDOW_MS / perMinute
  // The theoretical arrival time (TAT) of each address; least recently used first.
  const arrivals = new Map<string, number>()
  const consume = (address: string) => {
    const bucket = bucketOf(address)
    const at = now()
    const known = arrivals.get(bucket) ?? at
    const next = Math.max(known, at) + step
    const is_allowed = next <= at + WINDOW_MS
    arrivals.delete(bucket)
    arrivals.set(bucket, is_allowed ? next : known)
    if (arrivals.size > MAX_ADDRESSES) {
      const oldest = arrivals.keys().next()
      if (!oldest.done) arrivals.delete(oldest.value)
    }
    return is_allowed ? 0 : Math.max(1, Math.ceil((next - WINDOW_MS - at) / 1000))
  }
  return Object.assign(consume, { size: () => arrivals.size })
}

/** The key under which an address is limited: its /64 network for IPv6, the address itself for IPv4. */
export function bucketOf(address: string): string {
  const parsed = parse(address)
  if (!(parsed instanceof ipaddr.IPv6)) return address
  const network = parsed.toByteArray().map((byte, index) => (index < 8 ? byte : 0))
  return `${ipaddr.fromByteArray(network)}/64`
}

function parse(text: string | undefined): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (!text || !ipaddr.isValid(text)) return undefined
  // A dual-stack socket reports an IPv4 peer as ::ffff:a.b.c.d.
  return ipaddr.process(text)
}

function isTrusted(address: ipaddr.IPv4 | ipaddr.IPv6, trusted: readonly CidrRange[]): boolean {
  return trusted.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
  )
}
