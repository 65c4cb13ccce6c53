import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Config, pathsIn } from '../../../hub/config.ts'
import {
  changeMail,
  confirmMail,
  MAIL,
  MailChange,
  MailSettings,
  pauseMail,
  readMail,
  readPause,
  viaOf,
} from '../../../hub/mail/settings.ts'

const paths = pathsIn('/nowhere')
beforeAll(async () => {
  Object.assign(paths, pathsIn(await mkdtemp(join(tmpdir(), 'watchpost-mail-'))))
})
afterAll(() => rm(paths.data_dir, { recursive: true }))
beforeEach(() => rm(join(paths.config_dir, MAIL.file), { force: true }))

const SMTP = { host: 'smtp.example', user: 'me' }
const IMAP = { host: 'imap.example', user: 'me', password: 'p' }
const change = async (given: object) => changeMail(paths, MailChange.parse(given))

test('without settings there is no server, and a sender begins with twenty mails a day', async () => {
  expect(await readMail(paths)).toEqual({
    smtp: null,
    listmonk: null,
    imap: null,
    daily_cap: 200,
    ramp: { start: 20, step: 20 },
    track_opens: false,
    away_days: 7,
    test_email: null,
    dkim_selector: null,
  })
})

const LONGEST = `${'x'.repeat(60)}@${'y'.repeat(60)}.example`
test.each<[field: string, good: unknown[], bad: unknown[]]>([
  ['daily_cap', [1, 100_000], [0, 100_001, 1.5, null]],
  ['away_days', [1, 60], [0, 61, 1.5, null]],
  [
    'ramp',
    [null, { start: 1, step: 1 }, { start: 10_000, step: 10_000 }],
    [
      { start: 0, step: 1 },
      { start: 1, step: 0 },
      { start: 10_001, step: 1 },
      { start: 1, step: 10_001 },
      { start: 1 },
      { start: 1, step: 1, more: 1 },
    ],
  ],
  ['track_opens', [true, false], [null, 1]],
  ['test_email', [null, 'a@b.example', LONGEST], ['', 'a', `${'x'.repeat(250)}@b.co`]],
  [
    'dkim_selector',
    [null, 'Wp1', 'a.b_c-d', 'x'.repeat(63)],
    ['', 'a b', ' a', 'a/', 'x'.repeat(64)],
  ],
  [
    'smtp',
    [
      null,
      { host: 'h' },
      { host: 'x'.repeat(255), port: 1 },
      { host: 'h', port: 65_535 },
      { host: 'h', security: 'none' },
      { host: 'localhost', security: 'none', user: 'u' },
      { host: 'h', user: 'u'.repeat(255), password: 'p'.repeat(1000), ca: 'c'.repeat(50_000) },
    ],
    [
      {},
      { host: '' },
      { host: 'x'.repeat(256) },
      { host: 'h', port: 0 },
      { host: 'h', port: 65_536 },
      { host: 'h', port: 2.5 },
      { host: 'h', security: 'ssl' },
      { host: 'h', user: 'u'.repeat(256) },
      { host: 'h', password: 'p'.repeat(1001) },
      { host: 'h', ca: 'c'.repeat(50_001) },
      { host: 'h', other: 1 },
      { host: 'h', security: 'none', user: 'u' },
    ],
  ],
  [
    'imap',
    [
      null,
      IMAP,
      { ...IMAP, port: 1 },
      { ...IMAP, port: 65_535 },
      { ...IMAP, mailbox: 'x'.repeat(255) },
      { ...IMAP, host: '127.0.0.1', security: 'none' },
      { ...IMAP, user: 'u'.repeat(255) },
      { ...IMAP, password: 'p'.repeat(1000) },
      { ...IMAP, host: 'x'.repeat(255), ca: 'c'.repeat(50_000) },
    ],
    [
      { ...IMAP, user: '' },
      { ...IMAP, user: 'u'.repeat(256) },
      { ...IMAP, host: '' },
      { ...IMAP, host: 'x'.repeat(256) },
      { ...IMAP, port: 0 },
      { ...IMAP, port: 65_536 },
      { ...IMAP, mailbox: '' },
      { ...IMAP, mailbox: 'x'.repeat(256) },
      { ...IMAP, password: 'p'.repeat(1001) },
      { ...IMAP, ca: 'c'.repeat(50_001) },
      { ...IMAP, security: 'none' },
      { ...IMAP, other: 1 },
    ],
  ],
])('%s has its limits', async (field, good, bad) => {
  const isTaken = (value: unknown) =>
    change({ [field]: value }).then(
      () => true,
      () => false,
    )
  for (const value of good) expect([value, await isTaken(value)]).toEqual([value, true])
  for (const value of bad) expect([value, await isTaken(value)]).toEqual([value, false])
})

test.each<[part: string, good: object[], bad: object[]]>([
  [
    'sender',
    [
      {},
      { name: 'x'.repeat(80) },
      { title: 'x'.repeat(80), phone: '1'.repeat(40) },
      { reply_to: 'b@c.example' },
      { title: null, phone: null, reply_to: null },
    ],
    [
      { name: '' },
      { name: ' ' },
      { name: 'x'.repeat(81) },
      { name: 'a\nb' },
      { title: '' },
      { title: 'x'.repeat(81) },
      { phone: '1'.repeat(41) },
      { email: 'a' },
      { name: '\u0007a' },
      { email: `${'x'.repeat(250)}@b.co` },
      { reply_to: `${'x'.repeat(250)}@b.co` },
      { other: 1 },
    ],
  ],
  [
    'footer',
    [{}, { postal_address: 'x'.repeat(300) }, { reason_en: 'x'.repeat(300), reason_tr: null }],
    [
      { postal_address: 'x'.repeat(301) },
      { postal_address: 'a\nb' },
      { other: 1 },
      { reason_en: 'x'.repeat(301) },
      { reason_tr: 'x'.repeat(301) },
    ],
  ],
])('the %s of an earlier release has its limits', (part, good, bad) => {
  const first = part === 'sender' ? { name: 'A', email: 'a@b.example' } : {}
  const isTaken = (one: object) => MailSettings.safeParse({ [part]: { ...first, ...one } }).success
  for (const one of good) expect([one, isTaken(one)]).toEqual([one, true])
  for (const one of bad) expect([one, isTaken(one)]).toEqual([one, false])
})

test('there are no other settings of mail', () => {
  expect(MailChange.safeParse({ other: 1 }).success).toBe(false)
  expect(MailSettings.safeParse({ other: 1 }).success).toBe(false)
})

test('a server without a port or way has the usual one', async () => {
  const { smtp, imap } = await change({ smtp: SMTP, imap: IMAP })
  expect(smtp).toEqual({ ...SMTP, port: 587, security: 'starttls' })
  expect(imap).toEqual({ ...IMAP, port: 993, security: 'tls', mailbox: 'INBOX' })
})

describe('a password that is not sent', () => {
  const { password: _, ...without } = IMAP
  beforeEach(() => change({ smtp: { ...SMTP, password: 'of smtp' }, imap: IMAP, daily_cap: 7 }))

  test('stays for the same server and user, and with it what else is not sent', async () => {
    const next = await change({ smtp: { ...SMTP, port: 25 }, imap: { ...without, port: 143 } })
    expect(next).toMatchObject({
      daily_cap: 7,
      smtp: { port: 25, password: 'of smtp' },
      imap: { port: 143, password: 'p' },
    })
    expect(await readMail(paths)).toEqual(next)
  })

  test.each([{ host: 'other.example' }, { user: 'other' }])(
    'is not shown to another one: %j',
    async (other) => {
      const { smtp } = await change({ smtp: { ...SMTP, ...other } })
      expect(smtp).not.toHaveProperty('password')
      await expect(change({ imap: { ...without, ...other } })).rejects.toMatchObject({
        code: 'invalid',
        issues: [{ path: 'imap.password' }],
      })
      expect((await readMail(paths)).imap).toMatchObject({ host: IMAP.host, password: 'p' })
    },
  )

  test('does not come back once the server was taken away', async () => {
    await change({ smtp: null })
    expect((await change({ smtp: SMTP })).smtp).not.toHaveProperty('password')
  })

  test('of listmonk stays for the same address and user alone', async () => {
    const { token, ...known } = { url: 'https://lists.example', user: 'me', token: 'of listmonk' }
    await change({ listmonk: { ...known, token } })
    expect((await change({ listmonk: known })).listmonk).toMatchObject({ token })
    for (const other of [{ url: 'https://other.example' }, { user: 'other' }]) {
      await expect(change({ listmonk: { ...known, ...other } })).rejects.toMatchObject({
        issues: [{ path: 'listmonk.token' }],
      })
    }
    await change({ listmonk: null })
    await expect(change({ listmonk: known })).rejects.toMatchObject({ code: 'invalid' })
  })

  test('is not asked of servers of which none is known', async () => {
    await change({ smtp: null, imap: null })
    expect((await change({ smtp: SMTP })).smtp).toMatchObject(SMTP)
    await expect(change({ imap: without })).rejects.toMatchObject({ code: 'invalid' })
  })

  test('is replaced by one that is sent', async () => {
    const next = await change({
      smtp: { ...SMTP, password: 'new' },
      imap: { ...IMAP, password: '' },
    })
    expect([next.smtp?.password, next.imap?.password]).toEqual(['new', ''])
  })
})

test('the first reason for a pause stays until somebody confirms', async () => {
  const words = { en: 'Three of ten.', tr: 'Onda üç.' }
  expect(await readPause(paths)).toEqual({ reason: null, detail: null, since: null })
  await pauseMail(paths, 'bounces', words)
  const first = await readPause(paths)
  expect(first).toEqual({ reason: 'bounces', detail: words, since: expect.any(String) })
  await pauseMail(paths, 'admin', null)
  expect(await readPause(paths)).toEqual(first)
  await confirmMail(paths)
  expect(await readPause(paths)).toEqual({
    reason: null,
    detail: null,
    since: expect.stringMatching(/^\d{4}-/),
  })
})

describe('a mail goes', () => {
  const listmonk = { url: 'http://127.0.0.1:9', user: 'u', token: 't' }
  const via = (servers: object, public_url: string | null) =>
    (['lead', 'list', 'step'] as const).map((kind) =>
      viaOf(MailSettings.parse(servers), { public_url } as Config, kind),
    )
  test.each<[string, object, string | null, (string | null)[]]>([
    ['nowhere without a server', {}, 'https://h.example', [null, null, null]],
    ['by SMTP alone', { smtp: SMTP }, null, ['smtp', 'smtp', 'smtp']],
    ['by SMTP alone, reachable', { smtp: SMTP }, 'https://h.example', ['smtp', 'smtp', 'smtp']],
    ['by listmonk alone', { listmonk }, null, ['campaign', 'campaign', null]],
    ['by listmonk alone, reachable', { listmonk }, 'https://h.example', ['tx', 'campaign', null]],
    ['by both', { smtp: SMTP, listmonk }, null, ['campaign', 'campaign', 'smtp']],
    [
      'by both, reachable',
      { smtp: SMTP, listmonk },
      'https://h.example',
      ['smtp', 'campaign', 'smtp'],
    ],
  ])('%s: to one lead, to a list and as a step', (_, servers, url, ways) => {
    expect(via(servers, url)).toEqual(ways)
  })
})
