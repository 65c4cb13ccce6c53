import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { Feed } from '../../../functions/feeds/feed.ts'
import { registerFeeds } from '../../../functions/jobs/ingest.ts'
import { ChannelDelivery } from '../../../shared/channel.ts'
import { BlindMessage, MAX_NAMED_ZONES, SightedMessage } from '../../../shared/webhook.ts'
import {
  CreatedZone,
  createDeliveryService,
  type DeliveryService,
} from '../../support/delivery-service.ts'
import { type Person, parsed, sendResult } from '../../support/service.ts'

let at: DeliveryService
let person: Person
beforeAll(async () => {
  at = await createDeliveryService()
})
afterAll(() => at.close())
beforeEach(async () => {
  await at.reset()
  await at.query('truncate watchpost.blindness, watchpost.accounts, watchpost.sources cascade')
  person = await at.service.person()
})

function feed(source: string, given: Partial<Feed> = {}): Feed {
  return {
    source,
    title: `Feed ${source}`,
    attribution: 'Somebody',
    types: ['earthquake'],
    interval_seconds: 60,
    poll: async ({ state }) => ({ events: [], state, not_modified: true, rejected: [] }),
    ...given,
  }
}

/** Registers feeds that are all well. */
async function given(...feeds: Feed[]) {
  await registerFeeds(at.jobs.db, feeds)
  await set({ last_success_at: 'now()', created_at: `now() - interval '1 day'` })
}
const set = (columns: Record<string, string>, source = '%') =>
  at.query(
    `update watchpost.sources set ${Object.entries(columns).map(([name, value]) => `${name} = ${value}`)}
    where source like $1`,
    [source],
  )
const fail = (source: string) =>
  set(
    { last_success_at: `now() - interval '1 hour'`, error: `'It broke.'`, error_at: 'now()' },
    source,
  )
const heal = (source: string) =>
  set({ last_success_at: 'now()', error: 'null', error_at: 'null' }, source)
const look = () => at.query('select private.watch_sources() as told')
const later = (minutes: number) =>
  at.query(
    `update watchpost.blindness set began_at = began_at - make_interval(mins => $1),
      well_at = well_at - make_interval(mins => $1)`,
    [minutes],
  )

/** The feed fails for longer than its limit, and everybody hears of it. */
async function goBlind(source = 'usgs') {
  await fail(source)
  await look()
  await later(15)
  await look()
  await at.jobs.drain()
}
async function comeBack(source = 'usgs') {
  await heal(source)
  await look()
  await later(5)
  await look()
  await at.jobs.drain()
}

const Message = z.union([BlindMessage, SightedMessage])
const heard = () =>
  at.service.receiver.requests.map(({ url, body }) => {
    const { type, data } = Message.parse(JSON.parse(body))
    return { to: new URL(url).pathname, type, zones: data.zones.map(({ label }) => label), data }
  })
const told = () => heard().map(({ to, type, zones }) => ({ to, type, zones }))

let places = 0
async function zoneOf(who: Person, label: string, fields: object = {}) {
  places += 1
  const body = { label, lat: 1, lon: places / 100, ...fields }
  return (await at.make(who, 'zones', body, CreatedZone)).zone.id
}
const channelTo = async (who: Person, name: string, fields: object = {}) =>
  (await at.channelOf(who, { target: `https://hooks.example.com/${name}`, ...fields })).id
const patch = async (who: Person, path: string, body: object) =>
  expect((await at.service.request('PATCH', `/api/v1/${path}`, { ...who, body })).status).toBe(200)
const tell = (...labels: string[]) => [{ to: '/in', type: 'zone.blind', zones: labels }]

describe('who hears of it', () => {
  beforeEach(async () => {
    await given(feed('usgs', { region: () => [[-10, -10, 10, 10]], ceilings: { other: 20 } }))
    await channelTo(person, 'in')
  })

  test('every zone that watches the source, in one message for each channel', async () => {
    await channelTo(person, 'second')
    await zoneOf(person, 'A')
    await zoneOf(person, 'B', { sources: ['usgs', 'emsc'], types: ['earthquake', 'flood'] })
    await goBlind()
    expect(told().sort((a, b) => (a.to < b.to ? -1 : 1))).toEqual([
      ...tell('A', 'B'),
      { to: '/second', type: 'zone.blind', zones: ['A', 'B'] },
    ])
  })

  test.each<[string, object]>([
    ['is switched off', { enabled: false }],
    ['watches other sources', { sources: ['emsc'] }],
    ['watches other types', { types: ['flood'] }],
    ['is somewhere else', { lat: 40, lon: 140 }],
    ['sends to no channel', { channel_ids: [] }],
    ['is snoozed', { snoozed_until: new Date(Date.now() + 3_600_000).toISOString() }],
  ])('not one that %s', async (_, fields) => {
    await zoneOf(person, 'A', fields)
    await goBlind()
    expect(told()).toEqual([])
    await comeBack()
    expect(told()).toEqual([])
  })

  test('a zone across the edge of the region, and one whose snooze is over, do', async () => {
    await zoneOf(person, 'Edge', { lat: 10.2, lon: 0 })
    const snoozed = await zoneOf(person, 'Awake')
    await at.query(
      `update watchpost.zones set snoozed_until = now() - interval '1 minute' where id = $1`,
      [snoozed],
    )
    await goBlind()
    expect(told()).toEqual(tell('Edge', 'Awake'))
  })

  test('not one whose threshold the source never reaches', async () => {
    await given(feed('usgs', { ceilings: { earthquake: 30 } }))
    await zoneOf(person, 'High', { min_severity: 31 })
    await zoneOf(person, 'Multiplied', { min_severity: 60, severity_multiplier: 2 })
    await goBlind()
    expect(told()).toEqual(tell('Multiplied'))
  })

  test.each([
    ['is below the Pro plan', `update watchpost.accounts set plan = 'free'`],
    ['is banned', `update watchpost.accounts set banned_until = now() + interval '1 day'`],
    ['deleted the zone', 'update watchpost.zones set deleted_at = now()'],
  ])('not when its owner %s', async (_, change) => {
    await zoneOf(person, 'A')
    await at.query(change)
    await goBlind()
    expect(told()).toEqual([])
  })

  test('only channels that take it, and that its alerts go to', async () => {
    await at.query('update watchpost.channels set deleted_at = now()')
    await channelTo(person, 'alerts', { messages: ['alert.raised'] })
    await channelTo(person, 'blind', { messages: ['zone.blind'] })
    await channelTo(person, 'off', { enabled: false })
    await channelTo(person, 'both', { messages: ['zone.blind', 'zone.sighted'] })
    const chosen = await channelTo(person, 'chosen')
    await zoneOf(person, 'A', { channel_ids: [chosen] })
    await zoneOf(person, 'B')
    await goBlind()
    const zones = Object.fromEntries(told().map(({ to, zones }) => [to, zones]))
    expect(zones).toEqual({ '/blind': ['B'], '/both': ['B'], '/chosen': ['A', 'B'] })
    at.service.receiver.requests.length = 0
    await comeBack()
    expect(
      told()
        .map(({ to, type }) => `${type} ${to}`)
        .sort(),
    ).toEqual(['zone.sighted /both', 'zone.sighted /chosen'])
  })

  test('a source that is switched off makes nobody blind, and one that is off in between returns', async () => {
    await zoneOf(person, 'A')
    await set({ enabled: 'false' })
    await goBlind()
    expect(told()).toEqual([])
    await set({ enabled: 'true' })
    await goBlind()
    await set({ enabled: 'false' })
    await look()
    await set({ enabled: 'true' })
    await comeBack()
    expect(told().map(({ type }) => type)).toEqual(['zone.blind', 'zone.sighted'])
  })
})

describe('tenants', () => {
  test('a channel hears of no zone whose alerts do not go to it', async () => {
    await given(feed('usgs'))
    const other = await at.service.person()
    const team = await at.service.organisation(person, [other, 'member'])
    await channelTo(person, 'mine')
    await channelTo(person, 'team', { org_id: team })
    await channelTo(other, 'theirs')
    await zoneOf(person, 'My own')
    await zoneOf(other, 'Their own')
    await zoneOf(other, 'Shared', { org_id: team })
    await goBlind()
    expect(Object.fromEntries(told().map(({ to, zones }) => [to, zones]))).toEqual({
      '/mine': ['My own'],
      '/team': ['Shared'],
      '/theirs': ['Their own', 'Shared'],
    })
    expect(told()).toHaveLength(3)
  })

  test('a member sees only messages about zones that they see', async () => {
    await given(feed('usgs'))
    const member = await at.service.person()
    const team = await at.service.organisation(person, [member, 'member'])
    const channel = await channelTo(person, 'team', { org_id: team })
    await zoneOf(person, 'My own', { channel_ids: [channel] })
    await goBlind()
    expect(told()).toEqual([{ to: '/team', type: 'zone.blind', zones: ['My own'] }])
    expect(await deliveriesOf(person, channel)).toHaveLength(1)
    expect(await deliveriesOf(member, channel)).toEqual([])
  })

  test('whoever cannot use a channel any more is left out of what it is told', async () => {
    await given(feed('usgs'))
    const member = await at.service.person()
    const team = await at.service.organisation(person, [member, 'member'])
    const channel = await channelTo(person, 'team', { org_id: team })
    await zoneOf(person, 'Ours', { org_id: team })
    await zoneOf(member, 'Theirs', { channel_ids: [channel] })
    await goBlind()
    await at.query('delete from watchpost.members where user_id = $1', [member.user_id])
    await comeBack()
    expect(told()).toEqual([
      { to: '/team', type: 'zone.blind', zones: ['Ours', 'Theirs'] },
      { to: '/team', type: 'zone.sighted', zones: ['Ours'] },
    ])
  })
})

const Page = z.object({ deliveries: z.array(ChannelDelivery) })
async function deliveriesOf(who: Person, channel: string) {
  const answer = await at.service.request('GET', `/api/v1/channels/${channel}/deliveries`, who)
  return parsed(answer, 200, Page).deliveries
}

describe('a source that sees the same', () => {
  const seismic = { types: ['earthquake', 'other'] } satisfies Partial<Feed>
  beforeEach(async () => {
    await channelTo(person, 'in')
    await zoneOf(person, 'Strong', { min_severity: 51 })
  })

  test('stands in, as long as it is well itself', async () => {
    await given(feed('usgs', seismic), feed('emsc', seismic))
    await goBlind()
    expect(told()).toEqual([])
    await goBlind('emsc')
    expect(told()).toEqual(tell('Strong'))
    expect(heard()[0]?.data.source.source).toBe('emsc')
  })

  test.each<[string, { usgs?: Partial<Feed>; emsc?: Partial<Feed>; zone?: object }]>([
    ['for a zone that does not watch it', { zone: { sources: ['usgs'] } }],
    ['for weaker events', { zone: { min_severity: 50 } }],
    [
      'for events that the multiplier raises',
      { zone: { min_severity: 60, severity_multiplier: 1.2 } },
    ],
    ['for a type that no line names', { usgs: { types: ['earthquake', 'storm'] } }],
    [
      'for a zone that watches a type that it does not have',
      { usgs: { types: ['volcano'] }, zone: { types: ['volcano'] } },
    ],
    [
      'for a zone that is partly outside its region',
      { emsc: { region: () => [[-1, -1, 1, 1]] }, zone: { radius_km: 400 } },
    ],
  ])('does not stand in %s', async (_, { usgs, emsc, zone }) => {
    await given(feed('usgs', { ...seismic, ...usgs }), feed('emsc', { ...seismic, ...emsc }))
    await at.query('delete from watchpost.zones')
    await zoneOf(person, 'Blind', { min_severity: 51, ...zone })
    await goBlind()
    expect(told()).toEqual(tell('Blind'))
  })

  test('does not stand in when it is switched off', async () => {
    await given(feed('usgs', seismic), feed('emsc', seismic))
    await set({ enabled: 'false' }, 'emsc')
    await goBlind()
    expect(told()).toEqual(tell('Strong'))
  })

  test('a region that contains the zone is enough', async () => {
    await given(feed('usgs', seismic), feed('emsc', { ...seismic, region: () => [[-5, -5, 5, 5]] }))
    await goBlind()
    expect(told()).toEqual([])
  })
})

describe('once', () => {
  let channel: string
  beforeEach(async () => {
    await given(feed('usgs'))
    channel = await channelTo(person, 'in')
    await zoneOf(person, 'A')
  })

  test('of ten processes that look at once', async () => {
    await fail('usgs')
    await look()
    await later(15)
    await Promise.all(Array.from({ length: 10 }, look))
    await at.jobs.drain()
    expect(told()).toEqual(tell('A'))
    await heal('usgs')
    await look()
    await later(5)
    await Promise.all(Array.from({ length: 10 }, look))
    await at.jobs.drain()
    expect(told().map(({ type }) => type)).toEqual(['zone.blind', 'zone.sighted'])
  })

  test('a process that stays looks by itself, and says in the log what it told', async () => {
    await fail('usgs')
    await look()
    await later(15)
    const running = at.jobs.runner.start()
    await vi.waitFor(() => expect(told()).toEqual(tell('A')), 10_000)
    await running.stop()
    expect(at.jobs.lines).toContainEqual({ msg: 'source', source: 'usgs', told: 'blind' })
  })

  test('a look answers what was told of which', async () => {
    await fail('usgs')
    await look()
    await later(15)
    expect(await look()).toEqual([{ told: [{ source: 'usgs', told: 'blind' }] }])
    expect(await look()).toEqual([{ told: [] }])
  })

  test('what is made while it is blind hears nothing of it', async () => {
    await goBlind()
    await channelTo(person, 'late')
    await zoneOf(person, 'Late')
    await later(60)
    await look()
    await comeBack()
    expect(told()).toEqual([...tell('A'), { to: '/in', type: 'zone.sighted', zones: ['A'] }])
  })

  test('it is tried again like any message, in the same words', async () => {
    at.service.receiver.answer = () => sendResult(503)
    await goBlind()
    at.service.receiver.answer = () => sendResult(200)
    await patch(person, `channels/${channel}`, { label: 'Renamed' })
    await at.query(`update watchpost.zones set label = 'Renamed'`)
    await at.retryNow({ channel })
    expect(told()).toEqual([...tell('A'), ...tell('A')])
    const [first, second] = at.service.receiver.requests
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    expect(second?.body).toBe(first?.body)
    expect(await deliveriesOf(person, channel)).toMatchObject([
      {
        kind: 'zone.blind',
        alert_id: null,
        status: 'succeeded',
        attempts: 2,
        attempt_log: [{ status_code: 503 }, { status_code: 200 }],
      },
    ])
  })

  test('a channel that refused it does not hear that it is over', async () => {
    at.service.receiver.answer = () => sendResult(400)
    await goBlind()
    at.service.receiver.requests.length = 0
    await comeBack()
    expect(told()).toEqual([])
  })

  test('it is sent again on request; an alert’s redelivery leaves it alone', async () => {
    at.service.receiver.answer = () => sendResult(400)
    await goBlind()
    at.service.receiver.answer = () => sendResult(200)
    const recover = () =>
      at.service.request('POST', `/api/v1/channels/${channel}/recover`, {
        ...person,
        body: { since: new Date(Date.now() - 60_000).toISOString() },
      })
    expect(await recover()).toMatchObject({ status: 202, body: { recovered: 1 } })
    await at.jobs.drain()
    expect(told()).toEqual([...tell('A'), ...tell('A')])
    const [again, first] = await deliveriesOf(person, channel)
    expect(again).toMatchObject({ status: 'succeeded', redelivery_of: first?.id })
    expect((await recover()).status).toBe(409)
  })

  test('when its zones are gone by then it is cancelled, with the reason', async () => {
    await fail('usgs')
    await look()
    await later(15)
    await look()
    await at.query('update watchpost.zones set deleted_at = now()')
    await at.jobs.drain()
    expect(told()).toEqual([])
    expect(await deliveriesOf(person, channel)).toMatchObject([
      { status: 'cancelled', last_error: 'The zone was deleted.' },
    ])
    await comeBack()
    expect(told()).toEqual([])
  })

  test('when its channel is deleted it is cancelled with it, and of the end it hears nothing', async () => {
    await goBlind()
    const answer = await at.service.request('DELETE', `/api/v1/channels/${channel}`, person)
    expect(answer.status).toBe(204)
    at.service.receiver.requests.length = 0
    await comeBack()
    expect(told()).toEqual([])
  })

  test('its history is kept as long as alerts are, and then goes with its messages', async () => {
    await goBlind()
    await comeBack()
    const left = async () => (await at.query('select from watchpost.deliveries')).length
    await at.query('select private.purge()')
    expect(await left()).toBe(2)
    await at.query(`update watchpost.blindness set ended_at = now() - interval '401 days'`)
    await at.query('select private.purge()')
    expect(await left()).toBe(0)
  })
})

test('a message names the first zones and says how many there are, and stays small', async () => {
  await given(feed('usgs'))
  await channelTo(person, 'in')
  const label = '"🌋'.repeat(60)
  for (let nth = 0; nth <= MAX_NAMED_ZONES; nth += 1) await zoneOf(person, label)
  await goBlind()
  const [request] = at.service.receiver.requests
  const { data } = BlindMessage.parse(JSON.parse(request?.body ?? ''))
  expect(data.zones).toHaveLength(MAX_NAMED_ZONES)
  expect(data.zones_total).toBe(MAX_NAMED_ZONES + 1)
  expect(Buffer.byteLength(request?.body ?? '')).toBeLessThan(20_000)
})

test('what it says of the source has no secrets', async () => {
  await given(feed('usgs'))
  await channelTo(person, 'in')
  await zoneOf(person, 'A')
  await fail('usgs')
  await set({ error: `'GET https://me:pw@feeds.example.com/k3y?key=k3y ' || repeat('x', 300)` })
  await look()
  await later(15)
  await look()
  await at.jobs.drain()
  const [{ data }] = heard() as [ReturnType<typeof heard>[number]]
  expect(data.source.reason).toMatch(/^GET https:\/\/feeds\.example\.com\/… x+…$/)
  expect(data.source.reason).toHaveLength(200)
})
