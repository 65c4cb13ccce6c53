import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { startBackup } from '../../../hub/backup/backup.ts'
import { restore, UsageError } from '../../../hub/backup/cli-restore.ts'
import { backupFile, listBackups } from '../../../hub/backup/make.ts'
import { BackupError } from '../../../hub/backup/manifest.ts'
import { stageArchive } from '../../../hub/backup/offline.ts'
import { BACKUP } from '../../../hub/backup/settings.ts'
import { writeSetting } from '../../../hub/ops/settings.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const IDENTITY = 'AGE-SECRET-KEY-1CZCC008726V4P55QRV83N746HLSN2T8KQLJCPUC44TEDETTW3QTSQ4EUVV'
const RECIPIENT = 'age15r2vmxr22k3fjhqw6uvsgqm45z2ye6cmwt9wl62kltdxpcatpg2sv4pffp'
const TRUST = 'I trust this archive'

let hub: TestHub
let other: TestHub
let folder: string
/** The other hub's archive, as a file that somebody brought. */
let file: string
let said: string[] = []
beforeAll(async () => {
  hub = await startHub()
  other = await startHub()
  folder = await mkdtemp(join(tmpdir(), 'watchpost-cli-restore-'))
  await other.call('POST', 'projects/create', { slug: 'theirs', name: 'Theirs' })
  await writeFile(join(other.paths.config_dir, 'agents.json'), '{"web": "allow"}')
  file = await bring('plain.tar.gz')
  vi.spyOn(console, 'log').mockImplementation((line) => void said.push(String(line)))
})
afterAll(async () => {
  vi.restoreAllMocks()
  await hub?.close()
  await other?.close()
  await rm(folder, { recursive: true })
})
beforeEach(async () => {
  said = []
  await hub.query('delete from hub.projects')
  await hub.query("insert into hub.projects (slug, name) values ('ours', 'Ours')")
})

async function bring(name: string): Promise<string> {
  const made = await (await startBackup(other.config, 'manual')).done
  const brought = join(folder, name)
  await writeFile(brought, await readFile(backupFile(other.paths, made)))
  return brought
}
const slugs = async () =>
  (await hub.query<{ slug: string }>('select slug from hub.projects')).map(({ slug }) => slug)
const staged = async () =>
  (await readdir('/var/tmp')).filter((name) => name.startsWith('watchpost-restore-'))
const agents = () =>
  readFile(join(hub.paths.config_dir, 'agents.json'), 'utf8').then(JSON.parse, () => null)

test('an archive of another hub is restored only when somebody says so, and leaves no copy', async () => {
  const before = await staged()
  for (const trust of [undefined, '', 'yes', 'I do not trust this archive']) {
    await expect(restore(hub.config, file, { yes: true, trust })).rejects.toThrow(
      /Another hub signed this archive/,
    )
  }
  expect(await slugs()).toEqual(['ours'])
  expect(await restore(hub.config, file, { yes: true, trust: ` ${TRUST}\n` })).toBe(0)
  expect(await slugs()).toEqual(['theirs'])
  expect((await listBackups(hub.paths)).map(({ kind }) => kind)).toEqual(['before-restore'])
  expect(await staged()).toEqual(before)
})

test('it tells which settings differ, and takes those alone that are named', async () => {
  expect(await restore(hub.config, file, { yes: true, trust: TRUST })).toBe(0)
  expect(said.join('\n')).toContain('agents')
  expect(await agents()).toBeNull()
  const wrong = restore(hub.config, file, { yes: true, trust: TRUST, take: 'agents, everything' })
  await expect(wrong).rejects.toThrow(UsageError)
  expect(await restore(hub.config, file, { yes: true, trust: TRUST, take: ' mail,agents ' })).toBe(
    0,
  )
  expect(await agents()).toMatchObject({ web: 'allow' })
})

test('nothing is restored without a word of somebody, or without a name', async () => {
  await expect(restore(hub.config, file, { trust: TRUST })).rejects.toThrow(/--yes/)
  await expect(restore(hub.config, undefined, { yes: true })).rejects.toThrow(UsageError)
  await expect(restore(hub.config, file, { check: true })).rejects.toThrow(/HUB_OWNER_URL/)
  expect(await slugs()).toEqual(['ours'])
})

/** Answers what is asked on a terminal, question by question; returns the questions. */
function onTerminal(answers: string[]): string[] {
  const asked: string[] = []
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin')
  const input = Object.assign(new PassThrough(), { isTTY: true })
  Object.defineProperty(process, 'stdin', { value: input, configurable: true })
  const out = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    asked.push(String(text))
    setImmediate(() => input.write(`${answers[asked.length - 1] ?? ''}\n`))
    return true
  })
  onTestFinished(() => {
    out.mockRestore()
    if (stdin) Object.defineProperty(process, 'stdin', stdin)
  })
  return asked
}

test.each([
  [[TRUST, '', 'no'], 'Nothing was changed.'],
  [[TRUST, '', ''], 'Nothing was changed.'],
  [[TRUST, 'agents, everything'], '--take must name mail, models, backup or agents.'],
  [['yes'], 'Another hub signed this archive'],
])(
  'on a terminal it asks for trust, settings and a yes: after %j it stops',
  async (answers, why) => {
    await rm(join(hub.paths.config_dir, 'agents.json'), { force: true })
    const asked = onTerminal(answers)
    await expect(restore(hub.config, file, {})).rejects.toThrow(why)
    expect(asked).toHaveLength(answers.length)
    const questions = [
      /Another hub signed this archive[\s\S]*\n> $/,
      /^Settings to restore \(names separated by commas, or Enter for none\): $/,
      /^This replaces all projects, leads and settings with those of .*plain\.tar\.gz\. Type yes to /,
    ]
    for (const [at, text] of asked.entries()) expect(text).toMatch(questions[at] ?? /^$/)
    expect(await slugs()).toEqual(['ours'])
  },
)

test('on a terminal nothing is asked that the options say, and a Yes restores', async () => {
  const asked = onTerminal([' Yes '])
  expect(await restore(hub.config, file, { trust: TRUST, take: '' })).toBe(0)
  expect(asked).toHaveLength(1)
  expect(said.at(-1)).toBe(
    `Restored ${file}. A running hub restarts itself. Mail is paused: resume it in Settings > Mail.`,
  )
  expect(said.filter((line) => /^ {0,2}\d+ % {2}\w/.test(line)).at(-1)).toMatch(/^100 %|^ \d\d %/)
  expect(await slugs()).toEqual(['theirs'])
})

test('an encrypted one opens with the key file as age-keygen writes it', async () => {
  const encryption = { kind: 'recipient', recipient: RECIPIENT } as const
  await writeSetting(other.paths, BACKUP, { ...BACKUP.fallback, encryption })
  const encrypted = await bring('encrypted.tar.gz.age')
  const key = join(folder, 'key.txt')
  const given = { yes: true, trust: TRUST, 'identity-file': key }
  await expect(restore(hub.config, encrypted, given)).rejects.toThrow(/key\.txt does not exist/)
  await writeFile(key, `# created: 2026\n# public key: ${RECIPIENT}\n${IDENTITY}\n`)
  await expect(
    restore(hub.config, encrypted, { ...given, 'identity-file': undefined }),
  ).rejects.toThrow(/encrypted/)
  expect(await slugs()).toEqual(['ours'])
  expect(await restore(hub.config, encrypted, given)).toBe(0)
  expect(await slugs()).toEqual(['theirs'])
})

test('what is checked lies where its reader alone can enter', async () => {
  const stage = await stageArchive(hub.config, file, undefined)
  const modes = await Promise.all(
    [stage.folder, stage.file].map(async (at) => (await stat(at)).mode),
  )
  expect(modes.map((mode) => (mode & 0o777).toString(8))).toEqual(['700', '600'])
  await rm(stage.folder, { recursive: true })
})

test('what is no file of its own is not opened', async () => {
  const link = join(folder, 'link.tar.gz')
  await symlink(file, link)
  for (const [given, said] of [
    [join(folder, 'none.tar.gz'), 'no file or backup named'],
    [folder, 'no file or backup named'],
    [link, 'link'],
  ] as const) {
    const refused = stageArchive(hub.config, given, undefined)
    await expect(refused, given).rejects.toThrow(said)
    await expect(refused, given).rejects.toBeInstanceOf(BackupError)
  }
})

test('what lies in the folders of the hub is read only if it is of the hub’s user', async () => {
  const { uid } = await stat(file)
  const inside = join(hub.paths.data_dir, 'left.tar.gz')
  await writeFile(inside, await readFile(file))
  await expect(stageArchive(hub.config, inside, uid + 1)).rejects.toThrow(inside)
  // A file that somebody brought is of whoever brought it, and the hub itself asks for no owner.
  for (const [given, owner] of [
    [file, uid + 1],
    [inside, uid],
    [inside, undefined],
  ] as const) {
    const stage = await stageArchive(hub.config, given, owner)
    await rm(stage.folder, { recursive: true })
  }
})
