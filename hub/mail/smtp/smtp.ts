import { Readable } from 'node:stream'
import type { NodemailerError } from 'nodemailer'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import { z } from 'zod'
import { fieldText } from '../../i18n/problem.text.ts'
import { bilingual, type Words } from '../../i18n/words.ts'
import { type DkimKey, domainOfSender, signed } from './dkim.ts'
import { compose, type OutgoingMail } from './message.ts'
import { serverText } from './servers.text.ts'

export { messageId, OutgoingMail, unsubscribeHeaders } from './message.ts'

const say = bilingual(serverText)
const LOOPBACK = ['localhost', '127.0.0.1', '::1']

/** A server for outgoing mail. Passwords are never sent without encryption. */
export const SmtpSettings = z
  .object({
    host: z.string().min(1).max(255),
    port: z.number().int().min(1).max(65535).default(587),
    /** `tls` from the first byte (465), `starttls` required (587), `none` for a local relay. */
    security: z.enum(['tls', 'starttls', 'none']).default('starttls'),
    user: z.string().max(255).optional(),
    password: z.string().max(1000).optional(),
    /** The certificate of a private certificate authority, in PEM. */
    ca: z.string().max(50_000).optional(),
  })
  .refine(({ security, user, host }) => security !== 'none' || !user || LOOPBACK.includes(host), {
    path: ['security'],
    message: fieldText.en.needs_tls,
  })
export type SmtpSettings = z.infer<typeof SmtpSettings>

/**
 * How far a mail came. Only a permanent refusal at `recipient` or `data` is about the mail itself.
 */
type SmtpStage = 'dns' | 'connect' | 'tls' | 'auth' | 'sender' | 'recipient' | 'data'

/**
 * The outcome of a mail. `sent`: the server accepted it. `refused`: it was certainly not accepted;
 * `permanent` means that the same mail will be refused again. `unclear`: DATA was started and no
 * answer came, so it may have been accepted; it must never be sent again automatically.
 */
export type SendResult =
  | { kind: 'sent'; response: string; message_id: string }
  | { kind: 'refused'; permanent: boolean; code: string; response: string; stage: SmtpStage }
  | { kind: 'unclear'; code: string; response: string; message_id: string }

type SendOptions = {
  /** Signs the mail for the domain of its sender. */
  dkim?: DkimKey | undefined
  /**
   * Awaited after the login and before MAIL FROM and DATA: commit `sending` here. If it throws,
   * nothing is sent and `sendMail` throws the same error.
   */
  on_data: () => Promise<void>
  connect_timeout_ms?: number
  /** How long the server may take for each answer, including the one after the last byte. */
  answer_timeout_ms?: number
}

/** Sends one mail over its own connection; every answer of the server becomes a result. */
export async function sendMail(
  settings: SmtpSettings,
  mail: OutgoingMail,
  options: SendOptions,
): Promise<SendResult> {
  const plain = await compose(mail)
  const { dkim } = options
  const bytes = dkim ? await signed(plain, domainOfSender(mail.from.address), dkim) : plain
  let begun = false
  let connection: SMTPConnection
  try {
    connection = await open(settings, options, (command) => {
      begun ||= command === 'DATA'
    })
  } catch (error) {
    return refused(error, 'connect')
  }
  try {
    await options.on_data()
    return await deliver(connection, mail, bytes, () => begun)
  } finally {
    connection.close()
  }
}

async function deliver(
  connection: SMTPConnection,
  mail: OutgoingMail,
  bytes: Buffer,
  begun: () => boolean,
): Promise<SendResult> {
  const envelope = { from: mail.from.address, to: [mail.to.address], size: bytes.length }
  try {
    const response = await send(connection, envelope, bytes)
    connection.quit()
    return { kind: 'sent', response, message_id: mail.message_id }
  } catch (error) {
    const { code = 'UNKNOWN', response = '' } = read(error)
    if (!begun()) return refused(error, 'sender')
    // Only these two come from a complete answer; an incomplete one (`451 4.3`) ends as
    // ECONNECTION.
    if ((code === 'EMESSAGE' || code === 'EENVELOPE') && response) return refused(error, 'data')
    const said = response || (error instanceof Error ? error.message : '')
    return { kind: 'unclear', code, response: said, message_id: mail.message_id }
  }
}

/** The result of a connection test; `message` says what failed and what to change. */
type SmtpCheck = { ok: boolean; stage: SmtpStage | null; message: Words }

/** Connects, logs in and offers a mail from the sender to itself, without sending one. */
export async function checkSmtp(
  settings: SmtpSettings,
  sender: string,
  options: Omit<SendOptions, 'on_data'> = {},
): Promise<SmtpCheck> {
  let connection: SMTPConnection
  try {
    connection = await open(settings, { answer_timeout_ms: 15_000, ...options })
  } catch (error) {
    return failed(refused(error, 'connect'), settings, sender)
  }
  let asked = false
  const nothing = new Readable({
    read() {
      asked = true
      this.destroy(new Error('only a test'))
    },
  })
  try {
    await send(connection, { from: sender, to: [sender] }, nothing)
  } catch (error) {
    if (!asked) return failed(refused(error, 'sender'), settings, sender)
  } finally {
    connection.close()
  }
  return { ok: true, stage: null, message: say.smtp_works(settings.host, sender) }
}

function failed(
  result: Extract<SendResult, { kind: 'refused' }>,
  settings: SmtpSettings,
  sender: string,
): SmtpCheck {
  const { stage, response } = result
  const server = `${settings.host}:${settings.port}`
  const message = stage === 'dns' ? say.dns(settings.host) : say[stage](server, response, sender)
  return { ok: false, stage, message }
}

function open(
  settings: SmtpSettings,
  { connect_timeout_ms = 15_000, answer_timeout_ms = 300_000 }: Omit<SendOptions, 'on_data'>,
  on_command: (command: string) => void = () => {},
): Promise<SMTPConnection> {
  const connection = new SMTPConnection({
    host: settings.host,
    port: settings.port,
    secure: settings.security === 'tls',
    requireTLS: settings.security === 'starttls',
    ignoreTLS: settings.security === 'none',
    connectionTimeout: connect_timeout_ms,
    greetingTimeout: connect_timeout_ms,
    dnsTimeout: connect_timeout_ms,
    socketTimeout: answer_timeout_ms,
    // Lets a test relay on this machine be used.
    allowInternalNetworkInterfaces: true,
    tls: settings.ca ? { ca: settings.ca } : {},
    transactionLog: true,
    logger: {
      debug: (entry: { tnx?: string }, text: string) => {
        if (entry.tnx === 'client') on_command(text)
      },
    },
  })
  const { user, password = '' } = settings
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      connection.close()
      reject(error)
    }
    // Stays for the life of the connection: an 'error' event without a listener ends the process.
    connection.on('error', fail)
    connection.connect((error) => {
      if (error) return fail(error)
      withoutPipelining(connection)
      if (!user) return resolve(connection)
      connection.login({ user, credentials: { user, pass: password } }, (refusal) => {
        if (refusal) return fail(refusal)
        resolve(connection)
      })
    })
  })
}

/**
 * With pipelining, DATA would be sent with MAIL FROM, and every refused recipient would look
 * unclear.
 */
function withoutPipelining(connection: SMTPConnection) {
  const extensions: unknown = Reflect.get(connection, '_supportedExtensions')
  if (!Array.isArray(extensions)) return
  const others = extensions.filter((name) => name !== 'PIPELINING')
  Reflect.set(connection, '_supportedExtensions', others)
}

function send(
  connection: SMTPConnection,
  envelope: { from: string; to: string[]; size?: number },
  body: Readable | Buffer,
): Promise<string> {
  return new Promise((resolve, reject) => {
    connection.send(envelope, body, (error, info) => {
      if (error || !info) return reject(error ?? new Error('The server gave no answer'))
      resolve(info.response)
    })
  })
}

function read(error: unknown): Partial<NodemailerError> {
  return error instanceof Error ? error : {}
}

const TLS_FAULT = /certificate|self.signed|SSL|TLS|altname|wrong version number/i

function refused(
  error: unknown,
  reached: 'connect' | 'sender' | 'data',
): Extract<SendResult, { kind: 'refused' }> {
  const { code = 'UNKNOWN', response, permanent = false, command, message = '' } = read(error)
  const stages: Record<string, SmtpStage> = {
    EDNS: 'dns',
    ETLS: 'tls',
    EAUTH: 'auth',
    ENOAUTH: 'auth',
  }
  let stage = stages[code] ?? reached
  if (stage === 'connect' && TLS_FAULT.test(message)) stage = 'tls'
  if (command === 'RCPT TO') stage = 'recipient'
  if (command === 'DATA') stage = 'data'
  // "Service not available" (RFC 5321, 3.8): whatever it answers, it is about the server.
  if (/^421\b/.test(response ?? '')) stage = 'connect'
  return { kind: 'refused', permanent, code, response: response || message, stage }
}
