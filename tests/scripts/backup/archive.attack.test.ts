import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openArchive } from '../../../scripts/backup/archive.ts'
import { makeBackup } from '../../../scripts/backup/backup.ts'
import { restoreBackup } from '../../../scripts/backup/restore.ts'
import { requireSame } from '../../../scripts/backup/tables.ts'
import {
  type Members,
  manifestIn,
  readMembers,
  setManifest,
  setRows,
  writeMembers,
} from '../../support/attacks/crafted.ts'
import { createFolder, KEYS, restoreInto } from '../../support/backup.ts'
import {
  createEmptyDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../../support/servers/database.ts'

// Archives that somebody made or changed. Each is signed with the service's own key where the signature is
// not what is tried, so that every guard is reached; nothing of any of them may be written.
let empty: TestDatabase
let folder: Awaited<ReturnType<typeof createFolder>>
let good: string
beforeAll(async () => {
  const source = await createTestDatabase()
  folder = await createFolder()
  await source.query(
    `insert into auth.users (id, email, email_confirmed_at) values (gen_random_uuid(), 'a@watchpost.test', now())`,
  )
  good = join(folder.folder, 'good.zip')
  await makeBackup({ adminUrl: source.adminUrl, file: good, keys: KEYS })
  await source.drop()
  empty = await createEmptyDatabase()
})
afterAll(async () => {
  await empty?.drop()
  await folder?.close()
})

let count = 0
const nextFile = () => join(folder.folder, `crafted-${++count}.zip`)

/** What a restore says about the archive after a change; the database must be as empty as before. */
async function refusal(change: (members: Members) => void): Promise<string> {
  const members = await readMembers(good)
  change(members)
  const file = nextFile()
  await writeMembers(file, members)
  return refusalOf(file)
}

async function refusalOf(file: string): Promise<string> {
  const message = await restoreInto(empty.adminUrl, file).then(
    () => 'it was restored',
    (error: Error) => `${error.name === 'Error' ? '' : error.name}${error.message}`,
  )
  const schemas = await empty.query(
    `select nspname from pg_namespace where nspname in ('watchpost', 'private', 'auth', 'pgboss', 'supabase_migrations')`,
  )
  expect(schemas).toEqual([])
  return message
}

const EVENTS = 'tables/watchpost.events.copy'
function change(members: Members, edit: (manifest: ReturnType<typeof manifestIn>) => void) {
  const manifest = manifestIn(members)
  edit(manifest)
  setManifest(members, manifest)
}

describe('the file', () => {
  test('that is no backup at all', async () => {
    const file = nextFile()
    await writeFile(file, 'no zip at all')
    expect(await refusalOf(file)).toMatch(/not a backup, or it is cut off/)
    expect(await refusalOf(join(folder.folder, 'nothing.zip'))).toMatch(/cannot be opened: ENOENT/)
    expect(await refusalOf(folder.folder)).toMatch(/is not a file/)
  })

  test.each([0.2, 0.9, 0.999])('cut off at %d of its length', async (part) => {
    const content = await readFile(good)
    const file = nextFile()
    await writeFile(file, content.subarray(0, Math.floor(content.length * part)))
    expect(await refusalOf(file)).toMatch(/not a backup, or it is cut off or damaged/)
  })

  test('with one bit changed in a table', async () => {
    const content = await readFile(good)
    // Beyond the local header and the name, within the compressed rows.
    const at = content.indexOf('tables/auth.users.copy') + 60
    content[at] = (content[at] ?? 0) ^ 1
    const file = nextFile()
    await writeFile(file, content)
    expect(await refusalOf(file)).toMatch(
      /tables\/auth.users.copy (is damaged|is not what was backed up|holds)|more than its manifest/,
    )
  })
})

describe('members', () => {
  test('that lead out of the archive', async () => {
    const members = await readMembers(good)
    // A name of the same length, because yazl refuses to write such a one.
    members.set('xx/xx/etc/evil', Buffer.from('evil'))
    const file = nextFile()
    await writeMembers(file, members)
    const content = await readFile(file)
    const bent = Buffer.from(
      content.toString('latin1').replaceAll('xx/xx/etc', '../../etc'),
      'latin1',
    )
    await writeFile(file, bent)
    expect(await refusalOf(file)).toMatch(/invalid relative path: \.\.\/\.\.\/etc\/evil/)
  })

  test('that no manifest lists, that are missing, that come twice', async () => {
    expect(await refusal((all) => all.set('tables/watchpost.more.copy', Buffer.from('')))).toMatch(
      /contains "tables\/watchpost.more.copy", which its manifest does not list/,
    )
    expect(await refusal((all) => all.delete(EVENTS))).toMatch(
      /tables\/watchpost.events.copy is missing/,
    )
    expect(await refusal((all) => all.delete('signature.json'))).toMatch(
      /signature.json is missing/,
    )
    const file = nextFile()
    const members = await readMembers(good)
    await writeMembers(file, [...members, [EVENTS, Buffer.from('')]])
    expect(await refusalOf(file)).toMatch(/contains "tables\/watchpost.events.copy" twice/)
  })
})

describe('the manifest', () => {
  test('that is none, of another product, of a later format', async () => {
    expect(await refusal((all) => all.set('manifest.json', Buffer.from('{')))).toMatch(
      /manifest.json is not valid JSON/,
    )
    expect(await refusal((all) => setManifest(all, { ...manifestIn(all), product: 'x' }))).toMatch(
      /manifest.json is not usable \(field product\)/,
    )
    expect(
      await refusal((all) => setManifest(all, { ...manifestIn(all), format: 2, version: '9.0.0' })),
    ).toMatch(/made by a newer Watchpost \(version "9.0.0"\). Update this one/)
    expect(
      await refusal((all) => all.set('manifest.json', Buffer.alloc(2 ** 20 + 1, ' '))),
    ).toMatch(/manifest.json is too large/)
  })

  test('with a migration that this version does not know, or without an earlier one', async () => {
    expect(
      await refusal((all) => change(all, (m) => m.migrations.push('29990101000000_add_wings'))),
    ).toMatch(/made by a newer Watchpost/)
    expect(await refusal((all) => change(all, (m) => m.migrations.shift()))).toMatch(
      /The backup lacks the migration 20260101000000_initial, which is older than its newest/,
    )
    expect(await refusal((all) => change(all, (m) => m.migrations.splice(0)))).toMatch(
      /field migrations/,
    )
  })

  test.each(['pg_catalog.pg_authid', 'public.users', 'watchpost.events; drop schema x', '../x'])(
    'with the table %s',
    async (name) => {
      expect(
        await refusal((all) => {
          change(all, (m) =>
            m.tables.push({ name, columns: ['a'], rows: 0, bytes: 0, sha256: '0'.repeat(64) }),
          )
        }),
      ).toMatch(/manifest.json is not usable \(field tables\.\d+\.name\)/)
    },
  )

  test('with a table that is not one of a backup', async () => {
    expect(
      await refusal((all) => {
        const table = { name: 'pgboss.queue', columns: ['a'], rows: 0, bytes: 0, sha256: EMPTY }
        change(all, (m) => m.tables.push(table))
        all.set('tables/pgboss.queue.copy', Buffer.from(''))
      }),
    ).toMatch(/contains the table pgboss.queue, which is not one of a backup/)
  })

  test('with a column that is computed', async () => {
    expect(
      await refusal((all) => change(all, (m) => m.tables.find(isZones)?.columns.push('tenant_id'))),
    ).toMatch(/the column watchpost.zones.tenant_id, which does not exist/)
  })
})

const isJobs = ({ name }: { name: string }) => name === 'pgboss.job'
const isZones = ({ name }: { name: string }) => name === 'watchpost.zones'

describe('tables are accepted only as they are', () => {
  const tables = [
    { name: 'watchpost.zones', columns: ['id', 'label'], parents: [], sequences: [] },
    { name: 'watchpost.alerts', columns: ['id'], parents: [], sequences: [] },
  ]
  const archived = (name: string, columns: string[]) => ({
    name,
    columns,
    rows: 0,
    bytes: 0,
    sha256: EMPTY,
  })

  test.each([
    [['id', 'label'], ['id'], undefined],
    [['label', 'id'], ['id'], undefined],
    [['id', 'wings'], ['id'], 'the column watchpost.zones.wings, which does not exist'],
    [['id'], ['id'], 'no column watchpost.zones.label'],
    [['id', 'label', 'id'], ['id'], 'a column of watchpost.zones twice'],
    [['id', 'label'], ['id', 'note'], 'the column watchpost.alerts.note, which does not exist'],
    [['id', 'label'], undefined, 'no table watchpost.alerts'],
  ])('zones with %j, alerts with %j', (zones, alerts, message) => {
    const given = [
      archived('watchpost.zones', zones),
      ...(alerts ? [archived('watchpost.alerts', alerts)] : []),
    ]
    const check = () => requireSame(tables, given)
    if (message === undefined) expect(check).not.toThrow()
    else expect(check).toThrow(message)
  })
})

const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

describe('rows', () => {
  const usersOf = (m: ReturnType<typeof manifestIn>) => {
    const users = m.tables.find(({ name }) => name === 'auth.users')
    if (!users) throw new Error('no users')
    return users
  }

  test('whose number, length or checksum the manifest says wrongly', async () => {
    expect(await refusal((all) => change(all, (m) => (usersOf(m).rows = 7)))).toMatch(
      /auth.users.copy holds 1 rows, but its manifest says 7/,
    )
    expect(await refusal((all) => change(all, (m) => (usersOf(m).bytes -= 1)))).toMatch(
      /auth.users.copy: it holds more than its manifest says/,
    )
    expect(await refusal((all) => change(all, (m) => (usersOf(m).bytes += 1)))).toMatch(
      /auth.users.copy is not what was backed up/,
    )
    expect(
      await refusal((all) => change(all, (m) => (usersOf(m).sha256 = 'f'.repeat(64)))),
    ).toMatch(/auth.users.copy is not what was backed up/)
  })

  test('that the table does not accept, or that refer to nothing', async () => {
    const id = '00000000-0000-4000-8000-000000000001'
    expect(
      await refusal((all) => setRows(all, 'watchpost.key_usage', `${id}\t2026-01-01\n`)),
    ).toMatch(/a row does not fit into watchpost.key_usage: .*foreign key/)
    expect(
      await refusal((all) => setRows(all, 'watchpost.key_usage', `not an id\t2026-01-01\n`)),
    ).toMatch(/a row does not fit into watchpost.key_usage: invalid input syntax/)
  })

  test('of a job in a queue that there is not', async () => {
    const columns = manifestIn(await readMembers(good)).tables.find(isJobs)?.columns ?? []
    const values: Record<string, string> = {
      ...{ id: '00000000-0000-4000-8000-000000000001', name: 'wings', state: 'created' },
      ...{
        priority: '0',
        retry_limit: '1',
        retry_count: '0',
        retry_delay: '0',
        expire_seconds: '1',
      },
      ...{ retry_backoff: 'f', deletion_seconds: '1', blocked: 'f', blocking: 'f' },
      ...{ start_after: 'now', created_on: 'now', keep_until: 'now', pending_dependencies: '0' },
    }
    const row = columns.map((column) => values[column] ?? '\\N').join('\t')
    expect(await refusal((all) => setRows(all, 'pgboss.job', `${row}\n`))).toMatch(
      /The rows of the archive do not fit together: .*q_fkey/,
    )
  })

  test('behind the end of the data', async () => {
    expect(
      await refusal((all) => {
        const row = all.get('tables/auth.users.copy')?.toString() ?? ''
        setRows(all, 'auth.users', `\\.\n${row}`)
      }),
    ).toMatch(/auth.users.copy: only 0 of 2 rows were accepted/)
  })

  test('that are changed between the check and the restore', async () => {
    const members = await readMembers(good)
    change(members, (m) => (usersOf(m).sha256 = 'f'.repeat(64)))
    const file = nextFile()
    await writeMembers(file, members)
    const archive = await openArchive(file)
    const options = { archive, adminUrl: empty.adminUrl, keys: KEYS, is_key_lost: false }
    await expect(restoreBackup(options)).rejects.toThrow(
      /auth.users.copy is not what was backed up/,
    )
    await archive.close()
    expect(await empty.query(`select to_regnamespace('watchpost') as found`)).toEqual([
      { found: null },
    ])
  })
})
