import { randomUUID } from 'node:crypto'
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createSeal } from '../../../functions/seal.ts'
import { makeBackup } from '../../../scripts/backup/backup.ts'
import { readSealKeys } from '../../../scripts/backup/keys.ts'
import { migrate, ROOT } from '../../../scripts/postgres/migrate.ts'
import { applyStandIn } from '../../../scripts/schema/schema.ts'
import { createFolder, exportOf, KEYS, restoreInto } from '../../support/backup.ts'
import {
  createEmptyDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../../support/servers/database.ts'

// Where a backup may be restored: versions, logins, Supabase, lost keys.
let source: TestDatabase
let target: TestDatabase
let folder: Awaited<ReturnType<typeof createFolder>>
let file: string
const person = randomUUID()
beforeAll(async () => {
  source = await createTestDatabase()
  folder = await createFolder()
  await fill(source)
  file = join(folder.folder, 'source.zip')
  await makeBackup({ adminUrl: source.adminUrl, file, keys: KEYS })
})
beforeEach(async () => {
  target = await createEmptyDatabase()
  return () => target.drop()
})
afterAll(async () => {
  await source?.drop()
  await folder?.close()
})

async function fill(database: TestDatabase) {
  const { seal } = createSeal(KEYS.map(({ text }) => text))
  await database.query(
    `insert into auth.users (id, email, email_confirmed_at) values ($1, 'a@watchpost.test', now())`,
    [person],
  )
  await database.query(
    `insert into watchpost.channels (owner_id, kind, target_sealed, target_masked, config_sealed, config_masked, signing_secret_sealed)
    values ($1, 'webhook', $2, 'https://hooks.example.com/…', $3, '{"headers": {"X": "…"}}', $4)`,
    [
      person,
      await seal('https://hooks.example.com/in'),
      await seal('{"headers": {"X": "secret"}}'),
      await seal('whsec_'),
    ],
  )
  await database.query(
    `insert into watchpost.issuer_keys (kid, private_sealed, public_jwk) values ('one', $1, '{}')`,
    [await seal('{}')],
  )
  await database.query('insert into watchpost.sessions (user_id) values ($1)', [person])
  await database.query(`select private.enqueue('match', gen_random_uuid(), '{}')`)
}

describe('migrations', () => {
  /** A clone of a later version: it has one migration more. */
  async function later(): Promise<string> {
    const root = join(folder.folder, randomUUID())
    for (const part of ['sql/local', 'supabase/migrations']) {
      await mkdir(join(root, part), { recursive: true })
      for (const name of await readdir(join(ROOT, part))) {
        await copyFile(join(ROOT, part, name), join(root, part, name))
      }
    }
    await writeFile(
      join(root, 'supabase/migrations/29990101000000_add_wings.sql'),
      `set role watchpost_owner;
      alter table watchpost.accounts add wings integer;
      update watchpost.accounts set wings = length(email);
      alter table watchpost.accounts alter wings set not null;
      create trigger accounts_wings after insert on watchpost.accounts
        for each row execute function private.follow_account();
      reset role;
      alter table pgboss.job add wings integer;`,
    )
    return root
  }
  const wings = (database: TestDatabase) =>
    database.query('select email, wings from watchpost.accounts')

  test('since the backup are applied to its rows', async () => {
    await restoreInto(target.adminUrl, file, { root: await later() })
    expect(await wings(target)).toEqual([{ email: 'a@watchpost.test', wings: 16 }])
    const recorded = await target.query(
      'select version from supabase_migrations.schema_migrations order by version desc limit 1',
    )
    expect(recorded).toEqual([{ version: '29990101000000' }])
  })

  test('of a newer version are refused with what to do, and known to that version', async () => {
    const root = await later()
    const newer = await createTestDatabase()
    await fill(newer)
    await migrate(newer.adminUrl, { root })
    const made = join(folder.folder, 'newer.zip')
    const options = { adminUrl: newer.adminUrl, file: made, keys: KEYS }
    await expect(makeBackup(options)).rejects.toThrow(
      'The database has the migration 29990101000000, which this Watchpost does not know.',
    )
    await makeBackup({ ...options, root })
    await expect(restoreInto(target.adminUrl, made)).rejects.toThrow(
      /made by a newer Watchpost .* Update this one \(git pull\)/,
    )
    expect(await target.query(`select to_regnamespace('auth') as auth`)).toEqual([{ auth: null }])
    await restoreInto(target.adminUrl, made, { root })
    expect(await wings(target)).toEqual([{ email: 'a@watchpost.test', wings: 16 }])
    expect(await exportOf(target)).toEqual(await exportOf(newer))
    await newer.drop()
  })

  test('leave the database as the migrations alone make it', async () => {
    await restoreInto(target.adminUrl, file)
    expect(await migrate(target.adminUrl)).toEqual([])
    const triggers = (database: TestDatabase) =>
      database.query(
        `select tgrelid::regclass::text as on, tgname, tgenabled from pg_trigger
        where not tgisinternal order by 1, 2`,
      )
    expect(await triggers(target)).toEqual(await triggers(source))
    expect(await exportOf(target)).toEqual(await exportOf(source))
  })
})

describe('a login that is no superuser', () => {
  const ROLES = 'anon, authenticated, service_role, watchpost_owner, watchpost_api, watchpost_jobs'
  const login = `mig_${randomUUID().slice(0, 8)}`
  const urlOf = (adminUrl: string) => {
    const url = new URL(adminUrl)
    ;[url.username, url.password] = [login, 'secret']
    return url.href
  }
  beforeAll(async () => {
    await source.query(`create role ${login} login createrole bypassrls password 'secret'`)
  })
  afterAll(async () => {
    await source.query(`revoke ${ROLES} from ${login} cascade`)
    await source.query(`drop role ${login}`)
  })

  test('restores if it may migrate, and backs up what it restored', async () => {
    await source.query(`grant ${ROLES} to ${login} with admin option`)
    await target.query(`alter database ${target.name} owner to ${login}`)
    await restoreInto(urlOf(target.adminUrl), file)
    expect(await exportOf(target)).toEqual(await exportOf(source))
    const made = join(folder.folder, 'by-login.zip')
    await makeBackup({ adminUrl: urlOf(target.adminUrl), file: made, keys: KEYS })
    await target.query(`reassign owned by ${login} to postgres`)
    await target.query(`drop owned by ${login}`)
    await source.query(`revoke ${ROLES} from ${login} cascade`)
  })

  test('is told what it lacks otherwise, and nothing changes', async () => {
    await expect(restoreInto(urlOf(target.adminUrl), file)).rejects.toThrow(
      new RegExp(`The login ${login} lacks a privilege: permission denied .*docs/self-hosting.md`),
    )
    expect(await target.query(`select to_regnamespace('auth') as auth`)).toEqual([{ auth: null }])
    const made = join(folder.folder, 'denied.zip')
    await expect(
      makeBackup({ adminUrl: urlOf(source.adminUrl), file: made, keys: KEYS }),
    ).rejects.toThrow(new RegExp(`The login ${login} lacks a privilege: permission denied`))
    expect((await readdir(folder.folder)).join()).not.toContain('denied')
  })

  test('does not leave out in silence the rows that a policy hides from it', async () => {
    await source.query(`grant watchpost_owner to ${login}`)
    await source.query(`grant usage on schema auth, supabase_migrations to ${login}`)
    await source.query(`grant select on all tables in schema auth, supabase_migrations to ${login}`)
    await source.query(`alter role ${login} nobypassrls`)
    const made = join(folder.folder, 'hidden.zip')
    await expect(
      makeBackup({ adminUrl: urlOf(source.adminUrl), file: made, keys: KEYS }),
    ).rejects.toThrow(/affected by row-level security policy for table "users"/)
    await source.query(`drop owned by ${login}`)
  })
})

describe('with Supabase Auth', () => {
  /** Our stand-in looks like it once it does not say that it is ours. */
  const supabase = async (database: TestDatabase) => {
    await applyStandIn(database.adminUrl)
    await database.query(`comment on schema auth is 'Auth'`)
  }

  test('people stay where they are: the schema auth is neither read nor written', async () => {
    await source.query(`comment on schema auth is 'Auth'`)
    const made = join(folder.folder, 'supabase.zip')
    const { manifest } = await makeBackup({ adminUrl: source.adminUrl, file: made, keys: KEYS })
    await source.query(`comment on schema auth is 'Watchpost''s stand-in for Supabase Auth.'`)
    expect(manifest.auth).toBe('supabase')
    expect(manifest.tables.filter(({ name }) => name.startsWith('auth.'))).toEqual([])

    await expect(restoreInto(target.adminUrl, made)).rejects.toThrow(
      /people sign in with Supabase Auth, whose schema is not in it. Restore the schema auth/,
    )
    await supabase(target)
    await expect(restoreInto(target.adminUrl, made)).rejects.toThrow(
      /1 of 1 accounts have no person in auth.users/,
    )
    await target.query('insert into auth.users (id, email) values ($1, $2)', [
      person,
      'moved@watchpost.test',
    ])
    await restoreInto(target.adminUrl, made)
    // As it was in the backup: no trigger changed it on the way.
    const accounts = await target.query('select user_id, email, plan from watchpost.accounts')
    expect(accounts).toEqual([{ user_id: person, email: 'a@watchpost.test', plan: 'free' }])
  })

  test('a backup with people of its own is refused', async () => {
    await supabase(target)
    await expect(restoreInto(target.adminUrl, file)).rejects.toThrow(
      /the database belongs to a Supabase project/,
    )
  })
})

describe('without the sealing key', () => {
  const other = readSealKeys(Buffer.alloc(32, 8).toString('base64'))

  test('a backup is not made with a key that does not open what is sealed', async () => {
    const made = join(folder.folder, 'wrong.zip')
    await expect(
      makeBackup({ adminUrl: source.adminUrl, file: made, keys: other }),
    ).rejects.toThrow(/SEAL_KEYS .* does not open the newest secret/)
  })

  test('its channels are switched off with the reason, and sessions end', async () => {
    const done = await restoreInto(target.adminUrl, file, { is_key_lost: true, keys: other })
    expect(done).toEqual({ lost_channels: 1 })
    const [channel] = await target.query<Record<string, string>>(
      'select enabled, status, disabled_reason, target_sealed, config_sealed, signing_secret_sealed from watchpost.channels',
    )
    expect(channel).toMatchObject({ enabled: false, status: 'disabled' })
    expect(channel?.disabled_reason).toMatch(/sealing key was lost/)
    const { unseal } = createSeal(other.map(({ text }) => text))
    expect(await unseal(channel?.target_sealed ?? '')).toBe('https://hooks.example.com/…')
    expect(await unseal(channel?.config_sealed ?? '')).toBe('{"headers":{"X":"…"}}')
    expect(await unseal(channel?.signing_secret_sealed ?? '')).toMatch(/^whsec_.{44}$/)
    const left = await target.query(
      'select kid from watchpost.issuer_keys union all select id::text from watchpost.sessions',
    )
    expect(left).toEqual([])
  })

  test('channels that a key still opens stay as they are', async () => {
    const done = await restoreInto(target.adminUrl, file, {
      is_key_lost: true,
      keys: [...other, ...KEYS],
    })
    expect(done).toEqual({ lost_channels: 0 })
    expect(await exportOf(target)).toEqual(await exportOf(source))
  })
})

test('a database with people, but without Watchpost, is refused', async () => {
  await applyStandIn(target.adminUrl)
  await target.query(`insert into auth.users (id, email) values ($1, 'b@watchpost.test')`, [
    randomUUID(),
  ])
  await expect(restoreInto(target.adminUrl, file)).rejects.toThrow(/auth.users holds 1 people/)
  expect(await target.query('select email from auth.users')).toEqual([
    { email: 'b@watchpost.test' },
  ])
})

test('a database whose schema was dropped, but not the list of its migrations, is refused', async () => {
  await target.query(
    `create schema supabase_migrations;
    create table supabase_migrations.schema_migrations (version text primary key, statements text[], name text);
    insert into supabase_migrations.schema_migrations values ('20260101000000', '{}', 'initial')`,
  )
  await expect(restoreInto(target.adminUrl, file)).rejects.toThrow(
    /Drop the schema supabase_migrations, or name another database/,
  )
})

test('jobs of an old backup are still to be done, although they have waited for long', async () => {
  await source.query(`select private.enqueue('match', $1, '{}')`, [person])
  await source.query(
    `update pgboss.job set created_on = now() - interval '90 days', start_after = now() - interval '90 days',
      keep_until = now() - interval '76 days' where id = $1`,
    [person],
  )
  const made = join(folder.folder, 'old.zip')
  await makeBackup({ adminUrl: source.adminUrl, file: made, keys: KEYS })
  await restoreInto(target.adminUrl, made)
  const jobs = await target.query(
    `select state::text, keep_until > now() + interval '13 days' as is_kept from pgboss.job where id = $1`,
    [person],
  )
  expect(jobs).toEqual([{ state: 'created', is_kept: true }])
})

test('a restore that breaks off leaves nothing behind', async () => {
  const blocker = new pg.Client({ connectionString: target.adminUrl })
  blocker.on('error', () => {})
  await blocker.connect()
  const killing = (async () => {
    for (;;) {
      const { rowCount } = await blocker.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = $1 and application_name = 'watchpost-backup' and query like 'copy %'`,
        [target.name],
      )
      if (rowCount) return
    }
  })()
  await expect(restoreInto(target.adminUrl, file)).rejects.toThrow()
  await killing
  await blocker.end()
  expect(await target.query(`select to_regnamespace('auth') as auth`)).toEqual([{ auth: null }])
  await restoreInto(target.adminUrl, file)
})
