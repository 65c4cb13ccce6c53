import { z } from 'zod'
import { ApiError } from '../shared/problem.ts'
import type { Sql } from '../shared/sql.ts'
import type { Ctx } from './context.ts'
import { sqlState } from './db.ts'
import { read, write } from './transaction.ts'

/** The header of a creating POST, for its route: `request: { headers: IdempotencyHeader, … }`. */
export const IdempotencyHeader = z.object({
  'idempotency-key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .meta({
      description:
        'Up to 255 characters of your choice, kept for 24 hours per account and route. When the request is sent again ' +
        'with the same body, the answer is what the first request created, with its secrets null. With a different ' +
        'body it is 422, and while the first request is still running 409.',
    }),
})

const Outcome = z.object({ id: z.string() })
/** What a creating POST answers. */
const CREATED = 201
const encoder = new TextEncoder()

/**
 * Creates a thing once per Idempotency-Key; without the header, simply creates it. `create` runs in
 * a write transaction; `replay` reads the thing of an earlier request again, its secrets null.
 */
export async function idempotent<T extends { id: string }>(
  c: Ctx,
  {
    create,
    replay,
  }: {
    create: (sql: Sql) => Promise<T>
    replay: (sql: Sql, id: string) => Promise<T | undefined>
  },
): Promise<{ thing: T; status: typeof CREATED; replayed: boolean }> {
  const status = CREATED
  const key = c.req.header('idempotency-key')
  if (key === undefined) return { thing: await write(c, create), status, replayed: false }
  // The path and not its pattern: the same key for two organisations is two requests.
  const route = `${c.req.method} ${new URL(c.req.url).pathname}`
  const hash = await bodyHash(c)
  try {
    const thing = await write(c, async (sql, last) => {
      // Sent together: in a transaction that `begin_idempotent` refused, nothing that follows does anything.
      const [first, made] = await Promise.allSettled([
        sql`select private.begin_idempotent(${route}, ${key}, ${hash})`,
        create(sql),
      ])
      if (first.status === 'rejected') throw first.reason
      if (made.status === 'rejected') throw made.reason
      await last(
        sql`select private.finish_idempotent(${route}, ${key}, ${hash}, ${status}, ${made.value.id})`,
      )
      return made.value
    })
    return { thing, status, replayed: false }
  } catch (error) {
    const seen = outcomeOf(error)
    if (!seen) throw error
    const thing = await read(c, (sql) => replay(sql, seen.id))
    if (!thing) {
      const message =
        'What the first request with this Idempotency-Key made is no longer there. Use a new key to make another.'
      throw new ApiError('conflict', message)
    }
    return { thing, status, replayed: true }
  }
}

async function bodyHash(c: Ctx): Promise<Uint8Array> {
  const bytes = encoder.encode(await c.req.text())
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

/** What the first request led to, told by private.begin_idempotent when the key was used before. */
function outcomeOf(error: unknown): z.infer<typeof Outcome> | undefined {
  if (sqlState(error) !== 'WPIDP' || !(error instanceof Error)) return undefined
  const detail = 'detail' in error && typeof error.detail === 'string' ? error.detail : '{}'
  return Outcome.parse(JSON.parse(detail))
}
