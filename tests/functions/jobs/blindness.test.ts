import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Feed } from '../../../functions/feeds/feed.ts'
import { feed, tell, watchOf } from '../../support/blindness.ts'
import { createDeliveryService, type DeliveryService } from '../../support/delivery-service.ts'
import type { Person } from '../../support/service.ts'

let at: DeliveryService
let person: Person
beforeAll(async () => {
  at = await createDeliveryService()
})
afterAll(() => at.close())
beforeEach(async () => {
  await at.reset()
  // The use of a key is noted after the answer: first what that locks first, so that neither waits for the other.
  await at.query(
    'truncate watchpost.key_usage, watchpost.blindness, watchpost.accounts, watchpost.sources cascade',
  )
  person = await at.service.person()
})

const { given, set, look, goBlind, comeBack, heard, told, zoneOf, channelTo, deliveriesOf } =
  watchOf(() => at)

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
