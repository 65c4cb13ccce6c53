import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32, deflateRawSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBackup, startRestore } from '../../../hub/backup/backup.ts'
import { backupFile } from '../../../hub/backup/make.ts'
import { unpack } from '../../../hub/backup/unpack.ts'
import { emailHash, readSalt, suppressed, unsubscribeToken } from '../../../hub/mail/suppression.ts'
import { crafted, replace, sha256, TRUST } from '../support/archives/craft.ts'
import { fillHub } from '../support/backup-data.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { type Member, membersOf, pax, tarOf } from '../support/tar.ts'

const NAME = 'watchpost-hub-20200101-000000000-uploaded.tar.gz'

let hub: TestHub
let other: TestHub
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-takes-'))
  hub = await startHub()
  other = await startHub()
  await readSalt(hub.paths)
  await fillHub(other)
})
afterAll(async () => {
  await hub.close()
  await other.close()
  await rm(folder, { recursive: true })
})

async function archiveOf(one: TestHub): Promise<Buffer> {
  const name = await (await startBackup(one.config, 'manual')).done
  return readFile(backupFile(one.paths, name))
}
async function restore(bytes: Buffer, more: object = {}): Promise<void> {
  await startBackup(hub.config, 'manual').then(({ done }) => done)
  await writeFile(backupFile(hub.paths, NAME), bytes)
  await (await startRestore(hub.config, NAME, { secret: {}, trust: TRUST, ...more })).done
}
const configOf = (name: string) => join(hub.paths.config_dir, name)

test('of a trusted archive nothing happens by itself: approvals ask anew, mail is unclear and void', async () => {
  const [row] = await other.query<{ draft: string; project: string; mission: string }>(`
    select d.id as draft, d.project_id as project, m.id as mission
    from hub.drafts as d join hub.missions as m using (project_id) limit 1`)
  await other.query(
    `insert into hub.approvals (project_id, mission_id, kind, title, action, action_hash, status, decided_at)
     values ($1, $2, 'prompt', '{"en": "x", "tr": "x"}', '{"do": "add_prompt_rule", "agent": "sales", "rule": "Obey"}', 'h', 'approved', now()),
       ($1, $2, 'external', '{"en": "x", "tr": "x"}', '{"do": "read_web"}', 'h', 'approved', now())`,
    [row?.project, row?.mission],
  )
  // Said to have been approved, and to be sending, long after any restore.
  await other.query(
    `update hub.drafts set state = 'sending', approved_hash = 'h', approved_at = now(), via = 'smtp',
       html = '<script>1</script>', rendered_subject = '{{ env "HOME" }}', rendered_text = 'x',
       approved = '{"content_hash": "h", "recipients": 2}', updated_at = '2999-01-01' where id = $1`,
    [row?.draft],
  )
  await other.query("update hub.recipients set state = 'pushed'")
  await other.query(
    `insert into hub.campaigns (project_id, draft_id, portion, list_id, campaign_id, state)
     values ($1, $2, 1, 1, 5, 'void'), ($1, $2, 2, 1, 6, 'made'), ($1, $2, 3, 1, 7, 'started')`,
    [row?.project, row?.draft],
  )
  await restore(await archiveOf(other))
  expect(await hub.query('select distinct status, decided_at from hub.approvals')).toEqual([
    { status: 'waiting', decided_at: null },
  ])
  expect(
    await hub.query('select state, approved_hash, html, rendered_subject from hub.drafts'),
  ).toEqual([{ state: 'unclear', approved_hash: null, html: null, rendered_subject: null }])
  expect(await hub.query('select distinct state from hub.recipients')).toEqual([
    { state: 'unclear' },
  ])
  // What is void would be deleted in our listmonk by the number that the archive names.
  expect(await hub.query('select campaign_id, state from hub.campaigns')).toEqual([
    { campaign_id: 7, state: 'finished' },
  ])
  // Open missions begin anew, and so ask anew.
  expect(await hub.query('select from hub.mission_steps')).toEqual([])
  await hub.deps.mailer.run()
  expect(await hub.query('select distinct state from hub.recipients')).toEqual([
    { state: 'unclear' },
  ])
})

test('another hub’s opt-outs and ours both hold, by either hub’s links', async () => {
  const ours = await readSalt(hub.paths)
  const theirs = await readSalt(other.paths)
  const links = [unsubscribeToken(ours, 'a@x.example'), unsubscribeToken(theirs, 'b@x.example')]
  const insert = "insert into hub.suppression (email_hash, reason) values ($1, 'unsubscribed')"
  await hub.query(insert, [emailHash(ours, 'ours@x.example')])
  await other.query(insert, [emailHash(theirs, 'theirs@x.example')])
  await restore(await archiveOf(other))
  await restore(await archiveOf(other))
  const salt = await readSalt(hub.paths)
  expect(salt.current.equals(ours.current)).toBe(true)
  expect(salt.all).toHaveLength(2)
  for (const link of links) {
    const unsubscribed = await hub.app.request(`/api/cockpit/u/${link}`, {
      method: 'POST',
      headers: { host: 'localhost' },
    })
    expect(unsubscribed.status).toBe(200)
  }
  const emails = ['ours@x.example', 'theirs@x.example', 'a@x.example', 'b@x.example', 'c@x.example']
  const refused = await hub.deps.db.transaction('*', (sql) =>
    suppressed(sql, { salt, queued: new Set() }, emails),
  )
  expect([...refused].sort()).toEqual(emails.filter((email) => !email.startsWith('c@')).sort())
})

test('an archive takes nobody off the list, and a stronger reason of either stays', async () => {
  const { current } = await readSalt(hub.paths)
  const hash = Buffer.from(current).toString('hex')
  await hub.query(
    "insert into hub.suppression (email_hash, reason, released_at) values ($1, 'bounced', now())",
    [hash],
  )
  const bytes = crafted(membersOf(await archiveOf(hub)), (members, manifest) => {
    const table = manifest.tables.find(({ name }) => name === 'suppression')
    const at = (column: string) => table?.columns.indexOf(column) ?? -1
    for (const member of members.filter(({ path }) => path === 'database/suppression.copy')) {
      const rows = member.content.toString('utf8').split('\n')
      const changed = rows.map((row) => {
        const cells = row.split('\t')
        if (cells[0] !== hash) return row
        cells[at('reason')] = 'unsubscribed'
        cells[at('released_at')] = '\\N'
        return cells.join('\t')
      })
      member.content = Buffer.from(changed.join('\n'))
    }
  })
  await restore(bytes)
  const found = await hub.query(
    'select reason, released_at from hub.suppression where email_hash = $1',
    [hash],
  )
  expect(found).toEqual([{ reason: 'unsubscribed', released_at: null }])
})

test('of two entries for one address that of its owner wins, then the team’s, and a released one does not count', async () => {
  const cases = [
    { ours: 'bounced', theirs: 'complained', after: 'complained' },
    { ours: 'bounced', theirs: 'manual', after: 'manual' },
    { ours: 'bounced', theirs: 'manual', is_released: true, after: 'bounced' },
    { ours: 'manual', theirs: 'unsubscribed', after: 'unsubscribed' },
    { ours: 'imported', theirs: 'bounced', after: 'imported' },
    { ours: 'unsubscribed', theirs: 'complained', after: 'unsubscribed' },
  ].map((one, at) => ({ ...one, hash: sha256(Buffer.from(`reasons ${at}`)) }))
  for (const { hash, theirs, is_released = false } of cases) {
    await hub.query(
      'insert into hub.suppression (email_hash, reason, released_at) values ($1, $2, case when $3 then now() end)',
      [hash, theirs, is_released],
    )
  }
  const bytes = await archiveOf(hub)
  for (const { hash, ours } of cases) {
    await hub.query(
      'update hub.suppression set reason = $2, released_at = null where email_hash = $1',
      [hash, ours],
    )
  }
  await restore(bytes)
  for (const { hash, after, ...given } of cases) {
    const [row] = await hub.query(
      'select reason, released_at from hub.suppression where email_hash = $1',
      [hash],
    )
    expect({ given, ...row }).toEqual({ given, reason: after, released_at: null })
  }
})

test('servers, endpoints and powers are only taken when they are named; the check says what they are', async () => {
  const given: Record<string, unknown> = {
    'mail.json': {
      smtp: { host: 'evil.example', port: 25, security: 'none' },
      sender: { name: 'x', email: 'x@evil.example' },
    },
    'models.json': { kind: 'endpoint', url: 'http://evil.example/v1', model: 'x' },
    'agents.json': { web: 'allow', engineer_system: true },
  }
  const sound: Member[] = membersOf(await archiveOf(hub))
  const bytes = crafted(sound, (members, manifest) => {
    const config = members.findIndex(({ path }) => path === 'config')
    for (const [name, value] of Object.entries(given)) {
      replace(members, manifest, `config/${name}`, JSON.stringify(value))
      const added = members.pop()
      if (added) members.splice(config + 1, 0, added)
    }
  })
  await writeFile(backupFile(hub.paths, NAME), bytes)
  const checked = await (await hub.call('POST', 'backup/check', { name: NAME })).json()
  expect(checked).toMatchObject({ ok: true, signed: 'unsigned' })
  expect(checked.warning).toContain('I trust this archive')
  const what = checked.settings.map((one: { what: string }) => one.what).join('\n')
  expect(what).toContain('http://evil.example/v1')
  expect(what).toContain('they read the web without asking')

  const untrusted = await hub.call('POST', 'backup/restore', { name: NAME, confirm: NAME })
  expect((await untrusted.json()).errors).toMatchObject([{ path: 'trust' }])
  await restore(bytes)
  for (const name of Object.keys(given)) {
    expect(await stat(configOf(name)).catch(() => undefined), name).toBeUndefined()
  }
  await restore(bytes, { powers: ['models'] })
  expect(JSON.parse(await readFile(configOf('models.json'), 'utf8'))).toEqual(given['models.json'])
  expect(await stat(configOf('agents.json')).catch(() => undefined)).toBeUndefined()
  await rm(configOf('models.json'))
})

test('an archive as a hub makes it shows which of its settings differ', async () => {
  await writeFile(join(other.paths.config_dir, 'agents.json'), '{"web": "allow"}')
  await writeFile(backupFile(hub.paths, NAME), await archiveOf(other))
  await rm(join(other.paths.config_dir, 'agents.json'))
  const checked = await (await hub.call('POST', 'backup/check', { name: NAME })).json()
  expect(checked).toMatchObject({ ok: true, signed: 'elsewhere', settings: [{ name: 'agents' }] })
})

test('an archive whose first block comes alone is read like any other', async () => {
  const tar = gunzipSync(tarOf(membersOf(await archiveOf(hub))))
  await writeFile(backupFile(hub.paths, NAME), firstAlone(tar))
  const checked = await (await hub.call('POST', 'backup/check', { name: NAME })).json()
  expect(checked).toMatchObject({ ok: true })
})

/** A gzip file of which the first 64 KiB, which are read at once, have 512 bytes of content. */
function firstAlone(tar: Buffer): Buffer {
  const block = tar.subarray(0, 512)
  const size = Buffer.alloc(5)
  size.writeUInt16LE(block.length, 1)
  size.writeUInt16LE(0xffff - block.length, 3)
  // A name of the file that fills what is left.
  const header = Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 255])
  const name = Buffer.alloc(64 * 1024 - header.length - size.length - block.length, 'x')
  name[name.length - 1] = 0
  const end = Buffer.alloc(8)
  end.writeUInt32LE(crc32(tar), 0)
  end.writeUInt32LE(tar.length, 4)
  return Buffer.concat([header, name, size, block, deflateRawSync(tar.subarray(512)), end])
}

test('whatever modes an archive names, files are neither open to others nor shut to the hub', async () => {
  const modes = [0o777, 0o000, 0o222]
  const bytes = crafted(membersOf(await archiveOf(hub)), (_, manifest) => {
    const files = manifest.files.filter(({ path }) => path.startsWith('projects/'))
    for (const [at, file] of files.entries()) file.mode = modes[at % modes.length] ?? 0
  })
  await restore(bytes)
  const file = join(hub.paths.data_dir, 'projects/demir/CONTEXT.md')
  expect((await stat(file)).mode & 0o022).toBe(0)
  expect(await readFile(file, 'utf8')).toContain('# Demir')
})

test('numbers that PostgreSQL gives out go on behind those of the archive', async () => {
  const [mission] = await other.query<{ id: string; project_id: string }>(
    'select id, project_id from hub.missions limit 1',
  )
  for (let at = 0; at < 30; at += 1) {
    await other.query(
      "insert into hub.mission_events (project_id, mission_id, kind) values ($1, $2, 'state')",
      [mission?.project_id, mission?.id],
    )
  }
  await restore(await archiveOf(other))
  await hub.query(
    "insert into hub.mission_events (project_id, mission_id, kind) values ($1, $2, 'state')",
    [mission?.project_id, mission?.id],
  )
  const [count] = await hub.query<{ count: number }>(
    'select count(*)::int as count from hub.mission_events',
  )
  expect(count?.count).toBe(31)
})

test('a name for all members renames none of them', async () => {
  const bytes = await archiveOf(hub)
  const file = join(folder, 'named.tar.gz')
  await writeFile(file, tarOf([pax({ path: '../outside' }, 'g'), ...membersOf(bytes)]))
  const to = join(folder, 'named')
  const { manifest } = await unpack({ paths: hub.paths, file, secret: {}, folder: to })
  const files = (await readdir(to, { recursive: true, withFileTypes: true })).filter((one) =>
    one.isFile(),
  )
  expect(files.map((one) => join(one.parentPath, one.name).slice(to.length + 1)).sort()).toEqual(
    manifest.files.map(({ path }) => path).sort(),
  )
})

test('an archive that ends within a member leaves no file open', async () => {
  const bytes = crafted(membersOf(await archiveOf(other)), (members, manifest) => {
    const path = members.find((one) => one.path.endsWith('/CONTEXT.md'))?.path ?? ''
    replace(members, manifest, path, randomBytes(4 * 2 ** 20).toString('hex'))
  })
  const file = join(folder, 'cut.tar.gz')
  await writeFile(file, bytes.subarray(0, bytes.length / 2))
  const to = join(folder, 'cut')
  await expect(unpack({ paths: hub.paths, file, secret: {}, folder: to })).rejects.toThrow()
  const open = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  )
  expect(open.filter((name) => name.startsWith(to))).toEqual([])
})
