import { expect, test } from 'vitest'
import { z } from 'zod'
import { quake, registerSource } from '../support/jobs.ts'
import { type Person, parsed } from '../support/service.ts'
import { createStory } from '../support/story.ts'

let me: Person
const at = createStory({
  prepare: async ({ service }) => {
    await registerSource(service, 'other')
    me = await service.person()
  },
})

const Zone = z.object({ zone: z.object({ id: z.uuid() }) })
const Events = z.object({ events: z.array(z.looseObject({ id: z.string(), status: z.string() })) })
const Alerts = z.object({ alerts: z.array(z.looseObject({ id: z.uuid(), event_id: z.string() })) })
const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()
const get = (path: string) => at.service.request('GET', `/api/v1${path}`, { key: me.key })
const seen = async (query: string) =>
  parsed(await get(`/events?${query}`), 200, Events).events.map(({ id }) => id)
const raised = async (query: string) =>
  parsed(await get(`/alerts?${query}`), 200, Alerts).alerts.map(({ event_id }) => event_id)

test('a flood that began three days ago is seen as long as it lasts, and is over when it is over', async () => {
  const here = at.place()
  await at.make(me, 'zones', { label: 'The valley', ...here }, Zone)
  const flood = quake({ ...here, type: 'flood', ts: ago(72), ends_at: ago(-1), severity: 70 })
  await at.jobs.ingest(flood)
  await at.jobs.drain()
  expect(await raised('')).toEqual([flood.id])
  expect(await seen('')).toEqual([])
  const now = `active_at=${encodeURIComponent(new Date().toISOString())}`
  expect(await seen(now)).toEqual([flood.id])
  expect(await seen(`active_at=${ago(71)}`)).toEqual([flood.id])
  expect(await seen(`active_at=${ago(73)}`)).toEqual([])
  expect(await seen(`active_at=${ago(-2)}`)).toEqual([])

  // Its hour comes; nobody has to say so.
  await at.query(
    `update watchpost.events set ends_at = now() - interval '1 second' where id = $1`,
    [flood.id],
  )
  await at.jobs.drain()
  expect(await seen(`from=${ago(100)}&status=active`)).toEqual([])
  expect(await seen(`from=${ago(100)}&status=ended`)).toEqual([flood.id])
  const [alert] = parsed(await get('/alerts'), 200, Alerts).alerts
  expect(alert).toMatchObject({ updates: [{ kind: 'ended' }] })
  // Its source still calls it active, with the same end: it stays over, and nothing is told again.
  await at.jobs.ingest({ ...flood, ends_at: ago(0.001) })
  await at.jobs.drain()
  const { event } = parsed(
    await get(`/events/${flood.id}`),
    200,
    z.object({ event: z.looseObject({}) }),
  )
  expect(event).toMatchObject({ status: 'ended' })
  // It goes on after all, says its source: then it is active again.
  await at.jobs.ingest({ ...flood, ends_at: ago(-5) })
  await at.jobs.drain()
  expect(await seen(now)).toEqual([flood.id])
})

test('an event is read with everything its source ever said of it', async () => {
  const here = at.place()
  const first = quake({ ...here, severity: 30, aliases: ['test:other-name'] })
  await at.jobs.ingest(first)
  await at.jobs.ingest({ ...first, severity: 60, title: 'Stronger than thought' })
  const geometry = { type: 'Point' as const, coordinates: [here.lon, here.lat] }
  await at.jobs.ingest({ ...first, severity: 60, title: 'Stronger than thought', geometry })
  const One = z.object({
    event: z.looseObject({
      id: z.string(),
      revisions: z.array(z.looseObject({ revision: z.int(), severity: z.int() })),
    }),
    next_cursor: z.string().nullable(),
  })
  const { event } = parsed(await get(`/events/${first.id}`), 200, One)
  expect(event).toMatchObject({ id: first.id, title: 'Stronger than thought', geometry, ...here })
  expect(event.revisions.map(({ revision, severity }) => [revision, severity])).toEqual([
    [3, 60],
    [2, 60],
    [1, 30],
  ])
  expect(parsed(await get('/events/test:other-name'), 200, One).event.id).toBe(first.id)
  const page = parsed(await get(`/events/${first.id}?limit=2`), 200, One)
  const rest = parsed(await get(`/events/${first.id}?limit=2&cursor=${page.next_cursor}`), 200, One)
  expect(rest.event.revisions.map(({ revision }) => revision)).toEqual([1])
  expect(rest.next_cursor).toBeNull()
  expect((await get('/events/test:nothing')).status).toBe(404)
  expect((await get('/events/nonsense')).status).toBe(404)
})

test('the past is open as far back as it is kept, whatever the offset of the clock', async () => {
  const here = at.place()
  await at.make(me, 'zones', { label: 'The coast', ...here }, Zone)
  const old = quake({ ...here, ts: '2026-10-01T12:00:00.000Z' })
  const older = quake({ ...here, ts: '2026-09-30T12:00:00.000Z', source: 'other', id: 'other:old' })
  await at.jobs.ingest(old)
  await at.jobs.ingest(older)
  expect(await seen('from=2026-09-30T12:00:00Z&to=2026-10-02T00:00:00Z')).toEqual([
    old.id,
    older.id,
  ])
  expect(await seen('from=2026-09-30T12:00:00.001Z&to=2026-10-02T00:00:00Z')).toEqual([old.id])
  expect(await seen('from=2026-09-30T00:00:00Z&to=2026-10-01T12:00:00Z')).toEqual([older.id])
  // 14:00 at +02:00 is noon; a plus sign in an address is a space, and is meant as a plus.
  expect(await seen('from=2026-10-01T14:00:00+02:00&to=2026-10-01T14:00:01%2B02:00')).toEqual([
    old.id,
  ])
  for (const wrong of ['minutes=5&from=2026-10-01T12:00:00Z', 'from=yesterday'])
    expect((await get(`/events?${wrong}`)).status).toBe(400)
})

test('alerts are found by what raised them, in any year that is kept', async () => {
  const here = at.place()
  const { zone } = await at.make(me, 'zones', { label: 'The bridge', ...here }, Zone)
  const [weak, strong] = [quake({ ...here, severity: 50 }), quake({ ...here, severity: 90 })]
  const other = quake({ ...here, source: 'other', id: 'other:bridge', severity: 70 })
  for (const event of [weak, strong, other]) await at.jobs.ingest(event)
  await at.jobs.drain()
  await at.query(
    `update watchpost.alerts set raised_at = now() - interval '300 days' where event_id = $1`,
    [weak.id],
  )
  const of = `zone_id=${zone.id}`
  expect((await raised(of)).sort()).toEqual([strong.id, other.id].sort())
  expect(await raised(`${of}&event_id=${strong.id}`)).toEqual([strong.id])
  expect(await raised(`${of}&source=other`)).toEqual([other.id])
  expect((await raised(`${of}&min_severity=70`)).sort()).toEqual([strong.id, other.id].sort())
  expect(await raised(`${of}&min_severity=70.5`)).toEqual([strong.id])
  expect(await raised(`${of}&from=${ago(24 * 301)}&to=${ago(24 * 299)}`)).toEqual([weak.id])
  expect((await raised(`${of}&days=400`)).sort()).toEqual([weak.id, strong.id, other.id].sort())
  expect((await get(`/alerts?days=3&from=${ago(3)}`)).status).toBe(400)
})

const EventMap = z.object({
  type: z.literal('FeatureCollection'),
  total: z.int(),
  clustered: z.boolean(),
  features: z.array(
    z.looseObject({
      id: z.string().optional(),
      geometry: z.object({ coordinates: z.array(z.number()) }),
      properties: z.looseObject({ cluster: z.boolean(), count: z.int().optional() }),
    }),
  ),
})

test('a new account sees the world, before it has drawn anything', async () => {
  const { service } = at
  const [newcomer, stranger] = [await service.person(), await service.person()]
  const event = quake({ lat: 10.5, lon: 179.5 })
  const beyond = quake({ lat: 10.5, lon: -179.5 })
  const gone = quake({ lat: 10.5, lon: 179.5, status: 'retracted' })
  for (const each of [event, beyond, gone]) await at.jobs.ingest(each)
  await at.query(
    `insert into watchpost.events (id, source, type, title, lat, lon, ts, severity, status, extent, owner_id)
    values ('other:secret', 'other', 'other', 'A secret', 10.5, 179.5, now(), 50, 'active',
      box '(179.5,10.5),(179.5,10.5)', $1)`,
    [stranger.user_id],
  )
  const map = async (who: Person, query: string) => {
    const answer = await service.request('GET', `/api/v1/events/map?${query}`, { key: who.key })
    return parsed(answer, 200, EventMap)
  }
  const ids = async (who: Person, bbox: string) =>
    (await map(who, `bbox=${bbox}`)).features.map(({ id }) => id).sort()
  expect(await ids(newcomer, '179,10,180,11')).toEqual([event.id])
  expect(await ids(stranger, '179,10,180,11')).toEqual(['other:secret', event.id].sort())
  expect(await ids(newcomer, '179,10,-179,11')).toEqual([event.id, beyond.id].sort())
  expect(await ids(newcomer, '179,11,-179,12')).toEqual([])
  const all = await map(newcomer, '')
  expect(all).toMatchObject({ clustered: false, total: all.features.length })
  for (const wrong of ['bbox=1,2,3', 'bbox=1,9,3,4', 'bbox=a,b,c,d', 'bbox=181,0,182,1', 'zoom=99'])
    expect((await service.request('GET', `/api/v1/events/map?${wrong}`, newcomer)).status).toBe(400)
})

test('a crowded map is gathered into clusters that add up, and opens when one zooms in', async () => {
  await at.query(
    `insert into watchpost.events (id, source, type, title, lat, lon, ts, severity, status, extent)
    select 'other:crowd-' || n, 'other', 'earthquake', 'M 3', lat, lon, '2026-10-10T00:00:00Z', n % 100, 'active',
      box(point(lon, lat), point(lon, lat))
    from (select n, 36 + (n % 61) / 20.0 as lat, 27 + (n % 53) / 20.0 as lon from generate_series(1, 3000) n) e`,
  )
  const of = 'from=2026-10-09T00:00:00Z&to=2026-10-11T00:00:00Z'
  const map = async (query: string) =>
    parsed(await get(`/events/map?${of}&${query}`), 200, EventMap)
  for (const query of ['zoom=0', 'zoom=5', '', 'bbox=20,30,40,45&zoom=22']) {
    const { clustered, total, features } = await map(query)
    expect({ clustered, total }).toEqual({ clustered: true, total: 3000 })
    expect(features.length).toBeLessThanOrEqual(2000)
    const sum = features.reduce((all, { properties }) => all + (properties.count ?? 1), 0)
    expect(sum).toBe(3000)
  }
  expect((await map('zoom=0')).features.length).toBeLessThan(4)
  const near = await map('bbox=27,36,28,37')
  expect(near.clustered).toBe(false)
  expect(near.total).toBe(near.features.length)
  expect(near.features.every(({ properties }) => !properties.cluster)).toBe(true)
})

test('a note is written without saying anew whether the alert is resolved', async () => {
  const here = at.place()
  const { zone } = await at.make(me, 'zones', { label: 'The quay', ...here }, Zone)
  await at.jobs.ingest(quake(here))
  await at.jobs.drain()
  const [alert] = parsed(await get(`/alerts?zone_id=${zone.id}`), 200, Alerts).alerts
  const write = async (body: object) => {
    const path = `/api/v1/alerts/${alert?.id}`
    const answer = await at.service.request('PATCH', path, { key: me.key, body })
    return parsed(answer, 200, z.object({ alert: z.looseObject({}) })).alert
  }
  expect(await write({ note: 'Seen' })).toMatchObject({ note: 'Seen', resolved: false })
  const done = await write({ resolved: true })
  expect(done).toMatchObject({ note: 'Seen', resolved: true })
  const { resolved_at, resolved_via, resolved_by } = done
  expect(await write({ note: null })).toMatchObject({
    note: null,
    resolved: true,
    ...{ resolved_at, resolved_via, resolved_by },
  })
})
