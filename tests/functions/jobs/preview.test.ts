import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { Alert } from '../../../shared/alert.ts'
import { Preview } from '../../../shared/preview.ts'
import { type History, historyOf } from '../../support/histories.ts'
import { createTestJobs, registerSource, type TestJobs } from '../../support/jobs.ts'
import { PROOF, PROOF_MS, progress, reportProof } from '../../support/proof.ts'
import { createService, type Person, parsed, type Service } from '../../support/service.ts'

const RUNS = Number(process.env.PREVIEW_RUNS ?? (PROOF ? 400 : 15))
const SEED = Number(process.env.PREVIEW_SEED ?? 20_260_301)

let service: Service
let jobs: TestJobs
let person: Person
let count = 0

beforeAll(async () => {
  service = await createService()
  jobs = await createTestJobs(service)
  await registerSource(service, 'other')
  person = await service.person()
  // The days of a history pass in a moment; what is held in them stays held until the test says.
  await service.database.query(`
    create function public.hold_release() returns trigger language plpgsql as $$
    begin
      new.start_after := new.start_after + interval '20 years';
      return new;
    end $$`)
  await service.database.query(`
    create trigger hold_release before insert on pgboss.job for each row
    when (new.name = 'release') execute function public.hold_release()`)
})
afterAll(async () => {
  await jobs?.close()
  await service?.close()
})

const AlertPage = z.object({ alerts: z.array(Alert), next_cursor: z.null() })
const Zone = z.object({ zone: z.object({ id: z.uuid() }) })
const Channel = z.object({ channel: z.object({ id: z.uuid() }) })
const Explained = z.object({
  event_id: z.string(),
  live: z.boolean(),
  raised: z.boolean(),
  checks: z.array(z.object({ name: z.string(), passed: z.boolean() }).loose()),
})

async function ask<S extends z.ZodType>(path: string, schema: S): Promise<z.output<S>> {
  return parsed(await service.request('GET', `/api/v1${path}`, { key: person.key }), 200, schema)
}

async function tell<S extends z.ZodType>(path: string, body: object, schema: S) {
  const answer = await service.request('POST', `/api/v1${path}`, { key: person.key, body })
  return parsed(answer, 201, schema)
}

/** Nothing has happened yet, and nobody watches. */
async function forget(): Promise<void> {
  await service.database.query(
    `truncate watchpost.events, watchpost.event_revisions, watchpost.positions, watchpost.batches,
      watchpost.zones, watchpost.channels, pgboss.job cascade`,
  )
}

beforeEach(forget)

/** The zone has been as it is since before the history began; then the history comes in. */
async function live({ zone, has_channel, batches }: History): Promise<string> {
  if (has_channel) {
    await tell('/channels', { kind: 'webhook', target: 'https://hooks.example.com/in' }, Channel)
  }
  const { id } = (await tell('/zones', zone, Zone)).zone
  await service.database.query(
    `update watchpost.zone_versions set valid_from = now() - interval '30 days'`,
  )
  await jobs.drain()
  for (const { events, drain } of batches) {
    await jobs.ingest(...events)
    if (drain) await jobs.drain()
  }
  return id
}

/** What went out at once: not suppressed, never held. */
function wentOut(alerts: Alert[]): Alert[] {
  return alerts.filter(({ status, held_until }) => status !== 'suppressed' && held_until === null)
}

function counts(values: string[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const value of values) sums[value] = (sums[value] ?? 0) + 1
  return sums
}

async function expectAgreement(zoneId: string): Promise<number> {
  const { alerts } = await ask(`/alerts?days=7&limit=500&zone_id=${zoneId}`, AlertPage)
  const preview = await ask(`/zones/${zoneId}/preview?days=7`, Preview)
  const out = wentOut(alerts)
  expect({
    count: preview.count,
    by_source: Object.fromEntries(preview.by_source.map(({ source, count }) => [source, count])),
    by_day: Object.fromEntries(
      preview.by_day.filter(({ count }) => count > 0).map(({ day, count }) => [day, count]),
    ),
    events: preview.events.map(({ event_id }) => event_id).sort(),
  }).toEqual({
    count: out.length,
    by_source: counts(out.map(({ event }) => event.source)),
    by_day: counts(out.map(({ raised_at }) => raised_at.slice(0, 10))),
    events: out.map(({ event_id }) => event_id).sort(),
  })
  expect(preview.by_day).toHaveLength(7)
  return alerts.length
}

/** Of each event it is said what was decided, and an alert went out for those and only those. */
async function expectExplained(zoneId: string): Promise<void> {
  const { alerts } = await ask(`/alerts?days=7&limit=500&zone_id=${zoneId}`, AlertPage)
  const out = new Set(wentOut(alerts).map(({ event_id }) => event_id))
  const events = await service.database.query<{ id: string }>(
    'select id from watchpost.events union select event_id from watchpost.positions order by 1',
  )
  for (const { id } of events) {
    const path = `/zones/${zoneId}/explain?event_id=${encodeURIComponent(id)}`
    const { live, raised, checks, event_id } = await ask(path, Explained)
    expect({ event_id, live, raised }).toEqual({ event_id: id, live: false, raised: out.has(id) })
    expect(checks.every(({ passed }) => passed)).toBe(raised)
  }
}

test(
  'preview and explain say what live matching did',
  async () => {
    let alerts = 0
    await fc.assert(
      fc.asyncProperty(fc.noShrink(fc.nat()), async (seed) => {
        count += 1
        const [history] = fc.sample(historyOf(new Date(), `r${count}`), { numRuns: 1, seed })
        if (!history) throw new Error('a sample of one is one')
        await forget()
        const zoneId = await live(history)
        try {
          alerts += await expectAgreement(zoneId)
          await expectExplained(zoneId)
          // The nights are over: what was held goes out and still is no alert that went out at once.
          await service.database.query(
            `update pgboss.job set start_after = now() where state = 'created'`,
          )
          await jobs.drain()
          await expectAgreement(zoneId)
          await expectExplained(zoneId)
        } catch (error) {
          throw new Error(`of ${JSON.stringify(history)}`, { cause: error })
        }
        if (count % 50 === 0) progress(count, RUNS, 'histories')
      }),
      { numRuns: RUNS, seed: SEED, endOnFailure: true },
    )
    reportProof('histories previewed and explained as they were lived', {
      histories: RUNS,
      seed: SEED,
      alerts,
    })
    expect(alerts).toBeGreaterThan(2 * RUNS)
  },
  PROOF ? PROOF_MS : 60_000,
)
