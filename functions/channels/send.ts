/** One request to a target, body and all. */
export type SendRequest = {
  url: string
  method: 'POST'
  headers: Record<string, string>
  body: string
}

export type SendFailure = 'refused' | 'unresolvable' | 'unreachable' | 'tls' | 'timeout'

/** What came back, or why nothing did. Messages never contain the target: most targets are secrets. */
export type SendResult =
  | { ok: true; status: number; headers: Headers; body: string; duration_ms: number }
  | { ok: false; failure: SendFailure; message: string; duration_ms: number }

/** How a kind reaches the outside; each runtime brings its own, with the shield built in. */
export type Send = (request: SendRequest) => Promise<SendResult>

export const SEND_TIMEOUT_MS = 15_000
const MAX_ANSWER_BYTES = 16 * 1024

export const FAILURE_MESSAGES = {
  refused: 'The target is not a public address, so nothing was sent.',
  unresolvable: 'The target’s host name could not be resolved.',
  unreachable: 'The target refused or broke the connection.',
  tls: 'The target’s certificate is not valid for it.',
  timeout: 'The target did not answer in time.',
} as const satisfies Record<SendFailure, string>

/** What undici's Response and the platform's have in common. */
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

/** perform runs one request and turns whatever happens into a `SendResult`. */
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
    return failed(explain(error), duration_ms())
  }
}

export function failed(failure: SendFailure, duration_ms = 0): SendResult {
  return { ok: false, failure, message: FAILURE_MESSAGES[failure], duration_ms }
}

/** The status has been said when the body starts: a body that breaks or drips does not unsay it. */
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
  // Not awaited: an endless sender must not hold us.
  reader.cancel().catch(() => {})
  return text
}
