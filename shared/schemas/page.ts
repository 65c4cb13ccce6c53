import { base64url } from 'jose'
import { z } from 'zod'
import { ApiError } from '../problem.ts'

/** The `cursor` parameter of a paged list. */
export const CursorQuery = z.string().max(2000).optional().meta({
  description:
    'The `next_cursor` of the previous page. It is opaque and valid only with the same filter.',
})

export const NextCursor = z
  .string()
  .nullable()
  .meta({ description: 'Send it as `cursor` to get the next page; null on the last page.' })

const VERSION = 1
const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Encodes a position in a list as an opaque, versioned cursor that is bound to its filter. */
export async function encodeCursor(filter: object, position: unknown[]): Promise<string> {
  return base64url.encode(
    encoder.encode(JSON.stringify([VERSION, await digest(filter), ...position])),
  )
}

/**
 * Decodes a cursor of encodeCursor; `schema` describes its position, `name` is the parameter it came in.
 * Undefined without a cursor. Throws 400 invalid_cursor when it was forged or made for another filter.
 */
export async function decodeCursor<T extends z.ZodType>(
  filter: object,
  cursor: string | undefined,
  schema: T,
  name = 'cursor',
): Promise<z.output<T> | undefined> {
  if (cursor === undefined) return undefined
  try {
    const [version, made, ...position] = JSON.parse(decoder.decode(base64url.decode(cursor)))
    const isText = position.every(
      (part: unknown) => typeof part !== 'string' || !part.includes('\0'),
    )
    if (version === VERSION && made === (await digest(filter)) && isText) {
      return schema.parse(position)
    }
  } catch {
    // Falls through to the error below, which does not say what is wrong with a forged cursor.
  }
  throw new ApiError(
    'invalid_cursor',
    'This cursor belongs to a different query. Start again without a cursor.',
    {
      issues: [
        {
          path: name,
          code: 'invalid_cursor',
          message: 'Must be the next_cursor of a page with the same filter.',
        },
      ],
    },
  )
}

/** By the filter they are of: most callers ask for the same few. */
const digests = new Map<string, string>()
const MAX_DIGESTS = 1000

async function digest(filter: object): Promise<string> {
  const entries = Object.entries(filter)
    .filter(([key, value]) => value !== undefined && key !== 'cursor' && key !== 'limit')
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const text = JSON.stringify(entries)
  const known = digests.get(text)
  if (known) return known
  const hash = await crypto.subtle.digest('SHA-256', encoder.encode(text))
  const made = base64url.encode(new Uint8Array(hash).slice(0, 9))
  if (digests.size >= MAX_DIGESTS) digests.clear()
  digests.set(text, made)
  return made
}

/** Splits limit + 1 rows into a page and its last row; `last` is undefined on the last page. */
export function splitPage<T>(rows: T[], limit: number): { page: T[]; last: T | undefined } {
  const page = rows.slice(0, limit)
  return { page, last: rows.length > limit ? page.at(-1) : undefined }
}

/** The schema of an integer in a query string. */
export function integerParameter(min: number, max: number, fallback: number, description: string) {
  return z.coerce
    .number()
    .int()
    .min(min)
    .max(max)
    .default(fallback)
    .meta({ description, type: 'integer', minimum: min, maximum: max, default: fallback })
}

/** The schema of an optional `true` or `false` in a query string. */
export function booleanParameter(description: string) {
  return z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional()
    .meta({ description })
}

/** Sorts after every other UUID; the start of a keyset page by (time, id) in descending order. */
export const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
