import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { createHubDatabase, migrate } from '../../../hub/db/migrate.ts'
import { onServer } from '../../support/servers/database.ts'

const { adminUrl } = inject('server')
const NAME = 'hub_migrate_test'
let folder: string
let url: string
beforeAll(async () => {
  url = await createHubDatabase(adminUrl, NAME)
})
afterAll(() => onServer(adminUrl, `drop database if exists ${NAME} with (force)`))
beforeEach(async () => {
  await query('drop schema public cascade; create schema public')
  folder = await mkdtemp(join(tmpdir(), 'watchpost-migrate-'))
  await write('20_b.sql', 'insert into public.a values (2);')
  await write('10_a.sql', 'create table public.a (n int);\ninsert into public.a values (1);')
  await write('notes.txt', 'no SQL')
  return () => rm(folder, { recursive: true })
})

async function query(sql: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
const write = (name: string, text: string) => writeFile(join(folder, name), text)
const numbers = async () => (await query('select n from public.a order by n')).map(({ n }) => n)
const known = async () =>
  (await query('select name from public.hub_migrations order by name')).map(({ name }) => name)

test('an empty database gets the topics in their order, and counts as upgraded', async () => {
  await mkdir(join(folder, 'upgrades'))
  await write('upgrades/20260101_old.sql', 'insert into public.a values (-1);')
  expect(await migrate(url, folder)).toEqual(['10_a.sql', '20_b.sql'])
  expect(await numbers()).toEqual([1, 2])
  expect(await known()).toEqual(['10_a.sql', '20260101_old.sql', '20_b.sql'])
  expect(await migrate(url, folder)).toEqual([])
})

test('a database that exists gets the upgrades that it lacks, once, in their order', async () => {
  expect(await migrate(url, folder)).toEqual(['10_a.sql', '20_b.sql'])
  await mkdir(join(folder, 'upgrades'))
  await write('upgrades/20260202_second.sql', 'delete from public.a where n = 3;')
  await write('upgrades/20260101_first.sql', 'insert into public.a values (3), (4);')
  await write('upgrades/notes.txt', 'no SQL')
  await write('30_c.sql', 'insert into public.a values (9);')
  const upgrades = ['20260101_first.sql', '20260202_second.sql']
  expect(await migrate(url, folder)).toEqual(upgrades)
  expect(await migrate(url, folder)).toEqual([])
  expect(await numbers()).toEqual([1, 2, 4])
  expect(await known()).toEqual(['10_a.sql', upgrades[0], upgrades[1], '20_b.sql'])
})

test('a database of a newer release is refused, and stays as it is', async () => {
  await mkdir(join(folder, 'upgrades'))
  await write('upgrades/20260101_first.sql', 'insert into public.a values (3);')
  await migrate(url, folder)
  await query("insert into public.hub_migrations (name) values ('20270101_later.sql')")
  await write('upgrades/20260202_second.sql', 'insert into public.a values (4);')
  await expect(migrate(url, folder)).rejects.toThrow(
    'A newer version has changed this database (20270101_later.sql).',
  )
  expect(await numbers()).toEqual([1, 2])
})

test('a mistake is named with its file, line and code, and nothing is changed', async () => {
  await write('20_b.sql', 'insert into public.a values (2);\n\ninsert into public.b values (3);\n')
  await expect(migrate(url, folder)).rejects.toThrow(
    `${join(folder, '20_b.sql')}:3: relation "public.b" does not exist (42P01)`,
  )
  expect(await query('select from pg_catalog.pg_tables where schemaname = $$public$$')).toEqual([])
  await write('20_b.sql', 'insert into public.a values (1 / 0);')
  await expect(migrate(url, folder)).rejects.toThrow('20_b.sql:1: division by zero (22012)')
})

test('a database is made once, on the server of its owner', async () => {
  expect(await createHubDatabase(adminUrl, NAME)).toBe(url)
  expect(new URL(url).pathname).toBe(`/${NAME}`)
  expect(await query('select current_database() as name')).toEqual([{ name: NAME }])
})
