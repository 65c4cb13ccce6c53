import { beforeAll, expect, test } from 'vitest'
import type { Feed } from '../../functions/feeds/feed.ts'
import type { NormalisedEvent } from '../../shared/schemas/event.ts'
import { quake } from '../support/jobs.ts'
import type { Person } from '../support/service.ts'
import { createStory } from '../support/story.ts'

// A feed is switched on where zones are already: what it tells of the past weeks is no news.
let answer: NormalisedEvent[] = []
let rejected: { item: string; reason: string }[] = []
const feed: Feed = {
  source: 'test-new',
  title: 'A feed',
  attribution: 'Somebody',
  types: ['earthquake'],
  interval_seconds: 60,
  poll: async ({ state }) => ({ events: answer, state, not_modified: false, rejected }),
}
let me: Person
const at = createStory({
  jobs: { feeds: [feed] },
  prepare: async ({ service }) => {
    me = await service.person()
  },
})

const happened = (id: string, minutes_ago: number, over: Partial<NormalisedEvent> = {}) =>
  quake({
    id: `test-new:${id.replaceAll(' ', '-')}`,
    source: 'test-new',
    title: id,
    lat: 41,
    lon: 29,
    severity: 80,
    ts: new Date(Date.now() - minutes_ago * 60_000).toISOString(),
    ...over,
  })
const poll = async () => {
  await at.query('update watchpost.sources set next_poll_at = now()')
  await at.jobs.drain()
}
const alerted = async () => (await at.alertsOf(me)).map(({ event }) => event.title).sort()
const soon = () => new Date(Date.now() + 3_600_000).toISOString()

beforeAll(async () => {
  await at.ask(me, 'POST', 'zones', { label: 'Here', lat: 41, lon: 29, min_severity: 40 })
  answer = [
    happened('a week ago', 7 * 24 * 60),
    happened('an hour and a minute ago', 61),
    happened('just now', 5),
    happened('began a week ago and still stands', 7 * 24 * 60, { ends_at: soon() }),
    happened('a ship an hour and a minute ago', 61, { subject: 'mmsi:230000001', type: 'vessel' }),
  ]
  await poll()
})

test('of its first answer, what is recent or still stands raises alerts; the rest is history', async () => {
  expect(await alerted()).toEqual([
    'a ship an hour and a minute ago',
    'began a week ago and still stands',
    'just now',
  ])
  const stored = await at.query(`select title from watchpost.events where source = 'test-new'`)
  expect(stored).toHaveLength(4)
})

test('what comes later is judged by its age, and a revision of history by that of its event', async () => {
  answer = [
    happened('told late', 120),
    happened('told too late', 73 * 60),
    happened('an hour and a minute ago', 61, { severity: 90 }),
    happened('a week ago', 7 * 24 * 60, { severity: 90 }),
  ]
  await poll()
  expect(await alerted()).toEqual([
    'a ship an hour and a minute ago',
    'an hour and a minute ago',
    'began a week ago and still stands',
    'just now',
    'told late',
  ])
})

test('what could not be read is counted in the log, with the first reasons', async () => {
  answer = []
  rejected = Array.from({ length: 7 }, (_, n) => ({ item: `#${n}`, reason: 'lat: is missing' }))
  await poll()
  const lines = at.jobs.lines.filter(({ queue }) => queue === 'ingest')
  expect(lines.at(-1)).toMatchObject({ rejected: rejected.slice(0, 5), rejected_count: 7 })
  rejected = []
  await poll()
  expect(at.jobs.lines.findLast(({ queue }) => queue === 'ingest')).not.toHaveProperty('rejected')
})
