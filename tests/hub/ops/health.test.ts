import fs, { mkdir, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { backupsIn, nameFor } from '../../../hub/backup/make.ts'
import { verbatim } from '../../../hub/i18n/words.ts'
import { confirmMail, pauseMail } from '../../../hub/mail/settings.ts'
import type { ModelState } from '../../../hub/model/model.ts'
import { createHealth, readAlerts } from '../../../hub/ops/health.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { modelIn } from '../support/model-state.ts'

let hub: TestHub
let now = Date.now()
let state: ModelState['state']
const model = modelIn(() => state)
const missions = () => hub.query('select from hub.missions')
beforeAll(async () => {
  hub = await startHub()
  await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Demir' })
})
afterAll(() => hub.close())

const GIB = 2 ** 30
type Deps = Parameters<typeof createHealth>[0]
const health = (more: Partial<Deps> = {}) => {
  const { config, deps } = hub
  const given = { config, db: deps.db, model, log: () => {}, is_writable: true, ...more }
  return createHealth(given, () => new Date(now)).check
}
const causes = async (look: ReturnType<typeof health>) => (await look()).map((one) => one.cause)
beforeEach(async () => {
  state = 'ready'
  await hub.query('delete from hub.missions')
  await rm(join(hub.paths.data_dir, 'alerts.json'), { force: true })
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
  syncBuiltinESMExports()
})

// A twentieth of the disk, at least 2 GiB and at most 20.
test.each([
  [10, 2],
  [40, 2],
  [100, 5],
  [400, 20],
  [4000, 20],
])('a disk of %i GiB needs %i free', async (size, least) => {
  const disk = (bavail: number) => {
    const found = { bsize: 4096, blocks: (size * GIB) / 4096, bavail }
    vi.spyOn(fs, 'statfs').mockResolvedValue(found as Awaited<ReturnType<typeof fs.statfs>>)
    syncBuiltinESMExports()
  }
  disk((least * GIB) / 4096)
  expect(await health()()).toEqual([])
  disk((least * GIB) / 4096 - 1)
  const [alert] = await health()()
  expect(alert?.message.en).toBe(
    `Disk space is low: ${least}.0 GiB free where the hub keeps its data.`,
  )
})

test('memory is low when less than a twentieth is free, three times in a row', async () => {
  vi.spyOn(os, 'totalmem').mockReturnValue(1000)
  const free = (bytes: number) => {
    vi.spyOn(os, 'freemem').mockReturnValue(bytes)
    syncBuiltinESMExports()
  }
  const look = health()
  free(49)
  expect([await causes(look), await causes(look)]).toEqual([[], []])
  free(50)
  expect(await causes(look)).toEqual([])
  free(49)
  expect([await causes(look), await causes(look)]).toEqual([[], []])
  expect((await look()).map(({ message }) => message.en)).toEqual([
    'Memory is low: 5 % free. A smaller model needs less.',
  ])
})

test('a database that does not answer twice is an alert, and no mission', async () => {
  const db = { transaction: () => Promise.reject(new Error('away')) } as unknown as Deps['db']
  const look = health({ db })
  expect(await causes(look)).toEqual([])
  expect(await look()).toMatchObject([{ cause: 'database', mission_id: null, told_at: null }])
  expect(await missions()).toEqual([])
})

test('there is a backup every two days, that this hub made', async () => {
  const made = Date.now()
  const at = (hours: number) =>
    vi.useFakeTimers({ toFake: ['Date'], now: made + hours * 3_600_000 })
  at(49)
  expect(await health()()).toEqual([])
  at(51)
  expect(await health()()).toMatchObject([
    { cause: 'backup', message: { en: 'There is no backup from the last two days.' } },
  ])
  // A clock that was ahead made none of them.
  const ahead = nameFor('daily', { encrypted: false }, new Date('2099-01-01T03:00:00Z'))
  await mkdir(backupsIn(hub.paths), { recursive: true })
  await writeFile(join(backupsIn(hub.paths), ahead), '')
  expect(await health()()).toMatchObject([{ cause: 'backup' }])
  await rm(join(backupsIn(hub.paths), ahead))
})

test('a queue is stuck while missions wait for an hour and none runs', async () => {
  const add = (status: string, minutes: number, waits_for: string | null = null) =>
    hub.query(
      `insert into hub.missions (project_id, department, task, status, waits_for, created_at, started_at)
       select id, 'sales', 'Call', $1, $3, now() - make_interval(mins => $2::int),
         case when $1 = 'processing' then now() end
       from hub.projects`,
      [status, minutes, waits_for],
    )
  await add('queued', 59)
  await add('queued', 90, 'model')
  expect(await health()()).toEqual([])
  await add('queued', 61)
  const [one] = await health()()
  expect(one?.message.en).toContain('1 mission has been waiting for over an hour')
  await add('queued', 61)
  expect((await health()())[0]?.message.en).toContain('2 missions have been waiting')
  await add('processing', 5)
  expect(await health()()).toEqual([])
})

test('mail that was stopped by bounces or complaints is an alert, by a person it is none', async () => {
  const why = verbatim('Too many.')
  for (const [reason, found] of [
    ['admin', []],
    ['restored', []],
    ['bounces', ['mail']],
    ['complaints', ['mail']],
  ] as const) {
    await confirmMail(hub.paths)
    await pauseMail(hub.paths, reason, why)
    expect([reason, await causes(health())]).toEqual([reason, found])
  }
  await confirmMail(hub.paths)
  expect(await health()()).toEqual([])
})

test('a model that is away three times is an alert, with its reason or without', async () => {
  state = 'unreachable'
  const look = health()
  expect([await causes(look), await causes(look)]).toEqual([[], []])
  expect((await look())[0]?.message.en).toBe('it ran out of memory')
  const silent = async () => ({ ...(await model.state()), detail: null })
  const other = health({ model: { state: silent } })
  await other()
  await other()
  expect((await other())[0]?.message.en).toBe('The model cannot be reached.')
  state = 'crashed'
  expect((await other())[0]?.message.en).toBe('The model crashed: the reason is unknown')
})

test('a hub that cannot write makes no mission; another wakes its queue for one', async () => {
  await pauseMail(hub.paths, 'bounces', verbatim('Too many.'))
  let woken = 0
  const wake = () => {
    woken += 1
  }
  expect(await health({ is_writable: false, wake })()).toMatchObject([{ mission_id: null }])
  expect([await missions(), woken]).toEqual([[], 0])
  const [told] = await health({ wake })()
  expect(told).toMatchObject({ mission_id: expect.any(String), told_at: expect.any(String) })
  expect([(await missions()).length, woken]).toEqual([1, 1])
  // What lasts keeps its beginning and its mission.
  now += 60_000
  const [lasting] = await health({ wake })()
  expect(lasting).toEqual({ ...told, last_seen_at: new Date(now).toISOString() })
  expect(woken).toBe(1)
  await confirmMail(hub.paths)
})

test('fifty alerts are kept, current ones first, then the newest', async () => {
  const file = join(hub.paths.data_dir, 'alerts.json')
  const old = Array.from({ length: 55 }, (_, n) => ({
    ...{ cause: 'disk', message: verbatim(`${n}`), mission_id: null, told_at: null },
    since: new Date(1000 * n).toISOString(),
    last_seen_at: new Date(1000 * n).toISOString(),
    ended_at: n === 3 ? null : new Date(1000 * n).toISOString(),
  }))
  await writeFile(file, JSON.stringify(old))
  expect((await readAlerts(hub.paths)).map(({ message }) => message.en).slice(0, 3)).toEqual([
    '3',
    '54',
    '53',
  ])
  expect(await health()()).toEqual([])
  const kept = await readAlerts(hub.paths)
  expect(kept).toHaveLength(50)
  expect(kept.find(({ message }) => message.en === '3')?.ended_at).toBe(new Date(now).toISOString())
  await writeFile(file, '[{}]')
  expect(await readAlerts(hub.paths)).toEqual([])
})
