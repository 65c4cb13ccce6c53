import type { MiddlewareHandler } from 'hono'
import { requireBoundedJson } from '../shared/json.ts'
import { ApiError, tooLarge } from '../shared/problem.ts'
import type { Ctx, Env, UnreadBody } from './context.ts'
import { nextSlice } from './scheduling.ts'

export const MAX_BODY_BYTES = 2 * 1024 * 1024
/**
 * A body up to this size is read before the caller is known, so that the caller can be identified in the
 * same round trip as the query. Whatever it contains takes only milliseconds to parse and validate.
 */
export const SMALL_BODY_BYTES = 4096

/** With chunks below 400 bytes on average, reading a body costs more than parsing it. */
const MAX_CHUNKS = 5000

type Bytes = Uint8Array<ArrayBufferLike>

/**
 * Refuses, by its headers, a body that is too large or not JSON, and reads a small one. A larger one
 * is left for `readBody`, with at most {@link SMALL_BODY_BYTES} and one chunk of it read.
 */
export const checkBody: MiddlewareHandler<Env> = async (c, next) => {
  if (['POST', 'PUT', 'PATCH', 'DELETE'].includes(c.req.method)) await checkBodyOf(c)
  await next()
}

async function checkBodyOf(c: Ctx): Promise<void> {
  const declared = declaredLength(c)
  if (declared !== undefined && declared > MAX_BODY_BYTES) throw tooLarge()
  if (declared !== undefined && declared <= SMALL_BODY_BYTES) {
    if ((await c.req.text()) === '') return dropContentType(c)
    return requireJson(c)
  }
  const reader = c.req.raw.body?.getReader()
  if (!reader) return dropContentType(c)
  const { bytes, is_done } =
    declared === undefined ? await readUpTo(reader, SMALL_BODY_BYTES) : NOTHING_READ
  // The stream is consumed, so the text is cached for whoever asks for it later.
  if (is_done) cacheText(c, bytes)
  if (is_done && bytes.length === 0) return dropContentType(c)
  requireJson(c)
  if (!is_done) c.set('unread_body', { start: bytes, reader })
}

const NOTHING_READ = { bytes: new Uint8Array(0), is_done: false }

/** readBody reads the rest of a body that `checkBody` left unread, once the caller is known. */
export async function readBody(c: Ctx): Promise<void> {
  const unread = c.get('unread_body')
  if (!unread) return
  c.set('unread_body', undefined)
  const { bytes, is_done } = await readUpTo(unread.reader, MAX_BODY_BYTES, unread.start)
  if (!is_done) throw tooLarge()
  // Parsing and validating costs about one unit a byte and cannot be interrupted.
  await nextSlice(bytes.length)
  requireBoundedJson(cacheText(c, bytes))
}

/** The Content-Length; undefined when the length is not known in advance. */
function declaredLength(c: Ctx): number | undefined {
  const length = c.req.header('content-length')
  if (length === undefined || c.req.header('transfer-encoding') !== undefined) return undefined
  return Number(length)
}

/** Reads until the end, or until there are more than `max_bytes`. Throws 400 for too many chunks. */
async function readUpTo(
  reader: UnreadBody['reader'],
  max_bytes: number,
  start: Bytes = new Uint8Array(0),
): Promise<{ bytes: Bytes; is_done: boolean }> {
  let [buffer, size] = [start, start.length]
  for (let chunks = 0; size <= max_bytes; chunks++) {
    if (chunks > MAX_CHUNKS) {
      await reader.cancel()
      throw new ApiError(
        'malformed',
        'The body is split into too many small chunks. Send larger chunks.',
      )
    }
    const { done, value } = await reader.read()
    if (done) return { bytes: buffer.subarray(0, size), is_done: true }
    // The buffer doubles when it is full, because a chunk may be a single byte.
    if (size + value.length > buffer.length) {
      const grown = new Uint8Array(Math.max(size + value.length, 2 * buffer.length))
      grown.set(buffer.subarray(0, size))
      buffer = grown
    }
    buffer.set(value, size)
    size += value.length
  }
  return { bytes: buffer.subarray(0, size), is_done: false }
}

/** Stores the text in Hono's body cache, from which c.req.text() and c.req.json() read. */
function cacheText(c: Ctx, bytes: Bytes): string {
  const text = new TextDecoder().decode(bytes)
  // safe: Hono itself stores promises there, although the type says string
  c.req.bodyCache.text = Promise.resolve(text) as unknown as string
  return text
}

/** Removes the Content-Type of an empty body: clients may send it, and an empty text is not valid JSON. */
function dropContentType(c: Ctx): void {
  const { url, method, headers: given, signal } = c.req.raw
  if (!given.has('content-type')) return
  // On Workers the headers of a request are immutable.
  const headers = new Headers(given)
  headers.delete('content-type')
  c.req.raw = new Request(url, { method, headers, signal })
}

function requireJson(c: Ctx): void {
  const encoding = c.req.header('content-encoding') ?? 'identity'
  if (encoding.trim().toLowerCase() !== 'identity') {
    throw new ApiError('unsupported_media_type', 'Send the body without a Content-Encoding.')
  }
  if (!/^application\/json\s*(;|$)/i.test(c.req.header('content-type') ?? '')) {
    throw new ApiError('unsupported_media_type', 'Send the body as application/json.')
  }
}
