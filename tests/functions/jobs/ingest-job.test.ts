/** A poll of a feed: what it is given, what is kept of its answer or its failure, and what the log says. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Feed, type FeedResult, feedError } from '../../../functions/feeds/feed.ts'
import { registerFeeds } from '../../../functions/jobs/ingest.ts'
import { createTestJobs, quake, type TestJobs } from '../../support/jobs.ts'
import { createService, type Service } from '../../support/service.ts'

type Input = Parameters<Feed['poll']>[0]

let answer: (input: Input) => Promise<Partial<FeedResult>>
const feed: Feed = {
  source: 'polled',
  title: 'A feed',
  attribution: 'Somebody',
  types: ['earthquake'],
  interval_seconds: 60,
  poll: async (input) => ({
    ...{ events: [], state: input.state, not_modified: false, rejected: [] },
    ...(await answer(input)),
  }),
}
let service: Service
let jobs: TestJobs
beforeAll(async () => {
  service = await createService()
  jobs = await createTestJobs(service, { feeds: [feed] })
})
afterAll(async () => {
  await jobs?.close()
  await service?.close()
})
const query = (text: string, values: unknown[] = []) => service.database.query(text, values)
beforeEach(async () => {
  await query('delete from pgboss.job')
  await query(`update watchpost.sources set state = '{}', last_success_at = now() - interval '1 minute',
    error = null, error_code = null, error_at = null, paused_at = null, paused_reason = null,
    created_at = now() - interval '1 day', next_poll_at = 'infinity' where source = 'polled'`)
})

/** Runs one job of the queue, for this source; answers its line. */
async function run(source = 'polled') {
  await query(`select private.enqueue('ingest', gen_random_uuid(), $1)`, [{ source }])
  await jobs.runner.drain({ budget_ms: 30_000 })
  const { job_id, duration_ms, ...line } =
    jobs.lines.findLast(({ queue }) => queue === 'ingest') ?? {}
  expect([typeof job_id, typeof duration_ms]).toEqual(['string', 'number'])
  return line
}
const kept = async () => {
  const [row] = await query(
    `select state, error, error_code, error_at is not null as has_failed,
      last_success_at > now() - interval '30 seconds' as is_well,
      extract(epoch from nullif(next_poll_at, 'infinity') - now())::float8 as wait
    from watchpost.sources where source = 'polled'`,
  )
  return row as { state: object; error: string | null; wait: number | null }
}
const told = (id: string, more: Parameters<typeof quake>[0] = {}) =>
  quake({ id: `polled:${id}`, source: 'polled', ...more })
const NOTHING = { inserted: 0, revised: 0, unchanged: 0, dropped: 0, flagged: 0, history: 0 }
const DONE = { msg: 'job', queue: 'ingest', source: 'polled', outcome: 'done' }

describe('an answer', () => {
  test('is asked for with what was kept of the one before', async () => {
    await query(`update watchpost.sources set state = '{"etag":"a"}' where source = 'polled'`)
    const given: Input[] = []
    answer = async (input) => {
      given.push(input)
      return { state: { etag: 'b' }, not_modified: true }
    }
    expect(await run()).toEqual({ ...DONE, ...NOTHING, not_modified: true })
    const [input] = given
    expect(given).toHaveLength(1)
    expect(input?.state).toEqual({ etag: 'a' })
    expect(input?.contact).toBe('ops@watchpost.example')
    expect(input?.fetch).toBe(fetch)
    const ago = (at: Date | null | undefined) => (Date.now() - (at?.getTime() ?? 0)) / 1000
    expect(ago(input?.now)).toBeLessThan(60)
    expect(ago(input?.last_success_at)).toBeGreaterThan(59)
    expect(ago(input?.last_success_at)).toBeLessThan(120)
    expect(await kept()).toMatchObject({ state: { etag: 'b' }, is_well: true })
  })

  test('is counted: what is new, what is revised, and what is as it was', async () => {
    const [a, b] = [told('a'), told('b')]
    answer = async () => ({ events: [a, b] })
    expect(await run()).toEqual({ ...DONE, ...NOTHING, inserted: 2, not_modified: false })
    const rejected = Array.from({ length: 6 }, (_, n) => ({ item: `#${n}`, reason: `reason ${n}` }))
    answer = async () => ({ events: [a, { ...b, title: 'another' }, told('c')], rejected })
    expect(await run()).toEqual({
      ...{ ...DONE, ...NOTHING, inserted: 1, revised: 1, unchanged: 1, not_modified: false },
      ...{ rejected: rejected.slice(0, 5), rejected_count: 6 },
    })
    const [hour] = await query(
      `select sum(items)::integer as items, sum(rejected)::integer as rejected, max(reason) as reason
      from watchpost.source_hours where source = 'polled'`,
    )
    expect(hour).toEqual({ items: 11, rejected: 6, reason: 'reason 5' })
  })

  test('of a thousand and one events is stored whole', async () => {
    const events = Array.from({ length: 1001 }, (_, n) => told(`many-${n}`))
    answer = async () => ({ events })
    expect(await run()).toMatchObject({ inserted: 1001, history: 0 })
  })

  test('that is the first has history: what was over for an hour', async () => {
    await query(`update watchpost.sources set last_success_at = null where source = 'polled'`)
    const minutes = (ago: number) => new Date(Date.now() - ago * 60_000).toISOString()
    const given: (Date | null | undefined)[] = []
    answer = async ({ last_success_at }) => {
      given.push(last_success_at)
      return {
        events: [
          told('h1', { ts: minutes(61) }),
          told('h2', { ts: minutes(59) }),
          told('h3', { ts: minutes(61), ends_at: minutes(-5) }),
          told('h4', { ts: minutes(61), ends_at: minutes(5) }),
        ],
      }
    }
    expect(await run()).toMatchObject({ inserted: 4, history: 2 })
    expect(given).toEqual([null])
    const again = told('h5', { ts: minutes(61) })
    answer = async () => ({ events: [again] })
    expect(await run()).toMatchObject({ inserted: 1, history: 0 })
  })

  test('may ask to be left alone for longer', async () => {
    await query(`update watchpost.sources set next_poll_at = now() where source = 'polled'`)
    answer = async () => ({ next_poll_seconds: 600 })
    await run()
    const { wait } = await kept()
    expect(wait).toBeGreaterThan(500)
    expect(wait).toBeLessThanOrEqual(600)
  })

  test('ends the trouble that was told before', async () => {
    await query(
      `update watchpost.sources set error = 'x', error_at = now() where source = 'polled'`,
    )
    answer = async () => ({})
    await run()
    expect(await kept()).toMatchObject({ error: null, has_failed: false, is_well: true })
  })
})

describe('a failure', () => {
  test('is kept with its words, and the next poll waits as long as the feed has failed', async () => {
    await query(`update watchpost.sources set state = '{"etag":"a"}', error = 'x', error_at = now() - interval '4 minutes',
      last_success_at = now() - interval '5 minutes' where source = 'polled'`)
    answer = () => Promise.reject(feedError('http_status', 'a.example answered HTTP 503'))
    const line = await run()
    expect(line).toEqual({
      ...{ ...DONE, feed_error: 'a.example answered HTTP 503' },
      next_poll_seconds: expect.any(Number),
    })
    expect(line.next_poll_seconds).toBeGreaterThanOrEqual(270)
    expect(line.next_poll_seconds).toBeLessThanOrEqual(400)
    expect(Number.isInteger(line.next_poll_seconds)).toBe(true)
    const row = await kept()
    expect(row).toMatchObject({
      ...{ state: { etag: 'a' }, error: 'a.example answered HTTP 503' },
      ...{ error_code: 'http_status', has_failed: true, is_well: false },
    })
    expect(Math.abs((row.wait ?? 0) - Number(line.next_poll_seconds))).toBeLessThan(30)
  })

  test('after hours without a poll waits no longer than any other: it has not failed for hours', async () => {
    await query(
      `update watchpost.sources set last_success_at = now() - interval '5 hours' where source = 'polled'`,
    )
    answer = () => Promise.reject(feedError('unreachable', 'It is away.'))
    const first = await run()
    expect(first.next_poll_seconds).toBeGreaterThanOrEqual(54)
    expect(first.next_poll_seconds).toBeLessThanOrEqual(66)
    await query(
      `update watchpost.sources set error_at = now() - interval '1 minute' where source = 'polled'`,
    )
    const second = await run()
    expect(second.next_poll_seconds).toBeGreaterThanOrEqual(108)
    expect(second.next_poll_seconds).toBeLessThanOrEqual(150)
  })

  test('waits at least for the interval, and as long as the upstream says', async () => {
    await query(`update watchpost.sources set last_success_at = now() where source = 'polled'`)
    answer = () => Promise.reject(feedError('unreachable', 'It is away.'))
    const { next_poll_seconds } = await run()
    expect(next_poll_seconds).toBeGreaterThanOrEqual(54)
    expect(next_poll_seconds).toBeLessThanOrEqual(66)
    const asked = { retry_after_seconds: 7200 }
    answer = () => Promise.reject(feedError('rate_limited', 'It is busy.', asked))
    expect((await run()).next_poll_seconds).toBe(7200)
  })

  test('of our own fails the job, and is no trouble of the source', async () => {
    answer = () => Promise.reject(new TypeError('a fault'))
    expect(await run()).toMatchObject({ msg: 'job', outcome: 'failed', error: 'a fault' })
    expect(await kept()).toMatchObject({ error: null, has_failed: false })
  })
})

describe('nobody is asked', () => {
  beforeEach(() => {
    answer = () => Promise.reject(new Error('nobody should ask'))
  })

  test('of a source that this process does not poll', async () => {
    const skipped = { ...DONE, source: 'another', skipped: 'this process has no such feed' }
    expect(await run('another')).toEqual(skipped)
  })

  test('of one that an operator has paused', async () => {
    await query(
      `update watchpost.sources set paused_at = now(), paused_reason = 'x' where source = 'polled'`,
    )
    expect(await run()).toEqual({ ...DONE, skipped: 'an operator has paused it' })
  })
})

describe('the feeds of a service', () => {
  const rowOf = async (source: string) =>
    (
      await query(
        `select title, enabled, error, ceilings, region::text as region, stand_ins,
          next_poll_at = 'infinity' as is_never from watchpost.sources where source = $1`,
        [source],
      )
    )[0]
  const other: Feed = {
    ...feed,
    source: 'other',
    ceilings: { earthquake: 70 },
    region: () => [
      [10, 20, 30, 40],
      [-180, 1, -170, 2],
    ],
  }

  test('are kept with what they say of themselves, and switched off where they are not chosen', async () => {
    await registerFeeds(jobs.db, [feed, other])
    expect(await rowOf('other')).toEqual({
      ...{ title: 'A feed', enabled: true, error: null, ceilings: { earthquake: 70 } },
      ...{ region: '{(30,40),(10,20);(-170,2),(-180,1)}', stand_ins: expect.anything() },
      is_never: false,
    })
    await registerFeeds(jobs.db, [feed], [{ feed: other, reason: 'KEY is not set.' }])
    expect(await rowOf('other')).toMatchObject({ enabled: false, error: 'KEY is not set.' })
    await registerFeeds(jobs.db, [feed], [{ feed: other, reason: 'KEY is wrong.' }])
    expect(await rowOf('other')).toMatchObject({ enabled: false, error: 'KEY is wrong.' })
    await registerFeeds(jobs.db, [feed, { ...other, title: 'Renamed' }])
    expect(await rowOf('other')).toMatchObject({ enabled: true, error: null, title: 'Renamed' })
    await registerFeeds(jobs.db, [feed])
    expect(await rowOf('other')).toMatchObject({ enabled: false, error: null })
    expect(await rowOf('polled')).toMatchObject({ enabled: true, region: null, ceilings: {} })
  })

  test('keep the trouble that they are in', async () => {
    await query(`update watchpost.sources set error = 'It is away.' where source = 'polled'`)
    await registerFeeds(jobs.db, [{ ...feed, title: 'Renamed' }])
    expect(await rowOf('polled')).toMatchObject({ title: 'Renamed', error: 'It is away.' })
    await registerFeeds(jobs.db, [feed])
  })
})
