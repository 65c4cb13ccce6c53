import { parseAllowList } from '../channels/transport/target.ts'
import { parseMailAddress } from './address.ts'

/** The operator's mail server. `none`: without TLS, for a relay in one's own network. */
export type SmtpSettings = {
  host: string
  port: number
  tls: 'implicit' | 'starttls' | 'none'
  user?: string
  password?: string
}

/** An HTTP mail API with the interface of Resend. */
export type MailApiSettings = { url: string; key: string }

/** Who the mail is from. */
export type Sender = { name: string; address: string }

/** How this service can send mail; undefined when it cannot. */
export type MailSettings = {
  from: Sender
  smtp?: SmtpSettings | undefined
  api?: MailApiSettings | undefined
}

const PORTS = { implicit: 465, starttls: 587, none: 25 } as const
const NOBODY = parseAllowList('')

/**
 * Parses `smtps://user:password@host` (TLS from the start, 465) or `smtp://…` (STARTTLS, 587), or `smtp://…?tls=none`
 * (25) for a relay that has no TLS, which gets no password. Throws for anything else.
 */
export function parseSmtpUrl(text: string): SmtpSettings {
  const url = new URL(text)
  const { protocol, hostname, port, username, password, pathname, search } = url
  if (protocol !== 'smtp:' && protocol !== 'smtps:') throw new Error('not an SMTP URL')
  if (!hostname || pathname.replace('/', '') || url.hash) throw new Error('only a host and a port')
  const tls = protocol === 'smtps:' ? 'implicit' : search === '?tls=none' ? 'none' : 'starttls'
  if (search && tls !== 'none') throw new Error('no such parameter')
  if (tls === 'none' && username) throw new Error('a password is not sent without TLS')
  return {
    host: decodeURIComponent(hostname).replace(/^\[(.*)\]$/, '$1'),
    port: port ? Number(port) : PORTS[tls],
    tls,
    ...(username
      ? { user: decodeURIComponent(username), password: decodeURIComponent(password) }
      : {}),
  }
}

/** Parses `Watchpost <alerts@example.com>` or an address alone. Throws for anything else. */
export function parseSender(text: string): Sender {
  const [, name = '', inner] = text.match(/^([^<>"\p{Cc}]*)<([^<>]+)>$/u) ?? []
  const parsed = parseMailAddress((inner ?? text).trim(), NOBODY)
  if (!parsed.ok) throw new Error(parsed.message)
  return { name: name.trim() || 'Watchpost', address: parsed.address }
}
