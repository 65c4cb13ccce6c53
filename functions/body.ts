import type { MiddlewareHandler } from 'hono'
import { requireModestJson } from '../shared/json.ts'
import { ApiError, tooLarge } from '../shared/problem.ts'
import type { Ctx, Env, HeldBody } from './context.ts'
import { turn } from './turns.ts'

export const MAX_BODY_BYTES = 2 * 1024 * 1024
/**
 * A body up to this size is read before its sender is known, because then who asks travels with the
 * query; whatever it holds, it is parsed and tested in a few milliseconds.
 */
export const SMALL_BODY_BYTES = 4096

/** In pieces smaller than 400 bytes on average a body costs more to take than to parse. */
const MAX_CHUNKS = 5000

type Bytes = Uint8Array<ArrayBufferLike>

/**
 * Refuses by its headers a body that is too large or no JSON. Of the rest it reads what is small; a
 * larger one waits for `takeBody`, at most {@link SMALL_BODY_BYTES} and a chunk of it read.
 */
export const holdBody: MiddlewareHandler<Env> = async (c, next) => {
  if (['POST', 'PUT', 'PATCH', 'DELETE'].includes(c.req.method)) await hold(c)
  await next()
}

async function hold(c: Ctx): Promise<void> {
  const declared = declaredLength(c)
  if (declared !== undefined && declared > MAX_BODY_BYTES) throw tooLarge()
  if (declared !== undefined && declared <= SMALL_BODY_BYTES) {
    if ((await c.req.text()) === '') return forgetType(c)
    return requireJson(c)
  }
  const reader = c.req.raw.body?.getReader()
  if (!reader) return forgetType(c)
  const { bytes, is_done } =
    declared === undefined ? await readUpTo(reader, SMALL_BODY_BYTES) : NOTHING_YET
  // Its stream is taken: whoever asks for the text later finds it here.
  if (is_done) keep(c, bytes)
  if (is_done && bytes.length === 0) return forgetType(c)
  requireJson(c)
  if (!is_done) c.set('held_body', { begun: bytes, reader })
}

const NOTHING_YET = { bytes: new Uint8Array(0), is_done: false }

/** takeBody reads what `holdBody` left, for a caller who is known. */
export async function takeBody(c: Ctx): Promise<void> {
  const held = c.get('held_body')
  if (!held) return
  c.set('held_body', undefined)
  const { bytes, is_done } = await readUpTo(held.reader, MAX_BODY_BYTES, held.begun)
  if (!is_done) throw tooLarge()
  // Parsing and testing it takes about a unit a byte, and cannot be done in pieces: one at a time.
  await turn(bytes.length)
  requireModestJson(keep(c, bytes))
}

/** What the sender says it will send; undefined where only the end will tell. */
function declaredLength(c: Ctx): number | undefined {
  const length = c.req.header('content-length')
  if (length === undefined || c.req.header('transfer-encoding') !== undefined) return undefined
  return Number(length)
}

/** Reads on until the end, or until there is more than `most`. */
async function readUpTo(
  reader: HeldBody['reader'],
  most: number,
  begun: Bytes = new Uint8Array(0),
): Promise<{ bytes: Bytes; is_done: boolean }> {
  let [buffer, size] = [begun, begun.length]
  for (let chunks = 0; size <= most; chunks++) {
    if (chunks > MAX_CHUNKS) {
      await reader.cancel()
      throw new ApiError('malformed', 'The body comes in too many small chunks. Send larger ones.')
    }
    const { done, value } = await reader.read()
    if (done) return { bytes: buffer.subarray(0, size), is_done: true }
    // One buffer that grows: a chunk may be a single byte.
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

/** Puts the text where every reader of this request looks for it. */
function keep(c: Ctx, bytes: Bytes): string {
  const text = new TextDecoder().decode(bytes)
  // safe: Hono keeps promises there, which is what its own readers put there; its type says otherwise
  c.req.bodyCache.text = Promise.resolve(text) as unknown as string
  return text
}

/** Clients name a type also where they send nothing; nothing is no malformed JSON. */
function forgetType(c: Ctx): void {
  const { url, method, headers: given, signal } = c.req.raw
  if (!given.has('content-type')) return
  // On Workers the headers of a request cannot be changed.
  const headers = new Headers(given)
  headers.delete('content-type')
  c.req.raw = new Request(url, { method, headers, signal })
}

function requireJson(c: Ctx): void {
  const encoding = c.req.header('content-encoding') ?? 'identity'
  if (encoding.trim().toLowerCase() !== 'identity') {
    throw new ApiError(
      'unsupported_media_type',
      'Send the body as it is, without Content-Encoding.',
    )
  }
  if (!/^application\/json\s*(;|$)/i.test(c.req.header('content-type') ?? '')) {
    throw new ApiError('unsupported_media_type', 'Send the body as application/json.')
  }
}
