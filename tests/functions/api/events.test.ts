import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Event } from '../../../functions/api/events.ts'
import { expectProblem } from '../../support/attacks/refusals.ts'
import { createService, type Person, parsed, type Service } from '../../support/service.ts'

const PATH = '/api/v1/events'
const List = z.object({ events: z.array(Event), next_cursor: z.string().nullable() })

let service: Service
beforeAll(async () => {
  service = await createService()
  await service.database.query(
    `insert into watchpost.sources (source, title, attribution, types, interval_seconds)
    values ('test', '', '', '{}', 60), ('other', '', '', '{}', 60)`,
  )
})
afterAll(() => service?.close())

let places = 0
/** A place of one's own, with a zone of 100 km round it. */
async function watcher(person?: Person, fields: object = {}) {
  places += 1
  const me = person ?? (await service.person())
  const here = { lat: -60 + 3 * places, lon: 50 }
  const body = { label: 'A zone', ...here, radius_km: 100, ...fields }
  const made = await service.request('POST', '/api/v1/zones', { key: me.key, body })
  const { zone } = parsed(made, 201, z.object({ zone: z.object({ id: z.uuid() }) }))
  return { me, here, zone: zone.id }
}

let count = 0
type Fields = Partial<{
  lat: number
  lon: number
  source: string
  type: string
  severity: number
  ago: string
  owner: string
  org: string
  subject: string
}>
async function happens(fields: Fields): Promise<string> {
  count += 1
  const { source = 'test', type = 'storm', severity = 50, ago = '1 minute', subject } = fields
  const id = `${source}:${count}`
  const { lat, lon, owner, org } = fields
  await service.database.query(
    subject
      ? `insert into watchpost.positions (event_id, source, type, title, lat, lon, ts, severity, subject, status, extent,
          first_seen_at, tenant_id)
        values ($1, $2, $3, $1, $4, $5, date_trunc('milliseconds', now() - $6::interval), $7, '${subject}', 'active',
          box(point($5, $4), point($5, $4)), now(), coalesce($9::uuid, $8::uuid))`
      : `insert into watchpost.events (id, source, type, title, lat, lon, ts, severity, status, extent, owner_id, org_id)
        values ($1, $2, $3, $1, $4, $5, date_trunc('milliseconds', now() - $6::interval), $7, 'active',
          box(point($5, $4), point($5, $4)), $8, $9)`,
    [id, source, type, lat, lon, ago, severity, owner ?? null, org ?? null],
  )
  return id
}

async function listed(person: Pick<Person, 'key'>, filter = ''): Promise<string[]> {
  const answer = await service.request('GET', `${PATH}?${filter}`, { key: person.key })
  return parsed(answer, 200, List).events.map(({ id }) => id)
}

describe.each([
  ['events', undefined],
  ['positions', 'mmsi:230000001'],
])('%s', (_, subject) => {
  const event = (fields: Fields) => happens({ ...fields, ...(subject ? { subject } : {}) })

  test('are the recent ones inside the caller’s zones, newest first', async () => {
    const { me, here } = await watcher()
    const young = await event({ ...here, ago: '59 minutes' })
    const old = await event({ ...here, ago: '61 minutes' })
    const newest = await event(here)
    await event({ lat: here.lat, lon: here.lon + 40 })
    expect(await listed(me)).toEqual([newest, young])
    expect(await listed(me, 'minutes=60')).toEqual([newest, young])
    expect(await listed(me, 'minutes=90')).toEqual([newest, young, old])
    expect(await listed(me, 'minutes=1440')).toEqual([newest, young, old])
  })

  test('filter by source, type, severity and zone', async () => {
    const { me, here, zone } = await watcher()
    const elsewhere = await watcher(me)
    const weak = await event({ ...here, severity: 20, ago: '4 minutes' })
    const strong = await event({ ...here, severity: 60, ago: '3 minutes' })
    const flood = await event({ ...here, type: 'flood', severity: 20, ago: '2 minutes' })
    const other = await event({ ...here, source: 'other', severity: 59, ago: '1 minute' })
    const there = await event({ ...elsewhere.here, severity: 10, ago: '5 minutes' })
    expect(await listed(me)).toEqual([other, flood, strong, weak, there])
    expect(await listed(me, 'source=other')).toEqual([other])
    expect(await listed(me, 'type=flood')).toEqual([flood])
    expect(await listed(me, 'min_severity=59.5')).toEqual([strong])
    expect(await listed(me, 'min_severity=59')).toEqual([other, strong])
    expect(await listed(me, 'min_severity=60')).toEqual([strong])
    expect(await listed(me, `zone_id=${zone}`)).toEqual([other, flood, strong, weak])
    expect(await listed(me, `zone_id=${elsewhere.zone}`)).toEqual([there])
  })

  test('that are private are visible to their owners only', async () => {
    const [owner, member] = [await service.person(), await service.person()]
    const org = await service.organisation(owner, [member, 'member'])
    const { here } = await watcher(owner)
    const zone = { label: 'Same', ...here, radius_km: 100 }
    const stranger = await service.person()
    for (const { key } of [member, stranger])
      await service.request('POST', '/api/v1/zones', { key, body: zone })
    const everybodys = await event({ ...here, ago: '3 minutes' })
    const mine = await event({ ...here, owner: owner.user_id, ago: '2 minutes' })
    const ours = await event({ ...here, owner: owner.user_id, org, ago: '1 minute' })
    expect(await listed(owner)).toEqual([ours, mine, everybodys])
    expect(await listed(member)).toEqual([ours, everybodys])
    expect(await listed(stranger)).toEqual([everybodys])
  })

  test('page through everything, also several of the same moment', async () => {
    const { me, here } = await watcher()
    const ids: string[] = []
    for (const ago of ['5 minutes', '4 minutes', '3 minutes', '2 minutes', '1 minute'])
      ids.unshift(await event({ ...here, ago }))
    await service.database.query(
      `update watchpost.${subject ? 'positions' : 'events'}
      set ts = date_trunc('minute', now()) - interval '2 minutes' where ${subject ? 'event_id' : 'id'} = any($1)`,
      [ids.slice(1, 4)],
    )
    const expected = await listed(me)
    expect([...expected].sort()).toEqual([...ids].sort())
    for (const limit of [1, 2, 3, 5]) {
      const seen: string[] = []
      let cursor: string | null = ''
      for (let page = 0; cursor !== null && page < 10; page += 1) {
        const path: string = `${PATH}?limit=${limit}${cursor && `&cursor=${cursor}`}`
        const answer: z.infer<typeof List> = parsed(
          await service.request('GET', path, me),
          200,
          List,
        )
        seen.push(...answer.events.map(({ id }) => id))
        cursor = answer.next_cursor
      }
      expect(seen).toEqual(expected)
    }
  })
})

test('pages over many zones hold each event once, wherever the newest are', async () => {
  const { me, here } = await watcher()
  const zones = [here]
  // Two of the same place, so that the newest of each are the same; one place is far busier than the others.
  await service.request('POST', '/api/v1/zones', {
    key: me.key,
    body: { label: 'Same', ...here, radius_km: 100 },
  })
  for (let more = 0; more < 6; more += 1) zones.push((await watcher(me)).here)
  const expected: { id: string; minute: number }[] = []
  for (let number = 0; number < 40; number += 1) {
    const place = zones[number % 3 === 0 ? number % zones.length : 1]
    const minute = 1 + ((number * 7) % 11)
    expected.push({ id: await happens({ ...place, ago: `${minute} minutes` }), minute })
  }
  // All at exactly their minute, so that several are of the same moment.
  await service.database.query(
    `update watchpost.events set ts = date_trunc('minute', ts) where id = any($1)`,
    [expected.map(({ id }) => id)],
  )
  const stored = await service.database.query<{ id: string }>(
    'select id from watchpost.events where id = any($1) order by ts desc, id desc',
    [expected.map(({ id }) => id)],
  )
  for (const limit of [5, 9, 50]) {
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const query: string = `limit=${limit}&minutes=90${cursor && `&cursor=${cursor}`}`
      const answer = await service.request('GET', `${PATH}?${query}`, { key: me.key })
      const page: z.infer<typeof List> = parsed(answer, 200, List)
      seen.push(...page.events.map(({ id }) => id))
      cursor = page.next_cursor
    }
    expect(seen).toEqual(stored.map(({ id }) => id))
  }
})

test('an event names only those zones of the caller that it lies in', async () => {
  const { me, here, zone } = await watcher()
  const second = await service.request('POST', '/api/v1/zones', {
    key: me.key,
    body: { label: 'Wide', ...here, radius_km: 150 },
  })
  const wide = z.object({ zone: z.object({ id: z.uuid() }) }).parse(second.body).zone.id
  await watcher(undefined, here)
  const at = await happens(here)
  // In the corner of the small zone's box, outside its circle.
  const corner = await happens({ lat: here.lat + 0.85, lon: here.lon + 0.85, ago: '2 minutes' })
  const answer = await service.request('GET', PATH, me)
  const { events } = parsed(answer, 200, List)
  expect(events.map(({ id, zone_ids }) => [id, [...zone_ids].sort()])).toEqual([
    [at, [zone, wide].sort()],
    [corner, [wide]],
  ])
  expect(await listed(me, `zone_id=${zone}`)).toEqual([at])
})

test('a zone that is switched off or snoozed still says what happens in it, a deleted one does not', async () => {
  const { me, here, zone } = await watcher(undefined, { enabled: false, min_severity: 100 })
  const at = await happens(here)
  expect(await listed(me)).toEqual([at])
  await service.request('DELETE', `/api/v1/zones/${zone}`, me)
  expect(await listed(me)).toEqual([])
  expectProblem(await service.request('GET', `${PATH}?zone_id=${zone}`, me), 404, 'not_found')
})

test('take minutes, or a window of their own, and not both', async () => {
  const me = await service.person()
  const at = '2026-01-01T00:00:00.000Z'
  for (const other of [`from=${at}`, `to=${at}`, `active_at=${at}`, `from=${at}&to=${at}`]) {
    expect(await listed(me, other)).toEqual([])
    const both = await service.request('GET', `${PATH}?minutes=60&${other}`, { key: me.key })
    expectProblem(both, 400, 'invalid_query')
    expect(both.body).toMatchObject({
      errors: [
        { path: 'minutes', message: 'Send minutes, or from, to and active_at, but not both.' },
      ],
    })
  }
})

test('cannot filter by somebody else’s zone', async () => {
  const { zone, here } = await watcher()
  await happens(here)
  const { me: stranger } = await watcher()
  const answer = await service.request('GET', `${PATH}?zone_id=${zone}`, stranger)
  expectProblem(answer, 404, 'not_found')
})

test.each([
  'minutes=0',
  'minutes=1441',
  'limit=0',
  'limit=501',
  'min_severity=101',
  'type=x',
  'a=1',
])('?%s is 400', async (filter) => {
  const answer = await service.request('GET', `${PATH}?${filter}`, await service.person())
  expectProblem(answer, 400, 'invalid_query')
})

test.each([
  ['application/json', 200, 'application/json'],
  ['*/*', 200, 'application/json'],
  ['application/geo+json', 200, 'application/geo+json'],
  ['text/html', 406, 'application/problem+json'],
])('asked for %s it answers %i as %s', async (accept, status, type) => {
  const { key } = await service.person()
  const answer = await service.request('GET', PATH, { key, headers: { accept } })
  expect(answer.status).toBe(status)
  expect(answer.headers.get('Content-Type')).toContain(type)
  if (status === 406) {
    const detail = 'This comes as application/json or application/geo+json.'
    expect(answer.body).toMatchObject({ code: 'not_acceptable', detail })
  }
})

test('GeoJSON has the point of an event, or its footprint when that is asked for and there is one', async () => {
  const { me, here } = await watcher()
  const plain = await happens({ ...here, ago: '2 minutes' })
  const wide = await happens(here)
  const footprint = {
    type: 'LineString',
    coordinates: [
      [here.lon, here.lat],
      [here.lon + 1, here.lat],
    ],
  }
  await service.database.query('update watchpost.events set geometry = $2 where id = $1', [
    wide,
    JSON.stringify(footprint),
  ])
  const ask = async (query: string, accept: string) => {
    const path = `${PATH}?${query}`
    return (await service.request('GET', path, { key: me.key, headers: { accept } })).body
  }
  const point = { type: 'Point', coordinates: [here.lon, here.lat] }
  for (const [query, geometry] of [
    ['', point],
    ['geometry=false', point],
    ['geometry=true', footprint],
  ] as const) {
    const collection = await ask(query, 'application/geo+json')
    expect(collection).toMatchObject({
      type: 'FeatureCollection',
      features: [
        { type: 'Feature', id: wide, geometry, properties: { id: wide, severity: 50 } },
        { type: 'Feature', id: plain, geometry: point },
      ],
      next_cursor: null,
    })
    expect(JSON.stringify(collection)).not.toContain('"geometry":null')
  }
  // In JSON the footprint is a field, and only there when it is asked for.
  expect(await ask('geometry=true', 'application/json')).toMatchObject({
    events: [
      { id: wide, geometry: footprint },
      { id: plain, geometry: null },
    ],
  })
  const { events } = parsed(await service.request('GET', PATH, me), 200, List)
  for (const event of events) expect(event).not.toHaveProperty('geometry')
})

test('an event is in a zone by its point, or by its footprint where the zone says so', async () => {
  const { me, here, zone: byPoint } = await watcher(undefined, { match: 'point', radius_km: 50 })
  const beside = { lat: here.lat, lon: here.lon + 1 }
  const made = async (fields: object) => {
    const body = { label: 'Another', ...here, radius_km: 50, ...fields }
    const answer = await service.request('POST', '/api/v1/zones', { key: me.key, body })
    return parsed(answer, 201, z.object({ zone: z.object({ id: z.uuid() }) })).zone.id
  }
  const byFootprint = await made({ match: 'footprint' })
  const { lat, lon } = beside
  const ring = [
    [lon - 0.1, lat - 0.1],
    [lon + 0.1, lat - 0.1],
    [lon + 0.1, lat + 0.1],
    [lon - 0.1, lat + 0.1],
    [lon - 0.1, lat - 0.1],
  ]
  const outline = await made({
    ...{ match: 'point', polygon: { type: 'Polygon', coordinates: [ring] } },
  })
  const near = await happens({ ...here, ago: '3 minutes' })
  const wide = await happens({ ...beside, ago: '2 minutes' })
  const alone = await happens({ lat: lat + 0.3, lon, ago: '1 minute' })
  const footprint = {
    type: 'LineString',
    coordinates: [
      [here.lon, here.lat],
      [lon, lat],
    ],
  }
  await service.database.query(
    'update watchpost.events set geometry = $2, extent = box(point($3, $4), point($5, $4)) where id = $1',
    [wide, JSON.stringify(footprint), here.lon, lat, lon],
  )
  const answer = await service.request('GET', PATH, me)
  const found = parsed(answer, 200, List).events.map(({ id, zone_ids }) => [id, zone_ids.sort()])
  expect(found).toEqual([
    [wide, [byFootprint, outline].sort()],
    [near, [byPoint, byFootprint].sort()],
  ])
  expect(found.flat()).not.toContain(alone)
})
