import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { FailingMessage, RecoveredMessage } from '../../../../shared/schemas/webhook.ts'
import {
  CreatedZone,
  createDeliveryService,
  type DeliveryService,
} from '../../../support/delivery-service.ts'
import { quake } from '../../../support/jobs.ts'
import { type Person, sendResult } from '../../../support/service.ts'

let at: DeliveryService
let person: Person
beforeAll(async () => {
  at = await createDeliveryService()
})
afterAll(() => at.close())
beforeEach(async () => {
  await at.reset()
  await at.query(
    'truncate watchpost.key_usage, watchpost.channel_troubles, watchpost.accounts cascade',
  )
  person = await at.service.person()
})

const target = (name: string) => ({ label: name, target: `https://${name}.example.com/in` })
const channel = async (name: string, fields: object = {}, who = person) =>
  (await at.channelOf(who, { ...target(name), ...fields })).id
const look = async () => {
  await at.query('select private.watch_channels()')
  await at.jobs.drain()
}
const set = (id: string, columns: string) =>
  at.query(`update watchpost.channels set ${columns} where id = $1`, [id])
const fail = (id: string, minutes = 15) =>
  set(
    id,
    `status = 'failing', failures = 9, failing_reason = 'The receiver answered HTTP 500.',
    failing_since = now() - interval '${minutes} minutes'`,
  )
/** It delivers again, and has for some minutes. */
const heal = async (id: string, { minutes = 5, is_proven = true } = {}) => {
  await set(id, `status = 'ok', failures = 0, failing_reason = null, failing_since = null`)
  if (is_proven)
    await at.query(
      `insert into watchpost.deliveries (channel_id, type, status, delivered_at) values ($1, 'channel.test', 'succeeded', now())`,
      [id],
    )
  await look()
  await at.query(
    `update watchpost.channel_troubles set well_at = well_at - make_interval(mins => $1)`,
    [minutes],
  )
  await look()
}
/** Who was told what. */
const told = () =>
  at.service.receiver.requests.map(({ url, body }) => [
    new URL(url).hostname.replace('.example.com', ''),
    JSON.parse(body).type,
  ])

test('its owner is told once, through another channel, and once that it works again', async () => {
  const broken = await channel('broken')
  await channel('other')
  await fail(broken)
  await look()
  await look()
  expect(told()).toEqual([['other', 'channel.failing']])
  const failing = FailingMessage.parse(JSON.parse(at.service.receiver.requests[0]?.body ?? ''))
  expect(failing.data.channel).toMatchObject({
    id: broken,
    kind: 'webhook',
    label: 'broken',
    status: 'failing',
    reason: 'The receiver answered HTTP 500.',
  })
  await heal(broken)
  await look()
  expect(told()).toEqual([
    ['other', 'channel.failing'],
    ['other', 'channel.recovered'],
  ])
  const recovered = RecoveredMessage.parse(JSON.parse(at.service.receiver.requests[1]?.body ?? ''))
  expect(recovered.data.channel).toMatchObject({ id: broken, status: 'ok' })
  expect(recovered.data.channel.failing_seconds).toBeGreaterThanOrEqual(15 * 60 - 5 * 60)
})

test('a channel that fails for less than 15 minutes, or recovers in between, is no news', async () => {
  const broken = await channel('broken')
  await channel('other')
  await fail(broken, 14)
  await look()
  await heal(broken)
  expect(told()).toEqual([])
})

test('one that comes and goes is told of once', async () => {
  const broken = await channel('broken')
  await channel('other')
  for (const _ of [1, 2, 3]) {
    await fail(broken)
    await look()
    await heal(broken, { minutes: 4 })
  }
  expect(told()).toEqual([['other', 'channel.failing']])
})

test('a receiver that answers 410 disables its channel, and the owner hears of it', async () => {
  await at.make(person, 'zones', { label: 'A place', ...at.place() }, CreatedZone)
  const here = at.place()
  const gone = await channel('gone')
  await at.make(person, 'zones', { label: 'Here', ...here, channel_ids: [gone] }, CreatedZone)
  await channel('other')
  at.service.receiver.answer = ({ url }) => sendResult(url.includes('gone') ? 410 : 200)
  await at.jobs.ingest(quake(here))
  await at.jobs.drain()
  await look()
  expect(told()).toEqual([
    ['gone', 'alert.raised'],
    ['other', 'channel.failing'],
  ])
  const { data } = JSON.parse(at.service.receiver.requests[1]?.body ?? '')
  expect(data.channel).toMatchObject({
    status: 'disabled',
    reason: 'The receiver answered HTTP 410.',
  })
})

test('what somebody switched off, and what was disabled long ago, is no news', async () => {
  const [off, old] = [await channel('off'), await channel('old')]
  await channel('other')
  await at.service.request('PATCH', `/api/v1/channels/${off}`, {
    ...person,
    body: { enabled: false },
  })
  await at.query('alter table watchpost.channels disable trigger channels_before')
  await set(
    old,
    `enabled = false, status = 'disabled', disabled_reason = 'HTTP 410', updated_at = now() - interval '2 days'`,
  )
  await at.query('alter table watchpost.channels enable trigger channels_before')
  await look()
  expect(told()).toEqual([])
})

test('one that its owner mends and that delivered nothing since is not called recovered', async () => {
  const broken = await channel('broken')
  await channel('other')
  await fail(broken)
  await look()
  await heal(broken, { is_proven: false })
  expect(told()).toEqual([['other', 'channel.failing']])
  await heal(broken, { is_proven: false, minutes: 24 * 60 })
  expect(await at.query('select from watchpost.channel_troubles where ended_at is null')).toEqual(
    [],
  )
  expect(told()).toEqual([['other', 'channel.failing']])
})

const troubleOf = async (id: string) => {
  const [row] = await at.service.database.query<{
    status: string
    ended_at: string | null
    told_at: string | null
  }>('select status, ended_at, told_at from watchpost.channel_troubles where channel_id = $1', [id])
  return row
}

test.each([
  [
    'switched off',
    `enabled = false, status = 'disabled', disabled_reason = 'It was switched off.'`,
  ],
  ['deleted', 'deleted_at = now()'],
])('one that is %s meanwhile is in trouble no more, and nobody is told', async (_, columns) => {
  const broken = await channel('broken')
  const other = await channel('other')
  await fail(broken)
  await look()
  await fail(broken)
  await set(broken, columns)
  await look()
  expect((await troubleOf(broken))?.ended_at).not.toBeNull()
  expect(told()).toEqual([['other', 'channel.failing']])
  // One of which nobody had heard leaves no trace.
  await fail(other)
  await set(other, columns)
  await look()
  expect(await troubleOf(other)).toBeUndefined()
})

test('a success from before its trouble does not call it recovered', async () => {
  const broken = await channel('broken')
  await channel('other')
  await at.query(
    `insert into watchpost.deliveries (channel_id, type, status, delivered_at)
    values ($1, 'channel.test', 'succeeded', now() - interval '1 hour')`,
    [broken],
  )
  await fail(broken)
  await look()
  await heal(broken, { is_proven: false })
  expect(told()).toEqual([['other', 'channel.failing']])
  expect((await troubleOf(broken))?.ended_at).toBeNull()
})

test('one process looks at a time, and what was told once is not told again', async () => {
  const broken = await channel('broken')
  await channel('other')
  await fail(broken)
  const watch = async () => (await at.query('select private.watch_channels() as told'))[0]
  const other = await at.service.transaction()
  await other.query(`select pg_advisory_xact_lock(hashtextextended('watch_channels', 0))`, [])
  expect(await watch()).toEqual({ told: [] })
  await other.commit()
  expect(await watch()).toEqual({ told: [{ channel_id: broken, told: 'failing' }] })
  await set(broken, `enabled = false, status = 'disabled', disabled_reason = 'HTTP 410'`)
  expect(await watch()).toEqual({ told: [] })
  // As its owner heard it.
  expect(await troubleOf(broken)).toMatchObject({ status: 'failing' })
})

describe('the channel that tells', () => {
  const plan = (name: string) =>
    at.query('update watchpost.accounts set plan = $1 where user_id = $2', [name, person.user_id])
  const ban = (until: string | null) =>
    at.query('update watchpost.accounts set banned_until = $1 where user_id = $2', [
      until,
      person.user_id,
    ])

  test('says nothing while its account is paused, and catches up', async () => {
    await fail(await channel('broken'))
    await channel('other')
    await plan('free')
    await look()
    await plan('pro')
    await ban('infinity')
    await look()
    expect(told()).toEqual([])
    await ban(null)
    await look()
    expect(told()).toEqual([['other', 'channel.failing']])
  })

  test.each([
    ['is not confirmed any more', 'confirmation_id = gen_random_uuid()', /not confirmed yet/],
    ['was switched off', 'enabled = false', /switched off/],
    ['was deleted', 'deleted_at = now()', /deleted/],
    ['has an account that is paused', null, /below the Pro plan or banned/],
  ])('says nothing either when it %s before it could', async (_, columns, why) => {
    const other = await channel('other')
    await fail(await channel('broken'))
    await at.query('select private.watch_channels()')
    if (columns) await set(other, columns)
    else await plan('free')
    await at.jobs.drain()
    expect(told()).toEqual([])
    const [row] = await at.service.database.query<{ status: string; last_error: string }>(
      `select status, last_error from watchpost.deliveries where type = 'channel.failing'`,
    )
    expect(row).toEqual({ status: 'cancelled', last_error: expect.stringMatching(why) })
  })

  test('is never the one it is about, nor one that fails, is off, or does not want to', async () => {
    const broken = await channel('broken')
    await fail(await channel('failing'), 1)
    await set(
      await channel('off'),
      `enabled = false, status = 'disabled', disabled_reason = 'It was switched off.'`,
    )
    await channel('choosy', { messages: ['alert.raised'] })
    await set(await channel('gone'), 'deleted_at = now()')
    await channel('theirs', {}, await at.service.person())
    await fail(broken)
    await look()
    expect(told()).toEqual([])
    // As soon as there is one, it tells.
    await channel('late')
    await look()
    expect(told()).toEqual([['late', 'channel.failing']])
  })

  test('is at another host if there is one, and of those the one that worked last', async () => {
    const broken = await channel('broken')
    await set(broken, `host = 'broken.example.com'`)
    const [same, , best] = [await channel('same'), await channel('idle'), await channel('best')]
    await set(same, `host = 'broken.example.com'`)
    for (const id of [same, best])
      await at.query(
        `insert into watchpost.deliveries (channel_id, type, status, delivered_at) values ($1, 'channel.test', 'succeeded', now())`,
        [id],
      )
    await fail(broken)
    await look()
    expect(told()).toEqual([['best', 'channel.failing']])
  })

  test('tells nobody of a private channel who does not see it', async () => {
    const org_id = await at.service.organisation(person)
    const broken = await channel('private')
    const shared = await channel('shared', { org_id })
    await fail(broken)
    await look()
    expect(told()).toEqual([])
    await fail(shared)
    await set(broken, `status = 'ok', failing_since = null`)
    await look()
    expect(told()).toEqual([['private', 'channel.failing']])
  })
})

test('the message is listed with the channel that told, and can be sent again', async () => {
  const broken = await channel('broken')
  const other = await channel('other')
  await fail(broken)
  at.service.receiver.answer = () => sendResult(404)
  await look()
  const list = async () => {
    const { body } = await at.service.request('GET', `/api/v1/channels/${other}/deliveries`, person)
    return (body as { deliveries: { kind: string; status: string; alert_id: null }[] }).deliveries
  }
  expect(await list()).toMatchObject([
    { kind: 'channel.failing', status: 'failed', alert_id: null },
  ])
  at.service.receiver.answer = () => sendResult(200)
  await set(other, `status = 'ok', failures = 0, paused_until = null`)
  const again = await at.service.request('POST', `/api/v1/channels/${other}/recover`, {
    ...person,
    body: { since: new Date(Date.now() - 60_000).toISOString() },
  })
  expect(again.status).toBe(202)
  await at.jobs.drain()
  expect((await list()).map(({ status }) => status).sort()).toEqual(['failed', 'succeeded'])
})

test('who stops the mails of an address is told to its owner, through another channel', async () => {
  await channel('other')
  const insert = `insert into watchpost.channels (owner_id, kind, label, target_sealed, target_masked, confirmed_at)
    values ($1, 'email', 'Night shift', 'sealed', '…', now()) returning id, confirmation_id`
  const [mail] = await at.query(insert, [person.user_id])
  const unsubscribe = () =>
    at.query('select private.unsubscribe_address($1, $2)', [mail?.id, mail?.confirmation_id])
  await unsubscribe()
  await unsubscribe()
  await look()
  await look()
  expect(told()).toEqual([['other', 'channel.failing']])
  const { data } = FailingMessage.parse(JSON.parse(at.service.receiver.requests[0]?.body ?? ''))
  expect(data.channel).toMatchObject({
    id: mail?.id,
    label: 'Night shift',
    status: 'disabled',
    reason: 'Somebody unsubscribed with the link in one of its mails.',
  })
})
