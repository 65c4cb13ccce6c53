/** A request to a target. */
export type SendRequest<Body = string> = {
  transport?: 'http'
  url: string
  /** A GET has no body. */
  method: 'GET' | 'POST' | 'PATCH' | 'PUT'
  headers: Record<string, string>
  body: Body
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

/** A message to a topic of an MQTT broker. */
export type MqttRequest = {
  transport: 'mqtt'
  /** `mqtts://host:port`, or `mqtt://` where the operator permits it. */
  url: string
  topic: string
  payload: string
  qos: 1 | 2
  retain: boolean
  username?: string | undefined
  password?: string | undefined
}

/** A notification for a browser. `payload` has at most MAX_PUSH_BYTES bytes. */
export type PushRequest = {
  transport: 'push'
  /** The address of the subscription at the browser's push service. */
  endpoint: string
  /** Of the subscription: the browser's public key and its secret, in base64url. */
  keys: { p256dh: string; auth: string }
  payload: string
  /** How long the push service keeps the message for a browser that is not connected. */
  ttl_seconds: number
  urgency: 'low' | 'normal' | 'high'
  /** At most 32 characters of base64url: a message that waits is replaced by a later one of the same topic. */
  topic: string | null
}

/** The longest payload in bytes: 4,096 (RFC 8291 §4) less the header of 86, the tag of 16 and the delimiter. */
export const MAX_PUSH_BYTES = 3_993

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
/** What every runtime's implementation does: it sends bytes as well. */
export type SendBytes = (
  request: SendRequest<string | Uint8Array<ArrayBuffer>>,
) => Promise<SendResult>
/** Sends one mail. Never throws because of a server. */
export type SendMail = (mail: MailRequest) => Promise<SendResult>

/** Publishes one message. The status of its result is the code of CONNACK (MQTT 3.1.1 §3.2.2.3). */
export type SendMqtt = (request: MqttRequest) => Promise<SendResult>
/** Sends one notification to a browser. Never throws because of the push service. */
export type SendPush = (request: PushRequest) => Promise<SendResult>

export type AnyRequest = SendRequest | MailRequest | MqttRequest | PushRequest

/** How this service sends. HTTP is there on every runtime; the others where the platform and the settings allow. */
export type Transports = {
  send: Send
  mail?: SendMail | undefined
  mqtt?: SendMqtt | undefined
  push?: SendPush | undefined
}

/** What the operator has to do where a transport is missing. */
export const MISSING_TRANSPORTS = {
  mail: 'This service cannot send mail. Its operator sets MAIL_FROM with SMTP_URL, or with RESEND_API_KEY where SMTP cannot be used.',
  mqtt: 'MQTT needs the Node service: edge platforms cannot open the connection. Use a webhook, or run Watchpost on Node.',
  push: 'This service cannot notify browsers. Its operator sets CONTACT to an email address, or PUBLIC_URL to an https address.',
} as const

/** Sends a request by its transport. */
export async function transmit(request: AnyRequest, transports: Transports): Promise<SendResult> {
  const { send, mail, mqtt, push } = transports
  switch (request.transport) {
    case 'mail':
      return mail ? mail(request) : missing('mail')
    case 'mqtt':
      return mqtt ? mqtt(request) : missing('mqtt')
    case 'push':
      return push ? push(request) : missing('push')
    default:
      return send(request)
  }
}

function missing(transport: keyof typeof MISSING_TRANSPORTS): SendResult {
  return { ...failedSend('refused'), message: MISSING_TRANSPORTS[transport] }
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

export function failedSend(
  failure: SendFailure,
  duration_ms = 0,
): Extract<SendResult, { ok: false }> {
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
