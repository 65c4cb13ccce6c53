import { type DkimKeys, domainOfSender } from './dkim.ts'
import { checkSenderDns, type SenderDns } from './sender-dns.ts'

const FRESH_MS = 15 * 60_000
const known = new Map<string, { at: number; found: SenderDns | null }>()

/**
 * The last known DNS records of a sender's domain; refreshed in the background when they are old.
 * null: there is no sender, or DNS was not queried yet.
 */
export function knownDns(
  sender: { email: string } | null,
  { dkim_selector }: { dkim_selector: string | null },
  { keys }: DkimKeys,
): SenderDns | null {
  if (!sender) return null
  const domain = domainOfSender(sender.email)
  const entry = known.get(domain)
  if (!entry || Date.now() - entry.at > FRESH_MS) {
    known.set(domain, { at: Date.now(), found: entry?.found ?? null })
    const selectors = [keys[domain]?.selector, dkim_selector].filter((one) => one != null)
    void checkSenderDns(domain, { selectors }).then((found) => {
      known.set(domain, { at: Date.now(), found })
    })
  }
  return known.get(domain)?.found ?? null
}
