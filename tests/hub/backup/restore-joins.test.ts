import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startBackup, startRestore } from '../../../hub/backup/backup.ts'
import { backupFile } from '../../../hub/backup/make.ts'
import { readHead } from '../../../hub/backup/unpack.ts'
import { LICENSE } from '../../../hub/license/license.ts'
import { emailHash, readSalt, SALT_FILE, type Salt } from '../../../hub/mail/suppression.ts'
import { writeSetting } from '../../../hub/ops/settings.ts'
import { nameHashes } from '../../../hub/people/redact.ts'
import { crafted, TRUST, tableOf } from '../support/archives/craft.ts'
import { fillHub } from '../support/backup-data.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { membersOf } from '../support/tar.ts'

const NAME = 'watchpost-hub-20200101-000000000-uploaded.tar.gz'

let hub: TestHub
let salt: Salt
beforeAll(async () => {
  hub = await startHub()
  salt = await readSalt(hub.paths)
  await fillHub(hub)
})
afterAll(() => hub.close())

const make = async () => (await startBackup(hub.config, 'manual')).done
const restore = async (name: string) =>
  (await startRestore(hub.config, name, { secret: {}, trust: TRUST })).done
const membersIn = async (name: string) => membersOf(await readFile(backupFile(hub.paths, name)))

describe('of a person whom the archive and this hub erased', () => {
  type Side = { texts: boolean; names: string[] }
  const NONE = { texts: false, names: [] }
  const arslanOnly = (at: number) => ({ texts: true, names: [`Deniz${at} Arslan`] })
  const kayaOnly = (at: number) => ({ texts: true, names: [`Deniz${at} Kaya`] })
  test.each<[number, string, Side | null, Side | null, Side]>([
    [
      1,
      'the names of both are erased again',
      arslanOnly(1),
      kayaOnly(1),
      { texts: true, names: ['Deniz1 Arslan', 'Deniz1 Kaya'] },
    ],
    [2, 'texts are, where only the archive replaced them', arslanOnly(2), NONE, arslanOnly(2)],
    [3, 'texts are, where only this hub replaced them', NONE, kayaOnly(3), kayaOnly(3)],
    [4, 'texts are not, where neither did', NONE, NONE, NONE],
    [5, 'the archive alone is enough', arslanOnly(5), null, arslanOnly(5)],
    [6, 'this hub alone is enough', null, kayaOnly(6), kayaOnly(6)],
  ])('%i: %s', async (at, _, theirs, ours, both) => {
    const [arslan, kaya] = [`Deniz${at} Arslan`, `Deniz${at} Kaya`]
    const email = `deniz.${at}@client.example`
    const hash = emailHash(salt, email)
    const hashesOf = (names: string[]) => names.flatMap((name) => nameHashes(salt.current, name))
    /** How the list has the person: erased so, or merely put there by hand. */
    const be = async (side: Side | null) => {
      await hub.query('delete from hub.suppression where email_hash = $1', [hash])
      await hub.query(
        `insert into hub.suppression (email_hash, reason, erased_at, erased_texts, erased_names)
         values ($1, $2, $3, $4, $5)`,
        [
          hash,
          side ? 'erased' : 'manual',
          side ? new Date('2026-01-02') : null,
          side?.texts ?? false,
          hashesOf(side?.names ?? []),
        ],
      )
    }
    const [project] = await hub.query<{ id: string }>('select id from hub.projects limit 1')
    // Where each begins a line, in JSON.
    const summary = `Spoke with\n${arslan}\n${kaya}\n${email}`
    const [mission] = await hub.query<{ id: string }>(
      `insert into hub.missions (project_id, department, task, result, status)
       values ($1, 'sales', 'x', $2, 'done') returning id`,
      [project?.id, { summary }],
    )
    await be(theirs)
    const name = await make()
    await be(ours)
    await restore(name)

    const [entry] = await hub.query<{ erased_names: string[] }>(
      `select reason, erased_at is not null as is_erased, erased_texts, erased_names
       from hub.suppression where email_hash = $1`,
      [hash],
    )
    expect(entry).toMatchObject({ reason: 'erased', is_erased: true, erased_texts: both.texts })
    expect(entry?.erased_names.toSorted()).toEqual(hashesOf(both.names).toSorted())
    const [found] = await hub.query<{ text: string }>(
      "select result ->> 'summary' as text from hub.missions where id = $1",
      [mission?.id],
    )
    const left = [arslan, kaya].map((one) => (both.names.includes(one) ? '[erased]' : one))
    const address = both.texts ? '[erased]' : email
    expect(found?.text.split('\n')).toEqual(['Spoke with', ...left, address])
  })
})

describe('an archive without the salt of its suppression list', () => {
  const withoutSalt = async (is_empty: boolean) => {
    const bytes = crafted(await membersIn(await make()), (members, manifest) => {
      manifest.files = manifest.files.filter(({ path }) => path !== `config/${SALT_FILE}`)
      if (is_empty) {
        tableOf(manifest, 'suppression').rows = 0
        for (const member of members) {
          if (member.path === 'database/suppression.copy') member.content = Buffer.alloc(0)
        }
      }
      return members.filter(({ path }) => path !== `config/${SALT_FILE}`)
    })
    await writeFile(backupFile(hub.paths, NAME), bytes)
  }
  beforeAll(async () => {
    await hub.query(
      "insert into hub.suppression (email_hash, reason) values ($1, 'manual') on conflict do nothing",
      [emailHash(salt, 'listed@client.example')],
    )
  })

  test('is refused, because nobody on the list would be recognised', async () => {
    await withoutSalt(false)
    await hub.query("update hub.projects set name = 'Since' where slug = 'demir'")
    await expect(restore(NAME)).rejects.toThrow(/not the salt it needs/)
    expect(await hub.query("select name from hub.projects where slug = 'demir'")).toEqual([
      { name: 'Since' },
    ])
  })

  test('is taken where the list is empty, and ours stays', async () => {
    const before = await hub.query('select email_hash from hub.suppression order by 1')
    await withoutSalt(true)
    await restore(NAME)
    expect(await hub.query('select email_hash from hub.suppression order by 1')).toEqual(before)
    expect((await readSalt(hub.paths)).all).toEqual(salt.all)
  })
})

test('a license that was entered since the backup stays, and a lost one comes back', async () => {
  const file = join(hub.paths.config_dir, LICENSE.file)
  await mkdir(hub.paths.config_dir, { recursive: true })
  await writeSetting(hub.paths, LICENSE, { license: 'of-the-backup' })
  const name = await make()
  await writeSetting(hub.paths, LICENSE, { license: 'entered-since' })
  await restore(name)
  expect(await readFile(file, 'utf8')).toContain('entered-since')
  await rm(file)
  await restore(name)
  expect(await readFile(file, 'utf8')).toContain('of-the-backup')
})

test('deleted projects come back with a restore, beside those that were deleted since', async () => {
  const archive = join(hub.paths.data_dir, 'archive')
  const [theirs, both, ours] = ['a1', 'b2', 'c3'].map((slug) => `${slug}-20260101000000.tar.gz`)
  const put = (name = '', text = 'then') => writeFile(join(archive, name), text, { mode: 0o600 })
  await mkdir(archive, { mode: 0o700 })
  for (const name of [theirs, both, 'notes.txt']) await put(name)
  const name = await make()
  expect((await membersIn(name)).map(({ path }) => path)).not.toContain('archive/notes.txt')
  // What a person is asked about stands before them.
  const head = { paths: hub.paths, file: backupFile(hub.paths, name), secret: {} }
  expect(Object.keys((await readHead(head)).config)).toContain(SALT_FILE)
  await rm(archive, { recursive: true })
  await mkdir(archive, { mode: 0o700 })
  for (const name of [both, ours]) await put(name, 'now')
  await restore(name)
  const texts = [theirs, both, ours].map((name) => readFile(join(archive, name ?? ''), 'utf8'))
  expect(await Promise.all(texts)).toEqual(['then', 'now', 'now'])
  await rm(archive, { recursive: true })
  await restore(name)
  expect((await stat(archive)).mode & 0o777).toBe(0o700)
  expect((await stat(join(archive, theirs ?? ''))).mode & 0o777).toBe(0o600)
})
