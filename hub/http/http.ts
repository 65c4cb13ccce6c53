import type { Context, MiddlewareHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { z } from 'zod'
import {
  ApiError,
  answerProblem,
  codesOf,
  MEANINGS,
  problemAnswers,
  problemOf,
  problemSchema,
} from '../../shared/problem.ts'
import { respond as answerJson } from '../../shared/route.ts'
import { languageOf } from '../../shared/words/language-of.ts'
import type { Scope } from '../auth/identity.ts'
import type { Actor } from '../db/actor.ts'
import { needsRole, readOnlyKey } from '../db/db.ts'
import type { Deps } from '../deps.ts'
import { refusalWords } from '../i18n/failure.ts'
import { type Localizable, localize, type Words } from '../i18n/words.ts'

/** The context of a request. */
export type Env = {
  Variables: {
    deps: Deps
    request_id: string
    /** How the request was authenticated; absent on public routes. */
    caller?: 'session' | 'token'
    /** Who acts; absent on public routes. */
    actor?: Actor
    /** What the key of the request may do; absent without one. */
    scope?: Scope
    /** Additional fields for this request's log line. */
    log: Record<string, unknown>
    /** The Content-Security-Policy of this response, if it differs from that of the pages. */
    content_policy?: string
  }
  Bindings: { incoming?: { socket?: { remoteAddress?: string } } }
}
export type Ctx = Context<Env>

export const Problem = problemSchema(codesOf('hub'))

/**
 * Responds with JSON validated by its schema. Texts in both languages are sent in the caller's.
 */
export function answer<S extends z.ZodType, T extends ContentfulStatusCode>(
  c: Context,
  schema: S,
  value: Localizable<z.input<S>>,
  status: T,
  headers?: Record<string, string>,
) {
  const language = languageOf(c)
  c.header('Content-Language', language)
  c.header('Vary', 'Accept-Language', { append: true })
  return answerJson(c, schema, localize<z.input<S>>(value, language), status, headers)
}

/**
 * Answers an error as application/problem+json; `more` are members of its own (RFC 9457 section
 * 3.2).
 */
export function problem(c: Ctx, error: ApiError, more: Record<string, unknown> = {}): Response {
  const language = languageOf(c)
  const body = {
    ...problemOf(error, c.get('request_id')),
    ...localize(refusalWords(error), language),
    ...more,
  }
  const headers = { 'Content-Language': language }
  return answerProblem(c, error, { realm: 'watchpost-hub', body, headers })
}

/**
 * On the line of a route that writes to the database: it needs the service key, and that is said
 * first.
 */
export const write: MiddlewareHandler<Env> = async (c, next) => {
  if (c.get('deps').key_role !== 'hub_rw') throw readOnlyKey()
  await next()
}

/**
 * On the line of a route that takes files: 415 in the words of the route, because the check by its
 * description that comes after this knows only of JSON.
 */
export const typed =
  (types: RegExp, message: Words): MiddlewareHandler<Env> =>
  async (c, next) => {
    if (!types.test(c.req.header('content-type') ?? '')) {
      throw new ApiError('unsupported_media_type', message)
    }
    await next()
  }

/** Throws 403 unless an admin sent the request: for a rule within a route. */
export function requireAdmin(c: Ctx): void {
  if (c.get('actor')?.role !== 'admin') throw needsRole('admin')
}

const DESCRIPTIONS: Partial<Record<number, string>> = {
  ...MEANINGS,
  401: 'Not signed in, or only the read-only database key is configured (`read_only_key`).',
  402: 'The license does not allow more. Nothing is lost.',
  403: 'The role does not allow it, or the request comes from another site (`Origin`) or uses another host name (`Host`).',
  409: 'It conflicts with stored data, or with the current state.',
  413: 'The body is too large.',
  415: 'The route does not accept this content type.',
  429: 'Too many attempts; wait for the seconds in Retry-After.',
  503: 'The database or the model is unavailable; try again.',
}

/** The problem answers of a route: the usual ones and the given. */
export const problems = (...statuses: number[]) =>
  problemAnswers([400, 401, 403, 500, 503, ...statuses], {
    schema: Problem,
    meanings: DESCRIPTIONS,
  })

/** 413 for a body larger than `bytes`. */
export function tooLong(bytes: number): ApiError {
  const size = bytes < 2 ** 20 ? `${bytes / 2 ** 10} KiB` : `${bytes / 2 ** 20} MiB`
  return new ApiError('too_large', `The body is over ${size}. Send a smaller one.`)
}
