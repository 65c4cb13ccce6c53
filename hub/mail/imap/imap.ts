import type { ImapFlow } from 'imapflow'
import { z } from 'zod'
import { fieldText } from '../../i18n/problem.text.ts'
import { bilingual, type Words } from '../../i18n/words.ts'
import { normaliseEmail } from '../address.ts'
import { serverText } from '../smtp/servers.text.ts'
import { type Attachment, attachmentsOf } from './attachments.ts'
import { type Automatic, automaticBy } from './automatic.ts'
import { messageIds, parseHeaders } from './headers.ts'
import { type ReadText, readText } from './reply.ts'
import { type Report, readReport } from './report.ts'

const say = bilingual(serverText)

const LOOPBACK = ['localhost', '127.0.0.1', '::1']

/** The mailbox that receives replies. It is only read: nothing is marked, moved or deleted. */
export const ImapSettings = z
  .object({
    host: z.string().min(1).max(255),
    port: z.number().int().min(1).max(65535).default(993),
    /** `tls` from the first byte (993), `starttls` required (143), `none` only on this machine. */
    security: z.enum(['tls', 'starttls', 'none']).default('tls'),
    user: z.string().min(1).max(255),
    password: z.string().max(1000),
    mailbox: z.string().min(1).max(255).default('INBOX'),
    /** The certificate of a private certificate authority, in PEM. */
    ca: z.string().max(50_000).optional(),
  })
  .refine(({ security, host }) => security !== 'none' || LOOPBACK.includes(host), {
    path: ['security'],
    message: fieldText.en.needs_tls,
  })
export type ImapSettings = z.infer<typeof ImapSettings>

/** How far a mailbox was read; kept between polls. Null: from now on. */
type ImapCursor = { uid_validity: string; last_uid: number }

/** A received mail, as far as it matters for a sent one. */
export type IncomingMail = {
  uid: number
  message_id: string | null
  from: string | null
  /** What the sender calls themselves; anybody may write anything there. */
  from_name: string | null
  subject: string
  date: Date | null
  in_reply_to: string | null
  references: string[]
  /** Who or what wrote it, if it was no person; such a mail stops nothing. */
  automatic: Automatic | null
  /** It does not come from a person, or says so, so it cannot be a reply. */
  is_report: boolean
  /** The bounce or complaint, if it has the proper form. A bounce has no return path. */
  report: Report | null
  /** Its text; only of mails that are wanted. */
  body: ReadText | null
  /** The names of what is attached; nothing attached is ever read. */
  attachments: Attachment[]
}

const HEADERS = [
  'from',
  'return-path',
  'references',
  'content-type',
  'auto-submitted',
  'precedence',
  'x-autoreply',
  'x-autorespond',
  'x-failed-recipients',
  'list-id',
  'list-unsubscribe',
  'list-post',
]
const SOURCE_BYTES = 100_000
/** After the server has renumbered a mailbox, mails of this many days are read again. */
const RENUMBERED_DAYS = 14

/**
 * Reads the mails after the cursor, oldest first, at most `limit`; the returned cursor is after the
 * last one. Throws connection and login errors as they are.
 */
export async function pollMailbox(
  settings: ImapSettings,
  cursor: ImapCursor | null,
  {
    limit = 200,
    wants = async () => false,
  }: { limit?: number; wants?: (mail: IncomingMail) => Promise<boolean> } = {},
): Promise<{ cursor: ImapCursor; mails: IncomingMail[] }> {
  const client = await connection(settings)
  await client.connect()
  try {
    const { uidValidity, uidNext } = await client.mailboxOpen(settings.mailbox, { readOnly: true })
    const uid_validity = String(uidValidity)
    if (!cursor) return { cursor: { uid_validity, last_uid: uidNext - 1 }, mails: [] }
    const isRenumbered = cursor.uid_validity !== uid_validity
    const last_uid = isRenumbered ? 0 : cursor.last_uid
    const query = isRenumbered ? { since: daysAgo(RENUMBERED_DAYS) } : { uid: `${last_uid + 1}:*` }
    const found = await client.search(query, { uid: true })
    // `n:*` includes the last mail even if its number is below n.
    const uids = (found || []).filter((uid) => uid > last_uid).toSorted((a, b) => a - b)
    const wanted = uids.slice(0, limit)
    const mails: IncomingMail[] = []
    for (const uid of wanted) {
      const mail = await read(client, uid)
      if (!mail) continue
      // Only the body of a mail about one of ours is read; other mail in the box is nobody's business.
      mails.push((await wants(mail)) ? { ...mail, ...(await readBody(client, uid)) } : mail)
    }
    const isEnd = wanted.length === uids.length
    const reached = wanted.at(-1) ?? last_uid
    return {
      cursor: { uid_validity, last_uid: isEnd ? Math.max(reached, uidNext - 1) : reached },
      mails,
    }
  } finally {
    await client.logout().catch(() => client.close())
  }
}

/** The result of a connection test; `message` says what failed and what to change. */
type ImapCheck = {
  ok: boolean
  stage: 'dns' | 'connect' | 'tls' | 'auth' | 'mailbox' | null
  message: Words
}

/** Connects, logs in and opens the mailbox for reading. */
export async function checkImap(settings: ImapSettings): Promise<ImapCheck> {
  const client = await connection(settings)
  const server = `${settings.host}:${settings.port}`
  try {
    await client.connect()
  } catch (error) {
    client.close()
    return refusal(error, server, settings)
  }
  try {
    const { exists } = await client.mailboxOpen(settings.mailbox, { readOnly: true })
    return { ok: true, stage: null, message: say.imap_works(settings.mailbox, exists) }
  } catch {
    const message = say.no_mailbox(settings.user, settings.mailbox, server)
    return { ok: false, stage: 'mailbox', message }
  } finally {
    await client.logout().catch(() => client.close())
  }
}

function refusal(error: unknown, server: string, settings: ImapSettings): ImapCheck {
  const fault = z
    .object({
      message: z.string().catch(''),
      code: z.string().catch(''),
      responseText: z.string().catch(''),
      authenticationFailed: z.boolean().catch(false),
    })
    .parse(error instanceof Error ? { ...error, message: error.message } : {})
  const answer = fault.responseText || fault.code || fault.message
  if (fault.authenticationFailed) {
    return { ok: false, stage: 'auth', message: say.auth(server, answer) }
  }
  if (/^(ENOTFOUND|EAI_)/.test(fault.code)) {
    return { ok: false, stage: 'dns', message: say.dns(settings.host) }
  }
  if (
    /TLS|SSL|CERT|certificate|SELF_SIGNED|wrong version/i.test(`${fault.code} ${fault.message}`)
  ) {
    return { ok: false, stage: 'tls', message: say.tls(server, answer) }
  }
  return { ok: false, stage: 'connect', message: say.connect(server, answer) }
}

async function connection(settings: ImapSettings): Promise<ImapFlow> {
  // A hub without a mailbox starts without the library, which is a tenth of all modules.
  const { ImapFlow } = await import('imapflow')
  const client = new ImapFlow({
    host: settings.host,
    port: settings.port,
    secure: settings.security === 'tls',
    doSTARTTLS: settings.security === 'starttls',
    auth: { user: settings.user, pass: settings.password },
    tls: settings.ca ? { ca: settings.ca } : {},
    logger: false,
    disableAutoIdle: true,
    connectionTimeout: 15_000,
    greetingTimeout: 15_000,
    socketTimeout: 60_000,
    maxLiteralSize: 5_000_000,
  })
  // A broken connection rejects the current command; without a listener it would also end the
  // process.
  client.on('error', () => {})
  return client
}

async function read(client: ImapFlow, uid: number): Promise<IncomingMail | null> {
  const message = await client.fetchOne(
    String(uid),
    { uid: true, envelope: true, headers: HEADERS },
    { uid: true },
  )
  if (!message) return null
  const headers = parseHeaders(message.headers?.toString('utf8') ?? '')
  const { envelope } = message
  // The name of a group of addresses is told as one without an address, before its members.
  const writer = envelope?.from?.find(({ address }) => address) ?? envelope?.from?.[0]
  const from = normaliseEmail(writer?.address ?? '')
  // The topmost one, which the delivering server wrote; earlier ones are below.
  const hasNoReturnPath = headers.get('return-path') === '<>'
  const type = headers.get('content-type') ?? ''
  const isDaemon = hasNoReturnPath && /^(mailer-daemon|postmaster)@/.test(from ?? '')
  const is_report =
    /^\s*multipart\/report\b/i.test(type) || headers.has('x-failed-recipients') || isDaemon
  const report = is_report ? await readReport(await readSource(client, uid)) : null
  const isBelieved = report?.kind === 'complaint' || hasNoReturnPath
  const subject = oneLine(envelope?.subject ?? '', 300)
  return {
    uid,
    message_id: envelope?.messageId || null,
    from,
    from_name: oneLine(writer?.name ?? '', 200) || null,
    subject,
    date: dateOf(envelope?.date),
    in_reply_to: messageIds(envelope?.inReplyTo ?? '')[0] ?? null,
    references: messageIds(headers.get('references') ?? ''),
    automatic: is_report ? null : automaticBy(headers, subject),
    is_report,
    report: isBelieved ? report : null,
    body: null,
    attachments: [],
  }
}

/** What a header says, on one line. */
function oneLine(text: string, max: number): string {
  return text
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, max)
    .toWellFormed()
}

/** The text and the names of the attachments. Of a long mail only the beginning is fetched. */
async function readBody(client: ImapFlow, uid: number) {
  const message = await client.fetchOne(
    String(uid),
    { bodyStructure: true, size: true, source: { start: 0, maxLength: SOURCE_BYTES } },
    { uid: true },
  )
  if (!message) return { body: null, attachments: [] }
  const body = await readText(message.source ?? new Uint8Array())
  const is_cut = body.is_cut || (message.size ?? 0) > SOURCE_BYTES
  return { body: { ...body, is_cut }, attachments: attachmentsOf(message.bodyStructure) }
}

async function readSource(client: ImapFlow, uid: number): Promise<Uint8Array> {
  const message = await client.fetchOne(
    String(uid),
    { source: { start: 0, maxLength: SOURCE_BYTES } },
    { uid: true },
  )
  return message ? (message.source ?? new Uint8Array()) : new Uint8Array()
}

function dateOf(value: string | Date | undefined): Date | null {
  const date = new Date(value ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? null : date
}

function daysAgo(days: number): Date {
  return new Date(Date.now() - days * 86_400_000)
}
