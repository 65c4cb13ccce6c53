/** A request to a target. */
export type SendRequest = {
  transport?: 'http'
  url: string
  method: 'POST' | 'PATCH' | 'PUT'
  headers: Record<string, string>
  body: string
}

/** A mail, by the mail server of this service. `to` is an address in ASCII, and no text has control characters. */
export type MailRequest = {
  transport: 'mail'
  /** The same on every attempt. */
  id: string
  to: string
  subject: string
  text: string
  html: string
  date: Date
  /** The same for all mails about one thing, which mail programs show together; null for a mail of its own. */
  thread: string | null
  /** Whether it follows the first mail of its thread. */
  is_reply: boolean
  unsubscribe_url: string | null
}

/** How far a mail had come when the mail server answered. */
export type MailStage = 'connection' | 'sender' | 'recipient' | 'data'

export type SendFailure = 'refused' | 'unresolvable' | 'unreachable' | 'tls' | 'timeout'

/** The response, or why there was none. Messages never contain the target, because most targets are secret. */
export type SendResult =
  | {
      ok: true
      status: number
      headers: Headers
      body: string
      duration_ms: number
      /** Of an answer by SMTP, whose code is the status. */
      stage?: MailStage
    }
  | { ok: false; failure: SendFailure; message: string; duration_ms: number }

/** Sends a request. Each runtime has its own implementation, which refuses private addresses. */
export type Send = (request: SendRequest) => Promise<SendResult>
/** Sends one mail. Never throws because of a server. */
export type SendMail = (mail: MailRequest) => Promise<SendResult>

/** How this service sends; without `mail` it cannot send any. */
export type Transports = { send: Send; mail?: SendMail | undefined }

/** What the operator has to do where mail cannot be sent. */
export const NO_MAIL =
  'This service cannot send mail. Its operator sets MAIL_FROM with SMTP_URL, or with RESEND_API_KEY where SMTP cannot be used.'

/** Sends a request by its transport. */
export async function transmit(
  request: SendRequest | MailRequest,
  { send, mail }: Transports,
): Promise<SendResult> {
  if (request.transport !== 'mail') return send(request)
  if (mail) return mail(request)
  return { ok: false, failure: 'refused', message: NO_MAIL, duration_ms: 0 }
}

export const SEND_TIMEOUT_MS = 15_000
const MAX_ANSWER_BYTES = 16 * 1024

const FAILURE_MESSAGES = {
  refused: 'The target is not a public address, so nothing was sent.',
  unresolvable: 'The target’s host name could not be resolved.',
  unreachable: 'The target refused or dropped the connection.',
  tls: 'The target’s TLS certificate is not valid for its host name.',
  timeout: 'The target did not answer in time.',
} as const satisfies Record<SendFailure, string>

/** What the Response of undici and that of the platform have in common. */
type AnyResponse = {
  status: number
  headers: Iterable<[string, string]>
  body: AnyBody | null
}
type AnyBody = {
  getReader(): {
    read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>
    cancel(): Promise<void>
  }
}

/** Runs a request and turns its response or error into a SendResult. */
export async function perform(
  request: () => Promise<AnyResponse>,
  { explain }: { explain: (error: unknown) => SendFailure },
): Promise<SendResult> {
  const started = performance.now()
  const duration_ms = () => Math.round(performance.now() - started)
  try {
    const response = await request()
    const body = response.body ? await readStart(response.body) : ''
    const headers = new Headers([...response.headers])
    return { ok: true, status: response.status, headers, body, duration_ms: duration_ms() }
  } catch (error) {
    return failedSend(explain(error), duration_ms())
  }
}

export function failedSend(failure: SendFailure, duration_ms = 0): SendResult {
  return { ok: false, failure, message: FAILURE_MESSAGES[failure], duration_ms }
}

/** Reads the start of a body. An error or a slow body does not matter: the status is already known. */
async function readStart(body: AnyBody): Promise<string> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let text = ''
  let room = MAX_ANSWER_BYTES
  try {
    while (room > 0) {
      const { done, value } = await reader.read()
      if (done || !value) break
      const part = value.subarray(0, room)
      room -= part.byteLength
      text += decoder.decode(part, { stream: true })
    }
  } catch {
    return text
  }
  // Not awaited: a body without an end must not block.
  reader.cancel().catch(() => {})
  return text
}
