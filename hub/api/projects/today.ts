import { z } from 'zod'
import { createRoute, jsonResponse, resource } from '../../../shared/route.ts'
import type { Sql } from '../../../shared/sql.ts'
import { everywhere, inProject } from '../../db/db.ts'
import { answer, type Env, problems } from '../../http/http.ts'
import { absent } from '../../i18n/failure.ts'
import { STAGES } from '../../leads/lead.ts'
import { NextAction } from '../../missions/next-action.ts'
import { nextActions } from '../../missions/next-actions.ts'
import { SLUG } from '../../projects/project-folder.ts'
import { Slug } from './projects.ts'

const DAYS = 30
const DRAFT_STATES = [
  'draft',
  'rendered',
  'approved',
  'pushed',
  'sending',
  'sent',
  'unclear',
  'rejected',
  'failed',
] as const
const counts = <const K extends readonly string[]>(names: K) =>
  z.object(Object.fromEntries(names.map((name) => [name, z.int()])) as Record<K[number], z.ZodInt>) // safe: one entry a name

const Kpi = z
  .object({
    slug: z.string(),
    leads: z.object({ total: z.int(), by_stage: counts(STAGES) }),
    drafts: z.object({ by_state: counts(DRAFT_STATES) }),
    mail: counts(['sent', 'opened', 'clicked', 'replied', 'bounced', 'unsubscribed']).meta({
      description: 'The number of recipients; each is counted once.',
    }),
    missions: counts(['queued', 'processing', 'done', 'failed', 'cancelled']),
    by_day: z
      .array(
        z.object({
          day: z.iso.date(),
          leads: z.int(),
          sent: z.int(),
          opened: z.int(),
          clicked: z.int(),
          replied: z.int(),
          missions: z.int().meta({ description: 'The number of missions that finished.' }),
        }),
      )
      .meta({ description: `One entry for each of the last ${DAYS} days (UTC), today last.` }),
  })
  .meta({ id: 'Kpi' })

const Summary = z
  .object({
    date: z.iso.date().meta({ description: 'Today, UTC.' }),
    new_leads: z.int().meta({ description: 'Added today.' }),
    drafts_waiting: z.int().meta({ description: 'Drafts not approved yet.' }),
    approved: z.int().meta({ description: 'Drafts approved but not sent yet.' }),
    sent: z.int().meta({ description: 'Mails sent today.' }),
    missions: z.object({ done: z.int(), failed: z.int() }).meta({ description: 'Today.' }),
    next_actions: z.array(NextAction).meta({ description: 'The most urgent first.' }),
  })
  .meta({ id: 'TodaySummary' })

/** What to do next, and the state of a project. */
export const today = resource<Env>()

today.openapi(
  createRoute({
    method: 'get',
    path: '/today_summary',
    operationId: 'todaySummary',
    tags: ['Today'],
    summary: 'What happened today and what comes next',
    request: {
      query: z.strictObject({
        project: Slug.optional().meta({ description: 'Only of this project; absent: of all.' }),
      }),
    },
    responses: { 200: jsonResponse(Summary, 'Today.'), ...problems(404) },
  }),
  async (c) => {
    const { project: slug } = c.req.valid('query')
    const deps = c.get('deps')
    const summarise = async (sql: Sql) => {
      const [row] = await sql<Omit<z.infer<typeof Summary>, 'next_actions'>>`
        with today as (
          select (now() at time zone 'utc')::date as day,
            date_trunc('day', now(), 'UTC') as since
        )
        select today.day as date,
          (select count(*)::int from hub.leads where created_at >= today.since) as new_leads,
          (
            select count(*)::int from hub.drafts
            where state in ('draft', 'rendered') and sequence_id is null
          ) as drafts_waiting,
          (
            select count(*)::int from hub.drafts
            where state in ('approved', 'pushed', 'sending') and sequence_id is null
          ) as approved,
          (select count(*)::int from hub.recipients where sent_at >= today.since) as sent,
          (
            select jsonb_build_object(
              'done', count(*) filter (where status = 'done'),
              'failed', count(*) filter (where status = 'failed')
            )
            from hub.missions
            where finished_at >= today.since
          ) as missions
        from today`
      if (!row) throw absent('day')
      return { ...row, next_actions: await nextActions(sql, deps) }
    }
    const summary = slug
      ? await inProject(deps.db, slug, summarise)
      : await everywhere(deps.db, summarise)
    return answer(c, Summary, summary, 200)
  },
)

today.openapi(
  createRoute({
    method: 'get',
    path: '/projects/kpi/{slug}',
    operationId: 'projectKpi',
    tags: ['Projects'],
    summary: 'The key figures of a project',
    request: { params: z.object({ slug: z.string() }) },
    responses: { 200: jsonResponse(Kpi, 'As of now.'), ...problems(404) },
  }),
  async (c) => {
    const { slug } = c.req.valid('param')
    if (!SLUG.test(slug)) throw absent('project')
    const kpi = await inProject(c.get('deps').db, slug, async (sql, { id }) => {
      const by_stage = await tally(
        sql,
        STAGES,
        (sql) => sql`
        select stage as name, count(*)::int as count from hub.leads
        where project_id = ${id} group by stage`,
      )
      const by_state = await tally(
        sql,
        DRAFT_STATES,
        (sql) => sql`
        select state as name, count(*)::int as count from hub.drafts
        where project_id = ${id} and sequence_id is null group by state`,
      )
      const missions = await tally(
        sql,
        Kpi.shape.missions.keyof().options,
        (sql) => sql`
        select status as name, count(*)::int as count from hub.missions
        where project_id = ${id} group by status`,
      )
      const [mail] = await sql<z.infer<typeof Kpi>['mail']>`
        select count(sent_at)::int as sent, count(opened_at)::int as opened,
          count(clicked_at)::int as clicked, count(replied_at)::int as replied,
          count(bounced_at)::int as bounced, count(unsubscribed_at)::int as unsubscribed
        from hub.recipients
        where project_id = ${id}`
      if (!mail) throw absent('project')
      const total = Object.values(by_stage).reduce((sum, count) => sum + count, 0)
      const by_day = await byDay(sql, id)
      return { slug, leads: { total, by_stage }, drafts: { by_state }, mail, missions, by_day }
    })
    return answer(c, Kpi, kpi, 200)
  },
)

/** How many rows have each name, including zero. */
async function tally<const K extends readonly string[]>(
  sql: Sql,
  names: K,
  count: (sql: Sql) => Promise<Record<string, unknown>[]>,
): Promise<Record<K[number], number>> {
  const found = new Map((await count(sql)).map((row) => [row.name, Number(row.count)]))
  const all = names.map((name) => [name, found.get(name) ?? 0])
  return Object.fromEntries(all) as Record<K[number], number> // safe: one entry a name
}

function byDay(sql: Sql, project_id: string): Promise<z.infer<typeof Kpi>['by_day']> {
  return sql`
    with things as (
      select 'leads' as kind, created_at as at from hub.leads where project_id = ${project_id}
      union all
      select 'sent', sent_at from hub.recipients where project_id = ${project_id}
      union all
      select 'opened', opened_at from hub.recipients where project_id = ${project_id}
      union all
      select 'clicked', clicked_at from hub.recipients where project_id = ${project_id}
      union all
      select 'replied', replied_at from hub.recipients where project_id = ${project_id}
      union all
      select 'missions', finished_at from hub.missions
      where project_id = ${project_id} and status = 'done'
    ),
    counted as (
      select (at at time zone 'utc')::date as day, kind, count(*)::int as count
      from things
      where at >= date_trunc('day', now(), 'UTC') - make_interval(days => ${DAYS - 1})
      group by 1, 2
    )
    select day::date as day,
      coalesce(max(count) filter (where kind = 'leads'), 0) as leads,
      coalesce(max(count) filter (where kind = 'sent'), 0) as sent,
      coalesce(max(count) filter (where kind = 'opened'), 0) as opened,
      coalesce(max(count) filter (where kind = 'clicked'), 0) as clicked,
      coalesce(max(count) filter (where kind = 'replied'), 0) as replied,
      coalesce(max(count) filter (where kind = 'missions'), 0) as missions
    from generate_series(
      (now() at time zone 'utc')::date - ${DAYS - 1}::int, (now() at time zone 'utc')::date,
      interval '1 day'
    ) as days(at)
    cross join lateral (select days.at::date as day) as one
    left join counted using (day)
    group by day
    order by day`
}
