import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBackup, startRestore } from '../../../hub/backup/backup.ts'
import { backupFile } from '../../../hub/backup/make.ts'
import { readSalt } from '../../../hub/mail/suppression.ts'
import { PROOF, PROOF_MS, reportProof } from '../../support/proof.ts'
import { attacks } from '../support/archives/attacks.ts'
import type { Crafted } from '../support/archives/craft.ts'
import { exportOf, fillHub } from '../support/backup-data.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { membersOf } from '../support/tar.ts'

/** So many in the short form: some of each group. */
const SHORT = 25
const NAME = 'watchpost-hub-20200101-000000000-uploaded.tar.gz'

let hub: TestHub
let list: Crafted[]
let before: { data: Awaited<ReturnType<typeof exportOf>>; files: Record<string, string> }

beforeAll(async () => {
  hub = await startHub()
  await readSalt(hub.paths)
  await fillHub(hub)
  await hub.query(`
    insert into hub.mission_events (project_id, mission_id, kind)
    select project_id, id, 'state' from hub.missions`)
  const { config_dir } = hub.paths
  await writeFile(join(config_dir, 'admin.json'), '{"hash": "the admin’s"}', { mode: 0o600 })
  await writeFile(join(config_dir, 'hub.env'), 'NODE_ENV=production\n', { mode: 0o600 })
  await mkdir(join(config_dir, 'outside'))
  await writeFile(join(config_dir, 'outside/canary'), 'untouched')
  const name = await (await startBackup(hub.config, 'manual')).done
  const bytes = await readFile(backupFile(hub.paths, name))
  list = attacks(membersOf(bytes), bytes)
  before = { data: await exportOf(hub), files: await filesOf() }
})
afterAll(() => hub.close())

/** Every file of the hub but its backups and the state of its jobs. */
async function filesOf(): Promise<Record<string, string>> {
  const { config_dir } = hub.paths
  const files: Record<string, string> = {}
  for (const entry of await readdir(config_dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(config_dir.length + 1)
    if (path.startsWith('backups/')) continue
    const content = entry.isFile() ? await readFile(join(config_dir, path)) : entry.name
    files[path] = createHash('sha256').update(content).digest('hex')
  }
  return files
}

async function refusal({ bytes, trust }: Crafted): Promise<string> {
  await writeFile(backupFile(hub.paths, NAME), bytes())
  try {
    const secret = { passphrase: 'twelve letters' }
    await (await startRestore(hub.config, NAME, { secret, trust })).done
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return 'It was restored.'
}

function chosen(): Crafted[] {
  if (PROOF) return list
  const firsts = list.filter((one, at) => list.findIndex(({ group }) => group === one.group) === at)
  const others = list.filter((one) => !firsts.includes(one))
  const step = Math.ceil(others.length / Math.max(1, SHORT - firsts.length))
  return [...firsts, ...others.filter((_, at) => at % step === 0)]
}

test(
  'crafted archives: each refusal names what is wrong, and nothing of the hub is another',
  async () => {
    expect(list.length).toBeGreaterThan(200)
    const wrong: string[] = []
    for (const attack of chosen()) {
      const name = `${attack.group}: ${attack.name}`
      const said = await refusal(attack)
      if (!attack.says.test(said)) wrong.push(`${name}\n  said: ${said.slice(0, 300)}`)
      expect(await filesOf(), name).toEqual(before.files)
      for (const path of [
        'projects/list',
        'drafts/list?project=demir',
        'leads/list?project=demir',
        'backups',
      ]) {
        expect((await hub.call('GET', path)).status, `${path} after ${name}`).toBe(200)
      }
    }
    expect(wrong.join('\n')).toBe('')
    expect(await exportOf(hub)).toEqual(before.data)
    reportProof('crafted archives refused', { archives: chosen().length })
  },
  PROOF ? PROOF_MS : 120_000,
)
