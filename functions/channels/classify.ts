/** What the kinds have in common when they read an answer. */
import { parseRetryAfter } from '../../shared/backoff.ts'
import type { Classification } from './channel.ts'
import type { SendResult } from './transport/send.ts'

export type Answer = Extract<SendResult, { ok: true }>

/** What every classification of an answer begins with. */
export const heard = ({
  status,
}: Answer): Omit<Classification, 'outcome'> & { status: number } => ({
  status,
  throttled: false,
  counted: true,
})

/** There was no answer: it is tried again, unless the target may not be reached at all. */
export function noAnswer(result: Extract<SendResult, { ok: false }>): Classification {
  return {
    outcome: result.failure === 'refused' ? 'fail_permanent' : 'retry',
    throttled: false,
    counted: true,
    error: result.message,
  }
}

/** Statuses that say that the same message may be accepted later. */
export const isTemporary = (status: number) => status >= 500 || [408, 425, 429].includes(status)

/** The time that the header asks for, if it does. */
export function retryAfter({ headers }: Answer, now: Date): { retry_after_seconds?: number } {
  const retry_after_seconds = parseRetryAfter(headers.get('retry-after'), now)
  return retry_after_seconds === undefined ? {} : { retry_after_seconds }
}

/** The body as an object; empty when it is none. */
export function fieldsOf(body: string): { [field: string]: unknown } {
  try {
    const parsed: unknown = JSON.parse(body)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? { ...parsed }
      : {}
  } catch {
    return {}
  }
}

/** A part of an answer within a sentence of ours: one line, short. */
export const quoted = (text: unknown): string =>
  String(text ?? '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 200)
    .toWellFormed()
