import pg from 'pg'

type Found = {
  owner: string
  caller: string
  database: string
  may_create: boolean
  may_grant: boolean
  is_usable: boolean
  is_migrated: boolean
  home: string | null
}

/**
 * requireExtensions throws when the schema `extensions` exists and belongs to a role that does not let the
 * migration use it. PostgreSQL itself only warns about a grant that grants nothing, and every search by place
 * would be refused later.
 */
export async function requireExtensions(client: pg.Client): Promise<void> {
  const { rows } = await client.query<Found>(`
    select n.nspowner::regrole::text as owner, current_user as caller, current_database() as database,
      has_schema_privilege(n.oid, 'create') as may_create,
      has_schema_privilege(n.oid, 'usage with grant option') as may_grant,
      coalesce(has_schema_privilege(to_regrole('watchpost_owner'), n.oid, 'usage'), false) as is_usable,
      to_regnamespace('watchpost') is not null as is_migrated,
      (select e.extnamespace::regnamespace::text from pg_extension e where e.extname = 'btree_gist') as home
    from pg_namespace n
    where n.nspname = 'extensions'`)
  const [found] = rows
  if (!found) return
  const { owner, caller, database, may_create, may_grant, is_usable, is_migrated, home } = found
  if (home !== null && home !== 'extensions') {
    throw new Error(
      `The extension btree_gist is in the schema ${home} of the database ${database}, and Watchpost needs it in the schema extensions. As its owner or a superuser, run there: alter extension btree_gist set schema extensions`,
    )
  }
  const mayInstall = home !== null || may_create
  const mayUse = may_grant || (is_migrated && is_usable)
  if (mayInstall && mayUse) return
  const me = pg.escapeIdentifier(caller)
  throw new Error(
    `The schema extensions of the database ${database} belongs to the role ${owner}, and the role ${caller} may not ${mayInstall ? 'let watchpost_owner use it' : 'install btree_gist in it'}. As ${owner} or a superuser, run there: grant usage, create on schema extensions to ${me} with grant option`,
  )
}
