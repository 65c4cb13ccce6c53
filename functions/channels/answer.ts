import type { SendResult } from './transport/send.ts'

const MAX_BYTES = 1024
/** Stands at the end of an answer of which only the start is kept. */
export const CUT = '… (cut)'
const MAX_ID_LENGTH = 200

/** The names under which services say what they call a request, the most telling first. */
const REQUEST_ID_HEADERS = [
  'x-request-id',
  'request-id',
  'x-slack-req-id',
  'x-ms-request-id',
  'x-amzn-requestid',
  'x-correlation-id',
  'cf-ray',
]

/** What is kept of an answer besides its status: its first 1 KB, and what the receiver calls the request. */
export function answerOf(result: SendResult): { response_excerpt?: string; request_id?: string } {
  if (!result.ok) return {}
  const response_excerpt = headOf(result.body)
  const request_id = requestIdOf(result.headers)
  return {
    ...(response_excerpt ? { response_excerpt } : {}),
    ...(request_id ? { request_id } : {}),
  }
}

function headOf(body: string): string {
  // Postgres stores no NUL in text.
  const text = body.replaceAll('\0', '').toWellFormed()
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= MAX_BYTES) return text
  const room = MAX_BYTES - new TextEncoder().encode(CUT).length
  // A stream keeps back a character that is cut in two.
  return new TextDecoder().decode(bytes.subarray(0, room), { stream: true }) + CUT
}

function requestIdOf(headers: Headers): string | undefined {
  for (const name of REQUEST_ID_HEADERS) {
    const value = headers.get(name)?.trim()
    if (value && value.length <= MAX_ID_LENGTH && /^[\x21-\x7e]+$/.test(value)) return value
  }
  return undefined
}
