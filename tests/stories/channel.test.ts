import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Channel } from '../../shared/schemas/channel.ts'
import { verify } from '../../shared/signing.ts'
import { expectProblem } from '../support/attacks/refusals.ts'
import { CreatedChannel, CreatedZone } from '../support/delivery-service.ts'
import { quake } from '../support/jobs.ts'
import { type Person, parsed, sendResult } from '../support/service.ts'
import { createStory } from '../support/story.ts'

// What somebody who runs a receiver sets and sees.
const at = createStory()

async function channelOf(person: Person, id: string): Promise<Channel> {
  const answer = await at.ask(person, 'GET', `channels/${id}`)
  return parsed(answer, 200, z.object({ channel: Channel })).channel
}

const clock = (minutes: number) =>
  new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16)
const QUIET = { quiet_hours_start: clock(-60), quiet_hours_end: clock(60) }
const LOUD = { quiet_hours_start: null, quiet_hours_end: null }

async function watch(channel: object, fields: object = {}) {
  const person = await at.service.person()
  const { id } = await at.channelOf(person, channel)
  const here = at.place()
  const body = { label: 'The coast', ...here, ...fields }
  const { zone } = await at.make(person, 'zones', body, CreatedZone)
  await at.jobs.drain()
  return { person, channel: id, zone: zone.id, here }
}

async function tell(...events: ReturnType<typeof quake>[]) {
  await at.jobs.ingest(...events)
  await at.jobs.drain()
}

const types = () => at.service.receiver.requests.map(({ body }) => JSON.parse(body).type)

describe('a channel gets the messages it chose', () => {
  const DEFAULT = [
    'alert.raised',
    'alert.escalated',
    'alert.ended',
    'alert.retracted',
    'alert.digest',
    'zone.blind',
    'zone.sighted',
    'channel.failing',
    'channel.recovered',
  ]

  test('all but revisions, unless somebody says otherwise', async () => {
    const { person, channel, here } = await watch({})
    expect((await channelOf(person, channel)).messages).toEqual(DEFAULT)
    const event = quake({ ...here, severity: 45 })
    await tell(event)
    await tell({ ...event, severity: 47 })
    await tell({ ...event, severity: 65 })
    expect(types()).toEqual(['alert.raised', 'alert.escalated'])

    await at.ask(person, 'PATCH', `channels/${channel}`, {
      messages: ['alert.raised', 'alert.revised'],
    })
    await at.reset()
    await tell({ ...event, severity: 67 })
    await tell({ ...event, severity: 90 })
    expect(types()).toEqual(['alert.revised'])

    await at.ask(person, 'PATCH', `channels/${channel}`, { messages: null })
    expect((await channelOf(person, channel)).messages).toEqual(DEFAULT)
  })

  test('who wants escalations alone hears of nothing before', async () => {
    const { person, here } = await watch({ messages: ['alert.escalated'] })
    const event = quake({ ...here, severity: 45 })
    await tell(event)
    const before = await at.ask(person, 'GET', 'alerts')
    expect(before.body).toMatchObject({ alerts: [{ status: 'recorded', deliveries: [] }] })
    await tell({ ...event, severity: 90 })
    expect(types()).toEqual(['alert.escalated'])
  })

  test('who wants no digest gets in the morning one message an alert', async () => {
    const { person, zone, here } = await watch({ messages: ['alert.raised'] }, QUIET)
    await tell(quake(here), quake(here), quake(here))
    expect(types()).toEqual([])
    await at.ask(person, 'PATCH', `zones/${zone}`, LOUD)
    await at.jobs.drain()
    expect(types()).toEqual(['alert.raised', 'alert.raised', 'alert.raised'])
    const after = await at.ask(person, 'GET', 'alerts')
    expect(after.body).toMatchObject({
      alerts: Array(3).fill(expect.objectContaining({ status: 'dispatched' })),
    })
  })

  test('a revision in quiet hours makes no digest for who takes no revisions', async () => {
    const { person, zone, here } = await watch({})
    const event = quake({ ...here, severity: 45 })
    await tell(event)
    await at.ask(person, 'PATCH', `zones/${zone}`, QUIET)
    await tell({ ...event, severity: 47 })
    await at.ask(person, 'PATCH', `zones/${zone}`, LOUD)
    await at.jobs.drain()
    expect(types()).toEqual(['alert.raised'])
  })

  test('who wants digests alone gets the digest, and nothing at once', async () => {
    const { person, zone, here } = await watch({ messages: ['alert.digest'] })
    await tell(quake(here))
    expect(types()).toEqual([])
    await at.ask(person, 'PATCH', `zones/${zone}`, QUIET)
    await tell(quake(here))
    await at.ask(person, 'PATCH', `zones/${zone}`, LOUD)
    await at.jobs.drain()
    expect(types()).toEqual(['alert.digest'])
  })

  test.each([[[]], [['alert.raised', 'alert.raised']], [['channel.test']], ['alert.raised']])(
    'messages %j are refused',
    async (messages) => {
      const person = await at.service.person()
      const target = 'https://hooks.example.com/in'
      const answer = await at.ask(person, 'POST', 'channels', { kind: 'webhook', target, messages })
      expectProblem(answer, 422, 'invalid')
      expect(answer.text).toContain('"path":"messages')
    },
  )
})

test('a channel that fails says why and since when, until it works again', async () => {
  const { person, channel, here } = await watch({})
  expect(await channelOf(person, channel)).toMatchObject({
    status: 'ok',
    failing_reason: null,
    failing_since: null,
  })
  const before = new Date().toISOString()
  at.service.receiver.answer = () => sendResult(500)
  await tell(quake(here))
  const first = await channelOf(person, channel)
  expect(first).toMatchObject({
    status: 'failing',
    failing_reason: 'The receiver answered HTTP 500.',
  })
  expect(first.failing_since && first.failing_since >= before).toBe(true)
  at.service.receiver.answer = () => sendResult(502)
  await at.retryNow({ channel })
  expect(await channelOf(person, channel)).toMatchObject({
    failing_reason: 'The receiver answered HTTP 502.',
    failing_since: first.failing_since,
  })
  at.service.receiver.answer = () => sendResult(200)
  await at.retryNow({ channel })
  expect(await channelOf(person, channel)).toMatchObject({
    status: 'ok',
    failing_reason: null,
    failing_since: null,
  })
})

describe('who rotates the secret twice in a day', () => {
  const rotate = async (person: Person, id: string) => {
    const answer = await at.ask(person, 'POST', `channels/${id}/rotate-secret`)
    return parsed(answer, 200, CreatedChannel).channel.signing_secret
  }
  const signing = async (person: Person, channel: string, here: object, secrets: string[]) => {
    await at.reset()
    await tell(quake(here))
    const [alert] = at.service.receiver.requests
    await at.ask(person, 'POST', `channels/${channel}/test`)
    const sent = [alert, at.service.receiver.requests.at(-1)]
    const by = (secret: string) =>
      Promise.all(
        sent.map(async (request) => {
          const { headers = {}, body = '' } = request ?? {}
          return (await verify({ headers, body, secret, now: new Date() })).ok
        }),
      )
    return Promise.all(secrets.map(by))
  }

  test('can verify with every one of the three, each for its own 24 hours', async () => {
    const { person, channel, here } = await watch({
      signing_secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
    })
    const secrets = [
      `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
      await rotate(person, channel),
      await rotate(person, channel),
    ]
    const yes = [true, true]
    const no = [false, false]
    expect(await signing(person, channel, here, secrets)).toEqual([yes, yes, yes])
    // The first was replaced before the second.
    await at.query(
      `update watchpost.channels set former_secrets_sealed = jsonb_set(
        former_secrets_sealed, '{1,until}', to_jsonb(private.iso(now() - interval '1 second')))`,
    )
    expect(await signing(person, channel, here, secrets)).toEqual([no, yes, yes])
    await rotate(person, channel)
    const [row] = await at.query(
      'select jsonb_array_length(former_secrets_sealed) as kept from watchpost.channels where id = $1',
      [channel],
    )
    expect(row).toEqual({ kept: 2 })
    expect(await signing(person, channel, here, secrets)).toEqual([no, yes, yes])
  })

  test('is refused the eleventh time, because ten former ones still sign', async () => {
    const { person, channel } = await watch({})
    for (let n = 0; n < 10; n++) await rotate(person, channel)
    expectProblem(
      await at.ask(person, 'POST', `channels/${channel}/rotate-secret`),
      409,
      'conflict',
    )
  })

  test('and sends one along is told that it is made here', async () => {
    const { person, channel } = await watch({})
    const secret = `whsec_${Buffer.alloc(32, 2).toString('base64')}`
    const answer = await at.ask(person, 'POST', `channels/${channel}/rotate-secret`, {
      signing_secret: secret,
    })
    expectProblem(answer, 422, 'invalid')
    expect(answer.body).toMatchObject({
      errors: [{ path: 'signing_secret', code: 'unknown_field' }],
    })
    expect((await at.ask(person, 'POST', `channels/${channel}/rotate-secret`, {})).status).toBe(200)
  })
})
