import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Feed, feedError, type PollInput } from '../../functions/feeds/feed.ts'
import { quake } from '../support/jobs.ts'
import { parsed } from '../support/service.ts'
import { createStory } from '../support/story.ts'

// A feed goes on answering "nothing new" for ever. Who watches it is told that it fell silent.
const well: Feed['poll'] = async ({ state }) => ({
  events: [],
  state,
  not_modified: true,
  rejected: [],
})
let answers = well
let asked: PollInput[] = []
const feed: Feed = {
  source: 'test-feed',
  title: 'A feed',
  attribution: 'Somebody',
  types: ['earthquake'],
  interval_seconds: 60,
  poll: (input) => {
    asked.push(input)
    return answers(input)
  },
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

describe('a feed that is polled', () => {
  /** What is kept of the feed after a poll, and in how many seconds it is polled again. */
  async function pollOnce(answer: Feed['poll'], well_ago = '1 minute') {
    asked = []
    answers = answer
    await at.query(
      `update watchpost.sources set next_poll_at = now(), last_success_at = now() - $1::interval
      where source = 'test-feed'`,
      [well_ago],
    )
    await at.jobs.drain()
    const [row] = await at.query(
      `update watchpost.sources set next_poll_at = 'infinity' where source = 'test-feed'
      returning state, error, error_at is not null as is_failing,
        extract(epoch from old.next_poll_at - now())::float8 as seconds,
        last_success_at > now() - interval '30 seconds' as is_well`,
    )
    return row
  }

  test('gets what it kept, when it last answered and whom to name; its answer is kept', async () => {
    const first = await pollOnce(async (input) => ({
      ...(await well(input)),
      state: { cursor: 7 },
    }))
    expect(first).toMatchObject({ state: { cursor: 7 }, error: null, is_well: true })
    const [input] = asked
    expect(input?.contact).toBe('ops@watchpost.example')
    const ago = Date.now() - (input?.last_success_at?.getTime() ?? 0)
    expect([ago > 59_000, ago < 90_000]).toEqual([true, true])
    await pollOnce(well)
    expect(asked.map(({ state }) => state)).toEqual([{ cursor: 7 }])
  })

  test('is left alone for as long as an answer asks, else for its interval', async () => {
    const pausing = await pollOnce(async (input) => ({
      ...(await well(input)),
      next_poll_seconds: 600,
    }))
    expect(pausing?.seconds).toBeGreaterThan(590)
    expect(pausing?.seconds).toBeLessThanOrEqual(600)
    expect((await pollOnce(well))?.seconds).toBeLessThanOrEqual(60)
  })

  test('that fails keeps its state and says why until it answers again', async () => {
    const fails: Feed['poll'] = () => Promise.reject(feedError('http_status', 'answered HTTP 500'))
    const failed = { state: { cursor: 7 }, error: 'answered HTTP 500', is_failing: true }
    expect(await pollOnce(fails)).toMatchObject({ ...failed, is_well: false })
    expect(await pollOnce(well)).toMatchObject({ error: null, is_failing: false, is_well: true })
  })

  test('that fails is left alone the longer it has failed, and for as long as it asks', async () => {
    const fails =
      (retry_after_seconds?: number): Feed['poll'] =>
      () =>
        Promise.reject(feedError('http_status', 'answered HTTP 503', { retry_after_seconds }))
    await pollOnce(fails(), '5 minutes')
    await at.query(
      `update watchpost.sources set error_at = now() - interval '5 minutes' where source = 'test-feed'`,
    )
    const ten = await pollOnce(fails(), '10 minutes')
    expect(ten?.seconds).toBeGreaterThan(530)
    expect(ten?.seconds).toBeLessThan(670)
    expect((await pollOnce(fails(3000), '10 minutes'))?.seconds).toBeGreaterThan(2990)
  })

  test('is not asked when an operator has paused it since its turn came', async () => {
    asked = []
    await at.query(`update watchpost.sources set next_poll_at = now() where source = 'test-feed'`)
    await at.query('select private.enqueue_due()')
    const pause = (since: string, reason: string | null) =>
      at.query(
        `update watchpost.sources set paused_at = ${since}, paused_reason = $1 where source = 'test-feed'`,
        [reason],
      )
    await pause('now()', 'Too loud')
    await at.jobs.drain()
    await pause('null', null)
    expect(asked).toEqual([])
    expect(at.jobs.lines).toContainEqual(
      expect.objectContaining({ source: 'test-feed', skipped: 'an operator has paused it' }),
    )
  })
})
