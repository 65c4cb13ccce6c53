import { randomBytes } from 'node:crypto'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { TRUST } from '../../../scripts/backup/cli.ts'
import { asOperator, createAccount } from '../../../scripts/postgres/accounts.ts'
import { manifestIn, readMembers, writeMembers } from '../../support/attacks/crafted.ts'
import {
  createEmptyDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../../support/servers/database.ts'
import { createProcesses, type Processes } from '../../support/servers/processes.ts'
import { TEST_SEAL_KEY } from '../../support/service.ts'

// The commands as an operator types them.
let source: TestDatabase
let processes: Processes
let api_key: string
let file: string
const SEAL_KEYS = { SEAL_KEYS: TEST_SEAL_KEY }
beforeAll(async () => {
  source = await createTestDatabase()
  processes = await createProcesses()
  const account = { email: 'a@watchpost.test', plan: 'pro', key_name: 'First' } as const
  const made = await asOperator(source.adminUrl, (client) =>
    createAccount(client, { ...account, scopes: ['read', 'write'] }),
  )
  api_key = made.api_key
  file = join(processes.dataDir, 'backup.zip')
  const { code, stderr } = await run(['backup', file, '--database-url', source.adminUrl], SEAL_KEYS)
  expect([code, stderr]).toEqual([0, ''])
})
afterAll(async () => {
  await processes?.close()
  await source?.drop()
})

async function run(args: string[], env: Record<string, string> = {}) {
  const started = processes.run('scripts/admin.ts', args, env)
  const code = await started.ended
  return { code, stdout: started.stdout(), stderr: started.stderr() }
}

describe('backup', () => {
  test('into a folder names the file by its time, for its owner only', async () => {
    const folder = join(processes.dataDir, 'backups')
    await mkdir(folder)
    const args = ['backup', folder, '--database-url', source.adminUrl, '--json']
    const { code, stdout } = await run(args, SEAL_KEYS)
    const Made = z.object({
      file: z.string(),
      bytes: z.int(),
      rows: z.int(),
      seal_keys: z.string(),
    })
    const made = Made.parse(JSON.parse(stdout))
    expect([code, made.file]).toEqual([0, expect.stringMatching(/\/watchpost-\d{14}\.zip$/)])
    expect(await readdir(folder)).toEqual([made.file.slice(folder.length + 1)])
    const found = await stat(made.file)
    expect([found.mode & 0o777, found.size]).toEqual([0o600, made.bytes])
  })

  test('never contains the sealing key, but its fingerprint', async () => {
    const members = await readMembers(file)
    const key = Buffer.from(TEST_SEAL_KEY, 'base64')
    for (const [name, content] of members) {
      const found = [TEST_SEAL_KEY, key.toString('hex'), key].some((form) => content.includes(form))
      expect([name, found]).toEqual([name, false])
    }
    expect(manifestIn(members).seal_keys).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/)])
  })

  test('without the key says how to give it', async () => {
    const { code, stderr } = await run(['backup', 'x.zip', '--database-url', source.adminUrl])
    expect([code, stderr]).toEqual([1, expect.stringMatching(/SEAL_KEYS is not set.*secrets.json/)])
    const bad = await run(['backup', 'x.zip', '--database-url', source.adminUrl], {
      SEAL_KEYS: 'x',
    })
    expect([bad.code, bad.stderr]).toEqual([2, 'SEAL_KEYS must hold keys of 32 bytes in base64.\n'])
  })

  test('that is stopped leaves no file', async () => {
    const blocker = new pg.Client({ connectionString: source.adminUrl })
    await blocker.connect()
    await blocker.query('begin; lock table watchpost.zones in access exclusive mode')
    const folder = join(processes.dataDir, 'stopped')
    await mkdir(folder)
    const args = ['backup', folder, '--database-url', source.adminUrl]
    const started = processes.run('scripts/admin.ts', args, SEAL_KEYS)
    await vi.waitFor(async () => expect(await readdir(folder)).toHaveLength(1), 20_000)
    started.signal('SIGTERM')
    expect([await started.ended, started.stderr()]).toEqual([
      1,
      'It was stopped. Nothing was kept.\n',
    ])
    expect(await readdir(folder)).toEqual([])
    await blocker.end()
  })

  test('without a file, with two, or with an option of another command is refused', async () => {
    expect((await run(['backup'])).stderr).toMatch(/Name one file: backup FILE/)
    expect((await run(['restore', 'a', 'b'])).stderr).toMatch(/Name one file: restore FILE/)
    const { code, stderr } = await run(['backup', 'a.zip', '--check'])
    expect([code, stderr]).toEqual([2, expect.stringMatching(/--check is not an option of this/)])
  })
})

describe('restore', () => {
  test('into a new data folder makes a Watchpost that starts and knows its keys', async () => {
    const checked = await run(['restore', file, '--check', '--json'], SEAL_KEYS)
    expect(JSON.parse(checked.stdout)).toMatchObject({ ok: true, signed_here: true })
    const data = join(processes.dataDir, 'new')
    const { code, stdout } = await run(['restore', file, '--data-dir', data], SEAL_KEYS)
    expect([code, stdout]).toEqual([0, expect.stringMatching(/restored +true\n(.*\n)*rows +\d+/)])

    const service = processes.run(
      'scripts/start.ts',
      ['--data-dir', data, '--port', '0', '--feeds', 'none'],
      { ...SEAL_KEYS, LOG: 'json' },
    )
    const [, url] = await service.says(/(http:\/\/127\.0\.0\.1:\d+)/)
    await service.says(/Ready after/)
    const me = await fetch(`${url}/api/v1/me`, { headers: { Authorization: `Bearer ${api_key}` } })
    expect([me.status, await me.json()]).toEqual([
      200,
      expect.objectContaining({ email: 'a@watchpost.test', plan: 'pro' }),
    ])
    // While it runs it can be backed up, but not restored over.
    const again = await run(
      ['backup', join(processes.dataDir, 'running.zip'), '--data-dir', data],
      SEAL_KEYS,
    )
    expect([again.code, again.stderr]).toEqual([0, ''])
    const over = await run(['restore', file, '--data-dir', data], SEAL_KEYS)
    expect([over.code, over.stderr]).toEqual([1, expect.stringMatching(/not empty.*1 accounts/)])
    service.signal('SIGTERM')
    expect(await service.ended).toBe(0)
  }, 120_000)

  test('with another key is refused, naming both and the ways out', async () => {
    const other = { SEAL_KEYS: randomBytes(32).toString('base64') }
    for (const env of [{}, other]) {
      const { code, stderr } = await run(['restore', file, '--data-dir', 'none'], env)
      expect(code).toBe(1)
      expect(stderr).toMatch(/belongs to the sealing key with the fingerprint [0-9a-f]{16}/)
      expect(stderr).toMatch(/Set SEAL_KEYS .*secrets.json .*--lost-key/)
    }
    expect(await readdir(processes.dataDir)).not.toContain('none')
  })

  test('without the key at all needs a typed sentence too', async () => {
    const env = { SEAL_KEYS: randomBytes(32).toString('base64') }
    const empty = await createEmptyDatabase()
    const args = ['restore', file, '--database-url', empty.adminUrl, '--lost-key']
    const refused = await run(args, env)
    expect(refused.stderr).toMatch(`add --trust "${TRUST}". Nothing was restored.`)
    expect((await run([...args, '--trust', 'yes'], env)).code).toBe(1)
    expect(await empty.query(`select to_regnamespace('watchpost') as found`)).toEqual([
      { found: null },
    ])
    const done = await run([...args, '--trust', TRUST], env)
    expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(/lost_channels +0/)])
    await empty.drop()
  })

  test('of a manifest that was changed after it was signed is refused, whatever is typed', async () => {
    const members = await readMembers(file)
    const text = JSON.stringify({ ...manifestIn(members), version: '0.0.1' })
    members.set('manifest.json', Buffer.from(text))
    const changed = join(processes.dataDir, 'changed.zip')
    await writeMembers(changed, members)
    for (const more of [['--check'], ['--lost-key', '--trust', TRUST]]) {
      const { code, stderr } = await run(
        ['restore', changed, '--data-dir', 'none', ...more],
        SEAL_KEYS,
      )
      expect([code, stderr]).toEqual([1, expect.stringMatching(/was changed after it was signed/)])
    }
  })

  test('of a file that is no backup starts no database', async () => {
    await writeFile(join(processes.dataDir, 'text.zip'), 'text')
    const { code, stderr } = await run(['restore', 'text.zip', '--data-dir', 'none'], SEAL_KEYS)
    expect([code, stderr]).toEqual([1, expect.stringMatching(/not a backup/)])
    expect(await readdir(processes.dataDir)).not.toContain('none')
  })
})
