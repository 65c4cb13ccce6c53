import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { powersIn } from '../../../hub/backup/config-files.ts'
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

test('settings as they are here, and those that cannot be read, change nothing', async () => {
  await writeFile(join(config_dir, 'mail.json'), JSON.stringify({ smtp }))
  expect(await powers('mail.json', { smtp })).toEqual([])
  expect(await powers('mail.json', { smtp: { ...smtp, port: 26 } })).toHaveLength(1)
  expect(await powers('mail.json', { smtp: 'no server' })).toEqual([])
})
