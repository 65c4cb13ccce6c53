import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { coast } from '../../support/attacks/expensive.ts'
import { expectProblem } from '../../support/attacks/refusals.ts'
import { createService, type Person, parsed, type Service } from '../../support/service.ts'

/** Several of the pieces in which they are read. */
const EVENTS = 16_000
const Answer = z.object({
  count: z.int(),
  events: z.array(z.unknown()),
  by_day: z.array(z.object({ count: z.int() })),
})

let service: Service
let person: Person
beforeAll(async () => {
  service = await createService()
  person = await service.person()
  await service.database.query(
    `insert into watchpost.event_revisions (event_id, revision, first_seen_at, source, type, title,
      lat, lon, ts, severity, status, extent)
    select 'usgs:' || n, 1, now() - n * interval '5 minutes', 'usgs', 'earthquake', 'M 5', 10, 29,
      now() - n * interval '5 minutes', 50, 'active', box(point(29, 10), point(29, 10))
    from generate_series(1, $1) as n`,
    [EVENTS],
  )
})
afterAll(() => service?.close())

const preview = (body: object, query = 'days=90&limit=1000') =>
  service.request('POST', `/api/v1/zones/preview?${query}`, { key: person.key, body })

test('a large preview is read in pieces, misses nothing, and lists its events by the thousand', async () => {
  const answer = await preview({ label: 'Circle', lat: 10, lon: 29 })
  const { count, events, by_day } = parsed(answer, 200, Answer)
  expect(count).toBe(EVENTS)
  expect(by_day.reduce((sum, day) => sum + day.count, 0)).toBe(EVENTS)
  expect(events).toHaveLength(1000)
})

test('the pages of a preview list each event once, the newest first', async () => {
  const Page = z.object({
    count: z.int(),
    events: z.array(z.object({ event_id: z.string(), raised_at: z.string() })),
    next_cursor: z.string().nullable(),
  })
  const circle = { label: 'Circle', lat: 10, lon: 29 }
  const pages: z.infer<typeof Page>[] = []
  for (
    let cursor: string | null = '';
    cursor !== null;
    cursor = pages.at(-1)?.next_cursor ?? null
  ) {
    const query = `days=2&limit=200${cursor && `&cursor=${cursor}`}`
    pages.push(parsed(await preview(circle, query), 200, Page))
  }
  const all = pages.flatMap(({ events }) => events)
  expect(pages.length).toBeGreaterThan(1)
  expect(new Set(all.map(({ event_id }) => event_id)).size).toBe(pages[0]?.count)
  expect(all).toHaveLength(pages[0]?.count ?? -1)
  expect(all.map(({ raised_at }) => raised_at)).toEqual(
    all.map(({ raised_at }) => raised_at).toSorted((a, b) => (a < b ? 1 : -1)),
  )
})

test('a preview that would take too long is refused before it begins, with the way out', async () => {
  const answer = await preview({ label: 'Coast', lat: 10, lon: 29, polygon: coast(9999) })
  expectProblem(answer, 422, 'too_much_work')
  expect(answer.body).toMatchObject({ detail: expect.stringContaining('Ask for fewer days') })
})

test('several simultaneous previews of one account are all answered', async () => {
  const answers = await Promise.all(
    [1, 2, 3].map(() => preview({ label: 'Circle', lat: 10, lon: 29 })),
  )
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
})
