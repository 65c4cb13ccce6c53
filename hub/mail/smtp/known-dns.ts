import type { MailSettings } from '../settings.ts'
import { checkSenderDns, type SenderDns } from './sender-dns.ts'

const FRESH_MS = 15 * 60_000
const known = new Map<string, { at: number; found: SenderDns | null }>()

/**
 * The last known DNS records of the sender's domain; refreshed in the background when they are old.
 */
export function knownDns({ sender, dkim_selector }: MailSettings): SenderDns | null {
  const domain = sender?.email.split('@').at(-1)
  if (!domain) return null
  const entry = known.get(domain)
  if (!entry || Date.now() - entry.at > FRESH_MS) {
    known.set(domain, { at: Date.now(), found: entry?.found ?? null })
    const selectors = dkim_selector ? [dkim_selector] : []
    void checkSenderDns(domain, { selectors }).then((found) => {
      known.set(domain, { at: Date.now(), found })
    })
  }
  return known.get(domain)?.found ?? null
}
