import { expect, test } from 'vitest'
import { z } from 'zod'
import { type Person, parsed } from '../support/service.ts'
import { createStory } from '../support/story.ts'

// Somebody tunes a zone by its preview: how many alerts a day, which ones, and from how much data.
let person: Person
const at = createStory({
  prepare: async ({ service }) => {
    person = await service.person()
  },
})

const Preview = z.object({
  count: z.int(),
  per_day: z.number(),
  days_with_data: z.int(),
  by_day: z.array(z.object({ day: z.string(), count: z.int() })),
  snooze_ignored: z.boolean(),
  suppressed: z.record(z.string(), z.int()),
  events: z.array(z.object({ event_id: z.string(), title: z.string() })),
  next_cursor: z.string().nullable(),
  suggestion: z.string().nullable(),
})

const HERE = { lat: 10, lon: 29 }
const draft = async (query: string, more: object = {}) => {
  const ask = () =>
    at.ask(person, 'POST', `zones/preview?${query}`, { label: 'Draft', ...HERE, ...more })
  let answer = await ask()
  // A machine that is busy with other tests may say 503: try again, as its Retry-After asks.
  for (let tries = 0; answer.status === 503 && tries < 3; tries += 1) answer = await ask()
  return parsed(answer, 200, Preview)
}

/** So many earthquakes, one each so many minutes, back from now. */
async function shake(count: number, minutes: number, name = 'usgs:q') {
  await at.query('truncate watchpost.event_revisions')
  await at.query(
    `insert into watchpost.event_revisions (event_id, revision, first_seen_at, source, type, title,
      lat, lon, ts, severity, status, extent)
    select $3 || n, 1, at, 'usgs', 'earthquake', 'M 5.0 number ' || n, 10, 29, at, 60, 'active',
      box(point(29, 10), point(29, 10))
    from generate_series(0, $1::integer - 1) as n
    cross join lateral (select date_trunc('milliseconds', now()) - n * $2::float8 * interval '1 minute' as at) t`,
    [count, minutes, name],
  )
}

test('one day of data is not presented as a week', async () => {
  // 50 earthquakes within the last moments: there is one day of data, whatever is asked for.
  await shake(50, 0)
  const week = await draft('days=7')
  expect(week).toMatchObject({ count: 50, days_with_data: 1, per_day: 50 })
  expect(week.by_day).toHaveLength(7)
  expect(week.suggestion).toContain('50 alerts in 1 day is too many to read')
})

test('a snooze is left out of the preview, which says so', async () => {
  await shake(3, 1)
  const { zone } = parsed(
    await at.ask(person, 'POST', 'zones', { label: 'Snoozed', ...HERE }),
    201,
    z.object({ zone: z.object({ id: z.uuid() }) }),
  )
  const preview = async () =>
    parsed(await at.ask(person, 'GET', `zones/${zone.id}/preview`), 200, Preview)
  expect(await preview()).toMatchObject({ count: 3, snooze_ignored: false })
  const snoozed_until = new Date(Date.now() + 3_600_000).toISOString()
  await at.ask(person, 'PATCH', `zones/${zone.id}`, { snoozed_until })
  const snoozed = await preview()
  expect(snoozed).toMatchObject({ count: 3, snooze_ignored: true })
  expect(Object.keys(snoozed.suppressed)).not.toContain('snooze')
  // Taken back, it still was a snooze of these days.
  await at.ask(person, 'PATCH', `zones/${zone.id}`, { snoozed_until: null })
  expect(await preview()).toMatchObject({ count: 3, snooze_ignored: true })
})

test('a snooze that was over before the days of the preview is not said to be left out', async () => {
  await shake(3, 1)
  const Made = z.object({ zone: z.object({ id: z.uuid() }) })
  const make = async (snoozed_until: string) =>
    parsed(
      await at.ask(person, 'POST', 'zones', { label: 'Snoozed', ...HERE, snoozed_until }),
      201,
      Made,
    ).zone.id
  const ignored = async (zone: string, days: number) =>
    parsed(await at.ask(person, 'GET', `zones/${zone}/preview?days=${days}`), 200, Preview)
      .snooze_ignored
  const day = 86_400_000
  const old = await make(new Date(Date.now() - 19 * day).toISOString())
  await at.query(
    `update watchpost.zone_versions set valid_from = now() - interval '20 days' where zone_id = $1`,
    [old],
  )
  expect([await ignored(old, 7), await ignored(old, 30)]).toEqual([false, true])
  // The first day of a preview is a whole one, and its start is not in a snooze that ends with it.
  const midnight = new Date().setUTCHours(0, 0, 0, 0)
  const until = (time: number) =>
    at.query(
      `update watchpost.zone_versions
      set definition = jsonb_set(definition, '{snoozed_until}', to_jsonb($2::text)) where zone_id = $1 and version = 1`,
      [old, new Date(time).toISOString()],
    )
  await until(midnight - 6 * day)
  expect(await ignored(old, 7)).toBe(false)
  await until(midnight - 6 * day + 1)
  expect(await ignored(old, 7)).toBe(true)
  // Nor in one that was taken back before its time was over.
  await at.ask(person, 'PATCH', `zones/${old}`, { snoozed_until: null })
  const takenBack = (time: number) =>
    at.query(
      `update watchpost.zone_versions set valid_from = $2::timestamptz where zone_id = $1 and version = 2`,
      [old, new Date(time).toISOString()],
    )
  await until(midnight + day)
  await takenBack(midnight - 6 * day + 1)
  expect(await ignored(old, 7)).toBe(true)
  await takenBack(midnight - 6 * day)
  expect([await ignored(old, 7), await ignored(old, 8)]).toEqual([false, true])
  // One that was in the past from the start never was.
  const never = await make(new Date(Date.now() - 60_000).toISOString())
  await at.ask(person, 'PATCH', `zones/${never}`, { snoozed_until: null })
  expect(await ignored(never, 7)).toBe(false)
})

test('the events come with their titles, page after page, newest first, each once', async () => {
  await shake(250, 7)
  const titles: string[] = []
  let cursor = ''
  for (let pages = 0; pages < 5; pages++) {
    const page = await draft(`days=7&limit=100${cursor && `&cursor=${cursor}`}`)
    expect(page.count).toBe(250)
    titles.push(...page.events.map(({ title }) => title))
    if (!page.next_cursor) break
    cursor = page.next_cursor
  }
  expect(titles).toEqual(Array.from({ length: 250 }, (_, n) => `M 5.0 number ${n}`))
  const other = await at.ask(person, 'POST', `zones/preview?days=6&cursor=${cursor}`, {
    label: 'Draft',
    ...HERE,
  })
  expect(other).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
})

test('200,000 revisions are all counted; one more is refused with the way out, never cut', async () => {
  await shake(200_000, 0.4)
  const all = await draft('days=90', { min_severity: 61 })
  expect([all.count, all.suppressed.severity]).toEqual([0, 200_000])
  await at.query(
    `insert into watchpost.event_revisions select (jsonb_populate_record(r, '{"event_id": "usgs:more"}')).*
    from watchpost.event_revisions r limit 1`,
  )
  const refused = await at.ask(person, 'POST', 'zones/preview?days=90', { label: 'Draft', ...HERE })
  expect(refused).toMatchObject({
    status: 422,
    body: {
      code: 'too_much_work',
      detail: expect.stringMatching(/^Over 200000 revisions .* Ask for fewer days/),
    },
  })
}, 300_000)
