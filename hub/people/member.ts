import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { normaliseEmail } from '../mail/address.ts'

const id = pg.escapeIdentifier

type MemberRow = { id: string; name: string | null; is_removed: boolean }

/** The memberships with this address, also those that have ended. */
export async function membershipsOf(client: pg.ClientBase, email: string): Promise<MemberRow[]> {
  const { rows } = await client.query<MemberRow & { email: string }>(
    `select id, name, email, removed_at is not null as is_removed from hub.members
     where private.fold(email) = private.fold($1) order by id`,
    [email],
  )
  return rows.filter((row) => normaliseEmail(row.email) === email)
}

/**
 * forgetMember takes name and address of a member out of the database. What they did stays, as done by
 * a former member. Returns how many memberships there were.
 */
export async function forgetMember(client: pg.ClientBase, email: string): Promise<number> {
  const members = await membershipsOf(client, email)
  for (const member of members) {
    await client.query(
      `update hub.members set email = $2, name = null, password_hash = null, link_hash = null,
         link_ends_at = null, session_epoch = session_epoch + 1,
         removed_at = coalesce(removed_at, now())
       where id = $1`,
      [member.id, `erased-${randomBytes(8).toString('hex')}@erased.invalid`],
    )
    for (const { name, column } of await actorColumns(client)) {
      await client.query(
        `update hub.${id(name)} set ${id(column)} = ${id(column)} || '{"name": null}'::jsonb
         where ${id(column)} ->> 'id' = $1`,
        [member.id],
      )
    }
    await client.query('select private.forget_actor($1)', [member.id])
  }
  return members.length
}

/** Every column that says who did something, but for the audit, which nobody may update. */
async function actorColumns(client: pg.ClientBase) {
  const { rows } = await client.query<{ name: string; column: string }>(`
    select t.relname as name, a.attname as column
    from pg_catalog.pg_class as t
    join pg_catalog.pg_attribute as a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
    where t.relnamespace = 'hub'::regnamespace and t.relkind in ('r', 'p') and t.relname <> 'audit'
      and a.atttypid = 'jsonb'::regtype and (a.attname = 'actor' or a.attname ~ '_by$')`)
  return rows
}
