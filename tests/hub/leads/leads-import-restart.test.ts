import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../../hub/db/db.ts'
import { createHub } from '../../../hub/hub.ts'
import { createImports } from '../../../hub/leads/imports.ts'
import { ApiError } from '../../../shared/problem.ts'
import { importCalls } from '../support/import-calls.ts'
import { startLicensedHub } from '../support/licensed.ts'

let hub: Awaited<ReturnType<typeof startLicensedHub>>
beforeAll(async () => {
  hub = await startLicensedHub(['back'])
})
afterAll(() => hub.close())

const { bring, leadsOf, read, send } = importCalls(() => hub)

test('an import goes on where somebody adds one of its people at the same moment', async () => {
  const other = new pg.Client({ connectionString: hub.owner_url })
  await other.connect()
  try {
    await other.query('begin')
    const person = [hub.ids.back, 'raced@back.example']
    await other.query('insert into hub.leads (project_id, email) values ($1, $2)', person)
    const csv =
      'Email,Phone,City\nraced@back.example,,Bursa\nraced@back.example,12,Izmir\nb@back.example,,'
    const taken = await send(csv, { project: 'back', duplicates: 'merge' })
    const { id } = (await taken.json()).import
    const waits =
      "select from pg_stat_activity where wait_event = 'transactionid' and datname = current_database()"
    await expect.poll(async () => (await hub.query(waits)).length).toBe(1)
    await other.query('commit')
    await expect
      .poll(async () => (await read(id)).status, { timeout: 20_000 })
      .toMatch(/done|failed/)
    expect(await read(id)).toMatchObject({ status: 'done', created: 1, merged: 0, skipped: 2 })
  } finally {
    await other.end()
  }
})

describe('a hub that was killed', () => {
  const halfDone = async (csv: string, handled: number) =>
    leave((await bring('Name\nSeed', { project: 'back' })).id, csv, handled)
  const leave = async (id: string, csv: string, handled: number) => {
    await writeFile(join(hub.paths.data_dir, 'imports', `${id}.csv`), csv)
    const total = csv.trim().split('\n').length - 1
    await hub.query(
      `update hub.imports
       set status = 'processing', total = $2, handled = $3, created = 0, skipped = 0, finished_at = null where id = $1`,
      [id, total, handled],
    )
    return id
  }
  const restarted = async () => {
    const next = await createHub(hub.config, { log: () => {}, restart: () => {} })
    await next.start()
    return next
  }

  test('goes on behind the last batch at its next start', async () => {
    const rows = Array.from({ length: 450 }, (_, n) => `Later ${n}`)
    const id = await halfDone(`Name\n${rows.join('\n')}\n`, 400)
    const next = await restarted()
    try {
      await expect.poll(async () => (await read(id)).status).toBe('done')
    } finally {
      await next.close()
    }
    expect(await read(id)).toMatchObject({ total: 450, handled: 450 })
    const names = (await leadsOf('back', '&q=Later')).map(({ name }: { name: string }) => name)
    expect(names).toEqual(rows.slice(400))
  })

  test('imports each row once where the old process still runs beside the new one', async () => {
    const rows = Array.from({ length: 1200 }, (_, n) => `Once ${n}`)
    const id = await halfDone(`Name\n${rows.join('\n')}\n`, 0)
    const next = await createHub(hub.config, { log: () => {}, restart: () => {} })
    try {
      for (const { deps } of [hub, next]) deps.imports.wake()
      await expect.poll(async () => (await read(id)).status).toBe('done')
    } finally {
      await next.close()
    }
    expect(await read(id)).toMatchObject({
      total: 1200,
      handled: 1200,
      created: 1200,
      skipped: 0,
      reason: null,
    })
    const [count] = await hub.query<{ n: number }>(
      `select count(*)::int as n from hub.leads where name like 'Once %'`,
    )
    expect(count?.n).toBe(1200)
  })

  test('imports the oldest of several first', async () => {
    const newer = (await bring('Name\nSeed', { project: 'back' })).id
    const older = await halfDone('Name\nOlder\n', 0)
    await leave(newer, 'Name\nNewer\n', 0)
    await hub.query(
      `update hub.imports set created_at = created_at - interval '1 hour' where id = $1`,
      [older],
    )
    const done: unknown[] = []
    const imports = createImports({
      db: hub.deps.db,
      paths: hub.paths,
      log: ({ id }) => done.push(id),
    })
    imports.wake()
    await expect.poll(() => done).toEqual([older, newer])
    await imports.close()
  })

  test('stops after the batch in which it closes, and goes on behind that', async () => {
    const rows = Array.from({ length: 500 }, (_, n) => `Closed ${n}`)
    const id = await halfDone(`Name\n${rows.join('\n')}\n`, 0)
    const { db } = hub.deps
    const closing = async (scope: string, work: Parameters<Database['transaction']>[1]) => {
      if (scope !== '*') void imports.close()
      return db.transaction(scope, work)
    }
    const imports = createImports({
      db: { ...db, transaction: closing } as Database, // safe: nothing else is asked
      paths: hub.paths,
      log: () => {},
    })
    imports.wake()
    await expect.poll(async () => (await read(id)).handled).toBe(200)
    await imports.close()
    expect(await read(id)).toMatchObject({ status: 'processing', handled: 200 })
    hub.deps.imports.wake()
    await expect.poll(async () => (await read(id)).status).toBe('done')
    expect(await read(id)).toMatchObject({ created: 500, skipped: 0 })
  })

  test('leaves an import as it is that another process has finished meanwhile', async () => {
    const id = await halfDone('Name\nA\n', 0)
    const lines: unknown[] = []
    const { db } = hub.deps
    let isFirst = true
    const late = async (scope: string, work: Parameters<Database['transaction']>[1]) => {
      if (scope === '*' || !isFirst) return db.transaction(scope, work)
      isFirst = false
      await hub.query(`update hub.imports set status = 'done' where id = $1`, [id])
      throw new Error('the file is half gone')
    }
    const imports = createImports({
      db: { ...db, transaction: late } as Database, // safe: nothing else is asked
      paths: hub.paths,
      log: ({ msg }) => lines.push(msg),
    })
    imports.wake()
    await expect.poll(() => lines).toEqual(['import failed'])
    await imports.close()
    expect(await read(id)).toMatchObject({ status: 'done', reason: null })
  })

  test('looks for an import after it is told of one, at whatever moment', async () => {
    for (let moment = 0; moment < 20; moment += 1) {
      let looks = 0
      const transaction = async () => {
        looks += 1
      }
      const imports = createImports({
        db: { ...hub.deps.db, transaction } as unknown as Database, // safe: nothing else is asked
        paths: hub.paths,
        log: () => {},
      })
      imports.wake()
      for (let tick = 0; tick < moment; tick += 1) await null
      const before = looks
      imports.wake()
      await new Promise((resolve) => setImmediate(resolve))
      expect(looks, `after ${moment} ticks`).toBeGreaterThan(before)
    }
  })

  test('goes on when the database is back', async () => {
    const id = await halfDone('Name\nA\n', 0)
    const lines: unknown[] = []
    const { db } = hub.deps
    const away = async (scope: string, work: Parameters<Database['transaction']>[1]) => {
      if (scope !== '*') throw new ApiError('unavailable', 'The database is away.')
      return db.transaction(scope, work)
    }
    const imports = createImports({
      db: { ...db, transaction: away } as Database, // safe: nothing else is asked
      paths: hub.paths,
      log: ({ msg }) => lines.push(msg),
    })
    imports.wake()
    await expect.poll(() => lines).toEqual(['imports wait'])
    await imports.close()
    expect(await read(id)).toMatchObject({ status: 'processing', handled: 0 })
    hub.deps.imports.wake()
    await expect.poll(async () => (await read(id)).status).toBe('done')
  })

  test('says so where the file is gone', async () => {
    const id = await halfDone('Name\nA\n', 0)
    await rm(join(hub.paths.data_dir, 'imports', `${id}.csv`))
    const next = await restarted()
    try {
      await expect.poll(async () => (await read(id)).status).toBe('failed')
    } finally {
      await next.close()
    }
    expect((await read(id)).reason).toContain('Import it again')
    const headers = { 'Accept-Language': 'tr' }
    const { import: told } = await (
      await hub.call('GET', `leads/imports/${id}`, undefined, headers)
    ).json()
    expect(told.reason).toBe(
      'Dosya silinmiş. Yeniden aktarın; daha önce aktarılanlar iki kez eklenmez.',
    )
  })
})
