import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { getConstructionPlans } from 'pg-boss'
import { migrate, ROOT, runFile } from '../postgres/migrate.ts'
import { compareCatalogues, readCatalogue } from './catalogue.ts'

/** applyStandIn creates what a Supabase project has before Watchpost is installed. */
export async function applyStandIn(adminUrl: string, root = ROOT) {
  const local = join(root, 'sql/local')
  await withClient(adminUrl, async (client) => {
    await client.query('set client_min_messages = warning')
    for (const name of await sqlFiles(local)) await runFile(client, join(local, name))
  })
}

/** applyTopics builds the schema from sql/, without any migration. */
export async function applyTopics(adminUrl: string, root = ROOT) {
  await applyStandIn(adminUrl, root)
  await withClient(adminUrl, async (client) => {
    await client.query('begin; set local client_min_messages = warning')
    for (const { path, text } of await topics(root)) await runFile(client, path, text)
    await client.query('reset role; commit')
  })
}

/**
 * migrateLikeSupabase migrates as a role like Supabase's, which may create roles but is no
 * superuser.
 */
export async function migrateLikeSupabase(adminUrl: string, root = ROOT): Promise<string> {
  const url = new URL(adminUrl)
  const database = pg.escapeIdentifier(url.pathname.slice(1))
  await applyStandIn(adminUrl, root)
  await withClient(adminUrl, async (client) => {
    await client.query(`
      comment on schema auth is null;
      create role supabase_like login createrole createdb bypassrls password 'supabase_like';
      alter database ${database} owner to supabase_like;
      alter schema extensions owner to supabase_like;
      grant anon, authenticated, service_role to supabase_like with admin option;
      grant usage on schema auth to supabase_like with grant option;
      grant select, references, trigger on auth.users to supabase_like;
      grant select on auth.sessions, auth.mfa_factors to supabase_like;
    `)
  })
  url.username = 'supabase_like'
  url.password = 'supabase_like'
  await migrate(url.href, { root })
  return url.href
}

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>) {
  const client = new pg.Client({ connectionString: url })
  // A connection that breaks between two queries must not end the process; the next query fails.
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/**
 * compareSchemas lists what differs between two databases, each named as the differences name it;
 * `facts` counts what was compared.
 */
export async function compareSchemas(
  expected: { name: string; url: string },
  actual: { name: string; url: string },
): Promise<{ facts: number; differences: string[] }> {
  const read = async ({ name, url }: { name: string; url: string }) => ({
    name,
    catalogue: await withClient(url, readCatalogue),
  })
  const [left, right] = await Promise.all([read(expected), read(actual)])
  return { facts: left.catalogue.size, differences: compareCatalogues(left, right) }
}

/** The whole schema as one text, from the files of sql/. */
export async function joinTopics(root = ROOT): Promise<string> {
  const parts = (await topics(root)).map(({ name, text }) => `-- sql/${name}\n${text}`)
  return parts.join('\n')
}

async function topics(root: string) {
  const folder = join(root, 'sql')
  const names = await sqlFiles(folder)
  if (names.length === 0) throw new Error(`There is no .sql file in ${folder}`)
  return Promise.all(
    names.map(async (name) => {
      const path = join(folder, name)
      const text = await readFile(path, 'utf8')
      return { name, path, text: text.replace(/^-- @pg-boss$/gm, pgBossSchema) }
    }),
  )
}

async function sqlFiles(folder: string) {
  return (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
}

/** pg-boss's own schema, without its transaction, because a migration already runs in one. */
function pgBossSchema(): string {
  const around = /^\s*(BEGIN|COMMIT|SET LOCAL \w+ = \d+|SELECT pg_advisory_xact_lock\(.*\));\s*$/
  const lines = getConstructionPlans('pgboss').split('\n')
  return lines
    .filter((line) => !around.test(line))
    .join('\n')
    .trim()
}
