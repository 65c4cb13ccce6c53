import { z } from 'zod'
import { raw, type Sql } from '../../../shared/sql.ts'
import { NEWEST, type Position, positionOf } from '../../http/page.ts'
import { type Lead, Stage } from '../../leads/lead.ts'
import { leadColumns } from '../../leads/leads.ts'
import { Slug } from '../projects/projects.ts'

export const LeadFilter = z.strictObject({
  project: Slug.optional().meta({
    description: 'The slug of a project. Absent: the active project.',
  }),
  stage: Stage.optional(),
  tag: z.string().min(1).max(60).optional(),
  q: z.string().min(1).max(200).optional().meta({
    description:
      'Words or parts of words in name, company, e-mail, title, website, country, tags and notes, regardless of case, accents and Turkish letters; or a phone number, however it is written.',
  }),
  field: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,39}$/)
    .optional()
    .meta({ description: 'The key of a field of the project’s own; `value` says which value.' }),
  value: z.string().max(200).optional().meta({
    description: 'Regardless of case; `true` or `false` for yes or no. Absent: any value.',
  }),
})
export type LeadFilter = z.infer<typeof LeadFilter>

/** A page of leads, with the cursor of the next one. */
export function pageOf(sql: Sql, page: Wanted): Promise<(Lead & { position: string })[]> {
  return pick(
    sql,
    raw(`${leadColumns.text}, ${positionOf('lead.created_at').text} as position`),
    page,
  )
}

/** The ids of the leads that a filter finds, newest first. */
export async function idsOf(sql: Sql, page: Wanted): Promise<string[]> {
  return (await pick<{ id: string }>(sql, raw('lead.id'), page)).map(({ id }) => id)
}

/** As many as there can be: a list, an export and a bulk change of what a search finds leave nobody out. */
const ALL = 2 ** 31 - 1

type Wanted = {
  project_id: string
  filter: LeadFilter
  limit: number
  position?: z.infer<typeof Position>
}

function pick<T>(sql: Sql, columns: ReturnType<typeof raw>, page: Wanted): Promise<T[]> {
  const { project_id, filter, limit, position = NEWEST } = page
  const { stage = null, tag = null, q = null, field = null, value = null } = filter
  const [at, id] = position
  return sql`
    select ${columns}
    from hub.leads as lead
    join hub.projects as project on project.id = lead.project_id
    where lead.project_id = ${project_id}
      and (${stage}::text is null or lead.stage = ${stage})
      and (${tag}::text is null or ${tag} = any(lead.tags))
      and (${q}::text is null or lead.id in (select lead_id from private.find_leads(${q}, ${ALL})))
      and (
        ${field}::text is null
        or lead.custom ? ${field} and (
          ${value}::text is null
          or private.fold(lead.custom ->> ${field}) = private.fold(${value})
        )
      )
      and (lead.created_at, lead.id) < (${at}::timestamptz, ${id}::uuid)
    order by lead.created_at desc, lead.id desc
    limit ${limit}`
}
