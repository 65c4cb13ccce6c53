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
import type { Named } from '../../audit/audit.ts'
import { everywhere, inProject, type Project, sqlState } from '../../db/db.ts'
import { answer, type Ctx, type Env, Problem, problem, problems, write } from '../../http/http.ts'
import { NEWEST, Position, positionOf } from '../../http/page.ts'
import { absent } from '../../i18n/failure.ts'
import { bilingual } from '../../i18n/words.ts'
import { Lead, LeadChange, NewLead, type Note, Stage, Task } from '../../leads/lead.ts'
import { copiesOf, copyLead } from '../../leads/lead-copy.ts'
import { leadsText } from '../../leads/leads.text.ts'
import { changeLead, createLead, KnownEmail, moveStage, requireLead } from '../../leads/leads.ts'
import { removeLead } from '../../leads/remove-lead.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { decideRefusal, mayRefuse } from '../../mail/drafts/refusal.ts'
import { readSalt } from '../../mail/suppression.ts'
import { By, byOf } from '../../members/by.ts'
import { ownerOf, withOwner } from '../projects/owner.ts'
import { Slug } from '../projects/projects.ts'

const say = bilingual(leadsText)

const UNIQUE_VIOLATION = '23505'

const OneLead = z.object({ lead: Lead })
const LeadId = z.uuid().meta({ description: 'The id of a lead.' })
const Detailed = z.object({
  lead: Lead.extend({
    may_refuse: z.boolean().meta({
      description:
        'Whether a reply may ask for no more mail. The lead gets none until `lead/opt_out` decides.',
    }),
    copies: z
      .array(z.object({ id: z.uuid(), project: z.string(), stage: Stage }))
      .meta({ description: 'The same person in other projects, each with its own stage.' }),
    tasks: z
      .array(Task)
      .meta({ description: 'Open tasks first, the soonest due first; up to 200.' }),
    evidence: z.array(
      z.object({
        id: z.uuid(),
        fact: z.string(),
        quote: z.string().nullable(),
        source: z.string(),
        column: z.string().nullable().meta({
          description: 'The column of an imported list; a later import of it replaces the fact.',
        }),
        mission_id: z.uuid().nullable(),
        created_at: z.string(),
      }),
    ),
  }),
})
const Activity = z
  .object({
    id: z.uuid(),
    kind: z.string(),
    details: z.record(z.string(), z.unknown()),
    at: z.string(),
    by: By,
  })
  .meta({ id: 'Activity' })
const Timeline = z.object({ activities: z.array(Activity), next_cursor: NextCursor })

const knownEmail = {
  description:
    'Another lead in the project has this e-mail (`lead`), or a mail to this lead is being sent.',
  content: {
    'application/problem+json': { schema: Problem.extend({ lead: Lead.optional() }) },
  },
}

/** One lead: creating, changing, moving and deleting it, and its timeline. */
export const lead = resource<Env>()

lead.openapi(
  createRoute({
    method: 'get',
    path: '/get',
    operationId: 'getLead',
    tags: ['Leads'],
    summary: 'Get a lead with its notes, tasks and evidence',
    description:
      'Includes the newest 200 notes, up to 200 tasks and the newest 200 pieces of evidence.',
    request: { query: z.strictObject({ lead_id: z.string() }) },
    responses: { 200: jsonResponse(Detailed, 'The lead.'), ...problems(404) },
  }),
  async (c) => {
    const id = idOf(c.req.valid('query').lead_id)
    const lead = await everywhere(c.get('deps').db, async (sql) => ({
      ...(await requireLead(sql, id)),
      may_refuse: await mayRefuse(sql, id),
      copies: await copiesOf(sql, id),
      notes: await sql<z.infer<typeof Note>>`
        select id, text, created_at from hub.notes
        where lead_id = ${id} order by created_at desc, id desc limit 200`,
      tasks: await sql<z.infer<typeof Task>>`
        select task.id, project.slug as project, task.lead_id, task.title, task.due_on, task.done_at,
          task.created_at
        from hub.tasks as task
        join hub.projects as project on project.id = task.project_id
        where task.lead_id = ${id}
        order by task.done_at is not null, task.due_on nulls last, task.created_at, task.id
        limit 200`,
      evidence: await sql<z.infer<typeof Detailed>['lead']['evidence'][number]>`
        select id, fact, quote, source, import_column as column, mission_id, created_at
        from hub.evidence
        where lead_id = ${id} order by created_at desc, id desc limit 200`,
    }))
    return answer(c, Detailed, { lead }, 200)
  },
)

lead.openapi(
  createRoute({
    method: 'post',
    path: '/quick_add',
    operationId: 'quickAddLead',
    tags: ['Leads'],
    summary: 'Create a lead',
    description:
      'Needs at least one of name, email and company. When a lead in the project already has this e-mail, regardless of case, the answer is 409 with that lead.',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ slug: Slug, data: NewLead })) },
    responses: {
      201: jsonResponse(OneLead, 'Added.'),
      ...problems(402, 404, 422),
      409: knownEmail,
    },
  }),
  async (c) => {
    const { slug, data } = c.req.valid('json')
    const { db, config } = c.get('deps')
    const license = await readLicense(config)
    const { lead, is_new } = await inProject(db, slug, async (sql, project) => {
      await requireWritable(sql, project, license)
      const { id, is_new } = await createLead(sql, project.id, data, { details: { by: 'hand' } })
      return { lead: await requireLead(sql, id), is_new }
    })
    if (!is_new) return conflict(c, lead)
    return answer(c, OneLead, { lead }, 201, { Location: addressOf(lead.id) })
  },
)

lead.openapi(
  createRoute({
    method: 'post',
    path: '/update',
    operationId: 'updateLead',
    tags: ['Leads'],
    summary: 'Change a lead',
    description:
      'Absent fields are unchanged; null clears a field. A change of stage is recorded as its own activity.',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ lead_id: LeadId, ...LeadChange.shape })) },
    responses: {
      200: jsonResponse(OneLead, 'Changed.'),
      ...problems(402, 404, 422),
      409: knownEmail,
    },
  }),
  async (c) => {
    const { lead_id, ...change } = c.req.valid('json')
    return orConflict(c, async () => {
      const lead = await withOwner(c, { table: 'leads', id: lead_id }, async (sql) => {
        await changeLead(sql, lead_id, change)
        return requireLead(sql, lead_id)
      })
      return answer(c, OneLead, { lead }, 200)
    })
  },
)

lead.openapi(
  createRoute({
    method: 'post',
    path: '/tag_project',
    operationId: 'tagLeadProject',
    tags: ['Leads'],
    summary: 'Copy a lead into another project',
    description:
      'The copy has the fields and the facts, begins in stage `new`, and has its own notes, tasks, mails and timeline. Both leads are linked. 409 when the project has this person already.',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ lead_id: LeadId, slug: Slug })) },
    responses: {
      200: jsonResponse(OneLead, 'The copy.'),
      ...problems(402, 404, 422),
      409: knownEmail,
    },
  }),
  async (c) => {
    const { lead_id, slug } = c.req.valid('json')
    const { db, config } = c.get('deps')
    const license = await readLicense(config)
    return orConflict(c, async () => {
      const lead = await everywhere(db, async (sql) => {
        const from = await ownerOf(sql, { table: 'leads', id: lead_id })
        const [to] = await sql<Project>`select * from hub.projects where slug = ${slug}`
        if (!to) throw absent('project')
        await requireWritable(sql, from, license)
        await requireWritable(sql, to, license)
        return requireLead(sql, await copyLead(sql, { id: lead_id, from, to }))
      })
      return answer(c, OneLead, { lead }, 200)
    })
  },
)

lead.openapi(
  createRoute({
    method: 'post',
    path: '/delete',
    operationId: 'deleteLead',
    tags: ['Leads'],
    summary: 'Delete a lead and everything known about it',
    description: 'Also deletes its unsent mails; 409 while a mail to it is being sent.',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ lead_id: LeadId })) },
    responses: {
      200: jsonResponse(OneLead, 'The deleted lead.'),
      ...problems(402, 404, 409, 422),
    },
  }),
  async (c) => {
    const { lead_id } = c.req.valid('json')
    const lead = await withOwner(c, { table: 'leads', id: lead_id }, async (sql) => {
      const lead = await requireLead(sql, lead_id)
      await removeLead(sql, lead_id)
      return lead
    })
    return answer(c, OneLead, { lead }, 200)
  },
)

lead.openapi(
  createRoute({
    method: 'post',
    path: '/not_replied',
    operationId: 'takeReplyBack',
    tags: ['Leads'],
    summary: 'Undo the recording of a reply',
    description:
      'For a mail whose only link to the lead is its sender address, which anybody can forge. Follow-ups can be sent again, and a lead still in stage `replied` returns to `contacted`.',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ lead_id: LeadId })) },
    responses: { 200: jsonResponse(OneLead, 'Undone.'), ...problems(402, 404, 422) },
  }),
  async (c) => {
    const { lead_id } = c.req.valid('json')
    const lead = await withOwner(c, { table: 'leads', id: lead_id }, async (sql, { id }) => {
      await sql`
        update hub.recipients set replied_at = null, last_replied_at = null,
          opt_out = case when opt_out = 'open' then 'denied' else opt_out end
        where lead_id = ${lead_id}`
      await sql`
        update hub.inbox_mails set kind = 'unrelated', matched_by = 'person'
        where lead_id = ${lead_id} and kind = 'reply'`
      await moveStage(
        sql,
        { project_id: id, lead_id },
        { from: ['replied'], to: 'contacted', details: { from: 'replied' } },
      )
      return requireLead(sql, lead_id)
    })
    return answer(c, OneLead, { lead }, 200)
  },
)

lead.openapi(
  createRoute({
    method: 'post',
    path: '/opt_out',
    operationId: 'decideOptOut',
    tags: ['Leads'],
    summary: 'Decide whether a reply asks for no more mail',
    description:
      'For a lead with `may_refuse`. `refuses: true` puts its address on the suppression list for good, as if it had unsubscribed; `false` lets mail go to it again. 409 when there is nothing to decide.',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ lead_id: LeadId, refuses: z.boolean() })) },
    responses: { 200: jsonResponse(OneLead, 'Decided.'), ...problems(402, 404, 409, 422) },
  }),
  async (c) => {
    const { lead_id, refuses } = c.req.valid('json')
    const salt = await readSalt(c.get('deps').config.paths)
    const lead = await withOwner(c, { table: 'leads', id: lead_id }, async (sql) => {
      await decideRefusal(sql, salt, { lead_id, refuses })
      return requireLead(sql, lead_id)
    })
    return answer(c, OneLead, { lead }, 200)
  },
)

lead.openapi(
  createRoute({
    method: 'get',
    path: '/timeline',
    operationId: 'leadTimeline',
    tags: ['Leads'],
    summary: 'List the activities of a lead, newest first',
    request: {
      query: z.strictObject({
        lead_id: z.string(),
        limit: integerParameter(1, 200, 50, 'Activities a page.'),
        cursor: CursorQuery,
      }),
    },
    responses: { 200: jsonResponse(Timeline, 'A page.'), ...problems(404) },
  }),
  async (c) => {
    const { limit, cursor, ...filter } = c.req.valid('query')
    const id = idOf(filter.lead_id)
    const after = await decodeCursor(filter, cursor, Position)
    const [at, last_id] = after ?? NEWEST
    const rows = await everywhere(c.get('deps').db, async (sql) => {
      await requireLead(sql, id)
      return sql<Omit<z.infer<typeof Activity>, 'by'> & { position: string; actor: Named | null }>`
        select id, kind, details, at, actor, ${positionOf('at')} as position
        from hub.activities
        where lead_id = ${id} and (at, id) < (${at}::timestamptz, ${last_id}::uuid)
        order by at desc, id desc
        limit ${limit + 1}`
    })
    const { page, last } = splitPage(rows, limit)
    const next_cursor = last ? await encodeCursor(filter, [last.position, last.id]) : null
    const activities = page.map(({ actor, ...row }) => ({ ...row, by: byOf(actor) }))
    return answer(c, Timeline, { activities, next_cursor }, 200)
  },
)

/** The address of a lead. */
export const addressOf = (id: string) => `/api/cockpit/lead/get?lead_id=${id}`

/** Throws 404 for a text that is not an id. */
function idOf(text: string): string {
  if (z.guid().safeParse(text).success) return text
  throw absent('lead')
}

/** Answers 409 with the lead that has the e-mail already. */
async function orConflict<T>(c: Ctx, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (sqlState(error) === UNIQUE_VIOLATION) {
      throw new ApiError('conflict', say.known_just_now)
    }
    if (!(error instanceof KnownEmail)) throw error
    const { lead_id } = error
    return conflict(c, await everywhere(c.get('deps').db, (sql) => requireLead(sql, lead_id)))
  }
}

function conflict(c: Ctx, lead: Lead): never {
  const name = lead.name ?? lead.company ?? lead.email ?? ''
  const error = new ApiError('conflict', say.known_email(name, lead.project))
  c.get('log').code = error.code
  return problem(c, error, { lead }) as never // safe: a response of this route that its description has
}
