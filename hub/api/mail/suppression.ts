import { z } from 'zod'
import { ApiError } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import {
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  NextCursor,
  splitPage,
} from '../../../shared/schemas/page.ts'
import { Instant } from '../../../shared/time.ts'
import { everywhere } from '../../db/db.ts'
import { answer, type Ctx, type Env, problems, write } from '../../http/http.ts'
import { positionOf } from '../../http/page.ts'
import { absent } from '../../i18n/failure.ts'
import { bilingual } from '../../i18n/words.ts'
import { normaliseEmail } from '../../mail/address.ts'
import { outcomeText } from '../../mail/drafts/outcome.text.ts'
import {
  emailHashes,
  forgetAddresses,
  readSalt,
  release,
  suppress,
  suppressed,
} from '../../mail/suppression.ts'

const say = bilingual(outcomeText)

const Reason = z.enum(['unsubscribed', 'bounced', 'complained', 'manual', 'imported', 'erased'])
const Entry = z
  .object({
    email_hash: z
      .string()
      .meta({ description: 'A salted hash, by which addresses are recognised.' }),
    email: z.string().nullable().meta({
      description:
        'The address of an entry made by hand or by an import, for 30 days; else null, and not stored.',
    }),
    email_until: z.string().nullable(),
    note: z.string().nullable().meta({ description: 'Why it was put on the list.' }),
    releasable: z.boolean().meta({
      description: 'Whether its address, typed by a person, takes it off the list.',
    }),
    reason: Reason,
    project: z.string().nullable(),
    created_at: z.string(),
  })
  .meta({ id: 'Suppression' })
const Page = z.object({ suppression: z.array(Entry), total: z.int(), next_cursor: NextCursor })
const Filter = z.strictObject({
  email: z.string().max(320).optional().meta({ description: 'Only the entry for this address.' }),
  reason: Reason.optional(),
})

/** The people who never get mail again, from any project. */
export const suppression = resource<Env>()

suppression.openapi(
  createRoute({
    method: 'get',
    path: '/suppression',
    operationId: 'listSuppression',
    tags: ['Mail'],
    summary: 'List the suppressed addresses, newest first',
    request: {
      query: Filter.extend({
        limit: integerParameter(1, 500, 100, 'Entries a page.'),
        cursor: CursorQuery,
      }),
    },
    responses: { 200: jsonResponse(Page, 'A page.'), ...problems() },
  }),
  async (c) => {
    const { limit, cursor, ...filter } = c.req.valid('query')
    const Position = z.tuple([Instant, z.string()])
    const [at, after] = (await decodeCursor(filter, cursor, Position)) ?? [
      '9999-12-31T00:00:00Z',
      'g',
    ]
    const { config, db } = c.get('deps')
    const { email, reason = null } = filter
    const hashes = email === undefined ? null : emailHashes(await readSalt(config.paths), email)
    const { rows, total } = await everywhere(db, async (sql) => {
      const rows = await sql<z.infer<typeof Entry> & { position: string }>`
        select entry.email_hash, known.email, known.shown_until as email_until, note, reason,
          reason in ('bounced', 'manual', 'imported') and erased_at is null as releasable,
          project.slug as project, entry.created_at,
          ${positionOf('entry.created_at')} as position
        from hub.suppression as entry
        left join hub.suppression_addresses as known
          on known.email_hash = entry.email_hash and known.shown_until > now()
            and reason in ('manual', 'imported') and erased_at is null
        left join hub.projects as project on project.id = entry.project_id
        where released_at is null and (${hashes}::text[] is null or entry.email_hash = any(${hashes}::text[]))
          and (${reason}::text is null or reason = ${reason})
          and (entry.created_at, entry.email_hash) < (${at}::timestamptz, ${after})
        order by entry.created_at desc, entry.email_hash desc
        limit ${limit + 1}`
      const [count] = await sql<{ total: number }>`
        select count(*)::int as total from hub.suppression where released_at is null`
      return { rows, total: count?.total ?? 0 }
    })
    const { page, last } = splitPage(rows, limit)
    const next_cursor = last ? await encodeCursor(filter, [last.position, last.email_hash]) : null
    return answer(c, Page, { suppression: page, total, next_cursor }, 200)
  },
)

const Emails = z.array(z.string().trim().min(3).max(320)).min(1).max(50_000)
const Released = z.object({ ok: z.literal(true) })
const Added = z.object({
  added: z.int(),
  known: z.int().meta({ description: 'Already on the list.' }),
  invalid: z
    .array(z.string())
    .meta({ description: 'Entries that are not addresses, at most 100 of them.' }),
})

const Note = z.string().trim().min(1).max(300).optional().meta({
  description: 'Why they are put on the list; shown beside them. Do not write the address here.',
})

/** PUT only adds; an entry is released only by its address, and never one that its owner asked for. */
for (const [method, path, reason, operationId] of [
  ['put', '/suppression', 'manual', 'putSuppression'],
  ['post', '/suppression/add', 'manual', 'addSuppression'],
] as const) {
  suppression.openapi(
    createRoute({
      method,
      path,
      operationId,
      tags: ['Mail'],
      summary: 'Add addresses to the suppression list',
      description: 'Never removes an entry; neither does a restore.',
      middleware: write,
      request: { body: jsonBody(z.strictObject({ emails: Emails, note: Note })) },
      responses: { 200: jsonResponse(Added, 'They are on the list.'), ...problems(422) },
    }),
    async (c) => {
      const { emails, note } = c.req.valid('json')
      return answer(c, Added, await add(c, { emails, note, reason }), 200)
    },
  )
}

suppression.openapi(
  createRoute({
    method: 'post',
    path: '/suppression/import',
    operationId: 'importSuppression',
    tags: ['Mail'],
    summary: 'Add every address in a text or CSV to the suppression list',
    middleware: write,
    request: {
      body: jsonBody(z.strictObject({ text: z.string().min(3).max(2_000_000), note: Note })),
    },
    responses: { 200: jsonResponse(Added, 'They are on the list.'), ...problems(422) },
  }),
  async (c) => {
    const { text, note } = c.req.valid('json')
    const emails = text.match(/[^\s,;"'<>|\t]+@[^\s,;"'<>|\t]+/g) ?? []
    return answer(c, Added, await add(c, { emails, note, reason: 'imported' }), 200)
  },
)

suppression.openapi(
  createRoute({
    method: 'post',
    path: '/suppression/release',
    operationId: 'releaseSuppression',
    tags: ['Mail'],
    summary: 'Take an address off the list',
    description:
      'Needs the address, typed by a person. For one that bounced, until it bounces again, and for one that was put on the list by hand or by an import. 409 for every other reason: what its owner asked for stays, and so does an erased person.',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ email: z.string().trim().min(3).max(320) })) },
    responses: {
      200: jsonResponse(Released, 'The address can get mail again.'),
      ...problems(404, 409, 422),
    },
  }),
  async (c) => {
    const { config, db } = c.get('deps')
    const hashes = emailHashes(await readSalt(config.paths), c.req.valid('json').email)
    const entry = await everywhere(db, (sql) => release(sql, hashes))
    if (!entry) throw absent('entry')
    if (!entry.is_released) throw new ApiError('conflict', say.only_bounces)
    return answer(c, Released, { ok: true }, 200)
  },
)

async function add(
  c: Ctx,
  request: { emails: string[]; note?: string | undefined; reason: 'manual' | 'imported' },
) {
  const { emails: given, note = null, reason } = request
  const { config, db } = c.get('deps')
  const invalid = given.filter((text) => !normaliseEmail(text))
  const emails = [...new Set(given.flatMap((text) => normaliseEmail(text) ?? []))]
  const salt = await readSalt(config.paths)
  return everywhere(db, async (sql) => {
    await forgetAddresses(sql)
    const known = (await suppressed(sql, { salt, queued: new Set() }, emails)).size
    const added = await suppress(sql, salt, { emails, reason, note })
    return { added, known, invalid: invalid.slice(0, 100) }
  })
}
