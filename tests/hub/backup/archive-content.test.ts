import { randomUUID } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import {
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  statfs,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  backupTimes,
  isBackupDue,
  readJob,
  startBackup,
  startRestore,
} from '../../../hub/backup/backup.ts'
import {
  backupFile,
  backupsIn,
  listBackups,
  makeBackup,
  nameFor,
  removeOld,
  withLock,
} from '../../../hub/backup/make.ts'
import { BACKUP } from '../../../hub/backup/settings.ts'
import { readHead, unpack } from '../../../hub/backup/unpack.ts'
import { readSalt } from '../../../hub/mail/suppression.ts'
import { writeSetting } from '../../../hub/ops/settings.ts'
import { crafted, edit, fileAt, TRUST } from '../support/archives/craft.ts'
import { fillHub } from '../support/backup-data.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { membersOf } from '../support/tar.ts'

const NAME = 'watchpost-hub-20200101-000000000-uploaded.tar.gz'
const RECIPIENT = 'age15r2vmxr22k3fjhqw6uvsgqm45z2ye6cmwt9wl62kltdxpcatpg2sv4pffp'
const BRANDING =
  '{"name": "Ours", "logo": null, "colors": {"primary": "#000000", "accent": "#000000"}}'
const HOUR_MS = 3_600_000

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  await readSalt(hub.paths)
  await fillHub(hub)
})
afterAll(() => hub.close())

const make = async () => (await startBackup(hub.config, 'manual')).done
const restore = async (name: string) =>
  (await startRestore(hub.config, name, { secret: {}, trust: TRUST })).done
const membersIn = async (name: string) => membersOf(await readFile(backupFile(hub.paths, name)))
const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8)
/** An archive of this hub that somebody has changed. */
const store = async (bytes: Buffer) => {
  const file = backupFile(hub.paths, NAME)
  await writeFile(file, bytes)
  return { paths: hub.paths, file, secret: {} }
}

test('an archive, an upload and what is gathered for one can be read by the hub’s user alone', async () => {
  let gathered = ''
  const name = await withLock(hub.config, (client) =>
    makeBackup(client, hub.config, {
      kind: 'manual',
      encryption: { kind: 'none' },
      progress: (_, step) => {
        if (step !== 'files') return
        const [stage] = statStages()
        gathered ||= stage ?? ''
      },
    }),
  )
  function statStages(): string[] {
    const folder = backupsIn(hub.paths)
    return readdirSync(folder)
      .filter((one) => one.startsWith('.stage-'))
      .map((one) => (statSync(join(folder, one)).mode & 0o777).toString(8))
  }
  expect(gathered).toBe('700')
  expect(await modeOf(backupFile(hub.paths, name))).toBe('600')
  const answer = await hub.call('POST', 'backup/upload', new Uint8Array(gzipSync('x')), {
    'content-type': 'application/octet-stream',
  })
  const { backup } = await answer.json()
  expect(await modeOf(backupFile(hub.paths, backup.name))).toBe('600')
  await rm(backupFile(hub.paths, backup.name))
})

test('an archive leaves out links, what is half written, and what no restore would take', async () => {
  const projects = join(hub.paths.data_dir, 'projects')
  const odd = [
    join(projects, 'notes.txt'),
    join(projects, 'No slug/x.md'),
    join(projects, 'demir/x.md.0123456789ab.new'),
    join(hub.paths.prompts_dir, 'of-nobody.md'),
  ]
  await mkdir(join(projects, 'No slug'))
  for (const file of odd) await writeFile(file, 'x')
  await symlink('/etc/passwd', join(projects, 'demir/link'))
  const name = await make()
  const paths = (await membersIn(name)).map(({ path }) => path)
  expect(paths.filter((path) => /notes\.txt|slug|\.new|nobody|link/.test(path))).toEqual([])
  expect(paths).toContain('projects/demir/CONTEXT.md')
  await restore(name)
  expect(await readdir(projects)).toEqual(['demir'])
})

test('language, looks and the active project come back; half a prompt is taken away', async () => {
  const { config_dir, data_dir, prompts_dir } = hub.paths
  const files = {
    [join(config_dir, 'system.json')]: '{"language": "tr"}',
    [join(config_dir, 'branding.json')]: BRANDING,
    [join(data_dir, 'active')]: 'demir\n',
  }
  for (const [file, text] of Object.entries(files)) await writeFile(file, text)
  const name = await make()
  await writeFile(join(config_dir, 'system.json'), '{"language": "en"}')
  await rm(join(config_dir, 'branding.json'))
  await writeFile(join(data_dir, 'active'), 'other\n')
  const half = join(prompts_dir, 'sales.md.0123456789ab.new')
  await writeFile(half, 'x')
  await restore(name)
  for (const [file, text] of Object.entries(files)) {
    const found = await readFile(file, 'utf8')
    expect(text.startsWith('{') ? JSON.parse(found) : found).toEqual(
      text.startsWith('{') ? JSON.parse(text) : text,
    )
  }
  expect(await readdir(prompts_dir)).not.toContain('sales.md.0123456789ab.new')
})

test('of this hub’s own archive nothing is sent or done by itself, and what was made here stays', async () => {
  await hub.query('delete from hub.drafts')
  const [{ id: project } = { id: '' }] = await hub.query<{ id: string }>(
    "select id from hub.projects where slug = 'demir'",
  )
  const mission = async (status: string) => {
    const [row] = await hub.query<{ id: string }>(
      `insert into hub.missions (project_id, department, task, status)
       values ($1, 'sales', 'x', $2) returning id`,
      [project, status],
    )
    await hub.query(
      `insert into hub.mission_steps (mission_id, project_id, position, name, output)
       values ($1, $2, 1, 'read', '[]')`,
      [row?.id, project],
    )
    return row?.id
  }
  const [queued, processing, done] = [
    await mission('queued'),
    await mission('processing'),
    await mission('done'),
  ]
  const approvals: [mission: string | undefined, action: string, status: string, then: string][] = [
    [queued, 'read_web', 'approved', 'waiting'],
    [processing, 'search_web', 'approved', 'waiting'],
    [done, 'read_web', 'approved', 'approved'],
    [done, 'add_prompt_rule', 'approved', 'waiting'],
    [done, 'add_prompt_rule', 'done', 'done'],
    [queued, 'read_web', 'rejected', 'rejected'],
  ]
  for (const [at, [id, action, status]] of approvals.entries()) {
    await hub.query(
      `insert into hub.approvals (project_id, mission_id, kind, title, action, action_hash, status, decided_at)
       values ($1, $2, 'external', '{"en": "x", "tr": "x"}', jsonb_build_object('do', $3::text), $4, $5, now())`,
      [project, id, action, `${at}`, status],
    )
  }
  const draft = async (state: string, sequence?: string, step?: number) => {
    const [row] = await hub.query<{ id: string }>(
      `insert into hub.drafts (project_id, audience, state, html, rendered_subject, rendered_text, approved_hash,
         approved_at, sequence_id, step, wait_days)
       values ($1, '{"kind": "list", "filter": {}}', $2, '<p>x', 'x', 'x', 'h', now(), $3, $4, $5) returning id`,
      [project, state, sequence, step, step && 0],
    )
    return row?.id
  }
  const sequence = async (state: string) => {
    const [row] = await hub.query<{ id: string }>(
      `insert into hub.sequences (project_id, name, send_window, state, approved_hash, approved_at)
       values ($1, $2, '{"days": ["mon"], "from": "09:00", "to": "17:00", "time_zone": "Europe/Istanbul"}', $2, 'h', now())
       returning id`,
      [project, state],
    )
    await draft('sent', row?.id, 1)
    await draft('approved', row?.id, 2)
  }
  for (const state of ['running', 'paused', 'stopped']) await sequence(state)
  const rendered = await draft('rendered')
  await hub.query(
    `insert into hub.campaigns (project_id, draft_id, portion, list_id, campaign_id, state)
     values ($1, $2, 1, 1, 5, 'void'), ($1, $2, 2, 1, 6, 'made'), ($1, $2, 3, 1, 7, 'started')`,
    [project, rendered],
  )
  await restore(await make())

  expect(
    await hub.query('select status from hub.approvals order by action_hash'),
    'approvals',
  ).toEqual(approvals.map(([, , , status]) => ({ status })))
  const steps = await hub.query(
    `select s.name, s.state, array_agg(d.state order by d.step) as steps, count(d.approved_hash)::int as approved
     from hub.sequences as s join hub.drafts as d on d.sequence_id = s.id group by s.id order by s.name`,
  )
  expect(steps).toEqual([
    { name: 'paused', state: 'draft', steps: ['draft', 'draft'], approved: 0 },
    { name: 'running', state: 'draft', steps: ['draft', 'draft'], approved: 0 },
    { name: 'stopped', state: 'stopped', steps: ['sent', 'approved'], approved: 1 },
  ])
  expect(
    await hub.query('select state, approved_hash, html from hub.drafts where id = $1', [rendered]),
  ).toEqual([{ state: 'rendered', approved_hash: null, html: '<p>x' }])
  expect(await hub.query('select campaign_id, state from hub.campaigns order by 1')).toEqual([
    { campaign_id: 5, state: 'void' },
    { campaign_id: 6, state: 'made' },
    { campaign_id: 7, state: 'started' },
  ])
  const kept = await hub.query('select from hub.mission_steps where mission_id = any($1)', [
    [queued, processing, done],
  ])
  expect(kept).toHaveLength(3)
})

test('the backup before a restore is encrypted as the others are', async () => {
  const name = await make()
  onTestFinished(() => rm(join(hub.paths.config_dir, BACKUP.file)))
  const encryption = { kind: 'recipient', recipient: RECIPIENT } as const
  await writeSetting(hub.paths, BACKUP, { ...BACKUP.fallback, encryption })
  await restore(name)
  const [last] = (await listBackups(hub.paths)).filter(({ kind }) => kind === 'before-restore')
  expect(last).toMatchObject({ encrypted: true })
})

test('a backup takes away what killed ones and uploads of over a day ago have left', async () => {
  const folder = backupsIn(hub.paths)
  const left = { '.upload-23': 23, '.upload-25': 25, [`${NAME}.new`]: 0, 'mine.new': 25 }
  for (const [name, hours] of Object.entries(left)) {
    await writeFile(join(folder, name), 'x')
    const at = new Date(Date.now() - hours * HOUR_MS)
    await utimes(join(folder, name), at, at)
  }
  await mkdir(join(folder, '.stage-0123'))
  // A check, and in the folder above a restore, have a whole archive unpacked, without its encryption.
  for (const [name, hours] of Object.entries({ '.check-23': 23, '.check-25': 25 })) {
    await mkdir(join(folder, name, 'unpacked'), { recursive: true })
    const at = new Date(Date.now() - hours * HOUR_MS)
    await utimes(join(folder, name), at, at)
  }
  const restored = `.restore-${randomUUID()}`
  await mkdir(join(hub.paths.data_dir, restored, 'config'), { recursive: true })
  await make()
  const names = (await readdir(folder)).filter((name) => /^\.|new$/.test(name))
  expect(names.sort()).toEqual(['.check-23', '.job.json', '.upload-23', 'mine.new'])
  expect(await readdir(hub.paths.data_dir)).not.toContain(restored)
  // One whose rows were restored still needs its files.
  await mkdir(join(hub.paths.data_dir, restored))
  await writeFile(join(hub.paths.data_dir, 'restore.json'), '{}')
  await make()
  await rm(join(hub.paths.data_dir, 'restore.json'))
  expect(await readdir(hub.paths.data_dir)).toContain(restored)
})

describe('of the backups', () => {
  const put = async (kind: Parameters<typeof nameFor>[0], minutes: number) => {
    const name = nameFor(kind, { encrypted: false }, new Date(Date.now() - minutes * 60_000))
    await writeFile(backupFile(hub.paths, name), 'x')
    return name
  }
  beforeAll(() => rm(backupsIn(hub.paths), { recursive: true }))

  test('the daily one alone counts as made today, and one by hand as the last', async () => {
    await mkdir(backupsIn(hub.paths))
    for (const kind of ['uploaded', 'before-restore'] as const) await put(kind, 0)
    expect(await backupTimes(hub.paths)).toMatchObject({ last_at: null })
    await put('manual', 1)
    const [{ created_at } = { created_at: '' }] = (await listBackups(hub.paths)).filter(
      ({ kind }) => kind === 'manual',
    )
    expect(await backupTimes(hub.paths)).toMatchObject({ last_at: created_at })
    expect(await isBackupDue(hub.paths)).toBe(true)
    await put('daily', 0)
    expect(await isBackupDue(hub.paths)).toBe(false)
  })

  test('the last five from before a restore are kept, and every one that was uploaded', async () => {
    const made: string[] = []
    for (let at = 0; at < 7; at += 1) made.push(await put('before-restore', 100 + at))
    const uploaded = [await put('uploaded', 200), await put('uploaded', 201)]
    const kept = async () => (await listBackups(hub.paths)).map(({ name }) => name)
    const before = await kept()
    // One more is from the test above.
    expect((await removeOld(hub.paths, 1)).sort()).toEqual(made.slice(4).sort())
    expect(await kept()).toEqual(before.filter((name) => !made.slice(4).includes(name)))
    expect(await kept()).toEqual(expect.arrayContaining(uploaded))
  })
})

test('why a backup failed says nothing of the machine unless it is a reason of ours', async () => {
  const projects = join(hub.paths.data_dir, 'projects')
  await rm(projects, { recursive: true })
  await writeFile(projects, 'no folder')
  await expect(make()).rejects.toThrow(/ENOTDIR/)
  const job = await readJob(hub.paths)
  expect(job).toMatchObject({ status: 'failed', reason: { en: expect.stringMatching(/log/) } })
  expect(JSON.stringify(job)).not.toContain(hub.paths.data_dir)
  await rm(projects)
})

describe('a changed archive', () => {
  test('shows no setting whose checksum is another', async () => {
    await writeFile(join(hub.paths.config_dir, 'branding.json'), BRANDING)
    await writeFile(join(hub.paths.config_dir, 'system.json'), '{"language": "tr"}')
    const bytes = crafted(
      await membersIn(await make()),
      (members) => edit(members, 'config/system.json', (text) => text.replace('tr', 'en')),
      { reseal: false },
    )
    const { config } = await readHead(await store(bytes))
    expect(Object.keys(config).sort()).toEqual(['branding.json', 'suppression.salt'])
  })

  test('is not sound when a setting of it is none of ours', async () => {
    const bytes = crafted(await membersIn(await make()), (members) =>
      edit(members, 'config/system.json', () => '{"language": "xx"}'),
    )
    await store(bytes)
    const checked = await (await hub.call('POST', 'backup/check', { name: NAME })).json()
    expect(checked).toMatchObject({ ok: false, reason: expect.stringContaining('system.json') })
    expect((await readdir(backupsIn(hub.paths))).filter((one) => one.startsWith('.check'))).toEqual(
      [],
    )
  })

  test('is refused where it would leave less than a quarter of a gigabyte', async () => {
    const folder = join(hub.paths.data_dir, 'unpacked')
    const { bavail, bsize } = await statfs(hub.paths.data_dir)
    const bytes = crafted(
      await membersIn(await make()),
      (_, manifest) =>
        void Object.assign(fileAt(manifest, 'prompts/'), { bytes: bavail * bsize - 128 * 2 ** 20 }),
      { reseal: false },
    )
    await expect(unpack({ ...(await store(bytes)), folder })).rejects.toThrow(/too little space/)
    await rm(folder, { recursive: true })
  })

  test('is refused for a value that cannot be read among any number of rows', async () => {
    await hub.query(
      `insert into hub.leads (project_id, name)
       select id, 'Many' from hub.projects, generate_series(1, 600) where slug = 'demir'`,
    )
    const bytes = crafted(await membersIn(await make()), (members, manifest) => {
      const at = manifest.tables.find(({ name }) => name === 'leads')?.columns.indexOf('tags') ?? 0
      edit(members, 'database/leads.copy', (text) => {
        const rows = text.trimEnd().split('\n')
        const last = rows.at(-1)?.split('\t') ?? []
        last[at] = '{a,NULL}'
        return `${[...rows.slice(0, -1), last.join('\t')].join('\n')}\n`
      })
    })
    await store(bytes)
    await expect(restore(NAME)).rejects.toThrow(/leads\.tags/)
  })
})
