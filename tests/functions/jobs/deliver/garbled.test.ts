import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Feed, FeedResult } from '../../../../functions/feeds/feed.ts'
import { createDeliveryService, type DeliveryService } from '../../../support/delivery-service.ts'
import { quake } from '../../../support/jobs.ts'

// A source that answers, but less and less of it can be used.
let next: Pick<FeedResult, 'events' | 'rejected'>
const feed: Feed = {
  source: 'garbled',
  title: 'A feed',
  attribution: 'Somebody',
  types: ['earthquake'],
  interval_seconds: 60,
  poll: async ({ state }) => ({ ...next, state, not_modified: false }),
}
let at: DeliveryService
beforeAll(async () => {
  at = await createDeliveryService({ jobs: { feeds: [feed] } })
})
afterAll(() => at.close())
beforeEach(async () => {
  await at.query('delete from watchpost.source_hours')
  await at.query(
    'update watchpost.sources set garbled_polls = 0, garbled_items = 0, usual_accepted = null',
  )
})

/** Polls an answer with so many items that can be used and so many that cannot; says what its status is then. */
async function poll(accepted: number, rejected: number) {
  next = {
    events: Array.from({ length: accepted }, (_, nth) =>
      quake({ id: `garbled:${nth}`, source: 'garbled' }),
    ),
    rejected: Array.from({ length: rejected }, (_, nth) => ({
      item: `#${nth}`,
      reason: `reason ${nth}`,
    })),
  }
  await at.query('update watchpost.sources set next_poll_at = now()')
  await at.jobs.drain()
  return status()
}
async function status() {
  const [row] = await at.query(
    `select status, error from private.sources_health() where source = 'garbled'`,
  )
  return row?.status === 'stale' ? `stale: ${row.error}` : row?.status
}
async function polls(...answers: [number, number][]) {
  const found = []
  for (const [accepted, rejected] of answers) found.push(await poll(accepted, rejected))
  return found
}
const GARBLED = 'stale: It answers, but most of what it answers cannot be used: reason'
const usually = (share: number | null) =>
  at.query('update watchpost.sources set usual_accepted = $1', [share])

describe('is stale after three answers and ten items', () => {
  test('of which nothing can be used, before anything is known of it', async () => {
    expect(await polls([0, 5], [0, 5], [0, 4], [0, 4], [1, 40], [0, 40])).toEqual([
      'ok',
      'ok',
      `${GARBLED} 3`,
      `${GARBLED} 3`,
      'ok',
      'ok',
    ])
  })

  test('but not of fewer items, such as one that an overlap brings again', async () => {
    expect(await polls([0, 1], [0, 1], [0, 1], [0, 1], [0, 5])).toEqual(Array(5).fill('ok'))
    expect(await poll(0, 1)).toBe(`${GARBLED} 0`)
  })

  test.each<[number, [number, number], boolean]>([
    [1, [10, 11], true],
    [1, [10, 10], false],
    [0.2, [9, 91], true],
    [0.2, [10, 90], false],
    [0, [0, 20], true],
    [0, [1, 20], false],
  ])('of less than half of the usual share of %d: %j is %s', async (usual, answer, is_stale) => {
    await usually(usual)
    const found = await polls(answer, answer, answer)
    expect(String(found[2]).startsWith('stale')).toBe(is_stale)
  })

  test('an answer without items says nothing of it', async () => {
    await polls([0, 5], [0, 5])
    expect(await polls([0, 0], [0, 5], [0, 0])).toEqual(['ok', `${GARBLED} 4`, `${GARBLED} 4`])
  })
})

describe('what is usual', () => {
  const measure = async () => {
    await at.query('select private.purge()')
    const [row] = await at.query(
      `select usual_accepted as share from watchpost.sources where source = 'garbled'`,
    )
    return row?.share
  }
  const hours = (count: number, items: number, rejected: number, from = 0) =>
    at.query(
      `insert into watchpost.source_hours (source, hour, items, rejected)
      select 'garbled', date_trunc('hour', now()) - make_interval(hours => n::integer), $2, $3
      from generate_series($4::integer, $4::integer + $1::integer - 1) n`,
      [count, items, rejected, from],
    )

  test('is measured from twelve hours with items on, over 7 days', async () => {
    await hours(11, 10, 2)
    expect(await measure()).toBeNull()
    await hours(1, 90, 78, 11)
    expect(await measure()).toBe(0.5)
    await hours(5, 1000, 1000, 168)
    expect(await measure()).toBe(0.5)
    expect(await at.query('select from watchpost.source_hours')).toHaveLength(12)
  })

  test('stays what it was while a source is garbled', async () => {
    await hours(12, 10, 0)
    expect(await measure()).toBe(1)
    await poll(0, 1000)
    expect(await measure()).toBe(1)
    await poll(1, 0)
    expect(await measure()).toBeLessThan(0.2)
  })
})

test('a poll that was due before an operator paused its source asks nobody', async () => {
  await poll(1, 0)
  const answered = 'select source, last_success_at from watchpost.sources order by source'
  const before = await at.query(answered)
  await at.query('update watchpost.sources set next_poll_at = now()')
  await at.query('select private.enqueue_due()')
  await at.query(`update watchpost.sources set paused_at = now(), paused_reason = 'Noise'`)
  await at.jobs.drain()
  expect(await at.query(answered)).toEqual(before)
  expect(at.jobs.lines).toContainEqual(
    expect.objectContaining({ source: 'garbled', skipped: 'an operator has paused it' }),
  )
  expect(await status()).toBe('disabled')
})
