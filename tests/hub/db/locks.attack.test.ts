import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBackup } from '../../../hub/backup/backup.ts'
import { LOCK_SPACE, LOCKS } from '../../../hub/db/locks.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const ROOT = join(import.meta.dirname, '../../..')

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.close())

test('a backup is made while mails go out', async () => {
  await hub.deps.db.transaction('*', async (sql) => {
    // What the mailer holds for as long as it sends.
    await sql`select pg_advisory_xact_lock(${LOCK_SPACE}, ${LOCKS.mailer})`
    const { done } = await startBackup(hub.config, 'manual')
    expect(await done).toMatch(/-manual\.tar\.gz$/)
  })
})

test('no two locks share a number', () => {
  const numbers = Object.values(LOCKS)
  expect(new Set(numbers).size).toBe(numbers.length)
})

/** Every call of a function of advisory locks in a folder: its file and its arguments. */
async function calls(folder: string): Promise<{ file: string; given: string }[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile() && /\.(ts|sql)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('/node_modules/'))
  const found = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(file, 'utf8')
      return [...text.matchAll(/pg_(?:try_)?advisory_\w*lock(?:_shared)?\(([^\n]*)/g)].map(
        ([, given = '']) => ({ file: file.slice(ROOT.length + 1), given }),
      )
    }),
  )
  return found.flat()
}

test('every lock of the hub comes from the table of locks', async () => {
  const found = await calls('hub')
  expect(found.length).toBeGreaterThanOrEqual(Object.keys(LOCKS).length)
  const named = /^(\$\{LOCK_SPACE\}, \$\{LOCKS\.\w+\}|\$1, \$2)\)/
  expect(found.filter(({ given }) => !named.test(given))).toEqual([])
  const sources = await Promise.all(
    [...new Set(found.map(({ file }) => file))].map((file) => readFile(join(ROOT, file), 'utf8')),
  )
  const used = Object.keys(LOCKS).filter((name) =>
    sources.some((text) => text.includes(`LOCKS.${name}`)),
  )
  expect(used).toEqual(Object.keys(LOCKS))
})

test('the monitoring service locks by named topics, one number for migrations aside', async () => {
  const found = [
    ...(await calls('sql')),
    ...(await calls('functions')),
    ...(await calls('scripts')),
  ]
  expect(found.length).toBeGreaterThan(10)
  const odd = found.filter(({ given }) => !/^hashtextextended\((\$\{`\w+:|'\w+(:'|'))/.test(given))
  expect(odd.map(({ file, given }) => `${file}: ${given}`)).toEqual([
    // The whole key of a caller's request; it begins with the caller's id.
    'sql/13_idempotency.sql: hashtextextended(v_user || p_route || p_key, 0)) then',
    "scripts/postgres/migrate.ts: $1)', [LOCK])",
    "scripts/postgres/migrate.ts: $1)', [LOCK])",
  ])
})
