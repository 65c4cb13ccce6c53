import { glob, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { DELIVERY_WRITERS, WRITES_DELIVERIES } from '../../scripts/schema/schema-rules.ts'

const OWNERS = [
  'sql/62_deliveries.sql',
  'sql/62_queuing.sql',
  'sql/62_sending.sql',
  'sql/62_settling.sql',
]
const SOURCES = ['sql/*.sql', '{functions,scripts,shared}/**/*.ts', 'supabase/{*,snippets/*}.sql']
/** It fills a database of its own, which is removed afterwards. */
const BENCH = 'scripts/bench/delivery-ground.ts'

const writes = (text: string) =>
  new RegExp(WRITES_DELIVERIES, 'i').test(text.replaceAll(/\s+/g, ' '))

test('deliveries change only through the functions of their topic', async () => {
  const writers: string[] = []
  for await (const file of glob(SOURCES)) {
    if (file !== BENCH && writes(await readFile(file, 'utf8'))) writers.push(file)
  }
  expect(writers.sort()).toEqual(OWNERS)
})

test('those functions are the ones that the schema check lets pass', async () => {
  const texts = await Promise.all(OWNERS.map((file) => readFile(file, 'utf8')))
  const found = texts
    .join('\n')
    .split(/^create function private\./m)
    .filter(writes)
    .map((text) => /^\w+/.exec(text)?.[0])
  expect(found.sort()).toEqual(DELIVERY_WRITERS)
})

test.each([
  "update watchpost.deliveries set status = 'queued'",
  'Update\n  watchpost.deliveries d\nset attempts = 0',
  'insert into watchpost.deliveries (channel_id) values ($1)',
  'delete from watchpost.deliveries',
])('%j counts as a change', (statement) => {
  expect(writes(statement)).toBe(true)
})

test('reading them, or writing their attempts, does not', () => {
  expect(writes('select from watchpost.deliveries for update')).toBe(false)
  expect(writes('insert into watchpost.delivery_attempts (delivery_id) values ($1)')).toBe(false)
})
