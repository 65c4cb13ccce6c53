import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { checkTables, openArchive } from '../../../scripts/backup/archive.ts'
import { makeBackup } from '../../../scripts/backup/backup.ts'
import { expectProblem } from '../../support/attacks/refusals.ts'
import {
  copyOf,
  createFilledService,
  createFolder,
  exportOf,
  KEYS,
  PATHS,
  restoreInto,
} from '../../support/backup.ts'
import { createFollower } from '../../support/follower.ts'
import { createTestJobs, quake } from '../../support/jobs.ts'
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.ts'
import { createService, parsed, type Service } from '../../support/service.ts'

// A service with every kind of row, its backup, and a second service restored from it.
let before: Awaited<ReturnType<typeof createFilledService>>
let folder: Awaited<ReturnType<typeof createFolder>>
let file: string
let database: TestDatabase
let after: Service
beforeAll(async () => {
  before = await createFilledService()
  folder = await createFolder()
  const copied = await copyOf(before.service.database, folder.folder)
  file = copied.file
  database = copied.restored
  after = await createService({ database })
}, 120_000)
afterAll(async () => {
  await after?.close()
  await before?.close()
  await folder?.close()
})

test('the archive has every table, none of them empty, and only its owner may read it', async () => {
  const archive = await openArchive(file)
  await archive.close()
  const { tables } = archive.manifest
  expect(tables.filter(({ rows }) => rows === 0).map(({ name }) => name)).toEqual([])
  expect(tables.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['auth.users', 'pgboss.job', 'watchpost.audit', 'watchpost.positions']),
  )
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})

test('a backup of the restored database has the same rows again', async () => {
  const again = join(folder.folder, 'again.zip')
  const { manifest } = await makeBackup({ adminUrl: database.adminUrl, file: again, keys: KEYS })
  const archive = await openArchive(file)
  await archive.close()
  expect(manifest.tables).toEqual(archive.manifest.tables)
})

test('the exports of both databases are equal to the byte', async () => {
  const [ours, theirs] = await Promise.all([exportOf(before.service.database), exportOf(database)])
  expect([...theirs.keys()]).toEqual([...ours.keys()])
  for (const [name, text] of ours) expect([name, theirs.get(name)]).toEqual([name, text])
})

describe('the API answers as before', () => {
  test.each(PATHS)('GET /%s', async (path) => {
    for (const person of [before.tenant.person, before.tenant.fellow, before.other]) {
      const ask = async (service: Service) => {
        const base = path.startsWith('sources') ? '/api' : '/api/v1'
        const { status, body } = await service.request('GET', `${base}/${path}`, person)
        return { status, body: without(body, ['rate_limit', 'generated_at', 'key_id']) }
      }
      const was = await ask(before.service)
      expect(was.status).toBe(200)
      expect(await ask(after)).toEqual(was)
    }
  })

  test('and row-level security still divides the tenants', async () => {
    const { tenant, other } = before
    for (const [kind, ids] of [
      ['zones', tenant.ids.zone],
      ['channels', tenant.ids.channel],
    ] as const) {
      for (const id of ids) {
        expect((await after.request('GET', `/api/v1/${kind}/${id}`, tenant.person)).status).toBe(
          200,
        )
        expect((await after.request('GET', `/api/v1/${kind}/${id}`, other)).status).toBe(404)
      }
    }
    const [zone] = tenant.ids.zone
    const changed = 'update watchpost.zones set enabled = false where id = $1'
    expect(await after.queryAs(other.key, changed, [zone], 'rollback')).toBe(0)
    expect(await after.queryAs(tenant.person.key, changed, [zone], 'rollback')).toBe(1)
  })
})

test('the audit log is exported in the same order, and goes on after it', async () => {
  const Page = z.object({ audit: z.array(z.looseObject({ id: z.string() })) })
  const Acts = z.object({ audit: z.array(z.looseObject({ action: z.string() })) })
  const { key } = before.tenant.person
  const read = async (service: Service) => {
    const path = '/api/v1/audit?limit=1000&after=00000000-0000-0000-0000-000000000000'
    return parsed(await service.request('GET', path, { key }), 200, Page).audit
  }
  // Rows of the current minute are held back.
  for (const one of [before.service.database, database]) {
    await one.query(`update watchpost.audit set at = at - interval '2 minutes'`)
  }
  // Held back while any transaction of the server is older, also one of another test.
  const wait = { timeout: 20_000 }
  const known = await vi.waitFor(async () => {
    const audit = await read(before.service)
    expect(audit.length).toBeGreaterThan(5)
    return audit
  }, wait)
  const restored = await vi.waitFor(async () => {
    const audit = await read(after)
    expect(audit).toEqual(known)
    return audit
  }, wait)
  const made = await after.request('POST', '/api/v1/zones', {
    key,
    body: { label: 'Afterwards', lat: 0, lon: 0 },
  })
  expect(made.status).toBe(201)
  await database.query(
    `update watchpost.audit set at = at - interval '2 minutes' where at > now() - interval '1 minute'`,
  )
  const last = restored.at(-1)?.id
  await vi.waitFor(async () => {
    const next = await after.request('GET', `/api/v1/audit?after=${last}`, { key })
    const { audit } = parsed(next, 200, Acts)
    expect(audit.map(({ action }) => action)).toEqual(['zone.created'])
  }, wait)
  await database.query(`delete from watchpost.zones where label = 'Afterwards'`)
})

test('cursors of changes from before have expired, and followers start again', async () => {
  const { key } = before.other
  const old = createFollower(before.service, { key, things: 'alerts' })
  await old.catchUp()
  const { next_cursor } = parsed(
    await before.service.request('GET', '/api/v1/alerts/changes?after=now', { key }),
    200,
    z.object({ next_cursor: z.string() }),
  )
  const path = `/api/v1/alerts/changes?after=${encodeURIComponent(next_cursor)}`
  expect((await before.service.request('GET', path, { key })).status).toBe(200)
  expectProblem(await after.request('GET', path, { key }), 410, 'cursor_expired')
  const fresh = createFollower(after, { key, things: 'alerts' })
  await fresh.catchUp()
  expect([...fresh.held.keys()].sort()).toEqual([...old.held.keys()].sort())
})

test('what was still to be done is done once', async () => {
  const pending = await database.query<{ id: string; status: string }>(
    `select id, status from watchpost.deliveries
    where status in ('queued', 'sending') and type <> 'channel.test' and digest_id is null`,
  )
  expect(new Set(pending.map(({ status }) => status))).toEqual(new Set(['queued', 'sending']))
  await database.query('update watchpost.channels set paused_until = null')
  await database.query(
    `update pgboss.job set start_after = now() where state::text in ('created', 'retry')`,
  )
  const jobs = await createTestJobs(after)
  try {
    await jobs.drain()
    await jobs.drain()
    const sent = after.receiver.requests.map(({ headers }) =>
      new Headers(headers).get('webhook-id'),
    )
    for (const { id } of pending) expect(sent.filter((one) => one === id)).toEqual([id])
    expect(new Set(sent).size).toBe(sent.length)
    const left = await database.query(
      `select id from watchpost.deliveries where status in ('queued', 'sending')
      union all select id from watchpost.batches where matched_at is null`,
    )
    expect(left).toEqual([])
    // And it goes on: new numbers, new partitions, new alerts.
    const counted = await alertCount()
    const [last] = await lastBatch()
    await jobs.ingest(quake(before.here))
    const [newest] = await lastBatch()
    expect(Number(newest?.seq)).toBeGreaterThan(Number(last?.seq))
    await jobs.drain()
    expect(await alertCount()).toBeGreaterThan(counted)
  } finally {
    await jobs.close()
  }
})

const lastBatch = () =>
  database.query<{ seq: string }>('select seq from watchpost.batches order by seq desc limit 1')

async function alertCount(): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    'select count(*)::int from watchpost.alerts',
  )
  return row?.count ?? 0
}

test('a session that was signed in before is still', async () => {
  const { createIssuingApp } = await import('../../support/servers/issuing-app.ts')
  const app = await createIssuingApp(after)
  const headers = { Authorization: `Bearer ${before.signed.access_token}` }
  expect((await app.fetch('/auth/v1/user', { headers })).status).toBe(200)
  await app.close()
})

test('positions of today are in the partition of their day, which a purge can drop', async () => {
  const stored = await database.query(
    `select distinct tableoid::regclass::text as partition from watchpost.positions`,
  )
  const day = new Date().toISOString().slice(0, 10).replaceAll('-', '')
  expect(stored).toEqual([{ partition: `watchpost.positions_${day}` }])
})

test('what is written meanwhile is in the backup as a whole or not at all', async () => {
  const source = await createTestDatabase()
  let isDone = false
  const writing = (async () => {
    while (!isDone) {
      await source.query(
        `with person as (
          insert into auth.users (id, email, email_confirmed_at)
          values (gen_random_uuid(), gen_random_uuid() || '@watchpost.test', now()) returning id)
        select from person`,
      )
      await source.query(
        `insert into watchpost.sessions (user_id) select user_id from watchpost.accounts
        order by created_at desc limit 1`,
      )
    }
  })()
  const copied = await copyOf(source, folder.folder).finally(() => {
    isDone = true
  })
  await writing
  const [counts] = await copied.restored.query(
    `select (select count(*) from auth.users) = (select count(*) from watchpost.accounts) as accounts,
      (select count(*) from auth.users) - (select count(*) from watchpost.sessions) in (0, 1) as sessions`,
  )
  expect(counts).toEqual({ accounts: true, sessions: true })
  await Promise.all([source.drop(), copied.restored.drop()])
})

test('a database that is not empty is refused with what is in the way, and stays as it is', async () => {
  const untouched = await exportOf(database)
  await expect(restoreInto(database.adminUrl, file)).rejects.toThrow(
    /The database is not empty: it has the schema watchpost, .* with \d+ accounts, \d+ zones.*--data-dir/,
  )
  expect(await exportOf(database)).toEqual(untouched)
})

test('a file that exists is not replaced, also when two backups get its name at once', async () => {
  const { adminUrl } = before.service.database
  // Said before anything is read.
  const nowhere = 'postgres://postgres@127.0.0.1:1/nowhere'
  await expect(makeBackup({ adminUrl: nowhere, file, keys: KEYS })).rejects.toThrow(
    `${file} exists already`,
  )
  const same = join(folder.folder, 'same.zip')
  const options = { adminUrl, file: same, keys: KEYS }
  const both = await Promise.allSettled([makeBackup(options), makeBackup(options)])
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  const lost = both.find((one) => one.status === 'rejected')
  expect(String(lost?.reason)).toContain('same.zip exists already')
  const archive = await openArchive(same)
  await checkTables(archive)
  await archive.close()
  expect((await readdir(folder.folder)).filter((one) => one.endsWith('.new'))).toEqual([])
})

function without(value: unknown, names: string[]): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, part) => (names.includes(name) ? undefined : part)),
  )
}
