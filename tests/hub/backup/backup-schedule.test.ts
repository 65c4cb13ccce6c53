import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import {
  backupTimes,
  isBackupDue,
  scheduleBackups,
  watchRestores,
} from '../../../hub/backup/backup.ts'
import { backupsIn, listBackups, nameFor, removeOld } from '../../../hub/backup/make.ts'
import { BACKUP } from '../../../hub/backup/settings.ts'
import { writeSetting } from '../../../hub/ops/settings.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  await writeSetting(hub.paths, BACKUP, { hour: 3 })
})
afterAll(() => hub.close())
afterEach(() => vi.useRealTimers())

const at = (text: string) => new Date(`2026-05-${text}`)
const isDue = (text: string) => isBackupDue(hub.paths, at(text))

test('the daily backup is due once from its hour on, whoever makes it', async () => {
  expect(await isDue('10T02:00:00')).toBe(true)
  const made = nameFor('daily', { encrypted: false }, at('10T03:00:05'))
  await writeFile(join(backupsIn(hub.paths), made), '')
  expect(await isDue('10T03:00:10')).toBe(false)
  expect(await isDue('11T02:59:59')).toBe(false)
  expect(await isDue('11T03:00:00')).toBe(true)
  const byHand = nameFor('manual', { encrypted: true }, at('11T09:00:00'))
  await writeFile(join(backupsIn(hub.paths), byHand), '')
  expect(await isDue('11T09:30:00')).toBe(true)
  expect(await backupTimes(hub.paths, at('11T09:30:00'))).toEqual({
    last_at: at('11T09:00:00').toISOString(),
    next_at: at('12T03:00:00').toISOString(),
  })
})

test('one of a clock that was ahead does not stand for those that follow', async () => {
  const ahead = nameFor('daily', { encrypted: false }, new Date('2099-01-01T03:00:05'))
  const file = join(backupsIn(hub.paths), ahead)
  await writeFile(file, '')
  expect(await isDue('11T03:00:00')).toBe(true)
  expect((await backupTimes(hub.paths, at('11T09:30:00'))).last_at).toBe(
    at('11T09:00:00').toISOString(),
  )
  await rm(file)
})

test('one of a clock that was ahead does not take the place of the newest', async () => {
  const days = ['2026-05-09', '2026-05-08', '2099-01-01']
  const names = days.map((day) =>
    nameFor('daily', { encrypted: false }, new Date(`${day}T03:00:05`)),
  )
  const before = (await listBackups(hub.paths)).filter(({ kind }) => kind === 'daily')
  for (const { name } of before) await rm(join(backupsIn(hub.paths), name))
  for (const name of names) await writeFile(join(backupsIn(hub.paths), name), '')
  expect(await removeOld(hub.paths, 1)).toEqual([names[1]])
  for (const name of [names[0], names[2]]) await rm(join(backupsIn(hub.paths), name ?? ''))
})

/** A day of the test's own: at noon the next backup is due in 15 hours, whenever the tests run. */
function startAtNoon() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
  const noon = new Date()
  noon.setHours(12, 0, 0, 0)
  vi.setSystemTime(noon)
}

const forward = (ms: number) => {
  vi.setSystemTime(Date.now() + ms)
  vi.advanceTimersByTime(60_000)
}

const daily = async () =>
  (await listBackups(hub.paths)).filter((one) => one.kind === 'daily' && one.bytes > 0).length

test('the hub makes it itself, ten minutes behind cron, and only once', async () => {
  startAtNoon()
  const lines: Record<string, unknown>[] = []
  const stop = scheduleBackups(hub.config, (line) => void lines.push(line))
  forward(0)
  expect(await daily()).toBe(0)
  forward(11 * 60_000)
  await vi.waitFor(() => expect(lines).toMatchObject([{ msg: 'backup made' }]), 20_000)
  for (let i = 0; i < 5; i += 1) forward(61 * 60_000)
  await stop()
  expect(await daily()).toBe(1)
})

test('who stops it waits for the backup that is being made', async () => {
  startAtNoon()
  vi.setSystemTime(Date.now() + 24 * 60 * 60_000)
  const lines: Record<string, unknown>[] = []
  const stop = scheduleBackups(hub.config, (line) => void lines.push(line))
  forward(11 * 60_000)
  await stop()
  expect(lines).toMatchObject([{ msg: 'backup made' }])
  expect(await daily()).toBe(2)
})

/** What any process does or has done, as its file says. */
const job = (change: object) =>
  writeFile(
    join(backupsIn(hub.paths), '.job.json'),
    JSON.stringify({
      id: '11111111-1111-4111-8111-111111111111',
      kind: 'backup',
      status: 'running',
      step: 'start',
      progress: 0,
      name: null,
      reason: null,
      started_at: new Date().toISOString(),
      finished_at: null,
      // Always alive.
      pid: 1,
      ...change,
    }),
  )

test('in its first ten minutes the hub leaves the backup to cron', async () => {
  startAtNoon()
  vi.setSystemTime(Date.now() + 48 * 60 * 60_000)
  const before = await daily()
  const lines: Record<string, unknown>[] = []
  const stop = scheduleBackups(hub.config, (line) => void lines.push(line))
  forward(8 * 60_000)
  await stop()
  expect(lines).toEqual([])
  expect(await daily()).toBe(before)
})

test('one that failed is tried again after an hour, and not before', async () => {
  startAtNoon()
  vi.setSystemTime(Date.now() + 48 * 60 * 60_000)
  await job({})
  const lines: Record<string, unknown>[] = []
  const stop = scheduleBackups(hub.config, (line) => void lines.push(line))
  const told = async (count: number) => {
    await vi.waitFor(() => expect(lines).toHaveLength(count), 20_000)
    // Real time: a look that is not wanted would have told by then.
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(lines).toHaveLength(count)
  }
  forward(11 * 60_000)
  await told(1)
  forward(50 * 60_000)
  await told(1)
  // Begun anew: by the test's clock the machine may not have been up when the first began.
  await job({})
  forward(11 * 60_000)
  await told(2)
  expect(lines).toMatchObject([{ msg: 'backup failed' }, { msg: 'backup failed' }])
  await rm(join(backupsIn(hub.paths), '.job.json'))
  forward(61 * 60_000)
  await vi.waitFor(() => expect(lines[2]).toMatchObject({ msg: 'backup made' }), 20_000)
  await stop()
})

test('a hub restarts after a restore of any process, and not for one from before its own start', async () => {
  const done = (at: number) => ({
    kind: 'restore',
    status: 'done',
    finished_at: new Date(at).toISOString(),
  })
  await job(done(Date.now() - 1_000))
  let restored = 0
  const stop = watchRestores(hub.config, () => {
    restored += 1
  })
  const look = () => new Promise((resolve) => setTimeout(resolve, 1_500))
  await look()
  await job({ kind: 'restore' })
  await look()
  await job({ ...done(Date.now()), kind: 'backup' })
  await look()
  expect(restored).toBe(0)
  await job(done(Date.now()))
  await vi.waitFor(() => expect(restored).toBe(1), 20_000)
  await look()
  expect(restored).toBe(1)
  stop()
})
