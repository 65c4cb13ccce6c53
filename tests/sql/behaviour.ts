import pg from 'pg'
import type { TestDatabase } from '../support/servers/database.ts'
import { ACTORS, type Actor, CHANGES, TAGS, type World } from './world.ts'

/** What a matrix is measured on. All its transactions share one connection: opening one costs more than most of them. */
export type Ground = { database: TestDatabase; world: World; client: pg.Client }

/** A transaction as `actor` would have it, which is always undone. */
export async function asActor<T>(
  { client, world }: Ground,
  actor: Actor,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  await client.query('begin')
  try {
    await client.query(
      `select set_config('request.jwt.claims', $1, true), set_config('role', $2, true)`,
      [world.claims[actor], actor === 'anon' ? 'anon' : 'authenticated'],
    )
    return await work(client)
  } finally {
    await client.query('rollback')
  }
}

export type Operation = 'select' | 'update' | 'delete'

/**
 * The words of the rows that an actor reads or really changes; `denied` where Postgres refuses the
 * statement itself. What changed is read back as the superuser, not taken from the statement's answer.
 */
async function reachableRows(
  given: Ground,
  actor: Actor,
  table: string,
  operation: Operation,
): Promise<string> {
  const tag = TAGS[table] ?? `'row'`
  const readBack = `select ${tag} as tag, to_jsonb(t) as row from watchpost.${table} t`
  return asActor(given, actor, async (client) => {
    if (operation === 'select') {
      const read = await unlessRefused(
        client.query(`select distinct ${tag} as tag from watchpost.${table}`),
      )
      return read ? words(read.rows) : 'denied'
    }
    const statement =
      operation === 'delete'
        ? `delete from watchpost.${table}`
        : `update watchpost.${table} set ${CHANGES[table] ?? (await sameAgain(given.database, table))}`
    const before = (await given.database.query<{ tag: string; row: object }>(readBack)).map(text)
    if (!(await unlessRefused(client.query(statement)))) return 'denied'
    await client.query('reset role')
    const after = new Set((await client.query(readBack)).rows.map(text))
    return words(before.filter((row) => !after.has(row)).map((row) => JSON.parse(row)))
  })
}

/** One line an operation: what every actor reaches. */
export async function reachableByAll(
  given: Ground,
  table: string,
  operation: Operation,
): Promise<string> {
  const all: string[] = []
  for (const actor of ACTORS) all.push(await reachableRows(given, actor, table, operation))
  if (new Set(all).size === 1) return `everybody ${all[0]}`
  return ACTORS.map((actor, index) => `${actor} ${all[index]}`).join('; ')
}

/** Undefined when the statement was refused for want of a right; any other error is a fault. */
export async function unlessRefused<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '42501') return undefined
    throw error
  }
}

const text = (row: object) => JSON.stringify(row)

function words(rows: { tag?: string }[]): string {
  return rows.length === 0 ? '-' : [...new Set(rows.map((row) => row.tag ?? '?'))].sort().join(' ')
}

async function sameAgain(database: TestDatabase, table: string): Promise<string> {
  const [column] = await database.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute
    where attrelid = $1::regclass and attnum > 0 and attgenerated = '' and attidentity = '' limit 1`,
    [`watchpost.${table}`],
  )
  return `${column?.name} = ${column?.name}`
}
