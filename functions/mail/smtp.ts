import type { NodemailerError } from 'nodemailer'
import type {
  MailRequest,
  MailStage,
  SendFailure,
  SendMail,
  SendResult,
} from '../channels/transport/send.ts'
import { extraHeaders, messageId } from './mail.ts'
import { mailByApi } from './resend.ts'
import type { MailSettings, Sender, SmtpSettings } from './settings.ts'

/** For one mail, with the time that it waits for a connection. */
const TIMEOUT_MS = 30_000
const STEP_TIMEOUT_MS = 15_000
const MAX_CONNECTIONS = 3
const IDLE_MS = 30_000

export type Smtp = SendMail & { close: () => Promise<void> | void }

/**
 * Sends by SMTP from Node and Deno over a few connections that are kept open. TLS certificates are verified. A mail is
 * tried once: when the connection is lost after DATA the server may have taken it, and the next attempt has the same
 * Message-ID.
 */
export function createSmtp(
  { host, port, tls, user, password = '' }: SmtpSettings,
  { from, ca, timeout_ms = TIMEOUT_MS }: { from: Sender; ca?: string; timeout_ms?: number },
): Smtp {
  const step_ms = Math.min(STEP_TIMEOUT_MS, timeout_ms)
  const options = {
    pool: true as const,
    maxConnections: MAX_CONNECTIONS,
    // The jobs decide about another attempt.
    maxRequeues: 0,
    idleTimeout: IDLE_MS,
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    auth: user === undefined ? undefined : { user, pass: password },
    tls: ca === undefined ? {} : { ca },
    dnsTimeout: step_ms,
    connectionTimeout: step_ms,
    greetingTimeout: step_ms,
    socketTimeout: timeout_ms,
    // The operator chooses this server; it may be on this machine.
    allowInternalNetworkInterfaces: true,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
  // A service that sends no mail starts without the library.
  let transport: ReturnType<typeof connect> | undefined
  const connect = async () => (await import('nodemailer')).createTransport(options)
  const send = async (mail: MailRequest): Promise<SendResult> => {
    const started = performance.now()
    const signal = AbortSignal.timeout(timeout_ms)
    try {
      transport ??= connect()
      const { response } = await (await transport).sendMail({
        from,
        to: { name: '', address: mail.to },
        subject: mail.subject,
        text: mail.text,
        html: mail.html,
        date: mail.date,
        messageId: messageId(mail, from),
        headers: extraHeaders(mail, from),
        signal,
      })
      return { ...answered(response, 'data'), duration_ms: performance.now() - started }
    } catch (error) {
      return { ...refusal(error, signal.aborted), duration_ms: performance.now() - started }
    }
  }
  const close = async () => (await transport)?.close({ force: true })
  return Object.assign(send, { close })
}

/** How mail is sent on Node and Deno: by SMTP or, where that is not set, by the mail API. */
export function createMail(settings: MailSettings | undefined): Smtp | undefined {
  if (settings?.smtp) return createSmtp(settings.smtp, settings)
  const send = mailByApi(settings)
  return send && Object.assign(send, { close: () => undefined })
}

type Told = SendResult extends infer R
  ? R extends unknown
    ? Omit<R, 'duration_ms'>
    : never
  : never

function answered(response: string, stage: MailStage): Told {
  const status = Number(response.slice(0, 3))
  return { ok: true, status, headers: new Headers(), body: response, stage }
}

/** A complete answer of the server, or why there was none. */
function refusal(error: unknown, is_late: boolean): Told {
  const { code = '', command = '', response = '', responseCode } = faultOf(error)
  // An incomplete answer, such as `451-` and a lost connection, comes with another code.
  const is_complete = ['EENVELOPE', 'EMESSAGE', 'EAUTH', 'EPROTOCOL'].includes(code)
  if (is_complete && responseCode !== undefined && response)
    return answered(response, stageOf(command))
  const failure = failureOf(code, error, is_late)
  return { ok: false, failure, message: FAILURES[failure] }
}

const STAGES: Record<string, MailStage> = {
  'MAIL FROM': 'sender',
  'RCPT TO': 'recipient',
  DATA: 'data',
}
const stageOf = (command: string): MailStage => STAGES[command] ?? 'connection'

const FAILURES = {
  refused: 'The mail server was not asked.',
  unresolvable: 'The name of this service’s mail server could not be resolved.',
  unreachable: 'This service’s mail server refused or dropped the connection.',
  tls: 'This service’s mail server offers no TLS, or its certificate is not valid for its name.',
  timeout: 'This service’s mail server did not answer in time.',
} as const satisfies Record<SendFailure, string>

const TLS_FAULT = /certificate|self.signed|SSL|TLS|altname|wrong version number/i

function failureOf(code: string, error: unknown, is_late: boolean): SendFailure {
  if (is_late || code === 'ETIMEDOUT') return 'timeout'
  if (code === 'EDNS') return 'unresolvable'
  const message = error instanceof Error ? error.message : ''
  return code === 'ETLS' || TLS_FAULT.test(message) ? 'tls' : 'unreachable'
}

function faultOf(error: unknown): Partial<NodemailerError> {
  return error instanceof Error ? error : {}
}
