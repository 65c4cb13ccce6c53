import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Feed } from '../../functions/feeds/feed.ts'
import { quake } from '../support/jobs.ts'
import { parsed } from '../support/service.ts'
import { createStory } from '../support/story.ts'

// A feed goes on answering "nothing new" for ever. Who watches it is told that it fell silent.
const feed: Feed = {
  source: 'test-feed',
  title: 'A feed',
  attribution: 'Somebody',
  types: ['earthquake'],
  interval_seconds: 60,
  poll: async ({ state }) => ({ events: [], state, not_modified: true, rejected: [] }),
}
const at = createStory({ jobs: { feeds: [feed] } })

const Health = z.object({
  sources: z.array(
    z.object({
      source: z.string(),
      status: z.string(),
      last_success_at: z.string().nullable(),
      error: z.string().nullable(),
    }),
  ),
})
async function health() {
  const answer = await at.service.request('GET', '/api/sources/health')
  const found = parsed(answer, 200, Health).sources.find(({ source }) => source === feed.source)
  if (!found) throw new Error('the feed is registered')
  return found
}

/** The feed answers 304, and the service does its housekeeping. */
async function poll() {
  await at.query('update watchpost.sources set next_poll_at = now()')
  await at.jobs.drain()
  await at.query('select private.purge()')
}

/** What the feed said so far: one event each half hour, the last one so many minutes ago. */
async function told(minutes_ago: number) {
  await at.query('truncate watchpost.events cascade')
  await at.query('update watchpost.sources set last_event_at = null')
  const events = Array.from({ length: 30 }, (_, n) =>
    quake({
      id: `test-feed:${minutes_ago}-${n}`,
      source: 'test-feed',
      ts: new Date(Date.now() - (minutes_ago + 30 * n) * 60_000).toISOString(),
    }),
  )
  await at.jobs.ingest(...events)
}

test('as long as it is within its own rhythm it is ok', async () => {
  await told(45)
  await poll()
  expect(await health()).toMatchObject({ status: 'ok', error: null })
})

test('silent for more than twice as long as ever, it is stale, though it answers', async () => {
  await told(75)
  await poll()
  const { status, error, last_success_at } = await health()
  expect(status).toBe('stale')
  expect(error).toMatch(/^It answers, but has sent no event since .*Z; .* more than 30 minutes\.$/)
  expect(Date.now() - Date.parse(last_success_at ?? '')).toBeLessThan(60_000)
  const person = await at.service.person()
  const body = { label: 'Deaf', lat: 1, lon: 1, sources: ['test-feed'] }
  const made = await at.service.request('POST', '/api/v1/zones', { key: person.key, body })
  expect(made.body).toMatchObject({
    zone: { coverage: [{ source: 'test-feed', status: 'stale' }] },
  })
})

test('a month later it still is: silence does not become its rhythm', async () => {
  await told(31 * 24 * 60)
  await poll()
  expect(await health()).toMatchObject({ status: 'stale' })
})

test('with its next event it is ok again', async () => {
  await at.jobs.ingest(quake({ id: 'test-feed:again', source: 'test-feed' }))
  await poll()
  expect(await health()).toMatchObject({ status: 'ok', error: null })
})

test('of a feed that has said too little nobody can tell, so it is ok', async () => {
  await at.query('truncate watchpost.events cascade')
  await at.query(
    'update watchpost.sources set last_event_at = null, longest_silence_seconds = null',
  )
  const old = new Date(Date.now() - 20 * 86_400_000).toISOString()
  await at.jobs.ingest(quake({ id: 'test-feed:one', source: 'test-feed', ts: old }))
  await poll()
  expect(await health()).toMatchObject({ status: 'ok' })
})
