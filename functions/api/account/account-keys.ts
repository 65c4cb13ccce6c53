import { z } from 'zod'
import { generateKey, keyHash, keyPrefix } from '../../../shared/key.ts'
import { invalid, notFound } from '../../../shared/problem.ts'
import {
  createRoute,
  jsonBody,
  jsonResponse,
  pathId,
  resource,
  respond,
} from '../../../shared/route.ts'
import { Key, KeyCreate } from '../../../shared/schemas/account.ts'
import {
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  LAST_UUID,
  NextCursor,
  splitPage,
} from '../../../shared/schemas/page.ts'
import { raw, type Sql } from '../../../shared/sql.ts'
import { Instant } from '../../../shared/time.ts'
import { signedIn } from '../../auth.ts'
import type { Env } from '../../context.ts'
import { sessionProblems } from '../../http.ts'
import { IdempotencyHeader, idempotent } from '../../idempotency.ts'
import { read, write } from '../../transaction.ts'

const KeyId = z.object({ id: pathId('The id of a key.') })
const One = z.object({ key: Key })
const Made = z.object({
  key: Key.extend({
    api_key: z.string().nullable().meta({
      description:
        'The secret of the key. It is shown only in this answer and cannot be read again.',
      example: 'wp_live_…',
    }),
  }),
})
const Page = z.object({ keys: z.array(Key), next_cursor: NextCursor })
const ListQuery = z.strictObject({
  limit: integerParameter(1, 500, 100, 'The maximum number of keys on a page.'),
  cursor: CursorQuery,
})
const Position = z.tuple([Instant, z.uuid()])
const security = [{ session: [] }]

/** SQL: the columns of key `k`. */
export const keyColumns =
  raw(`k.id, k.name, k.prefix, k.scopes, k.expires_at, k.revoked_at, k.created_at,
  (select u.last_used_at from watchpost.key_usage u where u.key_id = k.id) as last_used_at`)

export const accountKeys = resource<Env>()

accountKeys.openapi(
  createRoute({
    method: 'get',
    path: '/',
    operationId: 'listKeys',
    tags: ['Account'],
    summary: 'List the keys of the account, including revoked ones, newest first',
    security,
    middleware: signedIn('read'),
    request: { query: ListQuery },
    responses: { 200: jsonResponse(Page, 'A page of keys.'), ...sessionProblems() },
  }),
  async (c) => {
    const { limit, cursor } = c.req.valid('query')
    const [before, beforeId] = (await decodeCursor({ list: 'keys' }, cursor, Position)) ?? []
    const rows = await read(
      c,
      (sql) => sql<Key>`
        select ${keyColumns}
        from watchpost.api_keys k
        where k.user_id = private.uid()
          and (k.created_at, k.id) < (${before ?? 'infinity'}::timestamptz, ${beforeId ?? LAST_UUID}::uuid)
        order by k.created_at desc, k.id desc
        limit ${limit + 1}`,
    )
    const { page, last } = splitPage(rows, limit)
    const next_cursor = last
      ? await encodeCursor({ list: 'keys' }, [last.created_at, last.id])
      : null
    return respond(c, Page, { keys: page, next_cursor }, 200)
  },
)

accountKeys.openapi(
  createRoute({
    method: 'get',
    path: '/{id}',
    operationId: 'getKey',
    tags: ['Account'],
    summary: 'Get a key, without its secret',
    security,
    middleware: signedIn('read'),
    request: { params: KeyId },
    responses: { 200: jsonResponse(One, 'The key.'), ...sessionProblems(404) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const key = await read(c, (sql) => findKey(sql, id))
    if (!key) throw notFound('key')
    return respond(c, One, { key }, 200)
  },
)

accountKeys.openapi(
  createRoute({
    method: 'post',
    path: '/',
    operationId: 'createKey',
    tags: ['Account'],
    summary: 'Create a key; its secret is shown once',
    security,
    middleware: signedIn('write'),
    request: { headers: IdempotencyHeader, body: jsonBody(KeyCreate) },
    responses: {
      201: jsonResponse(Made, 'The key with its secret.'),
      ...sessionProblems(409, 413, 415, 422),
    },
  }),
  async (c) => {
    const { name, scopes, expires_at = null } = c.req.valid('json')
    if (expires_at !== null && Date.parse(expires_at) <= Date.now()) {
      const message = 'Must be in the future, or null for a key that does not expire.'
      throw invalid([{ path: 'expires_at', code: 'in_the_past', message }])
    }
    const api_key = generateKey()
    const hash = await keyHash(api_key)
    const { thing, status, replayed } = await idempotent(c, {
      create: async (sql) => {
        const [made] = await sql<{ id: string }>`
          select private.create_key(${name}, ${keyPrefix(api_key)}, ${hash}, ${[...new Set(scopes)]},
            ${expires_at}) as id`
        const key = made && (await findKey(sql, made.id))
        if (!key) throw new Error('a key that was made is not there')
        return key
      },
      replay: findKey,
    })
    return respond(c, Made, { key: { ...thing, api_key: replayed ? null : api_key } }, status, {
      Location: `/api/v1/account/keys/${thing.id}`,
    })
  },
)

accountKeys.openapi(
  createRoute({
    method: 'delete',
    path: '/{id}',
    operationId: 'revokeKey',
    tags: ['Account'],
    summary: 'Revoke a key; it is refused from the next request on',
    security,
    middleware: signedIn('write'),
    request: { params: KeyId },
    responses: { 204: { description: 'Revoked.' }, ...sessionProblems(404) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    await write(c, (sql, last) => last(sql`select private.revoke_key(${id})`))
    return c.body(null, 204)
  },
)

async function findKey(sql: Sql, id: string): Promise<Key | undefined> {
  const [key] = await sql<Key>`
    select ${keyColumns}
    from watchpost.api_keys k
    where k.id = ${id} and k.user_id = private.uid()`
  return key
}
