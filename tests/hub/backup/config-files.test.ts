import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkConfig, powersIn } from '../../../hub/backup/config-files.ts'
import { BackupError } from '../../../hub/backup/manifest.ts'
import type { Paths } from '../../../hub/config.ts'

let config_dir: string
beforeAll(async () => {
  config_dir = await mkdtemp(join(tmpdir(), 'watchpost-powers-'))
})
afterAll(() => rm(config_dir, { recursive: true }))

const powers = async (file: string, value: unknown) => {
  const paths = { config_dir } as Paths // safe: all that it reads of them
  const found = await powersIn(paths, { [file]: JSON.stringify(value) })
  return found.map(({ name, what }) => `${name}: ${what.en}`)
}
const smtp = { host: 'smtp.other.example', port: 25, security: 'tls' }
const imap = { host: 'imap.other.example', user: 'a', password: 'b' }
const listmonk = { url: 'https://lists.other.example', user: 'a', token: 'b' }

test.each([
  ['SMTP alone', { smtp }, 'smtp.other.example'],
  ['a mailbox alone', { imap }, 'imap.other.example'],
  ['listmonk alone', { listmonk }, 'https://lists.other.example'],
  [
    'all of them',
    { smtp, listmonk, imap },
    'smtp.other.example, https://lists.other.example, imap.other.example',
  ],
  ['none of them', { daily_cap: 7 }, 'no server'],
])(
  'the mail settings of another hub, with %s, say where mail would go',
  async (_, given, where) => {
    expect(await powers('mail.json', given)).toEqual([
      `mail: Mail: servers, sender and passwords (${where})`,
    ])
  },
)

const encryption = { kind: 'recipient', recipient: `age1${'q'.repeat(58)}` }
const s3 = {
  ...{ kind: 's3', endpoint: 'https://s3.example', bucket: 'copies' },
  ...{ access_key_id: 'a', secret_access_key: 'b' },
}
test.each([
  [
    'models.json',
    { kind: 'endpoint', url: 'https://model.example/v1', model: 'm' },
    'models: Model: every prompt goes to https://model.example/v1',
  ],
  [
    'models.json',
    { kind: 'local', file: 'tiny.gguf' },
    'models: Model: every prompt goes to tiny.gguf',
  ],
  ['backup.json', { hour: 5 }, 'backup: Backups: time, number kept and encryption'],
  [
    'backup.json',
    { encryption, target: s3 },
    'backup: Backups: a copy goes to https://s3.example/copies',
  ],
  [
    'backup.json',
    { encryption, target: { kind: 'rsync', destination: 'a@nas.example:hub' } },
    'backup: Backups: a copy goes to a@nas.example:hub',
  ],
  [
    'agents.json',
    { web: 'allow', engineer_system: true },
    /^agents: Agents: they read the web without asking; \S/,
  ],
  ['agents.json', { web: 'deny' }, /^agents: Agents: they never read the web; \S/],
])('of %s with %j it is told what they would change', async (file, given, told) => {
  const [found, ...others] = await powers(file, given)
  expect(found).toMatch(told)
  expect(others).toEqual([])
})

describe('the settings in a backup', () => {
  const check = async (files: Record<string, string>) => {
    const stage = await mkdtemp(join(config_dir, 'stage-'))
    await mkdir(join(stage, 'config'))
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(stage, 'config', name), text)
    }
    await checkConfig(stage)
    return async (name: string) => JSON.parse(await readFile(join(stage, 'config', name), 'utf8'))
  }

  test('are kept, with what is left to its default', async () => {
    const read = await check({
      'system.json': '{"language": "tr"}',
      'agents.json': '{"web": "allow"}',
      'backup.json': JSON.stringify({ hour: 5, encryption, target: s3 }),
    })
    expect(await read('system.json')).toEqual({ language: 'tr' })
    expect(await read('agents.json')).toMatchObject({ web: 'allow' })
    expect(await read('backup.json')).toMatchObject({
      ...{ hour: 5, keep_daily: 14, encryption },
      target: { ...s3, region: 'us-east-1' },
    })
  })

  test.each([
    ['admin.json', '{}', 'config/admin.json'],
    ['hub.token', 'x', 'config/hub.token'],
    ['system.json', '{', 'config/system.json'],
    ['system.json', '{"language": "de"}', 'language'],
    ['backup.json', '{"hour": 24}', 'hour'],
    ['system.json', '{"language": "tr", "unknown": 1}', 'config/system.json'],
    ['suppression.salt', 'no salt', 'config/suppression.salt'],
  ])('are refused with %s of %j, and it is named', async (name, text, named) => {
    const refused = check({ [name]: text })
    await expect(refused).rejects.toBeInstanceOf(BackupError)
    await expect(refused).rejects.toThrow(named)
  })
})

test('settings as they are here, and those that cannot be read, change nothing', async () => {
  await writeFile(join(config_dir, 'mail.json'), JSON.stringify({ smtp }))
  expect(await powers('mail.json', { smtp })).toEqual([])
  expect(await powers('mail.json', { smtp: { ...smtp, port: 26 } })).toHaveLength(1)
  expect(await powers('mail.json', { smtp: 'no server' })).toEqual([])
})
