import type { z } from 'zod'
import type { Sql } from '../../shared/sql.ts'
import { absent } from '../i18n/failure.ts'
import type { Stage } from './lead.ts'
import { findByEmail, KnownEmail } from './leads.ts'
import { recordActivity } from './timeline.ts'

type Place = { id: string; slug: string }

/**
 * copyLead copies a lead into another project: its fields and the facts known about it. The copy begins
 * in stage `new` and has its own notes, tasks, mails and timeline. Both are linked. Throws KnownEmail if
 * the project has this person already. The transaction's scope is `*`. Returns the id of the copy.
 */
export async function copyLead(
  sql: Sql,
  { id, from, to }: { id: string; from: Place; to: Place },
): Promise<string> {
  const [lead] = await sql<{ email: string | null; linked: string | null }>`
    select email, linked from hub.leads where id = ${id} and project_id = ${from.id} for update`
  if (!lead) throw absent('lead')
  if (from.id === to.id) return id
  const linked = lead.linked ?? id
  const [copied] = await sql<{ id: string }>`
    select id from hub.leads where linked = ${linked} and project_id = ${to.id} limit 1`
  const known = copied?.id ?? (lead.email ? await findByEmail(sql, to.id, lead.email) : undefined)
  if (known) throw new KnownEmail(known)
  await sql`update hub.leads set linked = ${linked} where id = ${id} and linked is null`
  const [copy] = await sql<{ id: string }>`
    insert into hub.leads (
      project_id, name, email, company, title, phone, website, country, language, source,
      lawful_basis, basis_note, basis_source, basis_on, score, tags, domain, linked
    )
    select ${to.id}, name, email, company, title, phone, website, country, language, source,
      lawful_basis, basis_note, basis_source, basis_on, score, tags, domain, linked
    from hub.leads where id = ${id}
    returning id`
  const made = copy?.id ?? ''
  await sql`
    insert into hub.evidence (
      project_id, lead_id, fact, quote, source, created_at, import_column, said_by_lead)
    select ${to.id}, ${made}, fact, quote, source, created_at, import_column, said_by_lead
    from hub.evidence where lead_id = ${id}`
  const details = { from: from.slug, to: to.slug }
  await recordActivity(sql, { project_id: from.id, lead_id: id, kind: 'copied', details })
  await recordActivity(sql, { project_id: to.id, lead_id: made, kind: 'copied', details })
  return made
}

/** The same person's leads in other projects, each with its own stage. */
export function copiesOf(
  sql: Sql,
  id: string,
): Promise<{ id: string; project: string; stage: z.infer<typeof Stage> }[]> {
  return sql`
    select other.id, project.slug as project, other.stage
    from hub.leads as lead
    join hub.leads as other on other.linked = lead.linked and other.id <> lead.id
    join hub.projects as project on project.id = other.project_id
    where lead.id = ${id}
    order by project.name, other.id`
}
