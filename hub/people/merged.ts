import type pg from 'pg'
import { normaliseEmail } from '../mail/address.ts'

type Side = { id?: string; name?: string | null; email?: string | null }
type Merge = {
  id: string
  is_undone: boolean
  /** The lead as it is now, and both as they were before. */
  lead: { id: string; name: string | null; email: string | null }
  kept: Side
  gone: Side
}

const isOf = (side: Side, email: string) =>
  typeof side.email === 'string' && normaliseEmail(side.email) === email

/** mergesOf returns the records of merges in which one of the two leads had this address. */
export async function mergesOf(client: pg.ClientBase, email: string): Promise<Merge[]> {
  const { rows } = await client.query<Merge>(
    `select record.id, undone_at is not null as is_undone, kept, gone,
       jsonb_build_object('id', lead.id, 'name', lead.name, 'email', lead.email) as lead
     from hub.merges as record join hub.leads as lead on lead.id = record.lead_id
     where private.fold($1) in (private.fold(kept ->> 'email'), private.fold(gone ->> 'email'))
     order by merged_at desc, record.id`,
    [email],
  )
  return rows.filter(({ kept, gone }) => isOf(kept, email) || isOf(gone, email))
}

/** The leads that had this address until a merge gave them another one. */
export async function readdressed(client: pg.ClientBase, email: string) {
  const leads = (await mergesOf(client, email)).flatMap(({ lead, kept, is_undone }) =>
    !is_undone && kept.id === lead.id && isOf(kept, email) && !isOf(lead, email)
      ? [{ id: lead.id, name: lead.name, email: lead.email ?? '' }]
      : [],
  )
  return [...new Map(leads.map((lead) => [lead.id, lead])).values()]
}

/** What the lead with this address was called before it went into another one. */
export async function mergedNames(client: pg.ClientBase, email: string): Promise<string[]> {
  const merges = await mergesOf(client, email)
  return merges.flatMap(({ kept, gone }) =>
    [kept, gone].flatMap((side) => (isOf(side, email) && side.name ? [side.name] : [])),
  )
}

/**
 * forgetMerged deletes the records of merges with a lead that had this address, and so the way back.
 * What came with such a lead into another one goes as it would have gone with its own; letters to it are
 * letters to it again, and what the other one took over about the person is what it was before. Returns
 * the ids of those leads.
 */
export async function forgetMerged(client: pg.ClientBase, email: string): Promise<string[]> {
  const ids: string[] = []
  for (const { id, gone } of await mergesOf(client, email)) {
    if (gone.id && isOf(gone, email)) {
      ids.push(gone.id)
      await client.query(
        `select private.put_row(row.value ->> 'table', row.value -> 'key', null)
         from hub.merges as record, jsonb_array_elements(record.moved_rows) as row
         where record.id = $1 and exists (
           select from pg_catalog.pg_constraint as c
           join pg_catalog.pg_class as t on t.oid = c.conrelid
           where c.contype = 'f' and c.confrelid = 'hub.leads'::regclass and c.confdeltype = 'c'
             and t.relname = row.value ->> 'table')`,
        [id],
      )
      await client.query(
        `update hub.drafts as draft set audience = part.row #> '{before,audience}'
         from (
           select row.value as row
           from hub.merges as record, jsonb_array_elements(record.changed) as row
           where record.id = $1 and row.value ->> 'table' = 'drafts'
         ) as part
         where draft.id = (part.row #>> '{key,id}')::uuid
           and part.row #>> '{before,audience,lead_id}' = $2`,
        [id, gone.id],
      )
    }
    if (isOf(gone, email)) await takeBack(client, id)
    await client.query('delete from hub.merges where id = $1', [id])
  }
  return ids
}

/** What says who somebody is; the rest of a lead is about its deal. */
const PERSONAL = ['name', 'title', 'phone', 'website', 'domain', 'language']

/** Fields that the merged lead took over and still has become those that it had before. */
async function takeBack(client: pg.ClientBase, merge_id: string): Promise<void> {
  const before = (column: string) =>
    `case when lead.${column} = gone.${column} then kept.${column} else lead.${column} end`
  const { rows } = await client.query<{ id: string }>(
    `update hub.leads as lead
     set ${PERSONAL.map((column) => `${column} = ${before(column)}`).join(', ')},
       custom = (
         select coalesce(jsonb_object_agg(key, value), '{}')
         from jsonb_each(lead.custom || (
           select coalesce(jsonb_object_agg(own.key, kept.custom -> own.key), '{}')
           from jsonb_each(gone.custom) as own
           where lead.custom -> own.key = own.value
         ))
         where value <> 'null'
       ), updated_at = now()
     from hub.merges as record,
       jsonb_populate_record(null::hub.leads, record.gone) as gone,
       jsonb_populate_record(null::hub.leads, record.kept) as kept
     where record.id = $1 and lead.id = record.lead_id and record.undone_at is null
       and record.changed is not null
       -- A lead needs a name, an e-mail or a company; a name that is all it has is replaced in texts.
       and coalesce(${before('name')}, lead.email, lead.company) is not null
     returning lead.id`,
    [merge_id],
  )
  await client.query('select private.keep_field_facts($1::uuid[])', [rows.map((row) => row.id)])
}
