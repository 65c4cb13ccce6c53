import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { everywhere } from '../../../hub/db/db.ts'
import {
  emailHash,
  forgetAddresses,
  parseSalts,
  readSalt,
  readToken,
  release,
  suppress,
  suppressed,
  unsubscribeToken,
} from '../../../hub/mail/suppression.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.close())

type Reason = 'bounced' | 'unsubscribed' | 'manual' | 'complained'
type Before = 'new' | 'released' | Reason

test.each<[before: Before, reason: Reason, after: string, added: number]>([
  ['new', 'bounced', 'bounced', 1],
  ['new', 'unsubscribed', 'unsubscribed', 1],
  ['bounced', 'bounced', 'bounced', 0],
  ['bounced', 'unsubscribed', 'unsubscribed', 0],
  ['released', 'bounced', 'bounced', 1],
  ['released', 'unsubscribed', 'unsubscribed', 1],
  ['unsubscribed', 'bounced', 'unsubscribed', 0],
  ['unsubscribed', 'unsubscribed', 'unsubscribed', 0],
  ['unsubscribed', 'manual', 'unsubscribed', 0],
  ['manual', 'bounced', 'manual', 0],
  ['manual', 'unsubscribed', 'unsubscribed', 0],
  ['manual', 'complained', 'complained', 0],
])(
  'of an address that is %s, %s leaves %s on the list, and adds %i',
  async (before, reason, after, added) => {
    const salt = await readSalt(hub.paths)
    const email = `${before}-${reason}@example.com`
    const hash = emailHash(salt, email)
    const add = (why: Reason) =>
      everywhere(hub.deps.db, (sql) => suppress(sql, salt, { emails: [email], reason: why }))
    if (before !== 'new') await add(before === 'released' ? 'bounced' : before)
    if (before === 'released') await everywhere(hub.deps.db, (sql) => release(sql, [hash]))
    expect(await add(reason)).toBe(added)
    expect(
      await hub.query('select reason, released_at from hub.suppression where email_hash = $1', [
        hash,
      ]),
    ).toEqual([{ reason: after, released_at: null }])
  },
)

test('an entry of the team has an address for 30 days and a typed way back, until its owner asks', async () => {
  const send = async (method: string, path: string, body?: object) => {
    const answer = await hub.call(method, path, body)
    return { status: answer.status, body: await answer.json() }
  }
  const entryOf = async (email: string) =>
    (await send('GET', `suppression?email=${encodeURIComponent(email)}`)).body.suppression[0]
  const emails = ['hand@team.example', 'asked@team.example', 'old@team.example']
  await send('POST', 'suppression/add', { emails, note: 'Asked by phone' })
  await send('POST', 'suppression/import', { text: 'list@team.example' })
  expect(await entryOf('HAND@team.example')).toMatchObject({
    email: 'hand@team.example',
    note: 'Asked by phone',
    reason: 'manual',
    releasable: true,
  })
  await hub.query(
    "update hub.suppression_addresses set shown_until = now() - interval '1 second' where email like 'old@%'",
  )
  expect(await entryOf('old@team.example')).toMatchObject({ email: null, releasable: true })

  const salt = await readSalt(hub.paths)
  await everywhere(hub.deps.db, (sql) =>
    suppress(sql, salt, { emails: ['asked@team.example'], reason: 'unsubscribed' }),
  )
  expect(await entryOf('asked@team.example')).toMatchObject({
    email: null,
    reason: 'unsubscribed',
    releasable: false,
  })
  const back = (email: string) => send('POST', 'suppression/release', { email })
  expect((await back('asked@team.example')).status).toBe(409)
  expect((await back('hand@team.example')).status).toBe(200)
  expect((await back('list@team.example')).status).toBe(200)
  const gone = await back('hand@team.example')
  expect([gone.status, gone.body.detail]).toEqual([404, 'There is no such entry.'])
  expect(await entryOf('hand@team.example')).toBeUndefined()
  await everywhere(hub.deps.db, forgetAddresses)
  expect(
    await hub.query(
      "select email from hub.suppression_addresses where email like '%@team.example'",
    ),
  ).toEqual([])
})

test('addresses are found in a text, known ones told, and of those that are none the first hundred', async () => {
  const send = async (method: string, path: string, body?: object) =>
    (await hub.call(method, path, body)).json()
  const import_ = (text: string) => send('POST', 'suppression/import', { text })
  const { total } = await send('GET', 'suppression')
  expect(await import_('nobody at all')).toEqual({ added: 0, known: 0, invalid: [] })
  const text = 'E-mail;Name\n"Txt1@list.example";A\n<txt2@list.example>,B|a@b,txt1@list.example'
  expect(await import_(text)).toEqual({ added: 2, known: 0, invalid: ['a@b'] })
  expect(await import_(text)).toEqual({ added: 0, known: 2, invalid: ['a@b'] })
  expect((await send('GET', 'suppression?limit=1')).total).toBe(total + 2)
  const wrong = Array.from({ length: 101 }, (_, nth) => `${nth}@x`)
  expect((await import_(wrong.join(' '))).invalid).toEqual(wrong.slice(0, 100))
})

test.each([
  {
    language: 'en',
    title: 'Unsubscribe',
    asks: '<p>Stop sending mail to your address?',
    done: '<p>Done. We will not send any more mail to your address.',
    wrong: 'This link is incomplete. Open it from the mail again, or reply to the mail.',
    tried: 'This was a test mail: its link unsubscribes nobody.',
  },
  {
    language: 'tr',
    title: 'Abonelikten çık',
    asks: '<p>Adresinize artık e-posta gönderilmesin mi?',
    done: '<p>Tamam. Adresinize artık e-posta göndermeyeceğiz.',
    wrong: 'Bu bağlantı eksik. E-postadan yeniden açın ya da e-postayı yanıtlayın.',
    tried: 'Bu bir deneme e-postasıydı: bağlantısı kimseyi çıkarmaz.',
  },
])('the page of a link speaks $language, and its style alone is let in', async (words) => {
  const token = unsubscribeToken(await readSalt(hub.paths), `link-${words.language}@x.example`)
  const open = async (link: string, method = 'GET') => {
    const headers = { host: 'localhost', 'accept-language': words.language }
    const answer = await hub.app.request(`/api/cockpit/u/${link}`, { method, headers })
    const html = await answer.text()
    expect(html).toContain(`<html lang="${words.language}">`)
    expect(html).toContain(`<title>${words.title}</title>`)
    expect(html).toContain(`<h1>${words.title}</h1>`)
    const [, style = ''] = /<style>(.*)<\/style>/.exec(html) ?? []
    const hash = createHash('sha256').update(style).digest('base64')
    const policy = answer.headers.get('content-security-policy')
    expect(policy).toContain(`default-src 'none'; style-src 'sha256-${hash}'`)
    return { status: answer.status, html }
  }
  const button = `<form method="post"><button>${words.title}</button></form>`
  const page = await open(token)
  expect([page.status, page.html.includes(button)]).toEqual([200, true])
  expect(page.html).toContain(words.asks)
  const done = await open(token, 'POST')
  expect([done.status, done.html.includes(button)]).toEqual([200, false])
  expect(done.html).toContain(words.done)
  for (const [link, said] of [
    ['x', words.wrong],
    ['test', words.tried],
  ] as const) {
    const refused = await open(link)
    expect([refused.status, refused.html.includes(button)]).toEqual([404, false])
    expect(refused.html).toContain(said)
  }
})

test('the file of secrets has 1 to 50 whole ones', () => {
  const line = (bytes: number, of = 1) => Buffer.alloc(bytes, of).toString('base64')
  const many = (count: number) =>
    Array.from({ length: count }, (_, nth) => line(32, nth)).join('\n')
  expect(parseSalts(`${line(32)}\n\n ${line(32, 2)} \n`)).toHaveLength(2)
  expect(parseSalts(many(50))).toHaveLength(50)
  for (const wrong of ['', many(51), line(31), line(33), `${line(32)}\nx`, line(32).slice(0, -1)]) {
    expect(parseSalts(wrong), wrong).toBeUndefined()
  }
})

test('what another hub refused by its secret stays refused here, and its links work', async () => {
  const [ours, theirs] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const before = { current: theirs, all: [theirs] }
  const joined = { current: ours, all: [ours, theirs] }
  const email = 'theirs@example.com'
  const refused = (salt: typeof joined, queued: string[] = []) =>
    everywhere(hub.deps.db, (sql) =>
      suppressed(sql, { salt, queued: new Set(queued) }, [email, 'other@example.com']),
    )
  expect(await refused(joined)).toEqual(new Set())
  // Also while the opt-out is on its way to the list.
  expect(await refused(joined, [emailHash(before, email)])).toEqual(new Set([email]))
  await everywhere(hub.deps.db, (sql) =>
    suppress(sql, before, { emails: [email], reason: 'unsubscribed' }),
  )
  expect(await refused(joined)).toEqual(new Set([email]))
  expect(await refused({ current: ours, all: [ours] })).toEqual(new Set())
  const token = unsubscribeToken(before, email)
  expect(readToken(joined, token)).toBe(emailHash(before, email))
  expect(readToken({ current: ours, all: [ours] }, token)).toBeUndefined()
})

test('releasing one address leaves what is known of the others', async () => {
  const salt = await readSalt(hub.paths)
  const [gone, kept] = ['gone@released.example', 'kept@released.example']
  await everywhere(hub.deps.db, async (sql) => {
    await suppress(sql, salt, { emails: [gone, kept], reason: 'manual', note: 'Asked by phone' })
    expect(await release(sql, [emailHash(salt, gone)])).toEqual({
      reason: 'manual',
      is_released: true,
    })
    const refusals = { salt, queued: new Set<string>() }
    expect(await suppressed(sql, refusals, [gone, kept, 'new@released.example'])).toEqual(
      new Set([kept]),
    )
  })
  expect(
    await hub.query(
      `select known.email, entry.note, entry.released_at from hub.suppression_addresses as known
      join hub.suppression as entry using (email_hash)
      where email like '%@released.example'`,
    ),
  ).toEqual([{ email: kept, note: 'Asked by phone', released_at: null }])
})

test.each<[change: string, isKept: boolean]>([
  ['note = null', true],
  ["reason = 'imported'", true],
  ["reason = 'bounced'", false],
  ["reason = 'unsubscribed'", false],
  ['released_at = now()', false],
  ["erased_at = now(), reason = 'imported'", false],
  ['erased_at = now()', false],
])(
  'the address of an entry of the team is known until it changes hands: %s',
  async (change, isKept) => {
    const salt = await readSalt(hub.paths)
    const email = `${change.replace(/\W+/g, '-')}@forget.example`
    await everywhere(hub.deps.db, (sql) =>
      suppress(sql, salt, { emails: [email], reason: 'manual' }),
    )
    await hub.query(`update hub.suppression set ${change} where email_hash = $1`, [
      emailHash(salt, email),
    ])
    await everywhere(hub.deps.db, forgetAddresses)
    expect(
      await hub.query('select email from hub.suppression_addresses where email = $1', [email]),
    ).toEqual(isKept ? [{ email }] : [])
  },
)
