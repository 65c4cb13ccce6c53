import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import PQueue from 'p-queue'
import { Agent, buildConnector } from 'undici'
import { isPrivateName, isPublicAddress } from '../shared/addresses.ts'

/** Every address of a name, A and AAAA. */
type Resolve = (host: string) => Promise<string[]>

export type OutsideOptions = {
  resolve?: Resolve
  /** In a test, where the whole internet is on this machine: where to find a checked address. */
  reach?: (address: string, port: number) => { address: string; port: number }
  /** The certificate of a test's own servers. */
  ca?: string
  /** A host that the admin named, which may be anywhere; where it redirects to is checked. */
  named?: string
  agent?: Agent.Options
}

const CONNECT_MS = 8_000
/** A DNS lookup takes a thread of the process; at most half of them are used for the web. */
const lookups = new PQueue({ concurrency: 2 })

/** The host does not exist, or its address is not public. */
export class NotPublic extends Error {
  readonly host: string
  constructor(host: string) {
    super(`${host} is not public.`)
    this.host = host
  }
}

/**
 * outside creates a dispatcher that reaches only the public internet. It checks the address of
 * every connection and connects to the checked address: a name is resolved once.
 */
export function outside(options: OutsideOptions = {}): Agent {
  const { resolve = resolveAll, reach, ca, named, agent } = options
  const known = new Map<string, Promise<string[]>>()

  async function judged(host: string): Promise<string[]> {
    const isNamed = host === named
    const isUnasked = isPrivateName(host) && !isNamed
    const addresses = isIP(host) ? [host] : isUnasked ? [] : await resolved(host)
    // One private address among public ones is how DNS rebinding looks.
    const isAllowed = isNamed || addresses.every(isPublicAddress)
    if (addresses.length === 0 || !isAllowed) throw new NotPublic(host)
    return addresses
  }

  function resolved(host: string): Promise<string[]> {
    const answer = known.get(host) ?? lookups.add(() => resolve(host)).catch(() => [] as string[])
    known.set(host, answer)
    return answer
  }

  return new Agent({
    connections: 4,
    pipelining: 0,
    ...agent,
    connect: (target, callback) => {
      const host = target.hostname.replace(/^\[|\]$/g, '')
      judged(host).then(
        (addresses) => {
          const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80))
          const places = addresses.map((address) => reach?.(address, port) ?? { address, port })
          const found = places.map(({ address }) => ({ address, family: isIP(address) }))
          const connector = buildConnector({
            timeout: CONNECT_MS,
            lookup: answering(found),
            ...(ca === undefined ? {} : { ca }),
          })
          const at = places[0]?.port ?? port
          connector({ ...target, hostname: host, port: String(at) }, callback)
        },
        (error: Error) => callback(error, null),
      )
    },
  })
}

/** Returns the result of an earlier lookup. */
function answering(found: { address: string; family: number }[]): LookupFunction {
  return (_, options, callback) => {
    if (options.all) return callback(null, found)
    const [first] = found
    return callback(null, first?.address ?? '', first?.family)
  }
}

async function resolveAll(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true })
  return found.map(({ address }) => address)
}
