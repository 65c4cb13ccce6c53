import { domainToASCII } from 'node:url'
import { disposableEmailBlocklistSet } from 'disposable-email-domains-js'
import MimeNode from 'nodemailer/lib/mime-node'
import { getDomain } from 'tldts'

/** Local parts of addresses that belong to a function, not to a person; English and Turkish. */
const ROLES = new Set(
  `abuse account accounting accounts admin administrator all billing bilgi bilgiislem booking
  bookings career careers compliance contact contacts customerservice destek editor enquiries
  enquiry everyone export fatura feedback finance ftp hello help helpdesk hi hostmaster hr ihracat
  ik iletisim info information inquiries inquiry insankaynaklari it jobs kvkk legal list mail
  mailer-daemon marketing media muhasebe musteri musterihizmetleri news newsletter office ofis
  operations order orders pazarlama postmaster press privacy purchasing reception recruitment
  reklam reservation reservations rezervasyon root sales satis satinalma security service services
  shop siparis staff subscribe support sysadmin team tech teknik unsubscribe usenet uucp webmaster
  web welcome yonetim`.split(/\s+/),
)
const NO_REPLY = /^(no|do[-_.]?not)[-_.]?reply|^bounces?([-_.+]|$)|^yanitlamayin/

/**
 * A name and an address as one header has them (RFC 5322, encoded by RFC 2047): a comma, dot or
 * colon in the name must not end it.
 */
export function mailbox({ name, email }: { name: string; email: string }): string {
  const header = new MimeNode('text/plain')
    .setHeader('From', { name, address: email })
    .buildHeaders()
  // Long headers are folded over several lines.
  return /^From: (.*?)\r\n(?! )/ms.exec(`${header}\r\n`)?.[1]?.replace(/\r\n /g, ' ') ?? email
}

/** Why an address is refused. */
export type AddressFault = 'invalid_email' | 'role_address' | 'disposable_address'

/**
 * An address in the form in which it is compared and stored: lower case, its domain in ASCII
 * (`İnfo@Demir.com.tr` → `info@demir.com.tr`); null if it is not an address.
 */
export function normaliseEmail(text: string): string | null {
  const trimmed = text.normalize('NFC').trim()
  const at = trimmed.lastIndexOf('@')
  // The lower case of the Turkish capital İ is an i with a separate dot.
  const local = trimmed.slice(0, at).replaceAll('İ', 'i').toLowerCase()
  const domain = at > 0 ? asciiDomain(trimmed.slice(at + 1)) : null
  if (!domain || local.length > 64) return null
  if (!/^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u.test(local)) {
    return null
  }
  const email = `${local}@${domain}`
  return email.length <= 254 ? email : null
}

function asciiDomain(text: string): string | null {
  const domain = domainToASCII(text.replaceAll('İ', 'i').replace(/\.$/, '')).toLowerCase()
  if (
    !/^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/.test(domain)
  ) {
    return null
  }
  return domain
}

/** Why an address must not be used, regardless of any list; null: no reason. */
export function judgeAddress(text: string): AddressFault | null {
  const email = normaliseEmail(text)
  if (!email) return 'invalid_email'
  if (isRoleAddress(email)) return 'role_address'
  return isDisposable(email.slice(email.lastIndexOf('@') + 1)) ? 'disposable_address' : null
}

/** info@, satis@, noreply@ and the like, also with `+tags` and numbers. */
function isRoleAddress(email: string): boolean {
  const local = email.slice(0, email.lastIndexOf('@')).replace(/\+.*$/, '').toLowerCase()
  return NO_REPLY.test(local) || ROLES.has(local) || ROLES.has(local.replace(/[-_.]?\d+$/, ''))
}

/** Made once: the package makes the whole set again for each address that it is asked about. */
let disposable: Set<string> | undefined

/** Whether the domain, or one above it, provides disposable addresses. */
function isDisposable(domain: string): boolean {
  disposable ??= disposableEmailBlocklistSet()
  return disposable.has(domain) || disposable.has(getDomain(domain) ?? '')
}

/** The registered domain of a website or an e-mail address: `https://www.a.com.tr/x` → `a.com.tr`. */
export function domainOf(websiteOrEmail: string): string | null {
  const text = websiteOrEmail.trim()
  const host =
    text.includes('@') && !text.includes('/') ? text.slice(text.lastIndexOf('@') + 1) : text
  const domain = getDomain(host.replaceAll('İ', 'i'))
  return domain ? asciiDomain(domain) : null
}
