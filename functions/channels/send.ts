/** A request to a target, by one of the transports; `http` is there on every runtime. */
export type SendRequest = HttpRequest

export type HttpRequest = {
  transport?: 'http'
  url: string
  method: 'POST' | 'PATCH' | 'PUT'
  headers: Record<string, string>
  body: string
}

export type SendFailure = 'refused' | 'unresolvable' | 'unreachable' | 'tls' | 'timeout'

/** The response, or why there was none. Messages never contain the target, because most targets are secret. */
export type SendResult =
  | { ok: true; status: number; headers: Headers; body: string; duration_ms: number }
  | { ok: false; failure: SendFailure; message: string; duration_ms: number }

/** Sends a request. Each runtime has its own implementation, which refuses private addresses. */
export type Send = (request: SendRequest) => Promise<SendResult>

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
