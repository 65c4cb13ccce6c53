import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createBackground } from '../../hub/background.ts'
import { createHub } from '../../hub/hub.ts'
import { readPause } from '../../hub/mail/settings.ts'
import { startHub, type TestHub } from './support/hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Demir' })
})
afterAll(() => hub.close())
beforeEach(() => hub.query('delete from hub.missions'))

async function run(name: keyof TestHub['deps']['actions']['run']) {
  const action = hub.deps.actions.run[name]
  if (!action) throw new Error(`${name} cannot be run`)
  return action()
}

/** A mission that ended some hours ago; answers its id. */
async function mission(status: string, department = 'sales', hours = 1): Promise<string> {
  const [row] = await hub.query<{ id: string }>(
    `insert into hub.missions (project_id, department, task, status, finished_at)
     select id, $2, 'Call', $1, case when $1 in ('queued', 'processing') then null
       else now() - make_interval(mins => $3) end
     from hub.projects returning id`,
    [status, department, Math.round(hours * 60)],
  )
  return row?.id ?? ''
}
const retried = async () =>
  (
    await hub.query<{ retry_of: string }>(
      'select retry_of from hub.missions where retry_of is not null order by created_at, id',
    )
  ).map(({ retry_of }) => retry_of)

describe('the failed missions of the last day are run again', () => {
  test('and neither older ones, others, those of the system agent nor those retried before', async () => {
    const wanted = [await mission('failed', 'sales', 23.9), await mission('failed', 'docs', 0)]
    await mission('failed', 'sales', 24.1)
    await mission('failed', 'system')
    for (const status of ['done', 'cancelled', 'queued', 'processing']) await mission(status)
    expect(await run('retry_failed_missions')).toEqual({
      en: '2 missions are being retried.',
      tr: expect.any(String),
    })
    expect((await retried()).sort()).toEqual(wanted.sort())
    expect((await run('retry_failed_missions')).en).toBe('0 missions are being retried.')
    expect(await retried()).toHaveLength(2)
  })

  test('one is one, and at most twenty at once, the oldest first', async () => {
    const newest = await mission('failed', 'sales', 1)
    expect((await run('retry_failed_missions')).en).toBe('1 mission is being retried.')
    expect(await retried()).toEqual([newest])
    await hub.query('delete from hub.missions')
    const late = await mission('failed', 'sales', 1)
    for (let nth = 0; nth < 20; nth += 1) await mission('failed', 'sales', 2)
    expect((await run('retry_failed_missions')).en).toBe('20 missions are being retried.')
    expect(await retried()).not.toContain(late)
  })
})

test('each action does what it says and says it in both languages', async () => {
  expect(await run('pause_mail')).toEqual({
    en: 'Mail is paused until you confirm it in Settings > Mail.',
    tr: expect.stringContaining('Ayarlar'),
  })
  expect(await readPause(hub.paths)).toMatchObject({
    reason: 'agent',
    detail: { en: 'Proposed by the system agent and approved.' },
  })
  await hub.call('POST', 'settings/mail/confirm')

  const configure = vi.spyOn(hub.deps.model, 'configure').mockResolvedValue()
  expect((await run('restart_model')).en).toBe('The model is restarting.')
  expect(configure.mock.calls).toEqual([[{ kind: 'none' }]])
  configure.mockRestore()

  expect((await run('restart_hub')).en).toBe('The hub is restarting.')
  expect(hub.restarts()).toBe(1)
})

test('a backup is made, and those beyond the retention setting are deleted', async () => {
  const folder = join(hub.paths.data_dir, 'backups')
  const archives = async () => (await readdir(folder)).filter((name) => name.endsWith('.tar.gz'))
  const { en } = await run('run_backup')
  const [name = ''] = await archives()
  expect(name).toMatch(/-manual\.tar\.gz$/)
  expect(en).toBe(`Backup made: ${name}.`)
  // 14 daily ones are kept, unless the settings say otherwise.
  for (let day = 10; day < 26; day += 1) {
    await writeFile(join(folder, `watchpost-hub-202601${day}-000000000-daily.tar.gz`), '')
  }
  expect((await run('delete_old_backups')).en).toBe('Deleted 2 backups.')
  expect(await archives()).not.toContain('watchpost-hub-20260111-000000000-daily.tar.gz')
  expect(await archives()).toHaveLength(15)
  expect((await run('delete_old_backups')).en).toBe('Deleted 0 backups.')
})

test('stopped while it starts, it leaves nothing that runs', async () => {
  const { config, db } = hub.deps
  const log = () => {}
  const background = await createBackground({ config, db, log, restart: () => {} })
  let goOn = () => {}
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const start = vi.spyOn(background.model, 'start').mockReturnValue(held)
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const starting = background.start()
    await vi.waitFor(() => expect(start).toHaveBeenCalled(), 20_000)
    await background.stop()
    goOn()
    await starting
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})

test('the system agent learns numbers of this machine, no names and no contents', async () => {
  await mission('queued')
  for (const hours of [1, 25]) await mission('failed', 'sales', hours)
  await mission('processing')
  const health = await hub.deps.actions.health()
  expect(health).toMatchObject({
    model_state: 'none',
    model_detail: null,
    model_memory_mib: null,
    missions_queued: 1,
    missions_processing: 1,
    missions_failed_24h: 1,
    backups: (await readdir(join(hub.paths.data_dir, 'backups'))).filter((name) =>
      name.endsWith('.tar.gz'),
    ).length,
  })
  const number = (name: string) => Number(health[name])
  expect(number('disk_free_percent')).toBeGreaterThan(0)
  expect(number('disk_free_percent')).toBeLessThanOrEqual(100)
  for (const name of ['disk_free_mib', 'memory_free_mib', 'memory_total_mib']) {
    expect(number(name), name).toBeGreaterThan(100)
    expect(number(name), name).toBeLessThan(100_000_000)
  }
  expect(number('memory_total_mib')).toBeGreaterThan(number('memory_free_mib'))
  expect(number('database_mib')).toBeGreaterThan(1)
  expect(number('database_mib')).toBeLessThan(10_000)
  expect(number('cores')).toBeGreaterThan(0)
  expect(number('load_1m')).toBeGreaterThanOrEqual(0)
  expect(number('load_1m')).toBeLessThan(1000)
})

test('a hub that is stopped while it starts begins to send nothing', async () => {
  const other = await createHub(hub.config, { log: () => {}, restart: () => {} })
  const begun = [
    vi.spyOn(other.deps.mailer, 'start'),
    vi.spyOn(other.deps.poller, 'start'),
    vi.spyOn(other.deps.webhooks, 'start'),
  ]
  const started = other.start()
  await Promise.all([other.close(), started])
  for (const start of begun) expect(start).not.toHaveBeenCalled()
})
