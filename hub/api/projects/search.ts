import { z } from 'zod'
import { createRoute, jsonResponse, resource } from '../../../shared/route.ts'
import { integerParameter } from '../../../shared/schemas/page.ts'
import type { Sql } from '../../../shared/sql.ts'
import { everywhere, inProject } from '../../db/db.ts'
import { answer, type Env, problems } from '../../http/http.ts'
import { snippetOf } from '../../projects/snippet.ts'
import { Slug } from './projects.ts'

const KINDS = ['project', 'lead', 'draft', 'mission'] as const
const Results = z.object({
  results: z.array(
    z.object({
      kind: z.enum(KINDS),
      id: z.uuid(),
      project: z.string().meta({ description: 'The slug of its project.' }),
      title: z.string(),
      snippet: z.string(),
      score: z.number().min(0).max(1),
    }),
  ),
})

/** How many results of each kind are ranked; a query that finds more is too general to rank. */
const MAX_RANKED = 300

/** Search over projects, leads, drafts and missions. */
export const search = resource<Env>()

search.openapi(
  createRoute({
    method: 'get',
    path: '/search',
    operationId: 'search',
    tags: ['Search'],
    summary: 'Find projects, leads, drafts and missions',
    description:
      'Matches words in any order, the beginning of the last word, and parts of words of three letters or more; when nothing matches, leads with a similar spelling are found. Case, accents and Turkish letters do not matter: ISIK finds Işık. Leads are also found by their notes and by a phone number, however it is written, missions by the titles of their documents.',
    request: {
      query: z.strictObject({
        q: z.string().trim().min(1).max(200),
        project: Slug.optional().meta({ description: 'Only in this project.' }),
        kind: z.enum(KINDS).optional(),
        limit: integerParameter(1, 100, 20, 'Results.'),
      }),
    },
    responses: { 200: jsonResponse(Results, 'The best matches first.'), ...problems(404) },
  }),
  async (c) => {
    const { q, project: slug, kind, limit } = c.req.valid('query')
    const { db } = c.get('deps')
    const find = (sql: Sql) => findAll(sql, q.replaceAll('\0', ' '), kind)
    const found = slug ? await inProject(db, slug, find) : await everywhere(db, find)
    const results = found
      .sort((a, b) => b.score - a.score || KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))
      .slice(0, limit)
      .map(({ body, score, ...result }) => ({
        ...result,
        snippet: snippetOf(body, q),
        score: Math.round(score * 1000) / 1000,
      }))
    return answer(c, Results, { results }, 200)
  },
)

type Found = {
  kind: (typeof KINDS)[number]
  id: string
  project: string
  title: string
  body: string
  score: number
}

async function findAll(sql: Sql, q: string, kind: Found['kind'] | undefined): Promise<Found[]> {
  const kinds = { project: findProjects, lead: findLeads, draft: findDrafts, mission: findMissions }
  const found: Found[] = []
  for (const name of kind ? [kind] : KINDS) found.push(...(await kinds[name](sql, q)))
  return found
}

function findProjects(sql: Sql, q: string): Promise<Found[]> {
  return sql`
    select 'project' as kind, id, slug as project, name as title,
      concat_ws(' · ', name, industry, website, icp) as body,
      private.fit(${q}, name, private.project_text(project)) as score
    from hub.projects as project
    where private.words(private.project_text(project)) @@ private.word_query(${q}, true)
      or private.project_text(project) like private.part_pattern(${q})
    order by score desc, id
    limit ${MAX_RANKED}`
}

function findLeads(sql: Sql, q: string): Promise<Found[]> {
  return sql`
    select 'lead' as kind, lead.id, project.slug as project,
      coalesce(lead.name, lead.company, lead.email) as title,
      concat_ws(' · ', lead.name, lead.title, lead.company, lead.email, lead.phone, lead.website,
        lead.country,
        nullif(array_to_string(lead.tags, ', '), ''), note.text) as body,
      greatest(
        private.fit(${q}, coalesce(lead.name, lead.company, lead.email), lead.search_text),
        case when note.text is not null then 0.3 end
      ) as score
    from (select distinct lead_id from private.find_leads(${q}, ${MAX_RANKED})) as found
    join hub.leads as lead on lead.id = found.lead_id
    join hub.projects as project on project.id = lead.project_id
    left join lateral (
      select text
      from hub.notes
      where lead_id = lead.id
        and private.words(private.fold(text)) @@ private.word_query(${q}, true)
      order by created_at desc
      limit 1
    ) as note on true
    order by score desc, lead.id
    limit ${MAX_RANKED}`
}

function findDrafts(sql: Sql, q: string): Promise<Found[]> {
  return sql`
    select 'draft' as kind, draft.id, project.slug as project, draft.subject as title,
      concat_ws(' · ', nullif(draft.subject, ''), left(draft.text, 20000)) as body,
      private.fit(${q}, draft.subject, private.draft_text(draft.subject, draft.text)) as score
    from private.find_drafts(${q}, ${MAX_RANKED}) as found
    join hub.drafts as draft on draft.id = found.draft_id
    join hub.projects as project on project.id = draft.project_id
    where draft.sequence_id is null
    order by score desc, draft.id`
}

function findMissions(sql: Sql, q: string): Promise<Found[]> {
  return sql`
    select 'mission' as kind, mission.id, project.slug as project,
      left(mission.task, 120) as title,
      concat_ws(' · ', left(mission.task, 10000), mission.result ->> 'summary',
        (
          select string_agg(document ->> 'title', ', ')
          from jsonb_array_elements(mission.result -> 'documents') as document
        )) as body,
      private.fit(${q}, left(mission.task, 120),
        private.mission_text(mission.task, mission.result)) as score
    from private.find_missions(${q}, ${MAX_RANKED}) as found
    join hub.missions as mission on mission.id = found.mission_id
    join hub.projects as project on project.id = mission.project_id
    order by score desc, mission.id`
}
