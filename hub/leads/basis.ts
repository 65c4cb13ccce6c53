import type { Sql } from '../../shared/sql.ts'
import type { Lead } from './lead.ts'
import { recordActivities } from './timeline.ts'

type Basis = {
  lawful_basis: NonNullable<Lead['lawful_basis']>
  basis_note: string | null
  basis_source: string | null
  basis_on: string | null
}

/**
 * setBasis gives many leads of a project a lawful basis, and records in each timeline what was there
 * before. Unless `overwrite` is set, a lead with another basis keeps it, and one with the same what is on
 * record of it and not given anew: a consent is not lost by a careless choice of leads.
 */
export async function setBasis(
  sql: Sql,
  project_id: string,
  given: Basis & {
    ids: string[]
    overwrite: boolean
  },
): Promise<{ changed: number; unchanged: number; kept: number; missing: string[] }> {
  const { ids, overwrite, lawful_basis, basis_note, basis_source, basis_on } = given
  const keeps = !overwrite
  const chosen = await sql<{ id: string; before: string | null; is_same: boolean }>`
    select id, lawful_basis as before,
      (lawful_basis, basis_note, basis_source, basis_on) is not distinct from (
        ${lawful_basis}::text,
        coalesce(${basis_note}::text, case when ${keeps}::boolean then basis_note end),
        coalesce(${basis_source}::text, case when ${keeps}::boolean then basis_source end),
        coalesce(${basis_on}::date, case when ${keeps}::boolean then basis_on end)
      ) as is_same
    from hub.leads
    where project_id = ${project_id} and id = any(${ids}::uuid[])
    order by id
    for update`
  const hasOther = (before: string | null) => before !== null && before !== lawful_basis
  const wanted = chosen.filter((lead) => !lead.is_same && (overwrite || !hasOther(lead.before)))
  await sql`
    update hub.leads
    set lawful_basis = ${lawful_basis},
      (basis_note, basis_source, basis_on) = (
        select coalesce(${basis_note}::text, same.basis_note),
          coalesce(${basis_source}::text, same.basis_source), coalesce(${basis_on}::date, same.basis_on)
        from (select 1) as one
        left join hub.leads as same
          on same.id = leads.id and ${keeps}::boolean and same.lawful_basis = ${lawful_basis}
      ),
      updated_at = now()
    where id = any(${wanted.map(({ id }) => id)}::uuid[])`
  await recordActivities(
    sql,
    wanted.map(({ id, before }) => {
      const basis = { from: before, to: lawful_basis }
      const details = { fields: ['lawful_basis'], basis }
      return { project_id, lead_id: id, kind: 'edited', details }
    }),
  )
  const known = new Set(chosen.map(({ id }) => id))
  return {
    changed: wanted.length,
    unchanged: chosen.filter(({ is_same }) => is_same).length,
    kept: chosen.length - wanted.length - chosen.filter(({ is_same }) => is_same).length,
    missing: [...new Set(ids)].filter((id) => !known.has(id)),
  }
}
