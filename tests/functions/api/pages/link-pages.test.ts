import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { createSeal } from '../../../../functions/seal.ts'
import { runtime } from '../../../support/servers/runtimes.ts'
import { createService } from '../../../support/service.ts'
import {
  about,
  address,
  aWait,
  link,
  owner,
  paragraphsOf,
  query,
  type Stored,
  service,
  stored,
  titleOf,
  useService,
} from './link-scene.ts'

useService()

test('looking at a link does nothing, and pressing its button confirms the address', async () => {
  const channel = await address()
  expect(channel.status).toBe('unconfirmed')
  const path = await link('confirm-address', about(channel))
  for (const method of ['GET', 'HEAD', 'GET']) {
    expect((await service.request(method, path)).status).toBe(200)
  }
  expect(await stored(channel.id)).toMatchObject({ status: 'unconfirmed', confirmed_at: null })
  const page = await service.request('GET', path)
  expect(page.text).toContain('<form method="post">')
  expect(page.text).not.toMatch(/<script|Ops/)
  expect(page.headers.get('Content-Security-Policy')).toMatch(
    /^default-src 'none'.*; form-action 'self'; frame-ancestors 'none'$/,
  )
  expect(page.headers.get('Referrer-Policy')).toBe('no-referrer')
  expect(page.headers.get('Cache-Control')).toBe('no-store')
  expect(page.headers.get('X-Robots-Tag')).toBe('noindex')
  const done = await service.request('POST', path)
  expect([done.status, done.text]).toEqual([200, expect.stringContaining('is confirmed.')])
  expect(titleOf(done.text)).toBe('Your address is confirmed')
  expect(await stored(channel.id)).toMatchObject({ status: 'ok', confirmed_at: expect.anything() })
  for (const method of ['POST', 'GET']) {
    const again = await service.request(method, path)
    expect([again.status, again.text]).toEqual([200, expect.stringContaining('already')])
    expect(again.text).not.toContain('<form')
  }
})

test('the audit log of the owner has who confirmed from where, and no log has the token', async () => {
  const channel = await address()
  const path = await link('confirm-address', about(channel))
  const { headers } = await service.request('POST', path, { headers: { 'User-Agent': 'A phone' } })
  const entry = await query<{ action: string; actor_id: string | null; request_id: string }>(
    'select * from watchpost.audit where target_id = $1 order by seq desc limit 1',
    [channel.id],
  )
  expect(entry).toMatchObject({
    action: 'channel.updated',
    actor_id: null,
    user_agent: 'A phone',
  })
  expect(entry.request_id).toBe(headers.get('X-Request-Id'))
  const token = new URL(path, 'https://x.test').searchParams.get('token')
  expect(token).toHaveLength(92)
  expect(JSON.stringify(service.lines)).not.toContain(token)
})

test('a mail program unsubscribes with one request, and the owner can read why', async () => {
  const channel = await address({ is_confirmed: true })
  const path = await link('unsubscribe', about(channel))
  await service.request('GET', path)
  expect(await stored(channel.id)).toMatchObject({ status: 'ok', enabled: true })
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const options = { headers, body: 'List-Unsubscribe=One-Click' }
  const answer = await service.request('POST', path, options)
  expect(answer.status).toBe(200)
  expect(await stored(channel.id)).toMatchObject({
    status: 'disabled',
    enabled: false,
    confirmed_at: null,
    disabled_reason: 'Somebody unsubscribed with the link in one of its mails.',
  })
  const again = await service.request('POST', path, options)
  expect(again.text).toContain('nothing left to do')
  expect([answer, again].map(({ text }) => titleOf(text))).toEqual(
    Array(2).fill('These mails are stopped'),
  )
  // Whoever stopped the mails has to be asked before there are any again.
  const patched = await service.request('PATCH', `/api/v1/channels/${channel.id}`, {
    ...owner,
    body: { enabled: true },
  })
  expect(patched.status).not.toBe(200)
  await service.database.query(
    `update watchpost.channels set enabled = true, status = 'ok' where id = $1`,
    [channel.id],
  )
  expect(await stored(channel.id)).toMatchObject({ status: 'unconfirmed' })
})

describe('a link that is good for nothing says so, with the way out:', () => {
  const expectRefusal = async (path: string, status: number, text: string) => {
    for (const method of ['GET', 'POST']) {
      const answer = await service.request(method, path)
      expect([method, answer.status]).toEqual([method, status])
      expect(answer.text).toContain(text)
      expect(paragraphsOf(answer.text)).toHaveLength(1)
      expect(answer.text).not.toContain('<form')
    }
  }

  test('expired', async () => {
    const channel = await address()
    const path = await link('confirm-address', about(channel), { ms: -1000 })
    await expectRefusal(path, 410, 'Ask the owner of the channel')
    expect(await stored(channel.id)).toMatchObject({ status: 'unconfirmed' })
  })

  test('but one that was used in time says so for ever', async () => {
    const channel = await address({ is_confirmed: true })
    const path = await link('confirm-address', about(channel), { ms: -1000 })
    for (const method of ['GET', 'POST']) {
      const answer = await service.request(method, path)
      expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('already')])
    }
    const over = await link('unsubscribe', about(channel), { ms: -1000 })
    await expectRefusal(over, 410, 'in a newer mail')
    expect(await stored(channel.id)).toMatchObject({ status: 'ok', enabled: true })
  })

  test('of another purpose, signed by another key, changed or missing', async () => {
    const channel = await address()
    const path = await link('confirm-address', about(channel))
    const other = createSeal([Buffer.alloc(32, 9).toString('base64')])
    const wrong = [
      path.replace('confirm-address', 'unsubscribe'),
      await link('confirm-address', about(channel), { seal: other }),
      path.replace('token=A', 'token=B'),
      path.slice(0, -1),
      '/links/confirm-address',
      '/links/acknowledge?token=%3Cscript%3E',
    ]
    for (const each of wrong) await expectRefusal(each, 404, 'Copy the whole link')
    expect(await stored(channel.id)).toMatchObject({ status: 'unconfirmed' })
  })

  test('of an address that was changed, and of a channel that was deleted', async () => {
    const changed = await address()
    await service.database.query(
      `update watchpost.channels set target_sealed = 'another' where id = $1`,
      [changed.id],
    )
    await expectRefusal(await link('confirm-address', about(changed)), 410, 'no longer valid')
    const deleted = await address({ is_confirmed: true })
    await service.database.query('update watchpost.channels set deleted_at = now() where id = $1', [
      deleted.id,
    ])
    await expectRefusal(await link('unsubscribe', about(deleted)), 410, 'no longer valid')
    const unknown = { channel_id: owner.user_id, confirmation_id: owner.user_id }
    await expectRefusal(await link('confirm-address', unknown), 410, 'no longer valid')
  })
})

test.each([
  ['confirm-address', false],
  ['unsubscribe', true],
] as const)(
  'a link to %s that is used while the address is being changed does nothing to the new one',
  async (purpose, is_confirmed) => {
    const channel = await address({ is_confirmed })
    const path = await link(purpose, about(channel))
    const owners = await service.transaction()
    await owners.query(
      `update watchpost.channels set target_sealed = 'another', confirmation_id = gen_random_uuid() where id = $1`,
      [channel.id],
    )
    // Somebody who followed the new link was quicker.
    if (is_confirmed)
      await owners.query('update watchpost.channels set confirmed_at = now() where id = $1', [
        channel.id,
      ])
    const pressed = service.request('POST', path)
    await aWait()
    await owners.commit()
    await pressed
    expect(await stored(channel.id)).toMatchObject(
      is_confirmed
        ? { status: 'ok', enabled: true, confirmed_at: expect.anything() }
        : { status: 'unconfirmed', confirmed_at: null },
    )
  },
)

test('what a link does leaves nothing of its caller behind for what follows in the transaction', async () => {
  const login = new pg.Client({ connectionString: service.database.apiUrl })
  await login.connect()
  const channel = await address()
  const values = [channel.id, channel.confirmation_id, { request_id: owner.user_id }]
  const left: unknown[] = []
  for (const act of ['confirm_address', 'unsubscribe_address']) {
    await login.query('begin')
    const { rows } = await login.query(`select private.${act}($1, $2, $3) as done`, values)
    const after = await login.query(`select current_setting('request.jwt.claims', true) as claims`)
    await login.query('commit')
    left.push([rows[0].done, after.rows[0].claims])
  }
  await login.end()
  expect(left).toEqual([
    ['confirmed', ''],
    ['unsubscribed', ''],
  ])
})

describe('acknowledging', () => {
  type Told = { alert: string; channel: Stored }
  const SEVERITY = { severity: 50, multiplier: 1, effective: 50, min_severity: 40 }
  const CHECKS = [{ name: 'severity', passed: true, ...SEVERITY }]
  async function told(language = 'en'): Promise<Told> {
    const channel = await address({ language, is_confirmed: true })
    const zone = await query<{ id: string }>(
      `insert into watchpost.zones (owner_id, label, lat, lon, boxes)
      values ($1, 'The <i>quay</i>', 1, 2, array[box '(3,2),(1,0)']) returning id`,
      [owner.user_id],
    )
    const alert = await query<{ id: string }>(
      `insert into watchpost.alerts (zone_id, zone_name, owner_id, event_id, source, event, severity, reason,
        first_reason, status, raised_at, checks, zone_version, event_revision)
      values ($1, 'The <i>quay</i>', $2, 'test:1', 'test', $3, 50, 'M 5: stored in English.', 'r', 'dispatched', now(), $4,
        1, 1)
      returning id`,
      [
        zone.id,
        owner.user_id,
        { id: 'test:1', source: 'test', title: 'M 5 <script>' },
        JSON.stringify(CHECKS),
      ],
    )
    await service.database.query(
      `insert into watchpost.deliveries (alert_id, channel_id, type, status) values ($1, $2, 'alert.raised', 'succeeded')`,
      [alert.id, channel.id],
    )
    return { alert: alert.id, channel }
  }
  const seen = (id: string) =>
    query<{ seen_at: string | null; seen_channel_id: string | null }>(
      'select * from watchpost.alerts where id = $1',
      [id],
    )

  test('shows the alert, and records on the button that it was seen', async () => {
    const { alert, channel } = await told()
    const path = await link('acknowledge', { alert_id: alert, channel_id: channel.id })
    const page = await service.request('GET', path)
    expect(page.text).toContain('The &lt;i&gt;quay&lt;/i&gt;: M 5 &lt;script&gt;')
    expect(page.text).toContain('<p>Severity 50 × 1 = 50 reaches 40.</p>')
    expect(titleOf(page.text)).toBe('Have you seen this alert?')
    expect(await seen(alert)).toMatchObject({ seen_at: null })
    const done = await service.request('POST', path)
    expect(done.text).toContain('It is recorded')
    expect(await seen(alert)).toMatchObject({ seen_channel_id: channel.id })
    const again = await service.request('POST', path)
    expect(again.text).toContain('already')
    for (const { text } of [done, again, await service.request('GET', path)]) {
      expect(titleOf(text)).toBe('This alert has been seen')
      expect(text).toContain('The &lt;i&gt;quay&lt;/i&gt;: M 5 &lt;script&gt;')
      expect(text).toMatch(
        /acknowledged on \d+ \w+ \d{4}, \d\d:\d\d UTC through the channel “&lt;b&gt;Ops&lt;\/b&gt;”\./,
      )
      expect(text).not.toContain('<form')
    }
  })

  test('says how somebody else has seen it, and names neither them nor their channel', async () => {
    const { alert, channel } = await told()
    const path = await link('acknowledge', { alert_id: alert, channel_id: channel.id })
    const mark = async (via: string, channel_id: string | null) => {
      await service.database.query(
        `update watchpost.alerts set seen_at = '2026-01-02T03:04:00Z', seen_via = $2, seen_channel_id = $3 where id = $1`,
        [alert, via, channel_id],
      )
      return (await service.request('GET', path)).text
    }
    const other = await address({ is_confirmed: true })
    const elsewhere = await mark('channel', other.id)
    expect(elsewhere).toContain('on 2 Jan 2026, 03:04 UTC through another channel.')
    expect(elsewhere).not.toContain('Ops')
    const account = await mark('api', null)
    expect(account).toContain('on 2 Jan 2026, 03:04 UTC by a user of Watchpost.')
    const words = 'open it in the console'
    // Of the services of these tests only the Worker has the console beside it.
    const told_as = runtime() === 'workerd' ? `<a href="../#/alerts/${alert}">${words}</a>` : words
    expect(account).toContain(`<p>To resolve the alert or to snooze its zone, ${told_as}.</p>`)
    await service.database.query('update watchpost.alerts set resolved = true where id = $1', [
      alert,
    ])
    const { text } = await service.request('GET', path)
    expect(text).toContain('This alert is resolved.')
    expect(text).not.toContain(words)
  })

  test('is in the language and time zone of the channel, the reason too', async () => {
    const { alert, channel } = await told('tr')
    await service.database.query(
      `update watchpost.channels set time_zone = 'Europe/Istanbul' where id = $1`,
      [channel.id],
    )
    const path = await link('acknowledge', { alert_id: alert, channel_id: channel.id })
    const page = await service.request('GET', path)
    expect(page.text).toContain('<html lang="tr">')
    expect(page.text).toContain('<button>Gördüm</button>')
    expect(page.text).toContain('<p>Önem derecesi 50 × 1 = 50, eşiği karşılıyor (eşik 40).</p>')
    expect(page.text).not.toContain('stored in English')
    const done = await service.request('POST', path)
    expect(titleOf(done.text)).toBe('Bu uyarı görüldü')
    expect(done.text).toMatch(/Bildirim zamanı: .* GMT\+3\. Kanal: &lt;b&gt;Ops&lt;\/b&gt;\./)
  })

  test('says of a drill in its language that it is one', async () => {
    const { alert, channel } = await told('tr')
    await service.database.query(
      `with drill as (
        insert into watchpost.drills (zone_id, event, ignores_quiet_hours, escalates)
        select zone_id, '{}', false, false from watchpost.alerts where id = $1 returning id)
      update watchpost.alerts
      set drill_id = (select id from drill), event = event || '{"type": "earthquake", "title": "DRILL: Earthquake"}'
      where id = $1`,
      [alert],
    )
    const path = await link('acknowledge', { alert_id: alert, channel_id: channel.id })
    const { text } = await service.request('GET', path)
    expect(text).toContain(': TATBİKAT: Deprem, gerçek bir olay değil</p>')
    expect(text).not.toContain('DRILL')
  })

  test('waits for what is happening to the alert, and is over when that ends its zone', async () => {
    const { alert, channel } = await told()
    const path = await link('acknowledge', { alert_id: alert, channel_id: channel.id })
    const owners = await service.transaction()
    await owners.query('select from watchpost.alerts where id = $1 for update', [alert])
    await owners.query(
      `update watchpost.zones set deleted_at = now()
      where id = (select zone_id from watchpost.alerts where id = $1)`,
      [alert],
    )
    const pressed = service.request('POST', path)
    await aWait()
    await owners.commit()
    const answer = await pressed
    expect([answer.status, answer.text]).toEqual([410, expect.stringContaining('no longer valid')])
    expect(await seen(alert)).toMatchObject({ seen_at: null })
  })

  test('is only for this alert and channel, and over when the channel is switched off', async () => {
    const [one, other] = [await told(), await told()]
    const crossed = await link('acknowledge', {
      alert_id: one.alert,
      channel_id: other.channel.id,
    })
    expect((await service.request('POST', crossed)).status).toBe(410)
    const path = await link('acknowledge', { alert_id: one.alert, channel_id: one.channel.id })
    await service.database.query('update watchpost.channels set enabled = false where id = $1', [
      one.channel.id,
    ])
    expect((await service.request('POST', path)).status).toBe(410)
    expect(await seen(one.alert)).toMatchObject({ seen_at: null })
  })
})

// Only Node lets a test put in its own limit; on the edge it would belong to every file of the process.
if (runtime() === 'node')
  test('links are limited by address, before their token is read', async () => {
    const limited = await createService({ address_limit: () => 7 })
    try {
      for (const method of ['GET', 'POST']) {
        const answer = await limited.request(method, '/links/unsubscribe?token=x')
        expect([answer.status, answer.headers.get('Retry-After')]).toEqual([429, '7'])
      }
    } finally {
      await limited.close()
    }
  })
