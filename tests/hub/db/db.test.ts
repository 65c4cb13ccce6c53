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
