import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readJob, recoverRestore, startBackup, startRestore } from '../../../hub/backup/backup.ts'
import { backupsIn } from '../../../hub/backup/make.ts'
import { confirmMail, readPause } from '../../../hub/mail/settings.ts'
import { exportOf, fillHub } from '../support/backup-data.ts'
import { startHub, type TestHub } from '../support/hub.ts'

type Export = Awaited<ReturnType<typeof exportOf>>
let hub: TestHub
let old: { name: string; export: Export }
let now: { name: string; export: Export }
const make = async () => ({
  name: await (await startBackup(hub.config, 'manual')).done,
  export: await exportOf(hub),
})

beforeAll(async () => {
  hub = await startHub()
  await fillHub(hub)
  old = await make()
  await hub.query("update hub.leads set company = 'Changed since'")
  await hub.query("update hub.projects set name = 'Changed since' where slug = 'other'")
  const folder = join(hub.paths.data_dir, 'projects/demir')
  await writeFile(join(folder, 'CONTEXT.md'), '# Changed since\n')
  await rm(join(folder, 'docs/deep'), { recursive: true })
  await writeFile(join(hub.paths.prompts_dir, 'sales.md'), 'Changed since')
  now = await make()
})
afterAll(() => hub.close())

/** Kills a restore, which the page saw running. */
async function restoreAndDie(when: string): Promise<void> {
  const env = {
    ...process.env,
    HUB_CONFIG_DIR: hub.paths.config_dir,
    HUB_DATA_DIR: hub.paths.data_dir,
    HUB_PROMPTS_DIR: hub.paths.prompts_dir,
  }
  const script = join(import.meta.dirname, '../support/backup-kill.ts')
  const child = spawn(process.execPath, [script, old.name, when], { env, stdio: 'ignore' })
  await once(child, 'exit')
  const job = {
    ...{ id: randomUUID(), kind: 'restore', status: 'running', step: when, progress: 0.5 },
    ...{ name: old.name, reason: null, started_at: new Date().toISOString(), finished_at: null },
    pid: child.pid,
  }
  await writeFile(join(backupsIn(hub.paths), '.job.json'), JSON.stringify(job))
}

/** Brings back what was there, with mail as it was. */
async function reset(): Promise<void> {
  await (await startRestore(hub.config, now.name, { secret: {} })).done
  await rm(join(hub.paths.config_dir, 'mail-pause.json'))
  expect(await exportOf(hub)).toEqual(now.export)
}

const STEPS = ['unpack', 'backup', 'database', 'check', 'commit', 'files', 'done']
const outcomes = new Map<string, string>()

test.each([...STEPS, ...Array.from({ length: 5 }, (_, i) => String(400 + 150 * i))])(
  'killed at %s, the old or the new is there whole',
  async (when) => {
    await restoreAndDie(when)
    await recoverRestore(hub.config)
    const found = await exportOf(hub)
    const isNew = found.tables.leads?.sum === old.export.tables.leads?.sum
    outcomes.set(when, isNew ? 'restored' : 'kept')
    expect(found).toEqual(isNew ? old.export : now.export)
    expect((await readPause(hub.paths)).reason).toBe(isNew ? 'restored' : null)
    const left = await readdir(hub.paths.data_dir)
    expect(left).not.toContain('restore.json')
    if (isNew) await reset()
  },
)

test('killed between two folders, the rest follows; what killed ones left goes with the next restore', async () => {
  await restoreAndDie('files')
  const { data_dir } = hub.paths
  const { stage } = JSON.parse(await readFile(join(data_dir, 'restore.json'), 'utf8'))
  await rename(join(data_dir, 'projects'), join(data_dir, `.restore-${stage}`, 'old'))
  await writeFile(join(hub.paths.prompts_dir, 'sales.md.0123456789ab.new'), 'half')
  await recoverRestore(hub.config)
  expect(await exportOf(hub)).toEqual(old.export)
  // It was finished after all.
  expect(await readJob(hub.paths)).toMatchObject({
    ...{ kind: 'restore', status: 'done', step: 'done', progress: 1, name: old.name },
    ...{ reason: null, finished_at: expect.stringMatching(/^\d{4}-/) },
  })
  await reset()
  expect((await readdir(data_dir)).filter((name) => name.startsWith('.restore-'))).toEqual([])
})

test('killed after mail was paused and before the commit, mail is as it was', async () => {
  const file = join(hub.paths.config_dir, 'mail-pause.json')
  // Until when bounces no longer count is part of it.
  await confirmMail(hub.paths)
  const before = await readFile(file, 'utf8')
  await restoreAndDie('commit')
  expect((await readPause(hub.paths)).reason).toBe('restored')
  expect(await recoverRestore(hub.config)).toBeUndefined()
  expect(await readFile(file, 'utf8')).toBe(before)
  expect(await exportOf(hub)).toEqual(now.export)
  expect(await readJob(hub.paths)).toMatchObject({
    status: 'failed',
    step: 'commit',
    progress: 0.5,
  })
})

test('killed before the commit it keeps the old, killed after it the new', () => {
  expect(Object.fromEntries(outcomes)).toMatchObject({
    unpack: 'kept',
    backup: 'kept',
    database: 'kept',
    check: 'kept',
    commit: 'kept',
    files: 'restored',
    done: 'restored',
  })
})
