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

const Footprints = z.object({
  features: z.array(
    z.object({ id: z.string(), geometry: z.looseObject({}), properties: z.looseObject({}) }),
  ),
  next_cursor: z.string().nullable(),
})
const DAY = 'from=2026-09-01T00:00:00Z&to=2026-09-02T00:00:00Z'
const square = (lon: number, lat: number, side: number) => ({
  type: 'Polygon' as const,
  coordinates: [
    [
      [lon, lat],
      [lon + side, lat],
      [lon + side, lat + side],
      [lon, lat + side],
      [lon, lat],
    ],
  ],
})

test('a map shows the footprints that meet it and are large enough to be seen, page by page', async () => {
  const area = async (lon: number, lat: number, side: number, given = {}) => {
    const geometry = square(lon, lat, side)
    const event = quake({ type: 'flood', lat, lon, ts: '2026-09-01T12:00:00Z', geometry, ...given })
    await at.jobs.ingest(event)
    return event.id
  }
  const [wide, small] = [await area(20, 50, 4), await area(22, 51, 0.01, { severity: 10 })]
  await area(21, 51, 1, { status: 'retracted' })
  await area(21, 51, 1, { ts: '2026-09-02T00:00:00Z' })
  const across = await area(179, -50, 4, { type: 'storm' })
  const [stranger] = [await at.service.person()]
  await at.query(`update watchpost.events set owner_id = $1, id = 'test:own' where id = $2`, [
    stranger.user_id,
    await area(20, 50, 3),
  ])
  const seen = async (query: string, who = me) => {
    const path = `/api/v1/events/footprints?${DAY}&${query}`
    const answer = await at.service.request('GET', path, { key: who.key })
    expect(answer.headers.get('Content-Type')).toBe('application/geo+json')
    return parsed(answer, 200, Footprints)
  }
  const ids = async (query: string, who = me) =>
    (await seen(query, who)).features.map(({ id }) => id).sort()
  // Its point is outside, its area is not.
  expect(await ids('bbox=23,53,30,60')).toEqual([wide])
  expect(await ids('bbox=20,50,25,55')).toEqual([wide, small].sort())
  expect(await ids('bbox=20,50,25,55', stranger)).toEqual([wide, small, 'test:own'].sort())
  expect(await ids('bbox=20,50,25,55&zoom=3')).toEqual([wide])
  expect(await ids('bbox=20,50,25,55&zoom=12')).toEqual([wide, small].sort())
  expect(await ids('bbox=20,50,25,55&min_severity=10.5')).toEqual([wide])
  expect(await ids('types=storm,weather')).toEqual([across])
  expect(await ids('bbox=-179,-60,-178,-40')).toEqual([across])
  expect(await ids('bbox=178,-60,-178,-40')).toEqual([across])
  const [found] = (await seen('types=storm')).features
  expect(found?.geometry).toEqual(square(179, -50, 4))
  expect(found?.properties).toMatchObject({ type: 'storm', severity: 60, status: 'active' })
  for (const wrong of ['types=storm,', 'types=hail', 'min_severity=101', 'bbox=1,2'])
    expect((await get(`/events/footprints?${wrong}`)).status).toBe(400)

  await at.query(
    `insert into watchpost.events (id, source, type, title, lat, lon, ts, severity, status, extent, geometry)
    select 'other:area-' || lpad(n::text, 3, '0'), 'other', 'weather', 'Rain', 60, -30, '2026-09-01T12:00:00Z', 50, 'active',
      box '(-29,61),(-30,60)', $1
    from generate_series(1, 450) n`,
    [JSON.stringify(square(-30, 60, 1))],
  )
  const pages: string[][] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: z.infer<typeof Footprints> = await seen(
      `bbox=-40,55,-20,65${cursor ? `&cursor=${cursor}` : ''}`,
    )
    pages.push(page.features.map(({ id }) => id))
    cursor = page.next_cursor
  }
  expect(pages.map(({ length }) => length)).toEqual([200, 200, 50])
  expect(new Set(pages.flat()).size).toBe(450)
  // Of the same moment, by their ids.
  expect(pages.flat()).toEqual(pages.flat().toSorted().toReversed())
  // Large ones come in smaller pages, but never none: what is stored counts, compressed.
  await at.query(
    `update watchpost.events set geometry = (
      select jsonb_build_object('type', 'LineString', 'coordinates',
        jsonb_agg(jsonb_build_array(random() * 360 - 180, random() * 180 - 90)))
      from generate_series(1, 9000))
    where id in ('other:area-450', 'other:area-449', 'other:area-448', 'other:area-447')`,
  )
  const first = await seen('bbox=-40,55,-20,65')
  expect(first.features.length).toBeGreaterThan(1)
  expect(first.features.length).toBeLessThan(5)
  expect(first.next_cursor).not.toBeNull()
})

const Tracks = z.object({
  tracks: z.array(
    z.looseObject({
      event_id: z.string(),
      steps: z.array(z.looseObject({ lon: z.number(), flag: z.string().nullable() })),
    }),
  ),
})

test('what moves comes with the way it took: storms by revisions, vessels by positions', async () => {
  const hour = (n: number) => `2026-09-01T${String(n).padStart(2, '0')}:00:00Z`
  const storm = quake({ type: 'storm', subject: 'test:one', lat: 20, lon: 170 })
  const warning = quake({ type: 'storm', lat: 20, lon: 170, ends_at: '2026-09-03T00:00:00Z' })
  const still = quake({ lat: 20, lon: 170, subject: 'test:two' })
  for (const n of [0, 1, 2, 3]) {
    for (const event of [storm, warning, still]) {
      const lon = ((170 + 6 * n + 180) % 360) - 180
      await at.jobs.ingest({ ...event, ts: hour(4 * n), lon })
    }
  }
  const once = quake({ type: 'storm', subject: 'test:three', lat: 20, lon: 170, ts: hour(1) })
  await at.jobs.ingest(once)
  await at.query(
    `insert into watchpost.positions (
      event_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject, status, extent, flag, tenant_id)
    select 'other:' || subject || n, ts, 'other', 'vessel', 'Ship', 45, n / 10.0, ts, 5, subject, 'active',
      box(point(n / 10.0, 45), point(n / 10.0, 45)), case when n = 15 then 'gap' end, tenant_id
    from generate_series(1, 20) n
    cross join lateral (select '2026-09-01T00:00:00Z'::timestamptz + n * interval '10 minutes' as ts) t
    cross join (values ('mmsi:1', null), ('mmsi:2', gen_random_uuid())) as one (subject, tenant_id)`,
  )
  const tracks = async (query: string) =>
    parsed(await get(`/events/tracks?${query}`), 200, Tracks).tracks
  const waysOf = async (query: string) =>
    (await tracks(query)).map(({ event_id, steps }) => [event_id, steps.map(({ lon }) => lon)])
  expect(await waysOf(`${DAY}&types=storm`)).toEqual([[storm.id, [170, 176, -178, -172]]])
  // The vessels of strangers are theirs; of one the steps that are in the box.
  expect(await waysOf(`${DAY}&bbox=1.35,44,1.55,46`)).toEqual([['other:mmsi:115', [1.4, 1.5]]])
  const [ship] = await tracks(`${DAY}&bbox=-10,40,10,50`)
  expect(ship).toMatchObject({ event_id: 'other:mmsi:120', type: 'vessel', subject: 'mmsi:1' })
  expect(ship?.steps.map(({ flag }) => flag).indexOf('gap')).toBe(14)
  expect(ship?.steps).toHaveLength(20)
  const [coarse] = await tracks(`${DAY}&bbox=-10,40,10,50&zoom=0`)
  expect(coarse?.steps.map(({ lon }) => lon)).toEqual([0.1, 1, 1.4, 1.5, 2])
  // Of a long way the newest 500 steps, and of one that is asked for by itself all.
  await at.query(
    `insert into watchpost.positions (
      event_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject, status, extent)
    select 'other:mmsi:3' || n, ts, 'other', 'vessel', 'Ship', -45, n / 10.0, ts, 5, 'mmsi:3', 'active',
      box(point(n / 10.0, -45), point(n / 10.0, -45))
    from generate_series(1, 502) n
    cross join lateral (select '2026-09-01T00:00:00Z'::timestamptz + n * interval '2 minutes' as ts) t`,
  )
  const [long] = await tracks(`${DAY}&bbox=-10,-50,60,-40`)
  expect(long?.steps.map(({ lon }) => lon)).toEqual(
    Array.from({ length: 500 }, (_, step) => (step + 3) / 10),
  )
  const [whole] = await tracks(`${DAY}&event_id=other:mmsi:3502`)
  expect(whole?.steps).toHaveLength(502)
  const of = (id: string, window = DAY) => waysOf(`${window}&event_id=${encodeURIComponent(id)}`)
  expect(await of('other:mmsi:13')).toEqual([
    ['other:mmsi:120', expect.objectContaining({ length: 20 })],
  ])
  expect(await of(storm.id)).toEqual([[storm.id, [170, 176, -178, -172]]])
  const early = 'from=2026-09-01T00:00:00Z&to=2026-09-01T05:00:00Z'
  expect(await of(storm.id, early)).toEqual([[storm.id, [170, 176]]])
  for (const id of ['other:mmsi:23', 'none', warning.id, still.id]) expect(await of(id)).toEqual([])
})

test('a map shows only the types and severities that are asked for', async () => {
  const query = 'from=2026-10-09T00:00:00Z&to=2026-10-11T00:00:00Z&zoom=0'
  const total = async (filter: string) =>
    parsed(await get(`/events/map?${query}&${filter}`), 200, EventMap).total
  expect(await total('types=earthquake')).toBe(3000)
  expect(await total('types=storm')).toBe(0)
  expect(await total('types=storm,earthquake&min_severity=90')).toBe(300)
  expect(await total('min_severity=98.5')).toBe(30)
})
