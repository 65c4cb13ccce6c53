import { Resolver } from 'node:dns/promises'
import { bilingual, type Words } from '../../i18n/words.ts'
import { serverText } from './servers.text.ts'

const { dns_advice: say } = bilingual(serverText)

/** Queries the DNS: `node:dns`, or a stub in tests. Throws as `resolveTxt` does. */
export type TxtResolver = (name: string) => Promise<string[][]>

/** `present`, `missing`, or `unknown` if the DNS could not be queried (offline). */
type Finding = {
  state: 'present' | 'missing' | 'unknown'
  record: string | null
  /** null: nothing to do. */
  advice: Words | null
}

/** The DNS records of the sender's domain, as receivers see them. */
export type SenderDns = { domain: string; spf: Finding; dkim: Finding; dmarc: Finding }

const TIMEOUT_MS = 3_000
/** Selectors of common providers; others can be given. */
const SELECTORS = ['default', 'google', 'selector1', 'selector2', 's1', 's2', 'k1', 'mail', 'dkim']

/** The system's resolver with short timeouts. */
function systemResolver(): TxtResolver {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 })
  return (name) => resolver.resolveTxt(name)
}

/** Looks up SPF, DKIM and DMARC of the sender's domain; never throws. Offline is `unknown`. */
export async function checkSenderDns(
  domain: string,
  options: { resolve?: TxtResolver; selectors?: string[] } = {},
): Promise<SenderDns> {
  const { resolve = systemResolver(), selectors = [] } = options
  const names = [...new Set([...selectors, ...SELECTORS])]
  const [spf, dmarc, ...keys] = await Promise.all([
    find(resolve, domain, /^v=spf1(\s|$)/i),
    find(resolve, `_dmarc.${domain}`, /^v=DMARC1\s*(;|$)/i),
    ...names.map((name) => find(resolve, `${name}._domainkey.${domain}`, /(^|;)\s*p=[a-z0-9+/]/i)),
  ])
  const key = keys.find((each) => typeof each === 'string')
  const dkim = key ?? (keys.every((each) => each === null) ? null : undefined)
  return {
    domain,
    spf: finding(spf, say.spf(domain)),
    dkim: finding(dkim, say.dkim),
    dmarc: finding(dmarc, say.dmarc(domain)),
  }
}

/** The record; null if there is certainly none, undefined if no server answered. */
async function find(
  resolve: TxtResolver,
  name: string,
  pattern: RegExp,
): Promise<string | null | undefined> {
  const records = await txtRecords(name, resolve)
  return records && (records.find((record) => pattern.test(record)) ?? null)
}

/** txtRecords returns the TXT records of a name, [] if there are none; undefined if no server answered. */
export async function txtRecords(
  name: string,
  resolve: TxtResolver = systemResolver(),
): Promise<string[] | undefined> {
  try {
    return (await resolve(name)).map((parts) => parts.join(''))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    return code === 'ENODATA' || code === 'ENOTFOUND' ? [] : undefined
  }
}

function finding(record: string | null | undefined, advice: Words): Finding {
  if (record === undefined) return { state: 'unknown', record: null, advice: say.unknown }
  if (record === null) return { state: 'missing', record: null, advice }
  return { state: 'present', record, advice: null }
}
