import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type Database } from '../../../hub/db/db.ts'
import { keyFiles, urlFor } from '../../../hub/db/keys.ts'
import { readText } from '../../../hub/files.ts'
import { startLicensedHub } from '../support/licensed.ts'

let hub: Awaited<ReturnType<typeof startLicensedHub>>
let db: Database
beforeAll(async () => {
  hub = await startLicensedHub(['first', 'second'])
  const key = (await readText(keyFiles(hub.paths).service))?.trim() ?? ''
  db = createDatabase({
    url: urlFor(key, hub.config.database),
    max: 1,
    // The server may stop before it has read that this pool says goodbye.
    on_error: () => undefined,
  })
})
afterAll(async () => {
  await db?.end()
  await hub?.close()
})

const read = (project_id: string, name: string) =>
  db.transaction(project_id, async (sql) => {
    const rows = await sql<{ slug: string }>`
      select slug from hub.projects where slug = ${name} or slug = ${`${name} 2`}`
    return rows.map((row) => row.slug)
  })

test('a connection parses a statement once, and answers each time for what it is asked', async () => {
  expect(await read('*', 'first')).toEqual(['first'])
  expect(await read('*', 'second')).toEqual(['second'])
  // The rows that it sees are those of its transaction, not of the one in which it was parsed.
  expect(await read(hub.ids.first ?? '', 'second')).toEqual([])
  expect(await read(hub.ids.first ?? '', 'first')).toEqual(['first'])
  const kept = await db.transaction(
    '*',
    (sql) => sql<{ times: number }>`
    select (generic_plans + custom_plans)::integer as times from pg_prepared_statements
    where statement like '%select slug from hub.projects where%' and statement not like '%pg\_prepared%'`,
  )
  expect(kept).toEqual([{ times: 4 }])
})

test('a statement whose table has changed since is parsed anew', async () => {
  const all = () =>
    db.transaction('*', (sql) => sql<{ slug: string }>`select slug from hub.projects order by slug`)
  const before = await all()
  await hub.query('alter table hub.projects add column nickname text')
  expect(await all()).toEqual(before)
})

/** Raises an error of PostgreSQL with this SQLSTATE. */
const raised = (state: string) =>
  db.transaction('*', async (sql) => {
    await sql`select set_config('test.state', ${state}, true)`
    await sql`do $$ begin
      raise exception 'no good: secret' using errcode = current_setting('test.state');
    end $$`
  })

test.each([
  ...['22001', '22003', '22007', '22008', '22018', '22021', '22023', '22026'],
  ...['22P02', '22P03', '22P05'],
])('a value that cannot be stored (SQLSTATE %s) is malformed input', async (state) => {
  await expect(raised(state)).rejects.toMatchObject({ code: 'malformed' })
})

test.each([
  ['42501', 'read_only_key'],
  ['25006', 'read_only_key'],
  ['57P01', 'unavailable'],
  ['57P02', 'unavailable'],
  ['57P03', 'unavailable'],
  ['53300', 'unavailable'],
  ['08000', 'unavailable'],
  ['08003', 'unavailable'],
  ['08006', 'unavailable'],
])('SQLSTATE %s is told as %s', async (state, code) => {
  await expect(raised(state)).rejects.toMatchObject({ code })
})

test('any other error of the database stays one', async () => {
  await expect(raised('22012')).rejects.toMatchObject({ code: '22012' })
})
