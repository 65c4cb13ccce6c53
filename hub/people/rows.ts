import pg from 'pg'
import { normaliseEmail } from '../mail/address.ts'
import type { Matcher } from './redact.ts'

type Column = { name: string; kind: 'text' | 'texts' | 'json' }
type TextTable = { name: string; columns: Column[]; has_project: boolean }
export type RowPlace = {
  table: string
  column: string
  project: string | null
  excerpts: string[]
}

const id = pg.escapeIdentifier
const AT_ONCE = 500
/** What names a folder or an address and never changes, and hashes. */
const FIXED = new Set([
  'projects.slug',
  'suppression.email_hash',
  'suppression.erased_names',
  'members.password_hash',
  'members.link_hash',
  'api_keys.key_hash',
  'webhooks.secret',
  'webhooks.former_secret',
  'suppression_addresses.email_hash',
  'lead_fields.key',
  'evidence.field_key',
])
/** Rows that are only added, or that their own code clears. */
const KEPT = new Set(['suppression', 'audit'])
/** A person of their own, when their address is another. */
const PEOPLE = new Set(['leads', 'recipients', 'sequence_recipients', 'members'])

/**
 * textTables lists every column of schema hub that can hold words, from the catalogue, so that a table
 * made later is searched too. Generated columns follow the others.
 */
export async function textTables(client: pg.ClientBase): Promise<TextTable[]> {
  const { rows } = await client.query<TextTable>(`
    select t.relname as name,
      jsonb_agg(jsonb_build_object('name', a.attname, 'kind', case
        when coalesce(nullif(y.typbasetype, 0), y.oid)::regtype in ('jsonb', 'json') then 'json'
        when y.typcategory = 'A' then 'texts' else 'text' end) order by a.attnum) as columns,
      exists (
        select from pg_catalog.pg_attribute p where p.attrelid = t.oid and p.attname = 'project_id'
      ) as has_project
    from pg_catalog.pg_class as t
    join pg_catalog.pg_attribute as a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
    join pg_catalog.pg_type as y on y.oid = a.atttypid
    where t.relnamespace = 'hub'::regnamespace and t.relkind in ('r', 'p') and a.attgenerated = ''
      and coalesce(nullif(y.typbasetype, 0), y.oid)::regtype in (
        'text', 'varchar', 'jsonb', 'json', 'text[]', 'varchar[]', 'jsonb[]')
    group by t.oid, t.relname order by t.relname`)
  return rows
    .map((table) => ({
      ...table,
      columns: table.columns.filter(({ name }) => !FIXED.has(`${table.name}.${name}`)),
    }))
    .filter(({ columns }) => columns.length > 0)
}

type Found = { at: string; project: string | null; values: Record<string, unknown> }

async function* rowsWith(
  client: pg.ClientBase,
  table: TextTable,
  options: { likes: string[] | null; locks: boolean },
): AsyncGenerator<Found> {
  const values = table.columns.map(({ name }) => `'${name}', t.${id(name)}`).join(', ')
  const words = table.columns.map(({ name }) => `t.${id(name)}::text`).join(', ')
  const project = table.has_project
    ? '(select slug from hub.projects where id = t.project_id)'
    : 'null'
  const condition = options.likes
    ? `where private.fold(normalize(concat_ws(' ', ${words}))) like any($1::text[])`
    : ''
  // One statement per table: its rows stay where they are until they are changed by their address.
  const { rows } = await client.query<Found>(
    `select t.ctid::text as at, ${project} as project, jsonb_build_object(${values}) as values
     from hub.${id(table.name)} as t ${condition} ${options.locks ? 'for update of t' : ''}`,
    options.likes ? [options.likes] : [],
  )
  for (let at = 0; at < rows.length; at += AT_ONCE) yield* rows.slice(at, at + AT_ONCE)
}

/** Patterns for LIKE over folded text, as a matcher has them. */
export async function likesOf(client: pg.ClientBase, { likes }: Matcher): Promise<string[]> {
  if (likes.length === 0) return []
  const { rows } = await client.query<{ words: string[] }>(
    `select array(select private.fold(normalize(word)) from jsonb_array_elements_text(one) as word) as words
     from jsonb_array_elements($1::jsonb) as one`,
    [JSON.stringify(likes)],
  )
  const escaped = (word: string) => word.replace(/[\\%_]/g, '\\$&')
  return rows
    .filter(({ words }) => words.length > 0)
    .map(({ words }) => `%${words.map(escaped).join('%')}%`)
}

/**
 * The ids of the members who have a name and another address: they may be namesakes. Whoever was erased
 * has no name, though rows that come back from an archive may still hold it.
 */
async function otherMembers(client: pg.ClientBase, person: Matcher): Promise<Set<unknown>> {
  const { rows } = await client.query<{ id: string; email: string }>(
    'select id, email from hub.members where name is not null',
  )
  return new Set(
    rows.flatMap((row) => (normaliseEmail(row.email) === person.email ? [] : [row.id])),
  )
}

type Namesakes = { person: Matcher; others: Set<unknown> }

/** Keeps the name of somebody else with the same name, also where it says who did something. */
const isNamesake = (
  table: TextTable,
  row: Found,
  column: string,
  { person, others }: Namesakes,
) => {
  const { email, [column]: value } = row.values
  if (typeof value === 'object' && value !== null && 'id' in value) return others.has(value.id)
  return (
    PEOPLE.has(table.name) &&
    column === 'name' &&
    typeof email === 'string' &&
    normaliseEmail(email) !== person.email
  )
}

function replaced(value: unknown, kind: Column['kind'], person: Matcher): unknown {
  if (value === null || value === undefined) return value
  if (kind === 'json') return person.json(value)
  if (kind === 'texts') return Array.isArray(value) ? value.map((one) => person.json(one)) : value
  return typeof value === 'string' ? person.replace(value) : value
}

/** findRows returns every place in the database where the person stands. */
export async function findRows(client: pg.ClientBase, person: Matcher): Promise<RowPlace[]> {
  const likes = await likesOf(client, person)
  const found: RowPlace[] = []
  if (likes.length === 0) return found
  const namesakes = { person, others: await otherMembers(client, person) }
  for (const table of await textTables(client)) {
    for await (const row of rowsWith(client, table, { likes, locks: false })) {
      for (const { name } of table.columns) {
        const value = row.values[name]
        if (value === null || isNamesake(table, row, name, namesakes)) continue
        const text = typeof value === 'string' ? value : JSON.stringify(value)
        const excerpts = person.excerpts(text)
        if (excerpts.length > 0) {
          found.push({
            table: table.name,
            column: name,
            project: row.project,
            excerpts: excerpts.slice(0, 5),
          })
        }
      }
    }
  }
  return found
}

/** redactRows replaces address and names in every table; returns how many rows it changed. */
export async function redactRows(client: pg.ClientBase, person: Matcher): Promise<number> {
  const likes = await likesOf(client, person)
  if (likes.length === 0) return 0
  const namesakes = { person, others: await otherMembers(client, person) }
  let count = 0
  for (const table of await textTables(client)) {
    if (KEPT.has(table.name)) continue
    for await (const row of rowsWith(client, table, { likes, locks: true })) {
      const changes = table.columns.flatMap(({ name, kind }) => {
        if (isNamesake(table, row, name, namesakes)) return []
        const before = row.values[name]
        const after = replaced(before, kind, person)
        if (JSON.stringify(before) === JSON.stringify(after)) return []
        return [{ name, value: kind === 'json' ? JSON.stringify(after) : after }]
      })
      if (changes.length === 0) continue
      const sets = changes.map(({ name }, at) => `${id(name)} = $${at + 2}`).join(', ')
      await client.query(`update hub.${id(table.name)} set ${sets} where ctid = $1::tid`, [
        row.at,
        ...changes.map(({ value }) => value),
      ])
      count += 1
    }
  }
  return count
}

/** Every text of the database, to look for people of whom only hashes are known. */
export async function* allTexts(client: pg.ClientBase): AsyncGenerator<string> {
  for (const table of await textTables(client)) {
    if (table.name === 'suppression') continue
    for await (const { values } of rowsWith(client, table, { likes: null, locks: false })) {
      yield textsIn(values).join('\n')
    }
  }
}

/** The keys and strings of a value. As JSON, what begins a line would have an n before it. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) => [key, ...textsIn(one)])
}
