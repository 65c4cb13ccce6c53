import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { inTransaction } from '../../../../functions/db.ts'
import { createTestJobs, quake, type TestJobs } from '../../../support/jobs.ts'
import { PROOF } from '../../../support/proof.ts'
import { createService, type Person, parsed, type Service } from '../../../support/service.ts'

const RUNS = PROOF ? 200 : 12

let service: Service
let jobs: TestJobs
let person: Person
beforeAll(async () => {
  service = await createService()
  jobs = await createTestJobs(service)
  person = await service.person()
})
afterAll(async () => {
  await jobs?.close()
  await service?.close()
})

const ask = (method: string, path: string, body?: object) =>
  service.request(method, `/api/v1${path}`, { key: person.key, body })
const purge = () => inTransaction(jobs.db, (sql) => sql`select private.purge()`)
/** Thins as if the zone had been changed so often that nothing unseen is kept. */
const thin = () => service.database.query('select private.purge_versions(2000, 0)')
const versionsOf = (id: string) =>
  service.database.query<{ version: number }>(
    'select version from watchpost.zone_versions where zone_id = $1 order by version',
    [id],
  )

const square = (half: number) => ({
  type: 'Polygon',
  coordinates: [
    [
      [29 - half, 41 - half],
      [29 + half, 41 - half],
      [29 + half, 41 + half],
      [29 - half, 41 + half],
      [29 - half, 41 - half],
    ],
  ],
})
const edit = fc.oneof(
  fc.record({ min_severity: fc.integer({ min: 0, max: 100 }) }),
  fc.record({ polygon: fc.constantFrom(0.2, 0.5, 1, 3).map(square) }),
  fc.record({ enabled: fc.boolean() }),
  fc.record({ types: fc.constantFrom(['earthquake'], ['vessel'], null) }),
  fc.record({ dwell_minutes: fc.constantFrom(0, 30) }),
)
const minutes = fc.integer({ min: 61, max: 2800 })
const told = fc.record({
  minutes_ago: minutes,
  milliseconds: fc.constantFrom(0, 0, 1, 999),
  lat: fc.constantFrom(41, 41.3, 41.8, 43, 60),
  severity: fc.integer({ min: 0, max: 100 }),
  moves: fc.boolean(),
})

test('thinning never changes what is explained, whatever was edited and seen', async () => {
  let thinned = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ edit, minutes_ago: minutes }), { minLength: 3, maxLength: 12 }),
      fc.array(told, { minLength: 1, maxLength: 8 }),
      // Times of events that fall on the very moment of an edit.
      fc.array(fc.nat({ max: 11 }), { maxLength: 3 }),
      async (edits, seen, exactly) => {
        await service.database.query(
          'truncate watchpost.events, watchpost.event_revisions, watchpost.positions, watchpost.subjects, watchpost.zones cascade',
        )
        const now = Math.floor(Date.now() / 60_000) * 60_000
        const ago = (given: number, ms = 0) => new Date(now - given * 60_000 + ms).toISOString()
        const zone = {
          label: 'Edited',
          shape_type: 'polygon',
          lat: 41,
          lon: 29,
          polygon: square(0.4),
        }
        const made = await ask('POST', '/zones', zone)
        const { id } = parsed(made, 201, z.object({ zone: z.looseObject({ id: z.string() }) })).zone
        for (const { edit } of edits)
          expect((await ask('PATCH', `/zones/${id}`, edit)).status).toBe(200)
        // The edits were made long ago, some of them within the same millisecond.
        const times = [2801, ...edits.map(({ minutes_ago }) => minutes_ago).sort((a, b) => b - a)]
        const versions = await versionsOf(id)
        for (const [at, { version }] of versions.entries()) {
          const next = times[at + 1]
          await service.database.query(
            `update watchpost.zone_versions
            set valid_from = $3, ended_at = case when $4::timestamptz is null then null else $4::timestamptz end
            where zone_id = $1 and version = $2`,
            [id, version, ago(times[at] ?? 0), at + 1 < versions.length ? ago(next ?? 0) : null],
          )
        }
        const moments = [
          ...seen.map((each) => ({ ...each, at: ago(each.minutes_ago, each.milliseconds) })),
          ...exactly.map((at) => ({ ...(seen[0] as (typeof seen)[0]), at: ago(times[at] ?? 61) })), // safe: one at least
        ].sort((a, b) => (a.at < b.at ? -1 : 1))
        const events = moments.map(({ at, lat, severity, moves }, index) => ({
          ...quake({ lat, lon: 29, severity, ts: at }),
          ...(moves ? { type: 'vessel' as const, subject: `mmsi:${index % 2}` } : {}),
          first_seen_at: at,
        }))
        for (const event of events) await jobs.ingest(event)
        await service.database.query('update watchpost.batches set matched_at = now()')
        const explained = async () =>
          Promise.all(
            events.map(async (event) => {
              const answer = await ask('GET', `/zones/${id}/explain?event_id=${event.id}`)
              return parsed(answer, 200, z.looseObject({ live: z.boolean() }))
            }),
          )
        const before = await explained()
        await thin()
        expect(await explained()).toEqual(before)
        expect(before.every(({ live }) => live === false)).toBe(true)
        thinned += versions.length - (await versionsOf(id)).length
        const orphans = await service.database.query(
          `select from watchpost.zone_shapes s where not exists (
            select from watchpost.zone_versions v where (v.zone_id, v.shape_hash) = (s.zone_id, s.hash))`,
        )
        expect(orphans).toEqual([])
      },
    ),
    { numRuns: RUNS, seed: 20_260_301 },
  )
  expect(thinned).toBeGreaterThan(RUNS)
}, 300_000)

test('what ended within the hour, what an alert names and what holds now stays', async () => {
  const made = await ask('POST', '/zones', { label: 'Kept', lat: 41, lon: 29 })
  const { id } = parsed(made, 201, z.object({ zone: z.looseObject({ id: z.string() }) })).zone
  for (const min_severity of [1, 2, 3, 4]) await ask('PATCH', `/zones/${id}`, { min_severity })
  const numbers = async () => (await versionsOf(id)).map(({ version }) => version)
  await purge()
  expect(await numbers()).toEqual([1, 2, 3, 4, 5])
  await service.database.query(
    `update watchpost.zone_versions set valid_from = now() - interval '2000 days', ended_at = now() - interval '1999 days'
    where zone_id = $1 and version in (1, 2, 3)`,
    [id],
  )
  await service.database.query(
    `insert into watchpost.alerts (zone_id, zone_name, owner_id, event_id, source, event, severity, reason,
      first_reason, status, raised_at, checks, zone_version, event_revision)
    values ($1, 'Kept', $2, 'usgs:x', 'usgs', '{}', 50, 'r', 'r', 'recorded', now(), '[]', 2, 1)`,
    [id, person.user_id],
  )
  await purge()
  expect(await numbers()).toEqual([2, 4, 5])
})
