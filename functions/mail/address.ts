import { isPrivateName } from '../../shared/addresses.ts'
import type { AllowList } from '../channels/transport/target.ts'

/** An address as mail servers want it: its domain in ASCII and in lower case. */
type MailAddress = { ok: true; address: string; domain: string }
type Refusal = { ok: false; code: 'malformed' | 'private_name'; message: string }

/** The limits of RFC 5321 §4.5.3.1, in octets; a path may have 256 with its angle brackets. */
const MAX_LOCAL = 64
const MAX_ADDRESS = 254
const MAX_LABEL = 63

/** A dot-atom (RFC 5322 §3.2.3). What needs quotes is refused: hardly a mailbox does, and many servers get it wrong. */
const LOCAL = /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*$/
const LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/

/** Reads one address of a person or team. Domains of this machine or its network are refused, unless permitted. */
export function parseMailAddress(text: string, allow: AllowList): MailAddress | Refusal {
  const at = text.lastIndexOf('@')
  if (at < 1 || /[\s,;<>"()]/.test(text)) {
    return malformed('Send one address, such as ops@example.com: no name, no list and no quotes.')
  }
  const local = text.slice(0, at)
  if (!LOCAL.test(local)) {
    return malformed(
      'Before the @ only letters without accents, digits and !#$%&’*+/=?^_`{|}~- are accepted, and dots between them.',
    )
  }
  if (local.length > MAX_LOCAL) {
    return malformed(`Before the @ there can be at most ${MAX_LOCAL} characters.`)
  }
  const domain = asciiDomain(text.slice(at + 1))
  if (domain === null) {
    return malformed('After the @ there must be a domain with a dot, such as example.com.')
  }
  const address = `${local}@${domain}`
  if (address.length > MAX_ADDRESS) {
    return malformed(`An address has at most ${MAX_ADDRESS} characters.`)
  }
  if (isPrivateName(domain) && !allow.names.has(domain)) {
    const message = `"${domain}" is not a public domain. The operator can permit it by name in ALLOW_PRIVATE_TARGETS.`
    return { ok: false, code: 'private_name', message }
  }
  return { ok: true, address, domain }
}

/** The mailbox that an address leads to, for counting: most services deliver `name+tag` to `name`, in any case. */
export function mailboxOf(address: string): string {
  return address.replace(/(?<=.)\+.*(?=@)/, '').toLowerCase()
}

/** A domain in ASCII (IDNA, as browsers do it); null when it is none that mail could be sent to. */
function asciiDomain(text: string): string | null {
  // The parser of URLs would take these for the end of the host, or decode them.
  if (/[%/?#:@[\]\\]/.test(text) || !URL.canParse(`http://${text}`)) return null
  const domain = new URL(`http://${text}`).hostname
  const labels = domain.split('.')
  // A last label of digits only is an address of the internet protocol, not a domain.
  if (labels.length < 2 || /\.\d+$/.test(domain)) return null
  return labels.every((label) => label.length <= MAX_LABEL && LABEL.test(label)) ? domain : null
}

const malformed = (message: string): Refusal => ({ ok: false, code: 'malformed', message })
