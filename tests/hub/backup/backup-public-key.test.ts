import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { startBackup, startRestore } from '../../../hub/backup/backup.ts'
import { backupFile } from '../../../hub/backup/make.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub({ key: 'public' })
})
afterAll(() => hub?.close())

const Manifest = z.object({ tables: z.array(z.object({ name: z.string(), rows: z.int() })) })

test('a hub without its service key is backed up too, or it could not be upgraded', async () => {
  await hub.query("insert into hub.projects (slug, name) values ('kept', 'Kept')")
  const name = await (await startBackup(hub.config, 'manual')).done
  const archive = backupFile(hub.paths, name)
  const { tables } = Manifest.parse(
    JSON.parse(execFileSync('tar', ['-xOzf', archive, 'manifest.json'], { encoding: 'utf8' })),
  )
  expect(tables).toContainEqual(expect.objectContaining({ name: 'projects', rows: 1 }))
  const { done } = await startRestore(hub.config, name, { secret: {} })
  await expect(done).rejects.toMatchObject({ code: 'read_only_key' })
})

test('a second backup at the same time is refused', async () => {
  const first = await startBackup(hub.config, 'manual')
  await expect(startBackup(hub.config, 'manual')).rejects.toMatchObject({ code: 'conflict' })
  await first.done
})
