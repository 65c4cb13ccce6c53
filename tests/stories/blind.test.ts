import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Feed, normaliseEach, reject, toEvent } from '../../functions/feeds/feed.ts'
import { fetchFeed } from '../../functions/feeds/fetch.ts'
import { BlindMessage, SightedMessage } from '../../shared/schemas/webhook.ts'
import { createTestJobs, quake } from '../support/jobs.ts'
import { createStory } from '../support/story.ts'

// A feed fails in all the ways that feeds fail. Who watches it hears once that their zones are blind, and once
// that they are not any more, from whichever process looks.
let answer: string | number | 'stall'
const server = createServer((_, response) => {
  if (answer === 'stall') return
  if (typeof answer === 'number') response.writeHead(answer).end()
  else response.end(answer)
})
const Item = z.object({ id: z.string(), lat: z.number(), lon: z.number(), at: z.string() })
const feed: Feed = {
  source: 'gauges',
  title: 'River gauges',
  attribution: 'The river authority',
  types: ['flood'],
  interval_seconds: 60,
  async poll({ state, now, fetch }) {
    // safe: the server listens on TCP
    const { port } = server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/gauges.json`
    const fetched = await fetchFeed(url, { now, fetch, timeout_ms: 100 })
    if (fetched.not_modified) throw new Error('nothing was conditional')
    const content = normaliseEach(z.array(z.unknown()).parse(fetched.json), (item, position) => {
      const read = Item.safeParse(item)
      if (!read.success) return reject(position, read.error)
      const { id, at: ts, ...place } = read.data
      const facts = { type: 'flood', title: 'Gauge', severity: 10 } as const
      return toEvent({ id: `gauges:${id}`, source: 'gauges', ts, ...place, ...facts }, id)
    })
    return { ...content, state, not_modified: false }
  },
}
const at = createStory({ jobs: { feeds: [feed] } })
beforeAll(async () => {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const list = (count: number, item: (nth: number) => object) =>
  JSON.stringify(Array.from({ length: count }, (_, nth) => item(nth)))
const good = () => list(3, (nth) => ({ id: `${nth}`, lat: 1, lon: 1, at: new Date() }))

/** Two processes that begin anew look at the feed, as the next call of an edge platform would. */
async function look() {
  await at.query(`update watchpost.sources set next_poll_at = now() where source = 'gauges'`)
  for (let process = 0; process < 2; process += 1) {
    const jobs = await createTestJobs(at.service, { feeds: [feed], db: at.jobs.db })
    await jobs.drain()
  }
}

/** Lets minutes pass, an even number of them, in which the feed is polled every other minute. */
async function pass(minutes: number) {
  for (let passed = 0; passed < minutes; passed += 2) await jump(2)
}

/** As if everything had happened so many minutes earlier; then the feed is polled. */
async function jump(minutes: number) {
  const earlier = (...columns: string[]) =>
    columns.map((name) => `${name} = ${name} - make_interval(mins => ${minutes})`).join(', ')
  await at.query(
    `update watchpost.sources set ${earlier('created_at', 'last_success_at', 'error_at', 'last_event_at')}
    where source = 'gauges'`,
  )
  await at.query(
    `update watchpost.blindness set ${earlier('began_at', 'seen_at', 'told_at', 'well_at', 'ended_at')}`,
  )
  await look()
}

const Health = z.object({
  sources: z.array(
    z.object({ source: z.string(), status: z.string(), error: z.string().nullable() }),
  ),
})
async function health() {
  const { body } = await at.service.request('GET', '/api/sources/health')
  const found = Health.parse(body).sources.find(({ source }) => source === 'gauges')
  if (!found) throw new Error('the feed is registered')
  return found
}
const heard = () =>
  at.service.receiver.requests.map(({ body }) => {
    const message: unknown = JSON.parse(body)
    const { type } = z.object({ type: z.string() }).parse(message)
    return type === 'zone.blind' ? BlindMessage.parse(message) : SightedMessage.parse(message)
  })
const types = () => heard().map(({ type }) => type)

let zone: { id: string; label: string }
beforeEach(async () => {
  await at.query(
    'truncate watchpost.key_usage, watchpost.blindness, watchpost.accounts, watchpost.events cascade',
  )
  await at.query(
    `update watchpost.sources set created_at = now() - interval '1 day', last_success_at = now(), error = null,
      error_at = null, last_event_at = null, longest_silence_seconds = null, garbled_polls = 0, garbled_items = 0
    where source = 'gauges'`,
  )
  const person = await at.service.person()
  await at.channelOf(person)
  const Made = z.object({ zone: z.object({ id: z.uuid(), label: z.string() }).loose() })
  const { id, label } = (
    await at.make(person, 'zones', { label: 'Lower town', lat: 1, lon: 1 }, Made)
  ).zone
  zone = { id, label }
  answer = good()
  await look()
  expect(await health()).toMatchObject({ status: 'ok' })
})

describe.each<{
  what: string
  given: () => string | number
  in_minutes: number
  status: string
  reason: RegExp
  code: string
}>([
  {
    what: 'stops',
    given: () => 503,
    in_minutes: 4,
    status: 'down',
    reason: /HTTP 503/,
    code: 'http_status',
  },
  {
    what: 'answers a page instead of data',
    given: () => '<!doctype html><title>Maintenance</title>',
    in_minutes: 4,
    status: 'down',
    reason: /answered with a web page/,
    code: 'not_json',
  },
  {
    what: 'stalls with an open socket',
    given: () => 'stall',
    in_minutes: 4,
    status: 'down',
    reason: /no answer within 100 ms/,
    code: 'unreachable',
  },
  {
    what: 'answers items of which none can be read',
    given: () => list(8, (nth) => ({ ident: nth })),
    in_minutes: 6,
    status: 'stale',
    reason: /most of what it answers cannot be used: id: /,
    code: 'unusable',
  },
])('a feed that $what', ({ given, in_minutes, status, reason, code }) => {
  test('is told of once, and once when it is back', async () => {
    answer = given()
    await pass(in_minutes - 2)
    expect(await health()).toMatchObject({ status: 'ok' })
    await pass(2)
    const { error, ...found } = await health()
    expect(found).toMatchObject({ status })
    expect(error).toMatch(reason)
    await pass(14)
    expect(types()).toEqual([])
    await pass(2)
    expect(types()).toEqual(['zone.blind'])
    const stored = `select cause ->> 'code' as code from watchpost.blindness order by began_at desc limit 1`
    expect(await at.query(stored)).toEqual([{ code }])
    await pass(20)
    expect(heard()).toEqual([
      {
        type: 'zone.blind',
        timestamp: expect.stringMatching(/Z$/),
        data: {
          source: {
            source: 'gauges',
            title: 'gauges',
            attribution: 'a test',
            status,
            since: expect.stringMatching(/Z$/),
            reason: expect.stringMatching(reason),
          },
          zones: [zone],
          zones_total: 1,
        },
      },
    ])

    answer = good()
    await look()
    expect(await health()).toMatchObject({ status: 'ok', error: null })
    await pass(4)
    expect(types()).toEqual(['zone.blind'])
    await pass(2)
    expect(types()).toEqual(['zone.blind', 'zone.sighted'])
    await pass(20)
    const [blind, sighted, ...more] = heard()
    expect(more).toEqual([])
    expect(sighted).toMatchObject({
      type: 'zone.sighted',
      data: {
        source: { source: 'gauges', status: 'ok', reason: blind?.data.source.reason },
        zones: [zone],
        zones_total: 1,
      },
    })
    const { since, until, blind_seconds } = SightedMessage.parse(sighted).data.source
    expect(blind_seconds).toBe(Math.round((Date.parse(until) - Date.parse(since)) / 1000))
    expect(blind_seconds).toBeGreaterThanOrEqual(36 * 60)
  })
})

test('a feed that has nothing to say any more is stale in its rhythm, and told of once', async () => {
  const events = Array.from({ length: 30 }, (_, nth) =>
    quake({
      id: `gauges:then-${nth}`,
      source: 'gauges',
      type: 'flood',
      severity: 0,
      ts: new Date(Date.now() - (5 + 30 * nth) * 60_000).toISOString(),
    }),
  )
  await at.query('truncate watchpost.events cascade')
  await at.query('update watchpost.sources set last_event_at = null')
  await at.jobs.ingest(...events)
  await at.query('select private.purge()')
  answer = '[]'
  await pass(54)
  expect(await health()).toMatchObject({ status: 'ok' })
  await pass(2)
  expect(await health()).toMatchObject({
    status: 'stale',
    error: expect.stringMatching(/has sent no event since .*Z; .* 30 minutes/),
  })
  await pass(14)
  expect(types()).toEqual([])
  await pass(20)
  expect(types()).toEqual(['zone.blind'])
  answer = good()
  await pass(8)
  expect(types()).toEqual(['zone.blind', 'zone.sighted'])
})

test('one that fails now and then is told of once: it must be well for a while', async () => {
  for (let time = 0; time < 4; time += 1) {
    answer = 503
    await pass(8)
    answer = good()
    await look()
    await pass(2)
  }
  expect(types()).toEqual(['zone.blind'])
  await pass(4)
  expect(types()).toEqual(['zone.blind', 'zone.sighted'])
})

test('a failure that is over before the limit is told to nobody, and forgotten', async () => {
  answer = 503
  await pass(16)
  answer = good()
  await pass(8)
  expect(await at.query('select from watchpost.blindness')).toEqual([])
  answer = 503
  await pass(16)
  expect(types()).toEqual([])
})

test('the time in which the service itself did not run is not held against a feed', async () => {
  answer = 503
  await pass(8)
  await jump(120)
  await pass(8)
  expect(types()).toEqual([])
  await pass(8)
  expect(types()).toEqual(['zone.blind'])
})
