import { lookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { Agent, type Dispatcher, request } from 'undici'
import { VERSION } from '../../../shared/version.ts'
import type { Resolve } from './plain-http.ts'
import { failedSend, perform, SEND_TIMEOUT_MS, type SendBytes, type SendFailure } from './send.ts'
import { type AllowList, checkTarget, isPermitted, localAddresses } from './target.ts'

/**
 * Sends from Node and Deno. Addresses are checked in the DNS lookup of the connection itself, so the
 * address that was checked is the one that is connected to (no DNS rebinding).
 */
export function nodeSend({
  allow,
  resolve = resolveAll,
  timeout_ms = SEND_TIMEOUT_MS,
}: {
  allow: AllowList
  resolve?: Resolve
  timeout_ms?: number
}): SendBytes {
  const agents = {
    'https:': guardedAgent({ allow, resolve, is_plain: false }),
    'http:': guardedAgent({ allow, resolve, is_plain: true }),
  }
  return async ({ url, method, headers, body: given }) => {
    // A literal address is connected to without a lookup, so it is checked here.
    const target = checkTarget(url, { allow })
    if (!target.ok) return failedSend('refused')
    const dispatcher = target.url.protocol === 'https:' ? agents['https:'] : agents['http:']
    const signal = AbortSignal.timeout(timeout_ms)
    const body = method === 'GET' ? null : given
    return perform(
      async () =>
        answered(
          await request(url, {
            method,
            headers: complete(headers),
            body,
            dispatcher,
            signal,
          }),
        ),
      { explain: (error) => (signal.aborted ? 'timeout' : explain(error)) },
    )
  }
}

/** What some services refuse a request without. */
const ALWAYS = { accept: '*/*', 'user-agent': `Watchpost/${VERSION}` }

function complete(headers: Record<string, string>): Record<string, string> {
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return { ...ALWAYS, ...Object.fromEntries(given) }
}

/** An answer in the form of fetch. The request does without its streams, and follows no redirect. */
function answered({ statusCode, headers, body }: Dispatcher.ResponseData) {
  const parts = body[Symbol.asyncIterator]()
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    [values ?? []].flat().map((value): [string, string] => [name, value]),
  )
  return {
    status: statusCode,
    headers: lines,
    body: {
      getReader: () => ({
        read: async () => {
          const { done = false, value } = await parts.next()
          return { done, value }
        },
        cancel: async () => void body.destroy(),
      }),
    },
  }
}

type Guard = { allow: AllowList; resolve: Resolve; is_plain: boolean }

function guardedAgent(guard: Guard): Agent {
  return new Agent({ connect: { lookup: guardedLookup(guard) } })
}

/** A lookup for sockets that refuses names which resolve to an address that is not permitted. */
export function guardedLookup({ allow, resolve, is_plain }: Guard): LookupFunction {
  return (host, options, callback) => {
    judge(host).then(
      (addresses) => {
        const found = addresses.map((address) => ({
          address,
          family: address.includes(':') ? 6 : 4,
        }))
        const [first] = found
        if (!first) return callback(lookupError('unresolvable'), '')
        return options.all ? callback(null, found) : callback(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    )
  }

  async function judge(host: string): Promise<string[]> {
    const addresses = localAddresses(host, allow) ?? (await resolveOrFail(host))
    // A single private address among public ones is a sign of DNS rebinding.
    if (!addresses.every((address) => isPermitted(address, { allow, host, is_plain }))) {
      throw lookupError('refused')
    }
    return addresses
  }

  async function resolveOrFail(host: string): Promise<string[]> {
    try {
      return await resolve(host)
    } catch {
      throw lookupError('unresolvable')
    }
  }
}

export async function resolveAll(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true })
  return found.map(({ address }) => address)
}

const LOOKUP_CODES = {
  refused: 'WATCHPOST_REFUSED',
  unresolvable: 'WATCHPOST_UNRESOLVABLE',
} as const

function lookupError(failure: keyof typeof LOOKUP_CODES): NodeJS.ErrnoException {
  return Object.assign(new Error(failure), { code: LOOKUP_CODES[failure] })
}

/** Why a connection failed. */
export function explain(error: unknown): SendFailure {
  const codes = allCodes(error)
  const has = (pattern: RegExp) => codes.some((code) => pattern.test(code))
  if (has(/^WATCHPOST_REFUSED$/)) return 'refused'
  if (has(/^WATCHPOST_UNRESOLVABLE$/)) return 'unresolvable'
  if (has(/CERT|SIGNATURE|^ERR_TLS|^ERR_SSL|^EPROTO$/)) return 'tls'
  return has(/TIMEOUT|^ETIMEDOUT$/) ? 'timeout' : 'unreachable'
}

/** The codes of an error and its causes: fetch wraps errors, and several addresses fail as an AggregateError. */
function allCodes(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const inner = error instanceof AggregateError ? error.errors : []
  const own = 'code' in error ? [String(error.code)] : []
  return [...own, ...[error.cause, ...inner].flatMap(allCodes)]
}
