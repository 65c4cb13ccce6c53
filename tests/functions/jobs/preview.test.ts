import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { Preview } from '../../../shared/preview/preview.ts'
import { Alert } from '../../../shared/schemas/alert.ts'
import { isMoving } from '../../../shared/schemas/event.ts'
import { begin, type Life, make, tell } from '../../support/feeds/lives.ts'
import { type History, historyOf, type SeenEvent, storyOf } from '../../support/histories.ts'
import { createTestJobs, registerSource, type TestJobs } from '../../support/jobs.ts'
import { PROOF, PROOF_MS, progress, reportProof } from '../../support/proof.ts'
import { createService, type Person, parsed, type Service } from '../../support/service.ts'

const RUNS = Number(process.env.PREVIEW_RUNS ?? (PROOF ? 1000 : 12))
const SEED = Number(process.env.PREVIEW_SEED ?? 21)

let service: Service
let jobs: TestJobs
let count = 0
/** What was compared, so that a property that compares nothing fails. */
const compared = {
  explained: 0,
  undecided: 0,
  stretches: 0,
  alerts: 0,
  changes: 0,
  off: 0,
  linked: 0,
  released: 0,
  aftershocks: 0,
  bundled: 0,
}

beforeAll(async () => {
  service = await createService()
  jobs = await createTestJobs(service)
  for (const source of ['other', 'test-owner', 'test-team', 'usgs', 'emsc', 'geonet'])
    await registerSource(service, source)
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
const Explained = z.object({
  event_id: z.string(),
  live: z.boolean(),
  raised: z.boolean(),
  checks: z.array(z.object({ name: z.string(), passed: z.boolean() }).loose()),
})

const ask = ({ key }: Person, path: string) => service.request('GET', `/api/v1${path}`, { key })

/** The alerts that went out at once: not suppressed, never held. */
async function wentOut(zone: string): Promise<Map<string, string>> {
  const rows = await service.database.query<{ event_id: string; raised_at: Date }>(
    `select event_id, raised_at from watchpost.alerts
    where zone_id = $1 and status <> 'suppressed' and held_until is null`,
    [zone],
  )
  return new Map(rows.map(({ event_id, raised_at }) => [event_id, raised_at.toISOString()]))
}

/** What is said of each event is what was decided; of those not matched yet nothing is said. */
async function expectExplained(
  life: Life,
  ids: string[],
  undecided: Set<string>,
  people = [life.chief, life.member],
): Promise<void> {
  const out = await wentOut(life.zone)
  for (const id of ids) {
    for (const person of people) {
      const path = `/zones/${life.zone}/explain?event_id=${encodeURIComponent(id)}`
      const answer = await ask(person, path)
      // Who left, is paused or banned, or may not see zone or event, is not answered.
      if ([401, 402, 404].includes(answer.status)) continue
      const { live, raised, checks, event_id } = parsed(answer, 200, Explained)
      if (undecided.has(id)) {
        expect({ event_id, invented: raised && !live && !out.has(id) }).toEqual({
          event_id: id,
          invented: false,
        })
        compared.undecided += 1
        continue
      }
      expect({ event_id, live, raised }).toEqual({ event_id: id, live: false, raised: out.has(id) })
      expect(checks.every(({ passed }) => passed)).toBe(raised)
      compared.explained += 1
      const failed = checks.filter(({ passed }) => !passed).map(({ name }) => name)
      if (failed.includes('enabled')) compared.off += 1
      if (failed[0] === 'aftershock') compared.aftershocks += 1
      if (failed[0] === 'burst') compared.bundled += 1
    }
  }
}

/** Over the time since the last change a preview counts what went out. */
async function expectPreviewed(
  life: Life,
  seen: SeenEvent[],
  { has_limit }: History,
): Promise<void> {
  const { zone, unchanged_since: since, snoozed_until } = life
  // What was sent before a change counts towards the limit, and the zone as it is now would have sent something else.
  if (has_limit && since) return
  if (snoozed_until && since && snoozed_until > since) return
  const older = new Set(
    seen.filter(({ first_seen_at }) => since && first_seen_at < since).map(storyOf),
  )
  const ids = new Set(seen.filter((event) => !older.has(storyOf(event))).map(({ id }) => id))
  const out = new Map([...(await wentOut(zone))].filter(([id]) => ids.has(id)))
  for (const person of [life.chief, life.member]) {
    const answer = await ask(person, `/zones/${zone}/preview?days=7&limit=1000`)
    if ([401, 402, 404].includes(answer.status)) continue
    const preview = parsed(answer, 200, Preview)
    const raised = preview.events.filter(({ event_id }) => ids.has(event_id))
    // What the team may not know stays out of what the chief is shown.
    expect(new Map(raised.map(({ event_id, raised_at }) => [event_id, raised_at]))).toEqual(out)
    expect(preview.by_day).toHaveLength(7)
    expect(preview.by_day.reduce((sum, day) => sum + day.count, 0)).toBe(preview.count)
    expect(preview.by_source.reduce((sum, { count }) => sum + count, 0)).toBe(preview.count)
    if (since === null) expect(preview.count).toBe(out.size)
    expect(preview.events).toHaveLength(preview.count)
    compared.stretches += 1
  }
}

/** Whoever sees the zone in the list of alerts sees the same. */
async function expectListed(life: Life): Promise<number> {
  const answer = await ask(life.chief, `/alerts?days=7&limit=500&zone_id=${life.zone}`)
  if (answer.status !== 200) return 0
  const { alerts } = parsed(answer, 200, AlertPage)
  const out = await wentOut(life.zone)
  const listed = alerts.filter(
    ({ status, held_until }) => status !== 'suppressed' && held_until === null,
  )
  if (alerts.length > 0) expect(listed).toHaveLength(out.size)
  return out.size
}

/** All but positions that came after a later one of their subject: they are dropped. */
async function storedOf(events: SeenEvent[]): Promise<SeenEvent[]> {
  const rows = await service.database.query<{ id: string }>(
    `select event_id as id from watchpost.positions where event_id = any($1)`,
    [events.map(({ id }) => id)],
  )
  const ids = new Set(rows.map(({ id }) => id))
  const stored = events.filter(({ id, subject }) => !isMoving(subject) || ids.has(id))
  return stored
}

/** Lives a history and compares at every step. */
async function live(history: History): Promise<void> {
  const life = await begin(service, history)
  await jobs.drain()
  const seen: SeenEvent[] = []
  let undecided: SeenEvent[] = []
  const all = () => [...new Set(seen.map(({ id }) => id))]
  // After each change some, other ones each time; in the end all of them.
  let changes = 0
  const some = () => (PROOF ? all() : all().filter((_, at) => (at + changes) % 4 === 0))
  const drain = async () => {
    await jobs.drain()
    undecided = []
  }
  for (const step of history.steps) {
    if (step.kind === 'batch') {
      await tell(jobs, life, step.events)
      const stored = await storedOf(step.events)
      seen.push(...stored)
      undecided.push(...stored)
      if (step.drain) await drain()
      const ids = [...new Set(stored.map(({ id }) => id))]
      const person = seen.length % 2 ? life.chief : life.member
      await expectExplained(
        life,
        ids,
        new Set(undecided.map(({ id }) => id)),
        PROOF ? undefined : [person],
      )
      continue
    }
    // Some of what was seen before is matched only after the change.
    if (undecided.length === 0) await expectPreviewed(life, seen, history)
    if (!(await make(service, life, step))) continue
    compared.changes += 1
    changes += 1
    await drain()
    await expectExplained(life, some(), new Set())
  }
  await drain()
  await expectPreviewed(life, seen, history)
  await expectExplained(life, all(), new Set())
  compared.alerts += await expectListed(life)
  const [links] = await service.database.query<{ count: number }>(
    'select count(*)::integer from watchpost.alert_events',
  )
  compared.linked += links?.count ?? 0
  // The nights are over: what was held goes out and still is no alert that went out at once.
  const released = await service.database.query(
    `update pgboss.job set start_after = now() where state = 'created' returning id`,
  )
  if (released.length === 0) return
  compared.released += 1
  await jobs.drain()
  await expectPreviewed(life, seen, history)
  await expectExplained(life, some(), new Set())
}

test(
  'preview and explain say what live matching did, whatever was changed meanwhile',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.noShrink(fc.nat()), async (seed) => {
        count += 1
        const [history] = fc.sample(historyOf(new Date(), `r${count}`), { numRuns: 1, seed })
        if (!history) throw new Error('a sample of one is one')
        // Nothing has happened yet, and nobody watches.
        await service.database.query(
          `truncate watchpost.events, watchpost.event_revisions, watchpost.mainshocks, watchpost.positions, watchpost.subjects, watchpost.batches,
            watchpost.zones, watchpost.channels, watchpost.account_states, pgboss.job cascade`,
        )
        try {
          await live(history)
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
      ...compared,
    })
    const { released, linked, aftershocks, bundled, ...often } = compared
    for (const [what, number] of Object.entries(often)) {
      expect(number, what).toBeGreaterThan(RUNS / 2)
    }
    // Only some zones have quiet hours, and few of their nights hold an alert.
    expect(released).toBeGreaterThan(RUNS / 20)
    // Two sources in the zone, within hours, and above its threshold.
    expect(linked).toBeGreaterThan(RUNS / 10)
    expect(aftershocks).toBeGreaterThan(RUNS / 20)
    expect(bundled).toBeGreaterThan(RUNS / 50)
  },
  PROOF ? PROOF_MS : 400_000,
)
