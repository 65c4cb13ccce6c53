import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { backupTimes, isBackupDue, scheduleBackups } from '../../../hub/backup/backup.ts'
import { backupsIn, listBackups, nameFor } from '../../../hub/backup/make.ts'
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
