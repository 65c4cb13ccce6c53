import { randomUUID } from 'node:crypto'
import type { Sql } from '../../shared/sql.ts'
import type { NewLead } from './lead.ts'
import { columnsOf, EMPTY, FIELD_COLUMNS, FIELD_TYPES } from './leads.ts'
import { recordActivities } from './timeline.ts'

export type FoundLead = {
  lead: NewLead
  facts: { fact: string; quote: string }[]
  /** Where it was found: a URL, or the file and row. */
  source: string
}

/**
 * storeFound adds leads that were found, with their evidence: a handful of statements, however many
 * there are. A lead is known by its e-mail, or without one by name and company; a known one stays
 * as it is and gets the evidence. Returns the lead of each entry.
 */
export async function storeFound(
  sql: Sql,
  { project_id, mission_id }: { project_id: string; mission_id: string },
  found: FoundLead[],
): Promise<{ id: string; is_new: boolean }[]> {
  if (found.length === 0) return []
  const asked = found.map(({ lead }, at) => ({
    at,
    email: lead.email?.toLowerCase() ?? null,
    name: lead.name ?? '',
    company: lead.company ?? '',
  }))
  const known = await sql<{ at: number; key: string; lead_id: string | null }>`
    with asked as materialized (
      select at, email, case when email is null
        then private.fold(name) || '|' || private.fold(company) else email end as key
      from jsonb_to_recordset(${JSON.stringify(asked)}) as asked(
        at int, email text, name text, company text)
    ),
    unaddressed as materialized (
      select distinct on (key) id, key
      from (
        select id, created_at,
          private.fold(coalesce(name, '')) || '|' || private.fold(coalesce(company, '')) as key
        from hub.leads
        where project_id = ${project_id} and exists (select from asked where email is null)
      ) as lead
      where key in (select key from asked where email is null)
      order by key, created_at, id
    )
    select asked.at, asked.key, coalesce(addressed.id, unaddressed.id) as lead_id
    from asked
    left join hub.leads as addressed
      on addressed.project_id = ${project_id} and addressed.email_key = asked.email
    left join unaddressed on asked.email is null and unaddressed.key = asked.key
    order by asked.at`
  const ids = new Map<string, string>()
  const fresh: { id: string; key: string; lead: NewLead }[] = []
  for (const { at, key, lead_id } of known) {
    const lead = found[at]?.lead
    if (!lead || ids.has(key)) continue
    ids.set(key, lead_id ?? randomUUID())
    if (!lead_id) fresh.push({ id: ids.get(key) ?? '', key, lead })
  }
  const made = await insertAll(sql, project_id, fresh)
  for (const { id, key } of fresh) {
    const theirs = made.get(id)
    // Somebody added the same address between the two statements.
    if (theirs) ids.set(key, theirs.id)
  }
  const isNew = new Set(fresh.flatMap(({ id }) => (made.get(id)?.is_new ? [id] : [])))
  await recordActivities(
    sql,
    [...isNew].map((lead_id) => {
      return { project_id, lead_id, kind: 'imported', details: { mission_id } }
    }),
  )
  const rows = known.map(({ key }) => ids.get(key) ?? '')
  await addFacts(sql, { project_id, mission_id }, found, rows)
  return rows.map((id) => {
    // The second row of a new lead finds it already there.
    const is_new = isNew.delete(id)
    return { id, is_new }
  })
}

async function insertAll(
  sql: Sql,
  project_id: string,
  fresh: { id: string; lead: NewLead }[],
): Promise<Map<string, { id: string; is_new: boolean }>> {
  if (fresh.length === 0) return new Map()
  const rows = fresh.map(({ id, lead }) => ({ id, ...columnsOf({ ...EMPTY, ...lead }) }))
  const made = await sql<{ id: string }>`
    insert into hub.leads (id, project_id, ${FIELD_COLUMNS})
    select id, ${project_id}, ${FIELD_COLUMNS}
    from jsonb_to_recordset(${JSON.stringify(rows)}) as row (id uuid, ${FIELD_TYPES})
    on conflict (project_id, email_key) do nothing
    returning id`
  const ids = new Set(made.map(({ id }) => id))
  const lost = rows.filter(({ id }) => !ids.has(id))
  const theirs =
    lost.length > 0
      ? await sql<{ id: string; email_key: string }>`
          select id, email_key from hub.leads
          where project_id = ${project_id}
            and email_key = any(${lost.map(({ email }) => email?.toLowerCase() ?? '')}::text[])`
      : []
  return new Map(
    rows.map(({ id, email }) => {
      const other = theirs.find(({ email_key }) => email_key === email?.toLowerCase())
      return [id, ids.has(id) ? { id, is_new: true } : { id: other?.id ?? id, is_new: false }]
    }),
  )
}

/** The same fact of a lead from the same source is stored once. */
async function addFacts(
  sql: Sql,
  { project_id, mission_id }: { project_id: string; mission_id: string },
  found: FoundLead[],
  lead_ids: string[],
): Promise<void> {
  const facts = found.flatMap(({ facts, source }, at) =>
    facts.map(({ fact, quote }) => ({ lead_id: lead_ids[at], fact, quote, source })),
  )
  const added = await sql<{ id: string; lead_id: string; source: string }>`
    insert into hub.evidence (project_id, lead_id, fact, quote, source, mission_id)
    select distinct on (lead_id, fact, source) ${project_id}::uuid, lead_id, fact, quote, source,
      ${mission_id}::uuid
    from jsonb_to_recordset(${JSON.stringify(facts)}) as row(
      lead_id uuid, fact text, quote text, source text
    )
    where not exists (
      select from hub.evidence as had
      where had.lead_id = row.lead_id and had.fact = row.fact and had.source = row.source)
    returning id, lead_id, source`
  await recordActivities(
    sql,
    added.map(({ id, lead_id, source }) => {
      return { project_id, lead_id, kind: 'evidence', details: { evidence_id: id, source } }
    }),
  )
}
