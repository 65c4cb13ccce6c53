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
import type { Sql } from '../../../shared/sql.ts'
import { inProject } from '../../db/db.ts'
import { answer, type Env, problems, write } from '../../http/http.ts'
import { NEWEST, Position } from '../../http/page.ts'
import { fieldText } from '../../i18n/problem.text.ts'
import { cellOfNumber } from '../../leads/cells.ts'
import { BOM, toCsv } from '../../leads/csv.ts'
import { listedColumns, listedFacts } from '../../leads/import-facts.ts'
import { Lead, MAX_TAGS, Stage, Tag } from '../../leads/lead.ts'
import { CHANGEABLE, changeLead } from '../../leads/leads.ts'
import { fieldsOf } from '../../leads/own-fields.ts'
import { removeLead } from '../../leads/remove-lead.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { slugFor } from '../../projects/active.ts'
import { Slug } from '../projects/projects.ts'
import { LeadFilter, pageOf } from './lead-filter.ts'

const Leads = z.object({ leads: z.array(Lead), next_cursor: NextCursor })

/** The leads of a project: as a list, in bulk, and as a file. */
export const leads = resource<Env>()

leads.openapi(
  createRoute({
    method: 'get',
    path: '/list',
    operationId: 'listLeads',
    tags: ['Leads'],
    summary: 'List the leads of a project, newest first',
    request: {
      query: LeadFilter.extend({
        limit: integerParameter(1, 500, 100, 'Leads a page.'),
        cursor: CursorQuery,
      }),
    },
    responses: { 200: jsonResponse(Leads, 'A page.'), ...problems(404) },
  }),
  async (c) => {
    const { limit, cursor, ...filter } = c.req.valid('query')
    const position = await decodeCursor(filter, cursor, Position)
    const slug = await slugFor(c.get('deps'), filter.project)
    const rows = await inProject(c.get('deps').db, slug, (sql, { id }) =>
      pageOf(sql, { project_id: id, filter, limit: limit + 1, ...(position ? { position } : {}) }),
    )
    const { page, last } = splitPage(rows, limit)
    const next_cursor = last ? await encodeCursor(filter, [last.position, last.id]) : null
    return answer(c, Leads, { leads: page, next_cursor }, 200)
  },
)

const Duplicates = z.object({
  duplicates: z.array(
    z.object({
      kind: z.enum(['email', 'domain', 'name', 'phone']).meta({
        description:
          '`email`: the same address in another project; in this project `domain`: the same company, `name`: the same name regardless of case and accents, `phone`: the same last ten digits.',
      }),
      value: z.string(),
      count: z.int(),
      leads: z
        .array(
          Lead.pick({
            id: true,
            project: true,
            name: true,
            email: true,
            company: true,
            stage: true,
          }),
        )
        .meta({ description: 'The oldest 20 of the group.' }),
    }),
  ),
  next_cursor: NextCursor,
})

leads.openapi(
  createRoute({
    method: 'get',
    path: '/duplicates',
    operationId: 'listDuplicates',
    tags: ['Leads'],
    summary: 'List possible duplicates',
    description:
      'Grouped within the project by the domain of website or e-mail (domains of mail providers are ignored), by name and by phone, and across projects by e-mail, regardless of case. Those of the same phone and name come first, those of the same domain last.',
    request: {
      query: z.strictObject({
        project: LeadFilter.shape.project,
        limit: integerParameter(1, 200, 50, 'Groups a page.'),
        cursor: CursorQuery,
      }),
    },
    responses: { 200: jsonResponse(Duplicates, 'A page.'), ...problems(404) },
  }),
  async (c) => {
    const { limit, cursor, ...filter } = c.req.valid('query')
    const after = await decodeCursor(filter, cursor, z.tuple([z.string(), z.string()]))
    const [kind, value] = after ?? ['', '']
    const slug = await slugFor(c.get('deps'), filter.project)
    const rows = await inProject(c.get('deps').db, slug, async (sql, project) => {
      // Makes an address in another project visible here.
      await sql`select set_config('hub.project', '*', true)`
      return sql<z.infer<typeof Duplicates>['duplicates'][number]>`
        with ours as (
          select kind, value, id
          from hub.leads
          cross join lateral (values
            ('domain', domain),
            ('name', nullif(private.fold(regexp_replace(trim(name), '\\s+', ' ', 'g')), '')),
            ('phone', case when length(regexp_replace(phone, '[^0-9]', '', 'g')) >= 7
              then right(regexp_replace(phone, '[^0-9]', '', 'g'), 10) end)
          ) as sign (kind, value)
          where project_id = ${project.id} and value is not null
        ),
        groups as (
          select kind, value, count(*)::int as count
          from ours
          group by kind, value
          having count(*) > 1
          union all
          select 'email', email_key, count(*)::int
          from hub.leads
          where email_key is not null
          group by email_key
          having count(*) > 1 and bool_or(project_id = ${project.id})
        ),
        page as (
          select * from groups
          where ${kind} = '' or kind < ${kind} or (kind = ${kind} and value > ${value})
          order by kind desc, value
          limit ${limit + 1}
        )
        select page.kind, page.value, page.count, (
          select jsonb_agg(to_jsonb(same) - 'created_at' order by same.created_at, same.id)
          from (
            select lead.id, project.slug as project, lead.name, lead.email, lead.company,
              lead.stage, lead.created_at
            from hub.projects as project
            join hub.leads as lead on lead.project_id = project.id and lead.email_key = page.value
            where page.kind = 'email'
            union all
            select lead.id, ${slug}, lead.name, lead.email, lead.company, lead.stage,
              lead.created_at
            from ours
            join hub.leads as lead on lead.id = ours.id
            where ours.kind = page.kind and ours.value = page.value
            order by created_at, id
            limit 20
          ) as same
        ) as leads
        from page
        order by page.kind desc, page.value`
    })
    const { page, last } = splitPage(rows, limit)
    const next_cursor = last ? await encodeCursor(filter, [last.kind, last.value]) : null
    return answer(c, Duplicates, { duplicates: page, next_cursor }, 200)
  },
)

const BulkAnswer = z.object({
  changed: z.array(z.uuid()),
  missing: z.array(z.uuid()).meta({ description: 'Ids that are not leads of this project.' }),
  busy: z
    .array(z.uuid())
    .meta({ description: 'Not deleted, because a mail to the lead is being sent.' }),
  full: z.array(z.uuid()).meta({
    description: `Not changed at all: with these tags they would have more than ${MAX_TAGS}.`,
  }),
})

leads.openapi(
  createRoute({
    method: 'post',
    path: '/bulk',
    operationId: 'changeLeads',
    tags: ['Leads'],
    summary: 'Change or delete many leads of a project',
    description:
      'Each lead is changed or deleted separately; the answer lists those that were not, and why.',
    middleware: write,
    request: {
      body: jsonBody(
        z
          .strictObject({
            project: Slug,
            ids: z.array(z.uuid()).min(1).max(1000),
            stage: Stage.optional(),
            add_tags: z.array(Tag).max(20).optional(),
            remove_tags: z.array(Tag).max(20).optional(),
            delete: z.literal(true).optional(),
          })
          .refine(
            ({ stage, add_tags, remove_tags, delete: isDelete }) =>
              isDelete
                ? !stage && !add_tags && !remove_tags
                : Boolean(stage || add_tags || remove_tags),
            {
              error: fieldText.en.no_change,
              path: ['ids'],
            },
          ),
      ),
    },
    responses: { 200: jsonResponse(BulkAnswer, 'Done.'), ...problems(402, 404, 422) },
  }),
  async (c) => {
    const { project: slug, delete: isDelete, ...request } = c.req.valid('json')
    const { db, config } = c.get('deps')
    const license = await readLicense(config)
    const ids = [...new Set(request.ids)].sort()
    const done = await inProject(db, slug, async (sql, project) => {
      await requireWritable(sql, project, license)
      const found = await sql<{ id: string; tags: string[] }>`
        select id, tags from hub.leads
        where project_id = ${project.id} and id = any(${ids}::uuid[])
        order by id
        for update`
      const busy: string[] = []
      const full: string[] = []
      for (const { id, tags } of found) {
        if (isDelete) {
          if (!(await isRemoved(sql, id))) busy.push(id)
          continue
        }
        const { stage, add_tags = [], remove_tags = [] } = request
        const kept = [...tags, ...add_tags].filter((tag) => !remove_tags.includes(tag))
        const changed = [...new Set(kept)]
        if (changed.length > MAX_TAGS) full.push(id)
        else await changeLead(sql, id, { tags: changed, ...(stage ? { stage } : {}) })
      }
      const known = new Set(found.map(({ id }) => id))
      return {
        changed: [...known].filter((id) => !busy.includes(id) && !full.includes(id)),
        missing: ids.filter((id) => !known.has(id)),
        busy,
        full,
      }
    })
    return answer(c, BulkAnswer, done, 200)
  },
)

/** The columns of an export, which an import accepts. */
const FIELDS = CHANGEABLE.filter((name) => name !== 'custom')
const EXPORTED = ['id', ...FIELDS, 'created_at'] as const
const PAGE_ROWS = 1000

leads.openapi(
  createRoute({
    method: 'get',
    path: '/export',
    operationId: 'exportLeads',
    tags: ['Leads'],
    summary: 'Export leads as CSV',
    description:
      'UTF-8 with a byte-order mark, RFC 4180, newest first. A cell that a spreadsheet could read as a formula starts with an apostrophe; an import removes it again. The project’s own fields follow the lead’s, and then the columns of imported lists that are kept as facts.',
    request: { query: LeadFilter },
    responses: {
      200: { description: 'The file.', content: { 'text/csv': { schema: z.string() } } },
      ...problems(404),
    },
  }),
  async (c) => {
    const filter = c.req.valid('query')
    const { db } = c.get('deps')
    const slug = await slugFor(c.get('deps'), filter.project)
    const { columns, own } = await inProject(db, slug, async (sql, { id }) => ({
      columns: await listedColumns(sql, id),
      own: await fieldsOf(sql, id),
    }))
    let position: z.infer<typeof Position> | null = NEWEST
    const next = async () => {
      if (position === null) return undefined
      const from = position
      const rows = await inProject(db, slug, (sql, { id }) =>
        pageOf(sql, { project_id: id, filter, limit: PAGE_ROWS, position: from }),
      )
      const last = rows.length === PAGE_ROWS ? rows.at(-1) : undefined
      position = last ? [last.position, last.id] : null
      const ids = rows.map(({ id }) => id)
      const facts =
        columns.length === 0 ? null : await inProject(db, slug, (sql) => listedFacts(sql, ids))
      return toCsv(
        rows.map((row) => [
          ...EXPORTED.map((name) => cellOf(row[name])),
          ...own.map(({ key }) => cellOf(row.custom[key] ?? null)),
          ...columns.map((name) => facts?.get(row.id)?.get(name) ?? null),
        ]),
      )
    }
    // The first page is read before the answer begins, so that an unknown project is still answered
    // 404.
    const first = `${BOM}${toCsv([[...EXPORTED, ...own.map(({ label }) => label), ...columns]])}${(await next()) ?? ''}`
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
    return c.body(stream, 200, {
      'Content-Type': 'text/csv; charset=utf-8; header=present',
      'Content-Disposition': `attachment; filename="leads-${slug}-${day}.csv"`,
    })
  },
)

function cellOf(value: string | number | boolean | string[] | null): string | number | null {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return cellOfNumber(value)
  return Array.isArray(value) ? value.join(', ') : value
}

async function isRemoved(sql: Sql, id: string): Promise<boolean> {
  try {
    await removeLead(sql, id)
    return true
  } catch (error) {
    if (error instanceof ApiError && error.code === 'conflict') return false
    throw error
  }
}
