/**
 * `npm run migration -- <verb>_<thing>` writes the next migration: the functions, triggers and
 * indexes of sql/ that the migrations do not have yet. Other differences are listed and written by
 * hand, because only a person knows what is to become of the rows.
 */
import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import pg from 'pg'
import { migrate, ROOT } from '../postgres/migrate.ts'
import { startThrowawayPostgres } from '../postgres/throwaway.ts'
import { applyTopics, compareSchemas, withClient } from './schema.ts'

/** The statements that create an object, and the one that removes it; of a function also what it returns. */
type Made = { create: string[]; drop: string; returns?: string }
type Objects = Map<string, Made>

const OURS = `in ('watchpost', 'private')`
const QUERIES = {
  triggers: `
    select format('%s %I', t.tgrelid::regclass, t.tgname) as name,
      array[pg_get_triggerdef(t.oid)] as create,
      format('drop trigger %I on %s', t.tgname, t.tgrelid::regclass) as drop
    from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where not t.tgisinternal and t.tgparentid = 0 and c.relnamespace::regnamespace::text ${OURS}`,
  functions: `
    select p.oid::regprocedure::text as name,
      array_remove(array[
        rtrim(pg_get_functiondef(p.oid), E'\\n'),
        (select format('comment on function %s is %L', p.oid::regprocedure, d.description)
          from pg_description d where d.classoid = 'pg_proc'::regclass and d.objoid = p.oid),
        (select format('grant execute on function %s to %s', p.oid::regprocedure,
            string_agg(g.grantee::regrole::text, ', ' order by g.grantee::regrole::text))
          from aclexplode(p.proacl) g where g.grantee not in (p.proowner, 0)
          having count(*) > 0)
      ], null) as create,
      format('drop function %s', p.oid::regprocedure) as drop, concat(pg_get_function_result(p.oid), p.proallargtypes::regtype[]) as returns
    from pg_proc p where p.pronamespace::regnamespace::text ${OURS}`,
  indexes: `
    select i.indexrelid::regclass::text as name, array[pg_get_indexdef(i.indexrelid)] as create,
      format('drop index %s', i.indexrelid::regclass) as drop
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relnamespace::regnamespace::text ${OURS} and not c.relispartition
      and not exists (select from pg_constraint k where k.conindid = i.indexrelid)`,
}

/** The statements that turn the functions, triggers and indexes of one database into another's. */
export async function statementsBetween(fromUrl: string, toUrl: string): Promise<string[]> {
  const [from, to] = await Promise.all([fromUrl, toUrl].map((url) => withClient(url, readObjects)))
  if (!from || !to) return []
  const kinds = ['triggers', 'functions', 'indexes'] as const
  // A function is replaced, unless it returns something else now.
  const isGone = (kind: keyof typeof from, name: string, { create, returns }: Made) => {
    const made = to[kind].get(name)
    if (!made) return true
    return kind === 'functions' ? made.returns !== returns : String(made.create) !== String(create)
  }
  const drops = kinds.flatMap((kind) =>
    [...from[kind]].flatMap(([name, made]) => (isGone(kind, name, made) ? [made.drop] : [])),
  )
  const creates = (['functions', 'indexes', 'triggers'] as const).flatMap((kind) =>
    [...to[kind]].flatMap(([name, { create }]) => {
      const before = from[kind].get(name)
      const known = before && !isGone(kind, name, before) ? before.create : []
      return create.filter((statement) => !known.includes(statement))
    }),
  )
  return [...drops, ...creates]
}

async function readObjects(client: pg.Client) {
  await client.query(`select set_config('search_path', '', false)`)
  const read = async (query: string): Promise<Objects> => {
    const { rows } = await client.query<{ name: string } & Made>(`${query} order by 1`)
    return new Map(rows.map(({ name, ...made }) => [name, made]))
  }
  return {
    triggers: await read(QUERIES.triggers),
    functions: await read(QUERIES.functions),
    indexes: await read(QUERIES.indexes),
  }
}

async function main(name: string | undefined): Promise<number> {
  if (!name || !/^[a-z0-9]+(_[a-z0-9]+)+$/.test(name)) {
    console.error('Name the migration by a verb and a thing: npm run migration -- add_zone_colour')
    return 2
  }
  const servers = await Promise.all([startThrowawayPostgres(), startThrowawayPostgres()])
  const [topics, migrated] = servers
  try {
    await Promise.all([applyTopics(topics.adminUrl), migrate(migrated.adminUrl)])
    if ((await differencesBetween(migrated.adminUrl, topics.adminUrl)).length === 0) {
      console.log('Nothing to write: a migrated database has the schema of sql/.')
      return 0
    }
    const statements = await statementsBetween(migrated.adminUrl, topics.adminUrl)
    const time = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
    const file = join(ROOT, 'supabase/migrations', `${time}_${name}.sql`)
    const body = statements.map((statement) => `${statement};\n`).join('\n')
    // Functions are written in the order of their names, not in that in which they call each other.
    const head = 'set role watchpost_owner;\nset check_function_bodies = off;\n'
    writeFileSync(file, `${head}\n${body}\nreset check_function_bodies;\nreset role;\n`)
    console.log(`Wrote ${relative(process.cwd(), file)}: ${statements.length} statements`)
    const left = await differencesAfter(file, migrated.adminUrl, topics.adminUrl)
    if (left.length > 0) console.log('\nWrite by hand what else sql/ has:')
    for (const line of left) console.log(`- ${line}`)
    return 0
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
}

/** What still differs when the new migration was applied, or why it cannot be applied yet. */
async function differencesAfter(file: string, fromUrl: string, toUrl: string): Promise<string[]> {
  const failed = await migrate(fromUrl).then(
    () => [],
    (error: unknown) => {
      if (!(error instanceof Error) || !(error.cause instanceof pg.DatabaseError)) throw error
      return [`${relative(process.cwd(), file)} needs this first: ${error.message}`]
    },
  )
  return [...failed, ...(await differencesBetween(fromUrl, toUrl))]
}

async function differencesBetween(fromUrl: string, toUrl: string): Promise<string[]> {
  const { differences } = await compareSchemas(
    { name: 'sql/', url: toUrl },
    { name: 'migrations', url: fromUrl },
  )
  return differences
}

if (import.meta.main) process.exitCode = await main(process.argv[2])
