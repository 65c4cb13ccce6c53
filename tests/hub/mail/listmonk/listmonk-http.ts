import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import { z } from 'zod'

export type Env = { Bindings: HttpBindings }

/** An answer other than 200, as listmonk gives it: `{message}`. */
export class Refusal extends Error {
  readonly status: 400 | 403 | 404 | 409 | 500
  constructor(status: Refusal['status'], message: string) {
    super(message)
    this.status = status
  }
}

export const Ids = z.array(z.number().int())
export const idOf = (c: Context<Env>) => {
  const id = Number(c.req.param('id'))
  if (!Number.isInteger(id) || id < 1) throw new Refusal(400, 'invalid ID')
  return id
}

export async function body<S extends z.ZodType>(c: Context<Env>, schema: S): Promise<z.output<S>> {
  const read = schema.safeParse(await c.req.json().catch(() => ({})))
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new Refusal(400, `Invalid fields: ${issue?.path.join('.')}`)
}

/** A page of rows, newest first, as listmonk answers it; `past_end` is what it has behind the last. */
export function paged<T extends { id: number }>(
  c: Context<Env>,
  rows: T[],
  past_end: null | 0 = 0,
) {
  const page = Number(c.req.query('page') ?? 1)
  const per_page =
    c.req.query('per_page') === 'all' ? rows.length : Number(c.req.query('per_page') ?? 20)
  const sorted = rows.toSorted((a, b) => b.id - a.id)
  const results = sorted.slice((page - 1) * per_page, page * per_page)
  if (results.length > 0 || rows.length === 0) {
    return c.json({ data: { results, query: '', total: rows.length, per_page, page } })
  }
  // Subscribers are counted apart, other rows with the page.
  const empty = past_end === null ? { results: null, total: rows.length } : { results, total: 0 }
  return c.json({ data: { ...empty, query: '', per_page, page } })
}
