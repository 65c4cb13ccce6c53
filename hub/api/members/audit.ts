import { z } from 'zod'
import { createRoute, jsonResponse, resource } from '../../../shared/route.ts'
import {
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  NextCursor,
  splitPage,
} from '../../../shared/schemas/page.ts'
import type { Sql } from '../../../shared/sql.ts'
import { Instant } from '../../../shared/time.ts'
import { languageOf } from '../../../shared/words/language-of.ts'
import { actionText } from '../../audit/actions.text.ts'
import type { Act } from '../../audit/audit.ts'
import { everywhere } from '../../db/db.ts'
import { answer, type Env, problems } from '../../http/http.ts'
import { NEWEST, Position, positionOf } from '../../http/page.ts'
import { bilingual, verbatim, type Words } from '../../i18n/words.ts'
import { BOM, toCsv } from '../../leads/csv.ts'
import { By, byOf } from '../../members/by.ts'

const say = bilingual(actionText)

const Entry = z
  .object({
    id: z.uuid(),
    at: z.string(),
    by: By,
    actor: z.object({
      kind: z.enum(['admin', 'member', 'api', 'agent', 'hub', 'unknown']),
      id: z.uuid().nullable(),
      name: z.string().nullable(),
    }),
    action: z.string().meta({ description: 'The operation of this API, or `role` for a refusal.' }),
    what: z.string().meta({ description: 'The action in words.' }),
    area: z.string(),
    project: z.string().nullable(),
    target: z.string().nullable(),
    fields: z.array(z.string()).meta({
      description: 'The names of the fields that were sent or changed, never their values.',
    }),
    outcome: z.enum(['done', 'refused']),
    count: z.int().meta({ description: 'How often; refusals of one minute are counted.' }),
    address: z.string().nullable(),
  })
  .meta({ id: 'AuditEntry' })
const Page = z.object({ audit: z.array(Entry), next_cursor: NextCursor })

const Filter = z.strictObject({
  who: z.string().max(60).optional().meta({
    description: 'The id of a member or key, or `admin`, `api`, `agent`, `hub`, `unknown`.',
  }),
  area: z
    .string()
    .max(80)
    .optional()
    .meta({ description: 'A tag of this document, e.g. `Drafts`.' }),
  action: z.string().max(80).optional(),
  project: z.string().max(41).optional(),
  outcome: z.enum(['done', 'refused']).optional(),
  from: Instant.optional(),
  to: Instant.optional(),
})
type Filter = z.infer<typeof Filter>
type Row = Omit<Act, 'project'> & { id: string; at: string; project: string | null }

/** Who did what and when: to read and to take along, never to change. */
export const audit = resource<Env>()

audit.openapi(
  createRoute({
    method: 'get',
    path: '/audit',
    operationId: 'listAudit',
    tags: ['Members'],
    summary: 'List who did what, newest first',
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
    await c.get('deps').audit.flush()
    const after = await decodeCursor(filter, cursor, Position)
    const [at, id] = after ?? NEWEST
    const rows = await everywhere(c.get('deps').db, (sql) =>
      pageOf(sql, { filter, limit: limit + 1, at, id }),
    )
    const { page, last } = splitPage(rows, limit)
    const next_cursor = last ? await encodeCursor(filter, [last.position, last.id]) : null
    return answer(c, Page, { audit: page.map(entryOf), next_cursor }, 200)
  },
)

const PAGE_ROWS = 1000
const COLUMNS = [
  'at',
  'by',
  'actor_kind',
  'actor_id',
  'action',
  'what',
  'area',
  'project',
  'target',
  'fields',
  'outcome',
  'count',
  'address',
]

audit.openapi(
  createRoute({
    method: 'get',
    path: '/audit/export',
    operationId: 'exportAudit',
    tags: ['Members'],
    summary: 'Export the audit as CSV or JSON lines',
    description: 'Newest first, with the same filters. The export itself is an entry of the audit.',
    request: { query: Filter.extend({ format: z.enum(['csv', 'json']).default('csv') }) },
    responses: {
      200: {
        description: 'The file.',
        content: {
          'text/csv': { schema: z.string() },
          'application/x-ndjson': { schema: z.string() },
        },
      },
      ...problems(),
    },
  }),
  async (c) => {
    const { format, ...filter } = c.req.valid('query')
    const { db, audit } = c.get('deps')
    await audit.flush()
    const language = languageOf(c)
    let position: [string, string] | null = NEWEST
    const lineOf = (row: Row) => {
      const { by, what, actor, ...entry } = entryOf(row)
      const said = { by: by?.[language] ?? null, what: what[language] }
      if (format === 'json') return `${JSON.stringify({ ...entry, actor, ...said })}\n`
      const cells = { ...entry, ...said, actor_kind: actor.kind, actor_id: actor.id }
      return toCsv([
        COLUMNS.map((name) => {
          const value: unknown = Reflect.get(cells, name)
          return Array.isArray(value) ? value.join(' ') : value === null ? null : String(value)
        }),
      ])
    }
    const next = async () => {
      if (position === null) return undefined
      const [at, id] = position
      const rows = await everywhere(db, (sql) => pageOf(sql, { filter, limit: PAGE_ROWS, at, id }))
      const last = rows.length === PAGE_ROWS ? rows.at(-1) : undefined
      position = last ? [last.position, last.id] : null
      return rows.map(lineOf).join('')
    }
    const head = format === 'csv' ? `${BOM}${toCsv([COLUMNS])}` : ''
    const first = `${head}${(await next()) ?? ''}`
    const encoder = new TextEncoder()
    const stream = new ReadableStream({
      start: (controller) => controller.enqueue(encoder.encode(first)),
      pull: async (controller) => {
        const text = await next()
        if (text === undefined) return controller.close()
        controller.enqueue(encoder.encode(text))
      },
    })
    const day = new Date().toISOString().slice(0, 10)
    const name = format === 'csv' ? `audit-${day}.csv` : `audit-${day}.jsonl`
    return c.body(stream, 200, {
      'Content-Type':
        format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson',
      'Content-Disposition': `attachment; filename="${name}"`,
    })
  },
)

function pageOf(
  sql: Sql,
  page: { filter: Filter; limit: number; at: string; id: string },
): Promise<(Row & { position: string })[]> {
  const { filter, limit, at, id } = page
  const { who = null, area = null, action = null, project = null, outcome = null } = filter
  const { from = null, to = null } = filter
  return sql`
    select id, at, actor, action, area, project, target, fields, outcome, count, address,
      ${positionOf('at')} as position
    from hub.audit
    where (${who}::text is null or actor ->> 'id' = ${who}
        or (actor ->> 'kind' = ${who} and actor ->> 'id' is null))
      and (${area}::text is null or area = ${area})
      and (${action}::text is null or action = ${action})
      and (${project}::text is null or project = ${project})
      and (${outcome}::text is null or outcome = ${outcome})
      and (${from}::timestamptz is null or at >= ${from}::timestamptz)
      and (${to}::timestamptz is null or at < ${to}::timestamptz)
      and (at, id) < (${at}::timestamptz, ${id}::uuid)
    order by at desc, id desc
    limit ${limit}`
}

function entryOf({
  id,
  at,
  actor,
  action,
  area,
  project,
  target,
  fields,
  outcome,
  count,
  address,
}: Row) {
  const known: unknown = Reflect.get(say, action)
  // An operation that was renamed since is shown by its own name.
  const what = (known as Words | undefined) ?? verbatim(action) // safe: each action of the texts is a sentence
  const row = { id, at, by: byOf(actor), actor, action, what, area, project, target }
  return { ...row, fields, outcome, count, address }
}
