import { z } from 'zod'
import { ApiError, invalid } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { raw, type Sql } from '../../../shared/sql.ts'
import { Instant } from '../../../shared/time.ts'
import { newKey, SCOPES, secretHash } from '../../auth/identity.ts'
import { everywhere } from '../../db/db.ts'
import { answer, type Env, problems, write } from '../../http/http.ts'
import { bilingual } from '../../i18n/words.ts'
import { MemberName } from '../../members/members.ts'
import { webhooksText } from '../../webhooks/webhooks.text.ts'

const say = bilingual(webhooksText)
const MAX_KEYS = 100

const Key = z
  .object({
    id: z.uuid(),
    name: z.string(),
    scope: z.enum(SCOPES).meta({
      description:
        '`read` reads the projects; `propose` also creates leads, notes, drafts and missions; `write` does what a seller may; `admin` everything.',
    }),
    hint: z.string().meta({ description: 'The last four characters.' }),
    created_at: z.string(),
    last_used_at: z.string().nullable(),
    expires_at: z.string().nullable(),
    revoked_at: z.string().nullable(),
  })
  .meta({ id: 'HubKey' })
type Key = z.infer<typeof Key>
const All = z.object({ keys: z.array(Key) })
const One = z.object({ key: Key })
const Shown = z.object({
  key: Key,
  secret: z.string().meta({ description: 'For `Authorization: Bearer`. Shown once.' }),
})

const columns = raw('id, name, scope, hint, created_at, last_used_at, expires_at, revoked_at')

async function requireKey(sql: Sql, id: string): Promise<Key> {
  const [key] = await sql<Key>`select ${columns} from hub.api_keys where id = ${id}`
  if (!key) throw new ApiError('not_found', say.no_key)
  return key
}

/** Named keys for scripts and for model clients (MCP). */
export const keys = resource<Env>()

keys.openapi(
  createRoute({
    method: 'get',
    path: '/keys',
    operationId: 'listKeys',
    tags: ['Automation'],
    summary: 'List the API keys, revoked ones last',
    responses: { 200: jsonResponse(All, 'All of them.'), ...problems() },
  }),
  async (c) => {
    const rows = await everywhere(
      c.get('deps').db,
      (sql) => sql<Key>`
        select ${columns} from hub.api_keys
        order by revoked_at is not null, created_at desc, id`,
    )
    return answer(c, All, { keys: rows }, 200)
  },
)

keys.openapi(
  createRoute({
    method: 'post',
    path: '/keys',
    operationId: 'createKey',
    tags: ['Automation'],
    summary: 'Make an API key',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          name: MemberName,
          scope: z.enum(SCOPES),
          expires_at: Instant.nullable().default(null),
        }),
      ),
    },
    responses: { 201: jsonResponse(Shown, 'Made.'), ...problems(409, 422) },
  }),
  async (c) => {
    const { name, scope, expires_at } = c.req.valid('json')
    if (expires_at && Date.parse(expires_at) <= Date.now()) {
      throw invalid([{ path: 'expires_at', code: 'past', message: say.past }])
    }
    const secret = newKey()
    const key = await everywhere(c.get('deps').db, async (sql) => {
      const [row] = await sql<{ count: number }>`
        select count(*)::int as count from hub.api_keys where revoked_at is null`
      if ((row?.count ?? 0) >= MAX_KEYS) throw new ApiError('conflict', say.many(MAX_KEYS))
      const [made] = await sql<{ id: string }>`
        insert into hub.api_keys (name, scope, key_hash, hint, expires_at)
        values (${name}, ${scope}, ${secretHash(secret)}, ${secret.slice(-4)}, ${expires_at})
        returning id`
      return requireKey(sql, made?.id ?? '')
    })
    return answer(c, Shown, { key, secret }, 201, { Location: '/api/cockpit/settings/keys' })
  },
)

keys.openapi(
  createRoute({
    method: 'post',
    path: '/keys/revoke',
    operationId: 'revokeKey',
    tags: ['Automation'],
    summary: 'Revoke an API key at once',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ id: z.uuid() })) },
    responses: { 200: jsonResponse(One, 'Revoked.'), ...problems(404, 422) },
  }),
  async (c) => {
    const { id } = c.req.valid('json')
    const key = await everywhere(c.get('deps').db, async (sql) => {
      const gone = await sql`
        update hub.api_keys set revoked_at = now() where id = ${id} and revoked_at is null
        returning id`
      if (gone.length === 0) throw new ApiError('not_found', say.no_key)
      return requireKey(sql, id)
    })
    return answer(c, One, { key }, 200)
  },
)
