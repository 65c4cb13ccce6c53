import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeBackup } from '../../scripts/backup/backup.ts'
import { migrate, ROOT } from '../../scripts/postgres/migrate.ts'
import { compareSchemas } from '../../scripts/schema/schema.ts'
import { createFolder, exportOf, KEYS, restoreInto } from '../support/backup.ts'
import { createEmptyDatabase, createTestDatabase } from '../support/servers/database.ts'
import { createService, type Service } from '../support/service.ts'
import { type Recorded, readRecorded } from './recorded.ts'
import { loadRows, lostRows, readRows } from './rows.ts'
import { SERVICE_SCHEMAS } from './what.ts'

/** A database as a release left it: its migrations, then its rows. */
async function databaseOf({ schema, rows }: Recorded) {
  const database = await createEmptyDatabase()
  const root = await mkdtemp(join(tmpdir(), 'watchpost-release-'))
  await mkdir(join(root, 'supabase/migrations'), { recursive: true })
  for (const path of ['sql', ...schema.map((file) => `supabase/migrations/${file}`)]) {
    await symlink(join(ROOT, path), join(root, path))
  }
  await migrate(database.adminUrl, { root })
  await rm(root, { recursive: true })
  await loadRows(database.adminUrl, rows)
  return database
}

describe.each(readRecorded('service'))('a database of release $version', (recorded) => {
  let service: Service
  beforeAll(async () => {
    const database = await databaseOf(recorded)
    expect(await readRows(database.adminUrl, SERVICE_SCHEMAS)).toEqual(recorded.rows)
    await migrate(database.adminUrl)
    service = await createService({ database })
  })
  afterAll(() => service.close())

  test('keeps every row', async () => {
    const now = await readRows(service.database.adminUrl, SERVICE_SCHEMAS)
    expect(lostRows(recorded.rows, now)).toEqual([])
  })

  test('has the schema of a new database', async () => {
    const fresh = await createTestDatabase()
    const { differences } = await compareSchemas(
      { name: 'new', url: fresh.adminUrl },
      { name: 'upgraded', url: service.database.adminUrl },
    )
    await fresh.drop()
    expect(differences.filter((line) => !line.startsWith('contents '))).toEqual([])
  })

  test('is restored from its own backup as it is upgraded', async () => {
    const [old, restored] = await Promise.all([databaseOf(recorded), createEmptyDatabase()])
    const { folder, close } = await createFolder()
    const file = join(folder, 'backup.zip')
    const options = { adminUrl: old.adminUrl, file, keys: KEYS }
    const { manifest } = await makeBackup(options)
    expect(manifest.migrations.map((name) => `${name}.sql`)).toEqual(recorded.schema)
    await restoreInto(restored.adminUrl, file)
    await migrate(old.adminUrl)
    expect(await exportOf(restored)).toEqual(await exportOf(old))
    await Promise.all([old.drop(), restored.drop(), close()])
  })

  test('answers what it answered', async () => {
    expect(recorded.answers.length).toBeGreaterThan(10)
    const sessions = new Map<string, string>()
    for (const { as, path, body } of recorded.answers) {
      if (!sessions.has(as)) {
        const [row] = await service.database.query<{ email: string }>(
          'select email from auth.users where id = $1',
          [as],
        )
        sessions.set(as, await service.session({ user_id: as, email: row?.email ?? '' }))
      }
      const answer = await service.request('GET', `/api/v1${path}`, { key: sessions.get(as) ?? '' })
      expect(answer.status, path).toBe(200)
      expect(answer.body, path).toMatchObject(withNewMessages(body) as object) // safe: answers are objects
    }
  })
})

/** A recorded answer, where channels that take every type of message may take those that were added since. */
function withNewMessages(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body), (name, value) =>
    name === 'messages' ? expect.arrayContaining(value) : value,
  )
}
