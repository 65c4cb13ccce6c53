import { base64url } from 'jose'
import { z } from 'zod'
import { ApiError } from './problem.ts'

/** The query of a list that pages. */
export const CursorQuery = z
  .string()
  .max(2000)
  .optional()
  .meta({ description: 'The `next_cursor` of the page before; opaque, bound to the same filter.' })

export const NextCursor = z
  .string()
  .nullable()
  .meta({ description: 'Pass it as `cursor` for the next page; null on the last one.' })

const VERSION = 1
const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** An opaque, versioned cursor bound to the filter it was made with. */
export async function encodeCursor(filter: object, position: unknown[]): Promise<string> {
  return base64url.encode(
    encoder.encode(JSON.stringify([VERSION, await digest(filter), ...position])),
  )
}

/**
 * Reads a cursor made by encodeCursor for the same filter; `schema` describes its position.
 * Throws 400 invalid_cursor for one that was tampered with or made with another filter.
 */
export async function decodeCursor<T extends z.ZodType>(
  filter: object,
  cursor: string | undefined,
  schema: T,
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
    // Falls through to the one refusal: what is wrong with a forged cursor is nobody's business.
  }
  throw new ApiError(
    'invalid_cursor',
    'This cursor does not belong to this query. Start again without it.',
    {
      issues: [
        {
          path: 'cursor',
          code: 'invalid_cursor',
          message: 'Use next_cursor with the same filter.',
        },
      ],
    },
  )
}

async function digest(filter: object): Promise<string> {
  const entries = Object.entries(filter)
    .filter(([key, value]) => value !== undefined && key !== 'cursor' && key !== 'limit')
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const hash = await crypto.subtle.digest('SHA-256', encoder.encode(JSON.stringify(entries)))
  return base64url.encode(new Uint8Array(hash).slice(0, 9))
}

/** Splits limit + 1 rows into a page and whether there is more. */
export function split<T>(rows: T[], limit: number): { page: T[]; last: T | undefined } {
  const page = rows.slice(0, limit)
  return { page, last: rows.length > limit ? page.at(-1) : undefined }
}

/** A whole number in a query string. */
export function integer(min: number, max: number, fallback: number, description: string) {
  return z.coerce
    .number()
    .int()
    .min(min)
    .max(max)
    .default(fallback)
    .meta({ description, type: 'integer', minimum: min, maximum: max, default: fallback })
}

/** true or false in a query string; absent means both. */
export function flag(description: string) {
  return z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional()
    .meta({ description })
}

/** Behind every other UUID: where a keyset page by (time, id) begins. */
export const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
