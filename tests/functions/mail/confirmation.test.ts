import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { MailRequest } from '../../../functions/channels/transport/send.ts'
import { Channel, ChannelDelivery } from '../../../shared/schemas/channel.ts'
import { createTestJobs, quake, type TestJobs } from '../../support/jobs.ts'
import { createService, type Person, parsed, type Service } from '../../support/service.ts'

const One = z.object({ channel: Channel })
const Log = z.looseObject({ deliveries: z.array(ChannelDelivery) })
const Zone = z.object({
  zone: z.looseObject({ id: z.string() }),
  warnings: z.array(z.string()).optional(),
})

let service: Service
let jobs: TestJobs
const mails: MailRequest[] = []
let answer = { status: 250, body: '250 OK', stage: 'data' as 'data' | 'recipient' }
const mail = async (request: MailRequest) => {
  mails.push(request)
  return { ok: true as const, headers: new Headers(), duration_ms: 1, ...answer }
}

beforeAll(async () => {
  service = await createService({ mail, public_url: 'https://watch.example' })
  jobs = await createTestJobs(service, { mail })
})
afterAll(async () => {
  await jobs?.close()
  await service?.close()
})

let count = 0
const newAddress = () => `ops${++count}@example.com`
const ask = (who: Person, method: string, path: string, body?: unknown) =>
  service.request(method, `/api/v1/${path}`, { ...who, ...(body === undefined ? {} : { body }) })

async function create(who: Person, target = newAddress(), more: object = {}) {
  const made = await ask(who, 'POST', 'channels', { kind: 'email', target, ...more })
  return parsed(made, 201, One).channel
}
const read = async (who: Person, id: string) =>
  parsed(await ask(who, 'GET', `channels/${id}`), 200, One).channel
const log = async (who: Person, id: string) =>
  parsed(await ask(who, 'GET', `channels/${id}/deliveries`), 200, Log).deliveries

/** What the jobs mail. */
async function mailed(): Promise<MailRequest[]> {
  const from = mails.length
  await jobs.drain()
  return mails.slice(from)
}
const linkIn = (text = '', purpose = 'confirm-address') =>
  text.match(new RegExp(`https://watch\\.example(/links/${purpose}\\?token=[\\w-]+)`))?.[1] ?? ''
const press = (path: string) => service.request('POST', path)

async function confirmed(who: Person, target?: string, more?: object) {
  const channel = await create(who, target, more)
  const sent = (await mailed()).find(({ to }) => to === channel.target)
  expect((await press(linkIn(sent?.text))).status).toBe(200)
  return channel
}

test('a new address is asked first, gets nothing else before it agrees, and alerts afterwards', async () => {
  const who = await service.person()
  const target = newAddress()
  const channel = await create(who, target)
  expect(channel).toMatchObject({ kind: 'email', target, status: 'unconfirmed', enabled: true })
  const zone = parsed(
    await ask(who, 'POST', 'zones', { label: 'Quay', lat: 33.9, lon: -117.5 }),
    201,
    Zone,
  )
  expect(zone.warnings).toContain(
    '1 channel gets no alerts of this zone until its address is confirmed with the link that was mailed to it.',
  )
  const [asked, ...others] = await mailed()
  expect(others).toEqual([])
  expect(asked).toMatchObject({ to: target, thread: null, unsubscribe_url: null })
  expect(asked?.text).toContain('Somebody asked watch.example to send alerts')

  await jobs.ingest(quake())
  expect(await mailed()).toEqual([])
  const [skipped] = await log(who, channel.id)
  expect(skipped).toMatchObject({
    kind: 'alert.raised',
    status: 'cancelled',
    last_error: 'The address of the channel is not confirmed yet.',
  })
  const tested = await ask(who, 'POST', `channels/${channel.id}/test`)
  expect([tested.status, tested.text]).toEqual([
    409,
    expect.stringContaining('POST /channels/{id}/confirmation'),
  ])
  expect(mails.filter(({ to }) => to === target)).toHaveLength(1)

  expect((await press(linkIn(asked?.text))).text).toContain('is confirmed.')
  expect(await read(who, channel.id)).toMatchObject({ status: 'ok' })
  const now = parsed(await ask(who, 'GET', `zones/${zone.zone.id}`), 200, Zone)
  expect(now.warnings?.join()).not.toContain('confirmed')

  await jobs.ingest(quake({ title: 'M 6.1 - Pier <b>9</b>' }))
  const [alert, ...more] = await mailed()
  expect(more).toEqual([])
  expect(alert).toMatchObject({
    to: target,
    subject: 'Quay: M 6.1 - Pier <b>9</b>',
    is_reply: false,
    thread: expect.stringMatching(/^alert-/),
    unsubscribe_url: expect.stringContaining('/links/unsubscribe?token='),
  })
  expect(alert?.html).toContain('M 6.1 - Pier &lt;b&gt;9&lt;/b&gt;')
  // The links of a mail work as they are.
  expect((await press(linkIn(alert?.text, 'acknowledge'))).text).toContain('It is recorded')
  const stop = new URL(alert?.unsubscribe_url ?? '')
  expect((await press(stop.pathname + stop.search)).status).toBe(200)
  expect(await read(who, channel.id)).toMatchObject({
    status: 'disabled',
    disabled_reason: 'Somebody unsubscribed with the link in one of its mails.',
  })
  const on = await ask(who, 'PATCH', `channels/${channel.id}`, { enabled: true })
  expect(parsed(on, 200, One).channel.status).toBe('unconfirmed')
})

test('another address has to agree again, and the links of the old one are dead', async () => {
  const who = await service.person()
  const channel = await create(who)
  const [first] = await mailed()
  const target = newAddress()
  const patched = await ask(who, 'PATCH', `channels/${channel.id}`, { target })
  expect(parsed(patched, 200, One).channel).toMatchObject({ target, status: 'unconfirmed' })
  expect((await press(linkIn(first?.text))).status).toBe(410)
  const [second] = await mailed()
  expect(second?.to).toBe(target)
  expect((await press(linkIn(second?.text))).status).toBe(200)
  // Sent back as it is, it stays confirmed.
  await ask(who, 'PATCH', `channels/${channel.id}`, { target, label: 'Ops' })
  expect(await read(who, channel.id)).toMatchObject({ status: 'ok', label: 'Ops' })
  expect(await mailed()).toEqual([])
})

test('a confirmed channel that gets another address has to ask again before it sends anything there', async () => {
  const who = await service.person()
  const channel = await confirmed(who)
  const here = { lat: -33.9, lon: 18.4 }
  await ask(who, 'POST', 'zones', { label: 'Bay', ...here })
  const target = newAddress()
  await ask(who, 'PATCH', `channels/${channel.id}`, { target })
  expect(await read(who, channel.id)).toMatchObject({ target, status: 'unconfirmed' })
  await jobs.ingest(quake(here))
  const [asked, ...others] = await mailed()
  expect([asked?.to, others]).toEqual([target, []])
  expect((await press(linkIn(asked?.text))).status).toBe(200)
  expect(await read(who, channel.id)).toMatchObject({ status: 'ok' })
})

test('a step of escalation does not claim to have told an address that nobody confirmed', async () => {
  const who = await service.person()
  const channel = await create(who)
  await mailed()
  const here = { lat: 64, lon: -21 }
  const escalation = [{ after_minutes: 10, channel_ids: [channel.id] }]
  const fields = { label: 'Geyser', ...here, channel_ids: [], escalation }
  const made = parsed(await ask(who, 'POST', 'zones', fields), 201, Zone)
  expect(made.warnings?.join()).toContain('The step of escalation after 10 minutes tells nobody')
  const event = quake(here)
  await jobs.ingest(event)
  await mailed()
  await service.database.query(
    `update watchpost.alert_steps s set due_at = now() from watchpost.alerts a
    where a.id = s.alert_id and a.owner_id = $1`,
    [who.user_id],
  )
  expect(await mailed()).toEqual([])
  const explained = await ask(
    who,
    'GET',
    `zones/${made.zone.id}/explain?event_id=${encodeURIComponent(event.id)}`,
  )
  expect(explained.body).toMatchObject({
    escalation: [
      {
        status: 'stopped',
        reason: 'no_channel',
        channels: [{ channel_id: channel.id, outcome: 'unconfirmed' }],
      },
    ],
  })
})

test('a second mail that still waits when the first link is used is not sent', async () => {
  const who = await service.person()
  const channel = await create(who)
  const [first] = await mailed()
  expect((await ask(who, 'POST', `channels/${channel.id}/confirmation`)).status).toBe(202)
  expect((await press(linkIn(first?.text))).status).toBe(200)
  expect(await mailed()).toEqual([])
  expect(await log(who, channel.id)).toMatchObject([
    { status: 'cancelled', last_error: 'The address of the channel is confirmed already.' },
    { status: 'succeeded' },
  ])
})

test('a channel that is deleted before its address was asked asks nobody', async () => {
  const who = await service.person()
  const channel = await create(who)
  // As if the deletion were committed after the mail was taken up: nobody cancels it.
  const deletion = await service.transaction()
  await deletion.query('set local session_replication_role = replica', [])
  await deletion.query('update watchpost.channels set deleted_at = now() where id = $1', [
    channel.id,
  ])
  await deletion.commit()
  expect(await mailed()).toEqual([])
})

test('each link of a mail works for its own time, counted from the first attempt', async () => {
  const who = await service.person()
  const channel = await create(who)
  const [asked] = await mailed()
  const zone = { lat: -12, lon: -77 }
  await ask(who, 'POST', 'zones', { label: 'Port', ...zone })
  expect((await press(linkIn(asked?.text))).status).toBe(200)
  const event = quake({ ...zone, severity: 45 })
  await jobs.ingest(event)
  const [alert] = await mailed()
  await jobs.ingest({ ...event, severity: 85 })
  const [worse] = await mailed()
  const hours = (path: string) => {
    const token = new URL(path, 'https://x.test').searchParams.get('token') ?? ''
    const seconds = Buffer.from(token, 'base64url').readUInt32BE(1)
    return Math.round((seconds - Date.now() / 1000) / 360) / 10
  }
  expect(hours(linkIn(asked?.text))).toBe(48)
  expect(hours(linkIn(alert?.text, 'acknowledge'))).toBe(7 * 24)
  expect(hours(alert?.unsubscribe_url ?? '')).toBe(400 * 24)
  // What got worse is to be acknowledged anew, so it has that link as well.
  expect(hours(linkIn(worse?.text, 'acknowledge'))).toBe(7 * 24)
  expect(linkIn(asked?.text, 'unsubscribe')).toBe('')
  expect(await read(who, channel.id)).toMatchObject({ status: 'ok' })
})

describe('no cannon of mail:', () => {
  test('three mails a day go to a mailbox, whoever asks and however it is written', async () => {
    const [one, other] = [await service.person(), await service.person()]
    const channel = await create(one, 'victim@example.org')
    await create(other, 'Victim+news@EXAMPLE.org')
    const again = () => ask(one, 'POST', `channels/${channel.id}/confirmation`)
    expect((await again()).status).toBe(202)
    const refused = await again()
    expect([refused.status, refused.text]).toEqual([429, expect.stringContaining('Try again in')])
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(3600)
    const created = await ask(other, 'POST', 'channels', {
      kind: 'email',
      target: 'victim+x@example.org',
    })
    expect(created.status).toBe(429)
    // What was refused has not made a channel either. The mail that still waited is not sent twice.
    expect((await ask(other, 'GET', 'channels')).text).not.toContain('victim+x')
    expect(await mailed()).toHaveLength(2)
  })

  test('a domain counts once, however it is written', async () => {
    const target = (domain: string) => ({ kind: 'email', target: `victim@${domain}` })
    const statuses: number[] = []
    for (const domain of [
      'bücher.example.org',
      'BÜCHER.example.org',
      'xn--bcher-kva.example.org',
      'bücher.Example.org',
    ])
      statuses.push((await ask(await service.person(), 'POST', 'channels', target(domain))).status)
    expect(statuses).toEqual([201, 201, 201, 429])
    await mailed()
  })

  test('one account asks for twenty a day', async () => {
    const who = await service.person()
    for (let nr = 0; nr < 20; nr++) await create(who)
    const refused = await ask(who, 'POST', 'channels', { kind: 'email', target: newAddress() })
    expect(refused.status).toBe(429)
    expect(
      (
        await ask(await service.person(), 'POST', 'channels', {
          kind: 'email',
          target: newAddress(),
        })
      ).status,
    ).toBe(201)
    await mailed()
  })

  test('only an unconfirmed address of one’s own can be asked again', async () => {
    const who = await service.person()
    const channel = await confirmed(who)
    const path = `channels/${channel.id}/confirmation`
    expect((await ask(who, 'POST', path)).status).toBe(409)
    expect((await ask(await service.person(), 'POST', path)).status).toBe(404)
    await mailed()
    expect(mails.filter(({ to }) => to === channel.target)).toHaveLength(1)
  })

  test('the database itself asks for nobody but who may change the channel', async () => {
    const [who, admin, member] = [
      await service.person(),
      await service.person(),
      await service.person(),
    ]
    const org_id = await service.organisation(who, [admin, 'admin'], [member, 'member'])
    const reader = await service.key(who, { scopes: ['read'] })
    const shared = await create(who, newAddress(), { org_id })
    const [gone, own] = [await create(who), await create(who)]
    await ask(who, 'DELETE', `channels/${gone.id}`)
    await mailed()
    const asked = (key: string, { id }: { id: string }) =>
      service.queryAs(
        key,
        `select from (select private.begin_confirmation($1, 'a mailbox') as wait) begun where wait = 0`,
        [id],
        'rollback',
      )
    expect(await asked(who.key, shared)).toBe(1)
    expect(await asked(admin.key, shared)).toBe(1)
    expect(await asked(who.key, own)).toBe(1)
    expect(await asked(member.key, shared)).toBe(0)
    expect(await asked(admin.key, own)).toBe(0)
    expect(await asked(reader, own)).toBe(0)
    expect(await asked(who.key, gone)).toBe(0)
  })
})

test('an address that does not exist switches its channel off', async () => {
  const who = await service.person()
  const channel = await create(who)
  answer = { status: 550, body: '550 5.1.1 no such user', stage: 'recipient' }
  try {
    await mailed()
  } finally {
    answer = { status: 250, body: '250 OK', stage: 'data' }
  }
  expect(await read(who, channel.id)).toMatchObject({
    status: 'disabled',
    disabled_reason: 'The address takes no mail: 550 5.1.1 no such user',
  })
})

test('a mail that was refused for now is the same at the next attempt', async () => {
  const who = await service.person()
  const channel = await create(who)
  answer = { status: 451, body: '451 4.7.1 greylisted', stage: 'recipient' }
  const mine = async () => (await mailed()).find(({ to }) => to === channel.target)
  const first = await mine()
  answer = { status: 250, body: '250 OK', stage: 'data' }
  await service.database.query(
    `update pgboss.job set start_after = now() where name = 'deliver' and state in ('created', 'retry')`,
  )
  const second = await mine()
  expect(first).toBeDefined()
  expect(second).toEqual(first)
  expect(await log(who, channel.id)).toMatchObject([
    { kind: 'channel.confirmation', status: 'succeeded', attempts: 2 },
  ])
})

test('updates of an alert join the thread of its first mail', async () => {
  const who = await service.person()
  await confirmed(who, undefined, { language: 'tr', time_zone: 'Europe/Istanbul' })
  await ask(who, 'POST', 'zones', { label: 'Rıhtım', lat: 41, lon: 29 })
  const event = quake({ lat: 41, lon: 29, title: 'M 5.0 - Kıyı', severity: 50 })
  await jobs.ingest(event)
  const [first] = await mailed()
  await jobs.ingest({ ...event, severity: 85, title: 'M 7.0 - Kıyı' })
  const [second] = await mailed()
  expect(first?.subject).toBe('Rıhtım: M 5.0 - Kıyı')
  expect(second).toMatchObject({
    subject: 'Re: Rıhtım: M 5.0 - Kıyı',
    thread: first?.thread,
    is_reply: true,
  })
  expect(second?.html).toContain('<html lang="tr">')
  expect(second?.text).toContain('M 7.0 - Kıyı')
})

test('without a mail server no such channel can be made, and the answer says what is missing', async () => {
  const other = await createService()
  try {
    const answered = await other.request('POST', '/api/v1/channels', {
      ...(await other.person()),
      body: { kind: 'email', target: 'ops@example.com' },
    })
    expect(answered.status).toBe(422)
    expect(answered.text).toContain('Its operator sets MAIL_FROM with SMTP_URL')
  } finally {
    await other.close()
  }
})
