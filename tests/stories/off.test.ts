import { expect, test } from 'vitest'
import { z } from 'zod'
import { quake } from '../support/jobs.ts'
import { type Person, parsed } from '../support/service.ts'
import { createStory } from '../support/story.ts'

// Somebody asks why there was no alert, and is told what happened: the zone was off, and who switched it off.
let chief: Person
let member: Person
let team: string
const at = createStory({
  prepare: async ({ service }) => {
    chief = await service.person({ email: 'chief@watchpost.test' })
    member = await service.person({ email: 'member@watchpost.test' })
    team = await service.organisation(chief, [member, 'member'])
  },
})

const Zone = z.object({ zone: z.object({ id: z.uuid() }) })
const Explained = z.object({
  live: z.boolean(),
  raised: z.boolean(),
  reason: z.string(),
  checks: z.array(z.object({ name: z.string(), passed: z.boolean() }).loose()),
})
const Preview = z.object({
  count: z.int(),
  suppressed: z.record(z.string(), z.int()),
  events: z.array(z.object({ event_id: z.string() })),
})
const Alerts = z.object({ alerts: z.array(z.object({ event_id: z.string(), status: z.string() })) })
const Versions = z.object({
  versions: z.array(z.object({ version: z.int(), action: z.string() }).loose()),
  next_cursor: z.string().nullable(),
})

let lat = -60
/** A zone that the member shares with the team, and earthquakes inside. */
async function watch() {
  lat += 5
  const here = { lat, lon: 20 }
  const made = await at.ask(member, 'POST', 'zones', { label: 'Harbour', ...here, org_id: team })
  const { id } = parsed(made, 201, Zone).zone
  await at.jobs.drain()
  const shake = async ({ matched = true } = {}) => {
    const event = quake(here)
    await at.jobs.ingest(event)
    if (matched) await at.jobs.drain()
    return event.id
  }
  const explain = async (event: string) =>
    parsed(await at.ask(chief, 'GET', `zones/${id}/explain?event_id=${event}`), 200, Explained)
  const preview = async () =>
    parsed(await at.ask(chief, 'GET', `zones/${id}/preview`), 200, Preview)
  const alerts = async () =>
    parsed(await at.ask(chief, 'GET', `alerts?zone_id=${id}`), 200, Alerts).alerts
  return { id, shake, explain, preview, alerts }
}

const enabledCheck = ({ checks }: z.infer<typeof Explained>) => checks[0]

test('while the zone was deleted nothing was raised, and nothing is said to have been', async () => {
  const { id, shake, explain, preview, alerts } = await watch()
  const before = await shake()
  expect((await at.ask(member, 'DELETE', `zones/${id}`)).status).toBe(204)
  const meanwhile = await shake()
  expect((await at.ask(member, 'POST', `zones/${id}/restore`)).status).toBe(200)
  await at.jobs.drain()
  const after = await shake()

  expect((await alerts()).map(({ event_id }) => event_id)).toEqual([after, before])
  const explained = await explain(meanwhile)
  expect(explained).toMatchObject({ live: false, raised: false })
  expect(enabledCheck(explained)).toEqual({
    name: 'enabled',
    passed: false,
    enabled: true,
    reason: 'deleted',
  })
  expect(explained.reason).toMatch(/: the zone was deleted\.$/)
  expect(await explain(before)).toMatchObject({ live: false, raised: true })
  const { count, suppressed, events } = await preview()
  expect(count).toBe(2)
  expect(suppressed.enabled).toBe(1)
  expect(events.map(({ event_id }) => event_id)).toEqual([after, before])
})

test('while the plan of its owner was free the zone was paused, and says so', async () => {
  const { shake, explain, preview, alerts } = await watch()
  const pay = (plan: string) =>
    at.query('update watchpost.accounts set plan = $2 where user_id = $1', [member.user_id, plan])
  await pay('free')
  const meanwhile = await shake()
  const explained = await explain(meanwhile)
  expect(explained).toMatchObject({ live: false, raised: false })
  expect(enabledCheck(explained)).toMatchObject({ passed: false, reason: 'paused_by_plan' })
  expect(explained.reason).toContain('below the Pro plan')
  await pay('pro')
  await at.jobs.drain()
  // Paid again, the past stays what it was.
  expect(await explain(meanwhile)).toEqual(explained)
  expect(await preview()).toMatchObject({ count: 0, suppressed: { enabled: 1 } })
  expect(await alerts()).toEqual([])
})

test('an alert from the time when its checks said less is explained with what they say today', async () => {
  const { id, shake, explain } = await watch()
  const event = await shake()
  const today = await explain(event)
  const NEWER = {
    enabled: { reason: null },
    filter: {
      ...{ visible: true, late: false, delay_hours: 0, news_for_hours: null },
      ...{ ends_at: null, flag: null },
    },
    duplicate: { linked_event_id: null, link: null },
  }
  for (const [name, fields] of Object.entries(NEWER)) {
    await at.query(
      `update watchpost.alerts set checks = (
        select jsonb_agg(case value ->> 'name' when $2 then value - $3::text[] else value end order by nr)
        from jsonb_array_elements(checks) with ordinality c (value, nr))
      where zone_id = $1`,
      [id, name, Object.keys(fields)],
    )
  }
  const { checks, ...rest } = await explain(event)
  expect(rest).toEqual({ ...today, checks: undefined })
  expect(checks.map(({ name }) => name)).toEqual(today.checks.map(({ name }) => name))
  for (const [name, fields] of Object.entries(NEWER))
    expect(checks.find((check) => check.name === name)).toMatchObject(fields)
})

test('a warning that still stands is told as soon as the plan is paid again', async () => {
  lat += 5
  const here = { lat, lon: 20 }
  parsed(
    await at.ask(member, 'POST', 'zones', { label: 'River', ...here, org_id: team }),
    201,
    Zone,
  )
  await at.jobs.drain()
  await at.query(`update watchpost.accounts set plan = 'free' where user_id = $1`, [member.user_id])
  const ends_at = new Date(Date.now() + 3_600_000).toISOString()
  const flood = quake({ ...here, type: 'flood', ends_at })
  await at.jobs.ingest(flood)
  await at.jobs.drain()
  const told = async () =>
    parsed(await at.ask(chief, 'GET', 'alerts'), 200, Alerts).alerts.map(({ event_id }) => event_id)
  expect(await told()).not.toContain(flood.id)
  await at.query(`update watchpost.accounts set plan = 'pro' where user_id = $1`, [member.user_id])
  await at.jobs.drain()
  expect(await told()).toContain(flood.id)
})

test('an event that matching has not come to is not said to be decided', async () => {
  const { shake, explain, alerts } = await watch()
  const event = await shake({ matched: false })
  expect(await explain(event)).toMatchObject({ live: true })
  expect(await alerts()).toEqual([])
  await at.jobs.drain()
  expect(await explain(event)).toMatchObject({ live: false, raised: true })
})

test('what was seen before the zone was deleted, and matched after, is an alert that was not sent', async () => {
  const { id, shake, explain, alerts } = await watch()
  const event = await shake({ matched: false })
  await at.ask(member, 'DELETE', `zones/${id}`)
  await at.jobs.drain()
  await at.ask(member, 'POST', `zones/${id}/restore`)
  await at.jobs.drain()
  expect(await alerts()).toEqual([expect.objectContaining({ event_id: event, status: 'failed' })])
  expect(await explain(event)).toMatchObject({ live: false, raised: true })
})

test('the versions of a zone say who changed what', async () => {
  const { id } = await watch()
  await at.ask(chief, 'PATCH', `zones/${id}`, { min_severity: 60, label: 'Port' })
  await at.ask(chief, 'DELETE', `zones/${id}`)
  await at.ask(member, 'POST', `zones/${id}/restore`)
  const answer = await at.ask(chief, 'GET', `zones/${id}/versions?limit=3`)
  const { versions, next_cursor } = parsed(answer, 200, Versions)
  expect(versions).toEqual([
    {
      version: 4,
      at: expect.stringMatching(/Z$/),
      action: 'restored',
      actor_id: member.user_id,
      actor_email: 'member@watchpost.test',
      changes: {},
    },
    expect.objectContaining({ version: 3, action: 'deleted', actor_id: chief.user_id }),
    expect.objectContaining({
      version: 2,
      action: 'updated',
      actor_email: 'chief@watchpost.test',
      changes: { min_severity: [40, 60], label: ['Harbour', 'Port'] },
    }),
  ])
  const rest = await at.ask(chief, 'GET', `zones/${id}/versions?limit=3&cursor=${next_cursor}`)
  expect(parsed(rest, 200, Versions)).toMatchObject({
    versions: [{ version: 1, action: 'created', actor_id: member.user_id, changes: {} }],
    next_cursor: null,
  })
  const stranger = await at.service.person()
  expect((await at.ask(stranger, 'GET', `zones/${id}/versions`)).status).toBe(404)
})

test('what a zone was before it was shared is its owner’s to know', async () => {
  const made = await at.ask(member, 'POST', 'zones', { label: 'My own', lat: 1, lon: 1 })
  const { id } = parsed(made, 201, Zone).zone
  await at.ask(member, 'PATCH', `zones/${id}`, { min_severity: 50 })
  await at.ask(member, 'PATCH', `zones/${id}`, { org_id: team, label: 'Ours' })
  const listed = async (person: Person) =>
    parsed(await at.ask(person, 'GET', `zones/${id}/versions`), 200, Versions).versions
  expect(await listed(chief)).toEqual([
    expect.objectContaining({ version: 3, changes: { org_id: [null, team] } }),
  ])
  expect((await listed(member)).map(({ changes }) => changes)).toEqual([
    { org_id: [null, team], label: ['My own', 'Ours'] },
    { min_severity: [40, 50] },
    {},
  ])
})
